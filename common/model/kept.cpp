#include "model/kept.h"

#include <algorithm>
#include <array>
#include <utility>

#include "model/application_kinds.h"
#include "model/names.h"

namespace esi::model {

namespace {

bool is_decisive(std::string_view key) {
    return std::ranges::find(names::decisive, key) != names::decisive.end();
}

/// A longer text is no name, no number and no token.
constexpr std::size_t longest_mark = 512;

string_map only_decisive(string_map all) {
    std::erase_if(all, [](const auto& each) {
        return !is_decisive(each.first) || each.second.size() > longest_mark;
    });
    return all;
}

}  // namespace

void drop_application_specs(batchjob& job) {
    for (const auto& kind : application_kinds) {
        auto& spec = job.spec.*kind.spec;
        if (kind.large && spec) spec.emplace();
    }
}

void keep_rights(batchjob& job) {
    batchjob kept;
    kept.metadata = essential(std::move(job.metadata));
    kept.spec.active_scheduling = std::move(job.spec.active_scheduling);
    kept.spec.creation_request = std::move(job.spec.creation_request);
    kept.status.state = std::move(job.status.state);
    kept.status.placements = std::move(job.status.placements);
    // Its last run names the Testbed of the placements.
    if (!job.status.runs.empty()) {
        kept.status.runs.emplace_back().testbed = std::move(job.status.runs.back().testbed);
    }
    job = std::move(kept);
}

void keep_rights(scheduling& of) {
    scheduling kept;
    kept.metadata = essential(std::move(of.metadata));
    std::erase_if(of.status.assignments, [](const auto& each) { return each.ended.has_value(); });
    kept.status.assignments = std::move(of.status.assignments);
    of = std::move(kept);
}

void keep_layout(testbed& of) {
    testbed kept;
    kept.metadata = essential(std::move(of.metadata));
    kept.spec = std::move(of.spec);
    kept.status.state = std::move(of.status.state);
    kept.status.layout = std::move(of.status.layout);
    of = std::move(kept);
}

void drop_placement_rules(pod& of) {
    of.requests = {};
    of.tolerations = {};
    of.affinity = {};
    of.node_selector = {};
    of.host_ports = {};
    of.anti_affinity = {};
    of.topology_spread = {};
    of.claims = {};
    of.unplanned = {};
}

object_meta essential(object_meta meta) {
    object_meta kept;
    kept.name = std::move(meta.name);
    kept.namespace_ = std::move(meta.namespace_);
    kept.uid = std::move(meta.uid);
    kept.resource_version = std::move(meta.resource_version);
    kept.generation = meta.generation;
    kept.creation_timestamp = meta.creation_timestamp;
    kept.deletion_timestamp = meta.deletion_timestamp;
    kept.labels = only_decisive(std::move(meta.labels));
    kept.annotations = only_decisive(std::move(meta.annotations));
    for (auto& owner : meta.owner_references) {
        if (owner.controller) kept.owner_references.push_back(std::move(owner));
    }
    kept.undecodable = std::move(meta.undecodable);
    return kept;
}

object_meta essential_with_finalizers(object_meta meta) {
    auto finalizers = std::move(meta.finalizers);
    auto kept = essential(std::move(meta));
    kept.finalizers = std::move(finalizers);
    return kept;
}

void leave_out_content(batchjob& of) {
    batchjob kept;
    kept.metadata = essential(std::move(of.metadata));
    drop_application_specs(of);
    for (const auto& kind : application_kinds) {
        kept.spec.*kind.spec = std::move(of.spec.*kind.spec);
    }
    kept.spec.active_scheduling = std::move(of.spec.active_scheduling);
    kept.spec.creation_request = std::move(of.spec.creation_request);
    kept.spec.active_deadline_seconds = of.spec.active_deadline_seconds;
    kept.status = std::move(of.status);
    of = std::move(kept);
}

void leave_out_content(scheduling& of) {
    scheduling kept;
    kept.metadata = essential_with_finalizers(std::move(of.metadata));
    kept.spec = std::move(of.spec);
    kept.spec.queue_based.reset();
    kept.spec.slot_based.reset();
    kept.spec.pool_based.reset();
    kept.spec.cancelled_jobs.clear();
    kept.spec.job_policies.clear();
    // The presence of a claim says which Testbed is its own.
    if (kept.spec.claim) kept.spec.claim->shapes.clear();
    kept.status = std::move(of.status);
    of = std::move(kept);
}

void leave_out_content(testbed& of) {
    testbed kept;
    kept.metadata = essential_with_finalizers(std::move(of.metadata));
    kept.spec = std::move(of.spec);
    kept.spec.allowed_namespaces.clear();
    if (kept.spec.claim) kept.spec.claim->shapes.clear();
    kept.status = std::move(of.status);
    of = std::move(kept);
}

void leave_out_content(pod& of) {
    // The pod takes room on its node.
    pod kept;
    kept.metadata = essential(std::move(of.metadata));
    kept.node_name = std::move(of.node_name);
    kept.phase = std::move(of.phase);
    kept.scheduler_name = std::move(of.scheduler_name);
    kept.nominated_node_name = std::move(of.nominated_node_name);
    kept.priority_class_name = std::move(of.priority_class_name);
    kept.requests = std::move(of.requests);
    kept.scheduling_gates = std::move(of.scheduling_gates);
    kept.scheduled_status = std::move(of.scheduled_status);
    kept.scheduled_reason = std::move(of.scheduled_reason);
    kept.scheduled_time = of.scheduled_time;
    kept.started_at = of.started_at;
    kept.finished_at = of.finished_at;
    kept.priority = of.priority;
    of = std::move(kept);
}

std::string largest_member(const pod& of) {
    const auto parts = std::to_array<std::pair<std::string_view, std::size_t>>({
        {".metadata.labels", held_by(of.metadata.labels)},
        {".metadata.annotations", held_by(of.metadata.annotations)},
        {".spec.affinity", held_by(of.affinity) + held_by(of.anti_affinity)},
        {".spec.tolerations", held_by(of.tolerations)},
        {".spec.nodeSelector", held_by(of.node_selector)},
        {".spec.topologySpreadConstraints", held_by(of.topology_spread)},
        {".spec.volumes", held_by(of.claims)},
        {".spec.containers", held_by(of.requests) + held_by(of.host_ports)},
        {".status", held_by(of.message) + held_by(of.scheduled_message)},
    });
    return std::string(
        std::ranges::max_element(parts, {}, [](const auto& part) { return part.second; })->first);
}

}  // namespace esi::model

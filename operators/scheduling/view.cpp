#include "scheduling/view.h"

#include <algorithm>

#include "model/names.h"
#include "scheduling/plan.h"
#include "scheduling/words.h"

namespace esi::scheduling {

namespace {

template <class T>
std::shared_ptr<const T> find_in(const objects<T>* cache, const objects<T>* fresh,
                                 const model::object_key& key) {
    if (fresh != nullptr) {
        if (auto found = fresh->find(key); found != fresh->end()) return found->second;
    }
    if (cache == nullptr) return nullptr;
    auto found = cache->find(key);
    return found == cache->end() ? nullptr : found->second;
}

}  // namespace

bool view::watches(const std::string& ns) const {
    return namespaces.empty() || std::ranges::find(namespaces, ns) != namespaces.end();
}

bool view::may_start(std::string_view scheduling_ns, const model::object_key& job) const {
    return cross_namespace_jobs || scheduling_ns == job.namespace_;
}

std::string view::absence(const model::object_key& key) const {
    if (watches(key.namespace_)) return " does not exist";
    return " is in a namespace that this installation does not watch (--namespace)";
}

std::shared_ptr<const model::testbed> view::find_testbed(const model::object_key& key) const {
    return find_in(testbeds, fresh ? &fresh->testbeds : nullptr, key);
}

std::shared_ptr<const model::batchjob> view::find_job(const model::object_key& key) const {
    return find_in(jobs, fresh ? &fresh->jobs : nullptr, key);
}

std::shared_ptr<const model::scheduling> view::find_scheduling(const model::object_key& key) const {
    if (self && self->metadata.key() == key) return self;
    return find_in<model::scheduling>(schedulings, nullptr, key);
}

std::vector<std::shared_ptr<const model::batchjob>> view::jobs_of_self() const {
    std::set<model::object_key> keys(named.begin(), named.end());
    if (fresh != nullptr) {
        for (const auto& [key, unused] : fresh->jobs) keys.insert(key);
    }
    std::vector<std::shared_ptr<const model::batchjob>> out;
    for (const auto& key : keys) {
        auto job = find_job(key);
        if (job && names(*job, *self)) out.push_back(std::move(job));
    }
    return out;
}

std::vector<grid::pod_pointer> view::job_pods() const {
    return on_record(fresh != nullptr && fresh->job_pods ? *fresh->job_pods : pods);
}

std::vector<grid::pod_pointer> view::on_record(const std::vector<grid::pod_pointer>& of) const {
    const auto known = records_of(of);
    std::vector<grid::pod_pointer> out;
    for (const auto& pod : of) {
        if (!pod->is_ghost() && known.has(*pod)) out.push_back(pod);
    }
    return out;
}

std::vector<grid::pod_pointer> view::members() const {
    const auto testbed = find_testbed(testbed_of(*self));
    if (!testbed) return {};
    return grid::members_of(*testbed, records_of(pods), pods);
}

grid::records view::records_of(const std::vector<grid::pod_pointer>& of) const {
    const auto key = testbed_of(*self);
    grid::records out(key);
    if (const auto testbed = find_testbed(key)) out.add(*testbed);
    std::set<model::object_key> looked;
    for (const auto& pod : of) {
        model::object_key job{pod->metadata.namespace_,
                              std::string(pod->metadata.label(model::names::job))};
        if (pod->is_ghost() || job.name.empty() || !looked.insert(job).second) continue;
        if (const auto found = find_job(job)) out.add(*found);
    }
    return out;
}

bool names(const model::batchjob& job, const model::scheduling& whom) {
    const auto& active = job.spec.active_scheduling;
    if (!active) return false;
    if (!active->uid.empty()) return active->uid == whom.metadata.uid;
    return active->key() == whom.metadata.key();
}

bool requested_by(const model::batchjob& job, std::string_view scheduling_uid) {
    return job.spec.creation_request &&
           owner_of_run(job.spec.creation_request->run) == scheduling_uid;
}

bool held_by(const model::testbed& testbed, std::string_view scheduling_uid) {
    return !testbed.hold().empty() &&
           grid::scheduling_uid_of_hold(testbed.hold()) == scheduling_uid;
}

std::set<int> slots_in_error(const model::testbed& testbed) {
    const auto& status = testbed.status;
    std::set<int> out;
    for (const auto& slot : status.slots) {
        if (slot.state == model::slot_state::error) out.insert(slot.position);
    }
    if (!status.slots.empty() || !status.layout) return out;
    std::set<std::string_view> nodes;
    if (status.nodes_out_of_use) {
        nodes.insert(status.nodes_out_of_use->names.begin(), status.nodes_out_of_use->names.end());
    } else {
        for (const auto& [node, problems] : status.node_problems) nodes.insert(node);
    }
    if (nodes.empty()) return out;
    for (const auto& slot : grid::slots_of(*status.layout)) {
        if (nodes.contains(slot.node)) out.insert(slot.position);
    }
    return out;
}

std::string holder_text(const model::testbed& testbed) {
    auto holder = testbed.holder();
    if (holder.name.empty()) return "hold " + std::string(testbed.hold());
    return scheduling_text(holder);
}

}  // namespace esi::scheduling

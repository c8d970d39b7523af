#include "batchjob/caches.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "batchjob/backends/spark_driver/backend.h"
#include "grid/grid.h"
#include "grid/rights.h"
#include "kube/resource.h"
#include "model/conditions.h"
#include "model/kept.h"
#include "model/names.h"

namespace esi::batchjob {

namespace names = model::names;

namespace {

kube::watch_scope scope_of(const controller::process_options& flags, std::string label_selector) {
    kube::watch_scope scope;
    scope.namespaces = flags.namespaces;
    scope.label_selector = std::move(label_selector);
    return scope;
}

/// Whether the Schedulings that may use the Testbed, or the size of its slots, have changed.
bool may_fit_others(const kube::change<model::testbed>& what) {
    if (!what.before || !what.after) return true;
    // The shapes of a claim do not change; a layout has them once it is formed.
    const auto sizes = [](const model::testbed& bed) {
        const auto& layout = bed.status.layout;
        return std::tuple(bed.spec.resources_per_slot, layout && grid::count_of_slots(*layout) > 0,
                          layout ? layout->resources_per_slot : model::resource_list(),
                          layout ? layout->shapes : std::vector<model::layout_shape>());
    };
    return what.before->spec.allowed_namespaces != what.after->spec.allowed_namespaces ||
           what.before->metadata.deleting() != what.after->metadata.deleting() ||
           sizes(*what.before) != sizes(*what.after);
}

}  // namespace

void keep_assignments(model::scheduling& of) {
    model::scheduling kept;
    kept.metadata.name = std::move(of.metadata.name);
    kept.metadata.namespace_ = std::move(of.metadata.namespace_);
    kept.metadata.uid = std::move(of.metadata.uid);
    kept.metadata.resource_version = std::move(of.metadata.resource_version);
    // If the Scheduling was made for a driver, its owner and its condition are kept as well.
    const bool of_driver = std::ranges::any_of(of.metadata.owner_references,
                                               [](const auto& each) { return each.kind == "Pod"; });
    if (of_driver) {
        kept.metadata.owner_references = std::move(of.metadata.owner_references);
        kept.metadata.deletion_timestamp = of.metadata.deletion_timestamp;
        for (auto& each : of.status.conditions) {
            if (each.type != model::condition_type::acquired) continue;
            kept.status.conditions.push_back(std::move(each));
        }
    }
    for (auto& each : of.status.assignments) {
        if (!each.ended) kept.status.assignments.push_back(std::move(each));
    }
    of = std::move(kept);
}

void keep_of_job_pod(model::pod& pod) {
    // The claim of a driver asks for places where the driver may run.
    const bool asks = spark_driver::is_driver(pod) && !pod.bound() && pod.run().empty();
    if (asks) return;
    // A pod that is not bound may be larger than its slot.
    auto requests = pod.bound() ? model::amounts() : std::move(pod.requests);
    model::drop_placement_rules(pod);
    pod.requests = std::move(requests);
}

model::object_key job_of(const model::pod& pod) {
    return {pod.metadata.namespace_, std::string(pod.metadata.label(names::job))};
}

caches::caches(controller::environment& env, const application_kinds& kinds,
               const placement_options& placement)
    : kinds_(kinds),
      jobs_(env.api, env.time, kube::types::batchjob, scope_of(env.options, {})),
      testbeds_(env.api, env.time, kube::types::testbed, scope_of(env.options, {})),
      schedulings_(env.api, env.time, kube::types::scheduling, scope_of(env.options, {})),
      pods_(env.api, env.time, kube::types::pod, scope_of(env.options, std::string(names::job))),
      sources_(make_sources(kinds, placement,
                            {env.api, env.time, env.executor, scope_of(env.options, {}), &pods_})) {
    // Only esi-scheduling reads this field.
    jobs_.set_transform([](model::batchjob& job) { job.spec.external_scheduler.reset(); });
    testbeds_.set_transform(model::keep_layout);
    schedulings_.set_transform(keep_assignments);
    pods_.set_transform(keep_of_job_pod);
    jobs_.items().add_index("testbed", [](const model::batchjob& job) {
        if (!job.spec.creation_request) return std::vector<std::string>{};
        return std::vector{grid::testbed_of(job).text()};
    });
    jobs_.items().add_index("placed", [](const model::batchjob& job) {
        std::vector<std::string> out;
        for (const auto& entry : job.status.placements) out.push_back(entry.pod_uid);
        return out;
    });
    pods_.items().add_index("job",
                            [](const model::pod& pod) { return std::vector{job_of(pod).text()}; });
    pods_.items().add_index("node", [](const model::pod& pod) {
        return pod.bound() ? std::vector{pod.node_name} : std::vector<std::string>{};
    });
}

std::vector<controller::operator_part::cache> caches::list() {
    using cache = controller::operator_part::cache;
    std::vector<cache> out{cache::of("batchjobs", jobs_), cache::of("testbeds", testbeds_),
                           cache::of("schedulings", schedulings_), cache::of("pods", pods_)};
    for (auto& source : sources_) {
        for (auto& one : source->caches()) out.push_back(std::move(one));
    }
    return out;
}

void caches::feed(controller::write_gate& gate) const {
    gate.watch_kind(std::string(kube::types::batchjob.kind),
                    [this](std::string_view ns) { return jobs_.items().version(ns); });
    for (const auto& source : sources_) {
        gate.watch_kind(std::string(source->kind().resource().kind),
                        [from = source.get()](std::string_view ns) { return from->version(ns); });
    }
}

void caches::on_job_change(std::function<void(const kube::change<model::batchjob>&)> called) {
    jobs_.items().on_change(std::move(called));
}

void caches::on_pod_change(std::function<void(const kube::change<model::pod>&)> called) {
    pods_.items().on_change(std::move(called));
}

void caches::on_scheduling_change(
    std::function<void(const kube::change<model::scheduling>&)> called) {
    schedulings_.items().on_change(std::move(called));
}

void caches::on_application_change(application_listener called) {
    application_changed_ = std::move(called);
}

void caches::on_change(listener enqueue) {
    enqueue_ = std::move(enqueue);
    jobs_.items().on_change([this](const kube::change<model::batchjob>& what) {
        enqueue_((what.after ? what.after : what.before)->metadata.key());
        placements_changed(what);
    });
    testbeds_.items().on_change(
        [this](const kube::change<model::testbed>& what) { testbed_changed(what); });
    pods_.items().on_change([this](const kube::change<model::pod>& what) { pod_changed(what); });
    for (auto& source : sources_) {
        source->on_change(
            [this, from = source.get()](const model::object_key& key) {
                if (application_changed_) application_changed_(key, *from);
                enqueue_(key);
            },
            [this] { enqueue_all(); });
    }
}

void caches::enqueue_all() const {
    for (const auto& [key, unused] : jobs_.items().all()) enqueue_(key);
}

void caches::pod_changed(const kube::change<model::pod>& what) const {
    const auto& pod = what.after ? *what.after : *what.before;
    enqueue_(job_of(pod));
    // A pod that is bound becomes a neighbour of the jobs on its node.
    const bool was_bound = what.before && what.before->bound();
    if (!what.after || !pod.bound() || was_bound) return;
    enqueue_placed_on(pod.node_name);
}

void caches::placements_changed(const kube::change<model::batchjob>& what) const {
    if (!what.after) return;
    const auto& job = *what.after;
    if (what.before && what.before->status.placements == job.status.placements) return;
    for (const auto& entry : job.status.placements) {
        // Usually the pod is bound later; if this cache is behind that of pods, it is bound now.
        const auto pod = find_pod({job.metadata.namespace_, entry.pod_name});
        if (pod && pod->metadata.uid == entry.pod_uid && pod->bound()) {
            enqueue_placed_on(pod->node_name);
        }
    }
}

void caches::enqueue_placed_on(std::string_view node) const {
    for (const auto& job : jobs_placed_on(node)) enqueue_(job);
}

void caches::testbed_changed(const kube::change<model::testbed>& what) const {
    if (may_fit_others(what)) {
        for (const auto& [key, job] : jobs_.items().all()) {
            const bool before = what.before && what.before->is_offered_to(key.namespace_);
            const bool after = what.after && what.after->is_offered_to(key.namespace_);
            if (before || after) enqueue_(key);
        }
    }
    if (what.before && what.after && what.before->status.layout == what.after->status.layout &&
        what.before->spec.node_label == what.after->spec.node_label &&
        what.before->hold() == what.after->hold()) {
        return;
    }
    const auto key = (what.after ? what.after : what.before)->metadata.key();
    for (const auto& job : jobs_.items().by_index("testbed", key.text())) {
        enqueue_(job->metadata.key());
    }
}

std::shared_ptr<const model::batchjob> caches::find_job(const model::object_key& key) const {
    return jobs_.items().find(key);
}

const std::map<model::object_key, std::shared_ptr<const model::batchjob>>& caches::jobs() const {
    return jobs_.items().all();
}

std::shared_ptr<const model::pod> caches::find_pod(const model::object_key& key) const {
    return pods_.items().find(key);
}

std::vector<pod_pointer> caches::pods_of_job(const model::object_key& job) const {
    return pods_.items().by_index("job", job.text());
}

void caches::each_pod(const std::function<void(const model::pod&)>& use) const {
    pods_.items().each([&](const pod_pointer& pod) { use(*pod); });
}

std::set<model::object_key> caches::jobs_placed_on(std::string_view node) const {
    std::set<model::object_key> out;
    for (const auto& pod : pods_.items().by_index("node", node)) {
        if (!pod->live()) continue;
        for (const auto& job : jobs_.items().by_index("placed", pod->metadata.uid)) {
            out.insert(job->metadata.key());
        }
    }
    return out;
}

std::shared_ptr<const model::testbed> caches::find_testbed(const model::object_key& key) const {
    return testbeds_.items().find(key);
}

std::shared_ptr<const model::scheduling> caches::find_scheduling(
    const model::object_key& key) const {
    return schedulings_.items().find(key);
}

const std::map<model::object_key, std::shared_ptr<const model::testbed>>& caches::testbeds() const {
    return testbeds_.items().all();
}

const application_kind* caches::kind_of(const model::batchjob_spec& spec) const {
    return batchjob::kind_of(kinds_, spec);
}

const application_source* caches::source_of(const model::batchjob& job) const {
    const auto by = [this](auto matches) -> const application_source* {
        const auto found = std::ranges::find_if(
            sources_, [&](const auto& source) { return matches(source->kind()); });
        return found == sources_.end() ? nullptr : found->get();
    };
    // A run continues as the kind as which it began, even if the spec changes to another kind
    // meanwhile.
    const auto& begun = job.status.application;
    const auto& order = job.spec.creation_request;
    if (begun && !begun->uid.empty() && (!order || order->run == begun->run)) {
        const auto named = [&](const backend& kind) { return kind.resource().kind == begun->kind; };
        if (const auto* found = by(named)) return found;
    }
    // The application was created and is not in the status yet.
    for (const auto& source : sources_) {
        const auto made = source->find(job.metadata.key());
        if (made && belongs_to(*made, source->kind(), job)) return source.get();
    }
    const auto* wanted = kind_of(job.spec);
    if (!wanted) return nullptr;
    return by([&](const backend& kind) { return kind.type() == wanted->type(); });
}

}  // namespace esi::batchjob

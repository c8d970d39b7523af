#include "scheduling/caches.h"

#include <set>

#include "model/json.h"
#include "model/kept.h"
#include "model/names.h"
#include "scheduling/acquire.h"
#include "scheduling/plan.h"

namespace esi::scheduling {

namespace {

using model::object_key;
namespace types = kube::types;

// Names of indexes.
constexpr std::string_view by_testbed = "testbed";
constexpr std::string_view by_job = "job";
constexpr std::string_view by_scheduling = "scheduling";
constexpr std::string_view by_holder = "holder";    // a Scheduling's uid
constexpr std::string_view by_rival = "rival";      // the one that goes first
constexpr std::string_view at_work_in = "at work";  // a Testbed

kube::watch_scope scope_of(const std::vector<std::string>& namespaces,
                           std::string_view label_selector = {}) {
    kube::watch_scope out;
    out.namespaces = namespaces;
    out.label_selector = label_selector;
    return out;
}

std::vector<std::string> jobs_named_by(const model::scheduling& of) {
    std::set<std::string> out;
    for (const auto& job : plan_of(of).jobs) out.insert(job.name.text());
    for (const auto& a : of.status.assignments) out.insert(a.job.key().text());
    return {out.begin(), out.end()};
}

/// Whether its pods matter to it: it runs, or is being released.
bool is_at_work(const model::scheduling& one) {
    return is_running(one.status) || !one.status.releasing.empty();
}

/// The Schedulings that have the job, have ordered its start, or whose application it has.
std::set<std::string> holders_of(const model::batchjob& job) {
    std::set<std::string> out;
    if (const auto& active = job.spec.active_scheduling) out.insert(active->uid);
    if (const auto& order = job.spec.creation_request) out.emplace(grid::owner_of_run(order->run));
    if (const auto& application = job.status.application) {
        out.emplace(grid::owner_of_run(application->run));
    }
    out.erase("");
    return out;
}

template <class T>
objects<T> by_key(std::vector<std::shared_ptr<const T>> list) {
    objects<T> out;
    for (auto& each : list) out.emplace(each->metadata.key(), std::move(each));
    return out;
}

}  // namespace

caches::caches(kube::client& api, clock& time, const std::vector<std::string>& namespaces)
    : schedulings_(api, time, types::scheduling, scope_of(namespaces)),
      testbeds_(api, time, types::testbed, scope_of(namespaces)),
      jobs_(api, time, types::batchjob, scope_of(namespaces)),
      pods_(api, time, types::pod, scope_of(namespaces, model::names::testbed)),
      slices_(api, time, types::slot_slice, scope_of(namespaces)),
      time_(time) {
    schedulings_.items().add_index(std::string(by_testbed), [](const model::scheduling& of) {
        return std::vector<std::string>{testbed_of(of).text()};
    });
    schedulings_.items().add_index(std::string(by_job), jobs_named_by);
    schedulings_.items().add_index(std::string(by_rival), [](const model::scheduling& of) {
        std::vector<std::string> out;
        for (const auto& other : of.status.waiting_for_schedulings) {
            if (waits_for_rival(of, other)) out.push_back(other.text());
        }
        return out;
    });
    schedulings_.items().add_index(std::string(at_work_in), [](const model::scheduling& of) {
        return is_at_work(of) ? std::vector<std::string>{testbed_of(of).text()}
                              : std::vector<std::string>{};
    });
    testbeds_.items().add_index(std::string(by_holder), [](const model::testbed& of) {
        return std::vector<std::string>{std::string(grid::scheduling_uid_of_hold(of.hold()))};
    });
    jobs_.set_transform(model::drop_application_specs);
    jobs_.items().add_index(std::string(by_scheduling), [](const model::batchjob& of) {
        const auto& active = of.spec.active_scheduling;
        return active ? std::vector<std::string>{active->key().text()} : std::vector<std::string>{};
    });
    jobs_.items().add_index(std::string(by_holder), [](const model::batchjob& of) {
        const auto all = holders_of(of);
        return std::vector<std::string>(all.begin(), all.end());
    });
    jobs_.items().add_index(std::string(by_testbed), [](const model::batchjob& of) {
        const auto testbed = grid::placed_in(of);
        return testbed.name.empty() ? std::vector<std::string>{}
                                    : std::vector<std::string>{testbed.text()};
    });
    pods_.set_transform(trim);
    // For the interfaces, which show all pods of a Testbed at once.
    pods_.items().add_index(std::string(by_testbed), [](const model::pod& of) {
        return std::vector<std::string>{of.testbed().text()};
    });
    keep_tables();
    keep_slices();
}

void caches::trim(model::pod& pod) {
    pod.scheduler_name.clear();
    pod.nominated_node_name.clear();
    pod.priority_class_name.clear();
    pod.requests = {};
    pod.tolerations = {};
    pod.affinity = {};
    pod.node_selector.clear();
    pod.scheduled_status.clear();
    pod.scheduled_reason.clear();
    pod.scheduled_message.clear();
    pod.died_of.clear();
    pod.reason.clear();
    pod.message.clear();
    pod.priority = 0;
    pod.host_ports = {};
    pod.anti_affinity = {};
    pod.topology_spread = {};
    pod.claims = {};
    pod.unplanned = {};
    pod.metadata.finalizers = {};
    std::erase_if(pod.metadata.labels,
                  [](const auto& label) { return !label.first.starts_with(model::names::prefix); });
}

// --- what is in the slots ---

grid::slot_table& caches::table_of(const object_key& testbed) {
    auto& table = tables_[testbed];
    if (!table) table = std::make_shared<grid::slot_table>(testbed, slots_read_);
    return *table;
}

void caches::drop_if_empty(const object_key& testbed) {
    const auto found = tables_.find(testbed);
    if (found != tables_.end() && found->second->empty()) tables_.erase(found);
}

void caches::keep_tables() {
    testbeds_.items().on_change([this](const kube::change<model::testbed>& what) {
        const auto key = (what.after ? what.after : what.before)->metadata.key();
        table_of(key).change_testbed(what.after);
        drop_if_empty(key);
    });
    pods_.items().on_change([this](const kube::change<model::pod>& what) {
        const auto was = what.before ? what.before->testbed() : object_key();
        const auto is = what.after ? what.after->testbed() : object_key();
        if (what.before && what.after && was == is) {
            table_of(is).change_pod(what.before, what.after);
            return;
        }
        if (what.before) {
            table_of(was).change_pod(what.before, nullptr);
            drop_if_empty(was);
        }
        if (what.after) table_of(is).change_pod(nullptr, what.after);
    });
    jobs_.items().on_change([this](const kube::change<model::batchjob>& what) {
        std::set<object_key> testbeds;
        if (what.before) testbeds.insert(grid::placed_in(*what.before));
        if (what.after) testbeds.insert(grid::placed_in(*what.after));
        for (const auto& each : testbeds) {
            if (each.name.empty()) continue;
            table_of(each).change_job(what.before.get(), what.after.get());
            drop_if_empty(each);
        }
    });
}

void caches::keep_slices() {
    slices_.items().on_change([this](const kube::change<model::slot_slice>& what) {
        const auto was = what.before ? what.before->testbed() : object_key();
        const auto is = what.after ? what.after->testbed() : object_key();
        bool changed = false;
        if (what.before && what.after && was == is) {
            changed = table_of(is).change_slice(what.before, what.after);
        } else {
            if (what.before) {
                changed = table_of(was).change_slice(what.before, nullptr);
                if (changed && into_.scheduling) rows_changed(was);
                drop_if_empty(was);
            }
            if (what.after) changed = table_of(is).change_slice(nullptr, what.after);
        }
        if (what.after && changed && into_.scheduling) rows_changed(is);
    });
}

std::shared_ptr<const grid::slot_table> caches::slots_of(const object_key& testbed) const {
    if (const auto found = tables_.find(testbed); found != tables_.end()) return found->second;
    return std::make_shared<const grid::slot_table>(testbed, slots_read_);
}

std::vector<controller::operator_part::cache> caches::list() {
    using cache = controller::operator_part::cache;
    return {cache::of("schedulings", schedulings_), cache::of("testbeds", testbeds_),
            cache::of("batchjobs", jobs_), cache::of("pods", pods_),
            cache::if_served("testbedslotslices", slices_, time_)};
}

void caches::on_change(queues into) {
    into_ = std::move(into);
    schedulings_.items().on_change([this](const auto& what) { scheduling_changed(what); });
    testbeds_.items().on_change([this](const auto& what) { testbed_changed(what); });
    jobs_.items().on_change([this](const auto& what) { job_changed(what); });
    pods_.items().on_change([this](const auto& what) { pod_changed(what); });
}

void caches::feed(controller::write_gate& gate) {
    gate.watch_kind(std::string(types::scheduling.kind),
                    [this](std::string_view ns) { return schedulings().version(ns); });
    gate.watch_kind(std::string(types::testbed.kind),
                    [this](std::string_view ns) { return testbeds().version(ns); });
    gate.watch_kind(std::string(types::batchjob.kind),
                    [this](std::string_view ns) { return jobs().version(ns); });
}

std::vector<object_key> caches::jobs_naming(const object_key& scheduling) const {
    std::vector<object_key> out;
    for (const auto& job : jobs().by_index(by_scheduling, scheduling.text())) {
        out.push_back(job->metadata.key());
    }
    return out;
}

std::vector<std::shared_ptr<const model::scheduling>> caches::sharing(const object_key& testbed,
                                                                      const plan& wants) const {
    objects<model::scheduling> found;
    const auto add = [&](std::string_view index, const object_key& key) {
        for (auto& each : schedulings().by_index(index, key.text())) {
            found.try_emplace(each->metadata.key(), std::move(each));
        }
    };
    add(by_testbed, testbed);
    for (const auto& job : wants.jobs) add(by_job, job.name);
    std::vector<std::shared_ptr<const model::scheduling>> out;
    for (auto& [key, each] : found) out.push_back(std::move(each));
    return out;
}

objects<model::batchjob> caches::jobs_of_holder(std::string_view scheduling_uid) const {
    return by_key(jobs().by_index(by_holder, scheduling_uid));
}

objects<model::batchjob> caches::jobs_placed_in(const object_key& testbed) const {
    return by_key(jobs().by_index(by_testbed, testbed.text()));
}

// --- which change enqueues which key; each reconcile reads everything again ---

void caches::enqueue_by(std::string_view index, const object_key& key) const {
    for (const auto& found : schedulings().by_index(index, key.text())) {
        if (!is_over(found->status) || found->metadata.deleting() ||
            !found->status.releasing.empty()) {
            into_.scheduling(found->metadata.key());
        }
    }
}

void caches::enqueue_rivals(const model::scheduling& of) const {
    enqueue_by(by_testbed, testbed_of(of));
    for (const auto& job : jobs_named_by(of)) enqueue_by(by_job, object_key::from_text(job));
}

void caches::enqueue_younger(const object_key& than) const {
    for (const auto& each : schedulings().by_index(by_rival, than.text())) {
        into_.scheduling(each->metadata.key());
    }
}

void caches::scheduling_changed(const kube::change<model::scheduling>& what) const {
    const auto& any = what.after ? what.after : what.before;
    const auto key = any->metadata.key();
    into_.scheduling(key);
    const bool other =
        !what.before || !what.after || what.before->metadata.uid != what.after->metadata.uid;
    if (other || what.before->metadata.generation != what.after->metadata.generation ||
        what.before->metadata.deleting() != what.after->metadata.deleting() ||
        what.before->status.state != what.after->status.state ||
        what.before->status.releasing != what.after->status.releasing ||
        cycle_changed(what.before->status, what.after->status)) {
        if (what.before) enqueue_rivals(*what.before);
        if (what.after) enqueue_rivals(*what.after);
    }
    if (!other || !what.before) return;
    into_.testbed_orphan(testbed_of(*what.before));
    for (const auto& job : jobs_naming(key)) into_.job_orphan(job);
}

void caches::testbed_changed(const kube::change<model::testbed>& what) const {
    const auto& any = what.after ? what.after : what.before;
    enqueue_by(by_testbed, any->metadata.key());
    // Also a Scheduling that is over, which has to give it back.
    if (const auto* maker = grid::maker_of(*any)) {
        into_.scheduling({any->metadata.namespace_, maker->name});
    }
    if (!what.after) return;
    if (what.after->hold().empty() && what.after->holder().name.empty()) return;
    into_.scheduling(what.after->holder());
    into_.testbed_orphan(any->metadata.key());
}

void caches::job_changed(const kube::change<model::batchjob>& what) const {
    const auto& any = what.after ? what.after : what.before;
    enqueue_by(by_job, any->metadata.key());
    for (const auto& version : {what.before, what.after}) {
        if (!version) continue;
        if (const auto& active = version->spec.active_scheduling) into_.scheduling(active->key());
    }
    if (what.after) into_.job_orphan(any->metadata.key());
    // What an orphan's release waits for: its runs under way, and their pods on record.
    std::set<std::string> holders;
    for (const auto& version : {what.before, what.after}) {
        if (!version) continue;
        holders.merge(holders_of(*version));
        const auto placed = grid::placed_in(*version);
        const auto testbed = testbeds().find(placed);
        if (testbed && !testbed->hold().empty()) into_.testbed_orphan(placed);
    }
    enqueue_held_by(holders);
}

void caches::enqueue_held_by(const std::set<std::string>& scheduling_uids) const {
    for (const auto& uid : scheduling_uids) {
        for (const auto& testbed : testbeds().by_index(by_holder, uid)) {
            into_.testbed_orphan(testbed->metadata.key());
        }
    }
}

void caches::pod_changed(const kube::change<model::pod>& what) const {
    const auto& any = what.after ? what.after : what.before;
    const auto key = any->testbed();
    for (const auto& found : schedulings().by_index(at_work_in, key.text())) {
        into_.scheduling(found->metadata.key());
    }
    if (!any->is_ghost() && !what.after) into_.testbed_orphan(key);
}

void caches::rows_changed(const object_key& testbed) const {
    enqueue_by(by_testbed, testbed);
    const auto found = testbeds().find(testbed);
    if (found && !found->hold().empty()) into_.testbed_orphan(testbed);
}

}  // namespace esi::scheduling

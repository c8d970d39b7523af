// The leftovers of a run that has ended or was released: which are kept, and which are deleted.
#include <fmt/format.h>

#include <algorithm>

#include "batchjob/decider.h"
#include "model/names.h"

namespace esi::batchjob {

namespace names = model::names;

namespace {

/// The watches of a driver and of its application show their ends at different times.
constexpr seconds coordinator_patience{60};

/// How long the deletion of an application or a pod may take before it is reported.
constexpr seconds deletion_patience{60};

/// A status is not a list of pods.
constexpr std::size_t most_stuck_pods = 3;

}  // namespace

/// A driver that was taken over and has ended belongs to its author again: it holds no room, and
/// its log is wanted.
bool decider::is_handed_back(const application& app) const {
    return seen_.kind->adopts() && app.final();
}

bool decider::is_handed_back(const model::pod& pod) const {
    return seen_.kind && seen_.kind->adopts() && pod.terminal() &&
           seen_.kind->role_of(pod, job_.metadata.name) == pod_role::coordinator;
}

/// True: a pod of an earlier run: a coordinator, or a pod whose owner exists. A pod that only
/// carries the run's annotation does not delay the release.
bool decider::is_leftover(const model::pod& pod) const {
    if (pod.metadata.annotation(names::run).empty()) return false;
    if (is_handed_back(pod)) return false;
    if (seen_.kind->role_of(pod, job_.metadata.name) == pod_role::coordinator) return true;
    // A foreign finalizer keeps the pod.
    if (pod.metadata.deleting() && !pod.may_run()) return false;
    const auto* owner = pod.metadata.controller_owner();
    if (!owner) return false;
    return owner->kind != "Pod" || std::ranges::any_of(seen_.pods, [&](const pod_pointer& other) {
               return other->metadata.uid == owner->uid;
           });
}

void decider::clear_assignment() {
    status_.slots.reset();
    status_.slot_ids.clear();
    status_.replication.reset();
    // A pod whose run annotation was removed may not be deleted, because it names no run. It is a
    // stranger from now on: the testbed operator sees it in its slot for as long as it exists.
    std::erase_if(status_.placements, [&](const model::placement& entry) {
        return std::ranges::any_of(seen_.pods, [&](const pod_pointer& pod) {
            return pod->metadata.uid == entry.pod_uid &&
                   pod->metadata.annotation(names::run).empty();
        });
    });
    drop_ended_placements();
}

/// All placements are kept while one of their pods lives: nothing else proves which slots are
/// taken.
void decider::drop_ended_placements() {
    const bool taken = std::ranges::any_of(status_.placements, [&](const auto& entry) {
        return seen_.placed_alive.contains(entry.pod_uid);
    });
    if (!taken) status_.placements.clear();
}

/// The coordinator of a kept application is kept, too: its log shows why the run ended. But a
/// coordinator that still runs a minute after its application has failed would create workers for
/// ever. (This happens: an application's operator restarts, submits again, is told that the
/// coordinator exists, and reports a failure.)
bool decider::coordinator_may_stay(const model::pod& pod) {
    if (pod.terminal() || status_.runs.empty()) return true;
    const auto& stopped = status_.runs.back().stopped;
    if (!stopped) return true;
    const auto end = stopped->value;
    if (!is_near(end, coordinator_patience)) return false;
    reconcile_in(end + coordinator_patience - now_);
    return true;
}

void decider::remove_leftovers(std::string_view keep_run, bool application_stays) {
    const auto* there = ours(app()) ? app() : nullptr;
    application_stays = application_stays || (there && is_handed_back(*there));
    const auto asked = [this](const model::object_meta& meta) {
        return meta.deleting() || seen_.deletion_answered.contains(meta.uid);
    };
    const std::string why =
        keep_run.empty() ? "the run was released" : fmt::format("run {} has ended", keep_run);
    if (there && !application_stays && !asked(there->metadata)) {
        out_.next = delete_application{there->metadata.name, there->metadata.uid,
                                       std::string(there->run()), why};
        return;
    }
    if (there) report_stuck_deletion(there->metadata);
    delete_pods leftovers;
    leftovers.why = why;
    delete_pods overdue{{}, why, true};
    for (const auto& pod : seen_.pods) {
        const auto run = pod->metadata.annotation(names::run);
        if (run.empty() || asked(pod->metadata)) continue;
        // A Deployment would replace the pod for as long as the application exists.
        if (there && seen_.kind->keeps_pods() && run == there->run()) continue;
        const bool coordinator =
            seen_.kind && seen_.kind->role_of(*pod, job_.metadata.name) == pod_role::coordinator;
        if (is_handed_back(*pod)) continue;
        const bool of_run = coordinator && run == keep_run;
        if (!application_stays || !of_run) {
            leftovers.pods.push_back(pod);
        } else if (!coordinator_may_stay(*pod)) {
            overdue.pods.push_back(pod);
        }
    }
    if (leftovers.pods.empty()) leftovers = std::move(overdue);
    if (!leftovers.pods.empty()) out_.next = std::move(leftovers);
    report_stuck_pods();
}

/// Why a pod that is being deleted is still there; empty where it may go by itself.
std::string decider::why_it_stays(const model::pod& pod, const model::timestamp& deleted) const {
    const auto& meta = pod.metadata;
    const auto since = deleted.whole_seconds();
    if (pod.may_run()) {
        return fmt::format(
            "pod {} was to end until {}, and the kubelet of node {} has not reported its end: its "
            "slot stays closed; kubectl describe node {}",
            meta.name, since, pod.node_name, pod.node_name);
    }
    if (meta.finalizers.empty()) return {};
    return fmt::format(
        "pod {} was deleted at {} and is kept by the finalizer {}: nothing waits for it, and {}; "
        "its author takes the finalizer away",
        meta.name, since, meta.finalizers.front(),
        pod.terminal() ? "its slot is free" : "it never gets a node");
}

/// Reports pods of ended runs whose objects stay. A pod without an owner only claims to be of a
/// run.
void decider::report_stuck_pods() {
    std::size_t reported = 0;
    for (const auto& pod : seen_.pods) {
        const auto& meta = pod->metadata;
        if (!meta.deletion_timestamp || meta.annotation(names::run).empty() ||
            !meta.controller_owner()) {
            continue;
        }
        const auto patience = meta.deletion_timestamp->value + deletion_patience;
        if (now_ < patience) {
            reconcile_in(patience - now_);
            continue;
        }
        auto why = why_it_stays(*pod, *meta.deletion_timestamp);
        if (why.empty() || ++reported > most_stuck_pods) continue;
        if (reason_.empty()) {
            set_reason("PodStays", why);
        } else {
            add_problem(std::move(why));
        }
    }
    if (reported > most_stuck_pods) {
        add_problem(
            fmt::format("{} more pods of ended runs are still there", reported - most_stuck_pods));
    }
}

/// True: the application should have gone a minute ago and a finalizer keeps its object. If none of
/// its pods is in a slot any more, a release does not wait for the author of the finalizer.
bool decider::is_only_kept(const application& app) const {
    const auto& meta = app.metadata;
    return meta.deletion_timestamp && !meta.finalizers.empty() && seen_.placed_alive.empty() &&
           now_ >= meta.deletion_timestamp->value + deletion_patience;
}

/// An application with a finalizer exists until its operator removes the finalizer; until then its
/// pods hold their slots.
void decider::report_stuck_deletion(const model::object_meta& meta) {
    if (!meta.deletion_timestamp || meta.finalizers.empty()) return;
    const auto patience = meta.deletion_timestamp->value + deletion_patience;
    if (now_ < patience) return reconcile_in(patience - now_);
    set_reason("ApplicationStays",
               fmt::format("{} {} was deleted at {} and is still there: finalizer {} waits for its "
                           "operator; does the {} operator run?",
                           seen_.kind->resource().kind, meta.name,
                           meta.deletion_timestamp->whole_seconds(), meta.finalizers.front(),
                           seen_.kind->type()));
}

}  // namespace esi::batchjob

#include "check/at_rest.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/application_kinds.h"
#include "model/conditions.h"
#include "model/names.h"

namespace esi::simulation::checks {

namespace names = model::names;
namespace job_state = model::job_state;
namespace reasons = model::condition_reason;
namespace states = model::scheduling_state;

namespace {

std::string name_of(const model::object_meta& meta) { return meta.key().text(); }

const model::condition* condition_of(const std::vector<model::condition>& list,
                                     std::string_view type) {
    return model::find_condition(list, type);
}

/// By the reason that is told: its age, or its priority.
bool goes_before(const model::scheduling& one, const model::scheduling& other,
                 std::string_view reason) {
    const int of_one = one.spec.priority.value_or(0);
    const int of_other = other.spec.priority.value_or(0);
    if (reason == reasons::priority_first) return of_one > of_other;
    return model::older(one.metadata, other.metadata);
}

std::vector<model::object_key> jobs_of(const model::scheduling& who) {
    std::vector<model::object_key> out;
    auto add = [&](model::object_key job) {
        if (job.namespace_.empty()) job.namespace_ = who.metadata.namespace_;
        out.push_back(std::move(job));
    };
    if (who.spec.queue_based) std::ranges::for_each(*who.spec.queue_based, add);
    if (who.spec.pool_based) {
        for (const auto& job : who.spec.pool_based->jobs) add(job.name);
    }
    if (who.spec.slot_based) {
        for (const auto& job : who.spec.slot_based->jobs) add(job.name);
    }
    return out;
}

}  // namespace

void rest_rules::judge() {
    nothing_is_being_deleted();
    holds_have_holders();
    jobs_name_who_exists();
    for (const auto& [name, record] : all_.schedulings) {
        schedulings_rest_for_a_reason(*record.scheduling);
        reason_is_true(*record.scheduling);
        who_waits_holds_nothing(*record.scheduling);
        assignments_have_ended(*record.scheduling);
        no_start_is_withheld(*record.scheduling);
    }
    for (const auto& [uid, pod] : all_.pods) {
        no_pod_is_left_over(pod);
        no_pod_waits_for_nothing(pod);
    }
    for (const auto& [uid, app] : all_.applications) no_application_is_left_over(app);
    for (const auto& [name, record] : all_.jobs) job_tells_the_truth(*record.job);
    taints_are_where_they_belong();
    for (const auto& [name, bed] : all_.testbeds) {
        layout_is_current(bed);
        slots_are_filled(bed);
        nobody_younger_is_in_the_way(bed);
        testbed_tells_the_truth(bed);
    }
}

void rest_rules::nothing_is_being_deleted() {
    std::vector<const kube::resource_type*> types{&kinds::testbed, &kinds::batchjob,
                                                  &kinds::scheduling, &kinds::pod};
    for (const auto& kind : application_kinds()) types.push_back(kind.type);
    for (const auto* type : types) {
        for (const auto& each : objects_.all(*type)) {
            const bool deleting = !at(each->body(), {"metadata", "deletionTimestamp"}).is_null();
            if (!deleting) {
                out_.require(true, "stuck-deletion", {}, [] { return std::string(); });
                continue;
            }
            // A held Testbed waits for its holder, which may keep it for ever.
            if (type->plural == kinds::testbed.plural) {
                const auto* bed = all_.testbed({each->ns(), each->name()});
                const auto* holder =
                    bed ? all_.scheduling_by_uid(grid::scheduling_uid_of_hold(bed->testbed->hold()))
                        : nullptr;
                if (holder && !holder->scheduling->metadata.deleting()) continue;
            }
            if (type->plural == kinds::scheduling.plural && a_pod_cannot_end(each->uid())) continue;
            // Its author keeps it by a finalizer; no other object waits for it.
            const auto pod = all_.pods.find(each->uid());
            if (pod != all_.pods.end() && (pod->second.forged || pod->second.only_kept())) continue;
            // Only its kubelet can report that a pod has ended.
            if (is_silent(each->body().value(json::json_pointer("/spec/nodeName"), std::string())))
                continue;
            out_.require(false, "stuck-deletion", {}, [&] {
                return fmt::format("{} {}/{} is still being deleted, finalizers {}", type->kind,
                                   each->ns(), each->name(),
                                   at(each->body(), {"metadata", "finalizers"}).dump());
            });
        }
    }
}

void rest_rules::holds_have_holders() {
    for (const auto& [name, record] : all_.testbeds) {
        const auto hold = record.testbed->hold();
        if (hold.empty()) continue;
        const auto uid = grid::scheduling_uid_of_hold(hold);
        out_.require(all_.scheduling_by_uid(uid) != nullptr, "orphan-hold", {}, [&] {
            return fmt::format("Testbed {} shows the hold {} of {}, which is gone", name.text(),
                               hold, record.testbed->holder().text());
        });
    }
}

void rest_rules::jobs_name_who_exists() {
    for (const auto& [name, record] : all_.jobs) {
        const auto& spec = record.job->spec;
        if (spec.active_scheduling) {
            auto found = all_.schedulings.find(spec.active_scheduling->key());
            const bool there =
                found != all_.schedulings.end() &&
                (spec.active_scheduling->uid.empty() ||
                 found->second.scheduling->metadata.uid == spec.active_scheduling->uid);
            out_.require(there, "orphan-job", {}, [&] {
                return fmt::format("BatchJob {} names Scheduling {} ({}), which is gone",
                                   name.text(), spec.active_scheduling->key().text(),
                                   spec.active_scheduling->uid);
            });
        } else {
            out_.require(!spec.creation_request, "orphan-job", {}, [&] {
                return fmt::format("BatchJob {} has an order (run {}) of nobody", name.text(),
                                   spec.creation_request->run);
            });
        }
    }
}

void rest_rules::schedulings_rest_for_a_reason(const model::scheduling& who) {
    const auto& status = who.status;
    const auto& state = status.state;
    const bool done =
        state == states::completed || state == states::finished || state == states::error;
    const auto* acquired = condition_of(status.conditions, model::condition_type::acquired);
    const bool waits = !status.waiting_for.empty() ||
                       (state == states::acquire && acquired && acquired->status == "False");
    out_.require(done || waits, "scheduling-stuck", {who.metadata.uid + "/status"}, [&] {
        return fmt::format("Scheduling {} rests in state \"{}\" and waits for nothing",
                           name_of(who.metadata), state);
    });
    out_.require(status.observed_generation == who.metadata.generation || who.metadata.deleting(),
                 "status-stale", {who.metadata.uid + "/status"}, [&] {
                     return fmt::format("Scheduling {}: observedGeneration {} of {}",
                                        name_of(who.metadata), status.observed_generation,
                                        who.metadata.generation);
                 });
    if (!status.releasing.empty()) {
        const bool runs = std::ranges::any_of(all_.pods, [&](const auto& entry) {
            return all_.keeps_its_slot(entry.second) &&
                   grid::scheduling_uid_of_hold(grid::hold_of_run(entry.second.pod->run())) ==
                       who.metadata.uid;
        });
        out_.require(runs, "release-stuck", {who.metadata.uid + "/status"}, [&] {
            return fmt::format(
                "Scheduling {} still releases ({}) and waits for \"{}\", though no "
                "pod carries a run of it",
                name_of(who.metadata), status.releasing, status.waiting_for);
        });
    }
    if (!status.progress || status.assignments.empty() || status.assignments.size() >= 100) return;
    const auto ended = [&](bool good) {
        return std::ranges::count_if(status.assignments, [&](const auto& each) {
            return each.ended && (each.outcome == model::assignment_outcome::succeeded) == good;
        });
    };
    // Its next attempt may wait for a pause to end.
    if (!who.spec.job_policies.empty()) return;
    const auto& counts = *status.progress;
    out_.require(counts.done == ended(true) && counts.failed >= ended(false), "status-stale",
                 {who.metadata.uid + "/status"}, [&] {
                     return fmt::format(
                         "Scheduling {}: progress says {} done, {} failed of {}; "
                         "its assignments say {} and {}",
                         name_of(who.metadata), counts.done, counts.failed, counts.total,
                         ended(true), ended(false));
                 });
}

void rest_rules::who_waits_holds_nothing(const model::scheduling& who) {
    const auto& uid = who.metadata.uid;
    if (who.status.state != states::acquire || !who.status.releasing.empty()) return;
    const auto text = [&](const model::object_key& what) {
        return fmt::format("Scheduling {} waits to acquire all and keeps {}", name_of(who.metadata),
                           what.text());
    };
    for (const auto& [name, record] : all_.testbeds) {
        const auto& bed = *record.testbed;
        out_.require(grid::scheduling_uid_of_hold(bed.hold()) != uid, "waits-and-holds", {},
                     [&] { return text(name); });
    }
    for (const auto& [name, record] : all_.jobs) {
        const auto& active = record.job->spec.active_scheduling;
        out_.require(!active || active->uid != uid, "waits-and-holds", {},
                     [&] { return text(name); });
    }
}

void rest_rules::reason_is_true(const model::scheduling& who) {
    const auto* acquired = condition_of(who.status.conditions, model::condition_type::acquired);
    if (who.status.state != states::acquire || !acquired || acquired->status != "False" ||
        who.metadata.deleting()) {
        return;
    }
    const auto& reason = acquired->reason;
    const auto* bed = all_.testbed(testbed_of(who));
    const auto jobs = jobs_of(who);
    const auto any_job = [&](auto what) {
        return std::ranges::any_of(jobs, [&](const auto& key) { return what(all_.job(key)); });
    };
    bool right = true;
    if (reason == reasons::testbed_missing) right = bed == nullptr;
    if (reason == reasons::testbed_held) {
        const auto uid = bed ? grid::scheduling_uid_of_hold(bed->testbed->hold()) : "";
        right = !uid.empty() && uid != who.metadata.uid;
    }
    if (reason == reasons::not_allowed) {
        const auto& ns = who.metadata.namespace_;
        const auto foreign = [&](const auto& key) { return key.namespace_ != ns; };
        right = std::ranges::any_of(jobs, foreign) ||
                (foreign(testbed_of(who)) && (!bed || !bed->testbed->is_offered_to(ns)));
    }
    if (reason == reasons::testbed_deleting) right = bed && bed->testbed->metadata.deleting();
    if (reason == reasons::testbed_empty) {
        right = bed && (!bed->testbed->status.layout || bed->testbed->status.layout->nodes.empty());
    }
    if (reason == reasons::job_missing) right = any_job([](const auto* job) { return !job; });
    if (reason == reasons::job_failed) {
        right = any_job([](const auto* job) {
            return job && (job->job->status.state == job_state::failed ||
                           job->job->status.state == job_state::failed_submission);
        });
    }
    if (reason == reasons::job_held) {
        right = any_job([&](const auto* job) {
            return job && job->job->spec.active_scheduling &&
                   job->job->spec.active_scheduling->uid != who.metadata.uid;
        });
    }
    if (reason == reasons::suspended) right = who.spec.suspend.value_or(false);
    // With a ghost in each of its places it is held.
    if (reason == reasons::waits_for_claim) {
        const auto* layout =
            bed && bed->testbed->status.layout ? &*bed->testbed->status.layout : nullptr;
        right = !layout || layout->places.empty() ||
                std::ssize(free_slots_of(*bed->testbed)) < grid::count_of_slots(*layout);
    }
    if (reason == reasons::plan_empty) {
        right = std::ranges::all_of(jobs, [&](const auto& key) { return is_cancelled(who, key); });
    }
    // These pass by themselves, and so does the end of a release.
    if (reason == reasons::job_not_ready || reason == reasons::testbed_not_ready ||
        reason == reasons::released) {
        right = false;
    }
    // A Scheduling that could start has started by now; what an older one cannot get delays no
    // other.
    if (reason == reasons::older_first || reason == reasons::priority_first) {
        right = std::ranges::any_of(all_.schedulings, [&](const auto& entry) {
            const auto& other = *entry.second.scheduling;
            const auto& named = who.status.waiting_for_schedulings;
            return other.metadata.uid != who.metadata.uid && goes_before(other, who, reason) &&
                   !other.status.releasing.empty() &&
                   std::ranges::find(named, other.metadata.key()) != named.end();
        });
    }
    out_.require(right, "untrue-reason", {who.metadata.uid + "/status"}, [&] {
        return fmt::format("Scheduling {} waits, reason {} ({}), which is not so (any more)",
                           name_of(who.metadata), reason, acquired->message);
    });
}

bool rest_rules::is_silent(const std::string& node) const {
    const auto found = all_.nodes.find(node);
    return found != all_.nodes.end() && found->second.node && !found->second.node->ready;
}

bool rest_rules::a_pod_cannot_end(std::string_view of) const {
    return std::ranges::any_of(all_.pods, [&](const auto& each) {
        const auto& pod = *each.second.pod;
        return pod.metadata.deleting() && pod.run().starts_with(of) && is_silent(pod.node_name);
    });
}

const model::assignment* rest_rules::counting(std::string_view run) const {
    for (const auto& [name, record] : all_.schedulings) {
        for (const auto& each : record.scheduling->status.assignments) {
            if (each.run == run) return each.ended ? nullptr : &each;
        }
    }
    return nullptr;
}

/// Whose end has begun has been taken back by now, unless it has ended by itself.
void rest_rules::end_is_under_way(const model::scheduling& who, const model::assignment& given) {
    if (given.ending.empty()) return;
    const auto* job = all_.job(given.job.key());
    if (!job || job->job->metadata.uid != given.job.uid) return;
    const auto& active = job->job->spec.active_scheduling;
    const bool ours = active && active->uid == who.metadata.uid;
    out_.require(!ours || model::is_final(job->job->status.state), "ending-ignored",
                 {who.metadata.uid + "/status"}, [&] {
                     return fmt::format(
                         "Scheduling {} ends run {} of {} ({}), and leaves it the job",
                         name_of(who.metadata), given.run, given.job.key().text(), given.ending);
                 });
}

void rest_rules::assignments_have_ended(const model::scheduling& who) {
    for (const auto& given : who.status.assignments) {
        if (given.ended) continue;
        end_is_under_way(who, given);
        // As long as a pod of the run is on record, the slots are not given away.
        const bool carried = std::ranges::any_of(all_.pods, [&](const auto& each) {
            return each.second.pod->run() == given.run && all_.on_record(each.second);
        });
        if (carried) continue;
        // A release ends all of them together, when the last pod has gone.
        if (who.metadata.deleting() && a_pod_cannot_end(who.metadata.uid)) continue;
        const auto* job = all_.job(given.job.key());
        std::string why;
        if (!job || job->job->metadata.uid != given.job.uid) {
            why = "is gone";
        } else if (const auto& active = job->job->spec.active_scheduling;
                   !active || active->uid != who.metadata.uid) {
            why = "no longer names it";
        } else if (model::is_final(job->job->status.state)) {
            why = "is " + job->job->status.state;
        } else {
            const auto& order = job->job->spec.creation_request;
            out_.require(order && order->run == given.run, "order-missing",
                         {who.metadata.uid + "/status"}, [&] {
                             return fmt::format(
                                 "Scheduling {} assigned run {} to {}, which has no "
                                 "order for it",
                                 name_of(who.metadata), given.run, given.job.key().text());
                         });
            continue;
        }
        out_.require(false, "assignment-not-ended", {who.metadata.uid + "/status"}, [&] {
            return fmt::format(
                "Scheduling {}: the assignment of {} (run {}) has not ended, though "
                "the job {}",
                name_of(who.metadata), given.job.key().text(), given.run, why);
        });
    }
}

void rest_rules::no_pod_is_left_over(const pod_record& pod) {
    if (!pod.of_slot() || pod.pod->run().empty()) return;
    // A driver that has ended stays with its application, for who reads its log.
    const auto* job = all_.job_of(*pod.pod);
    const bool kept = job && job->job->spec.creation_request &&
                      job->job->spec.creation_request->run == pod.pod->run();
    if (kept && !pod.live() && !pod.pod->metadata.deleting()) return;
    if (pod.only_kept()) return;
    out_.require(counting(pod.pod->run()) != nullptr, "leftover-pod", {}, [&] {
        return fmt::format("pod {} ({}) of run {} is still there, though the run is over",
                           pod.name(), pod.pod->phase, pod.pod->run());
    });
}

void rest_rules::no_application_is_left_over(const application_record& app) {
    if (app.run.empty() || app.owner_uid.empty()) return;
    const job_record* job = nullptr;
    for (const auto& [name, record] : all_.jobs) {
        if (record.job->metadata.uid == app.owner_uid) job = &record;
    }
    const bool present =
        job && job->job->spec.creation_request && job->job->spec.creation_request->run == app.run;
    out_.require(present, "leftover-application", {}, [&] {
        return fmt::format("{} {} of run {} is still there, though the run was released", app.kind,
                           name_of(app.metadata), app.run);
    });
}

void rest_rules::no_pod_waits_for_nothing(const pod_record& pod) {
    if (!pod.of_slot() || !pod.ever_gated || grid::let_in(*pod.pod) || !pod.live()) return;
    const auto* job = all_.job_of(*pod.pod);
    const auto* bed = all_.testbed(pod.pod->testbed());
    if (!job || !bed || !has_right(*job->job, *bed->testbed)) return;
    if (pod.pod->scheduling_gates.size() != 1) return;
    for (const auto& entry : job->job->status.placements) {
        if (entry.pod_uid != pod.pod->metadata.uid) continue;
        const auto where = place_of(*bed->testbed, entry.slot);
        if (!where || !healthy(*bed->testbed, where->node) || all_.in_place.contains(*where)) {
            continue;
        }
        const auto size = size_of(*bed->testbed, *where);
        const bool fitting = has_room(*bed, *where) && fits(pod.pod->requests, size);
        out_.require(!fitting, "gated-for-nothing", {}, [&] {
            return fmt::format(
                "pod {} is placed in {}, which has its room, and still waits at its "
                "gate",
                pod.name(), where->text());
        });
    }
}

void rest_rules::job_tells_the_truth(const model::batchjob& job) {
    const auto& status = job.status;
    if (job.metadata.deleting()) return;
    out_.require(status.observed_generation == job.metadata.generation, "status-stale", {}, [&] {
        return fmt::format("BatchJob {}: observedGeneration {} of {}", name_of(job.metadata),
                           status.observed_generation, job.metadata.generation);
    });
    const bool failed =
        status.state == job_state::failed || status.state == job_state::failed_submission;
    const bool free = !job.spec.active_scheduling && !job.spec.creation_request;
    bool right = true;
    if (free) {
        const auto* last = status.runs.empty() ? nullptr : &status.runs.back();
        const bool waits =
            status.state == job_state::pending_deletion && last && a_pod_cannot_end(last->run);
        right = status.state == job_state::ready || failed || waits;
    }
    if (job.spec.active_scheduling && !job.spec.creation_request) {
        right = status.state == job_state::in_queue || failed;
    }
    // An order leads to a run or to its end; one that cannot begin yet stays in the queue.
    if (job.spec.active_scheduling && job.spec.creation_request) {
        right = status.state != job_state::ready && status.state != job_state::pending_deletion;
    }
    out_.require(right, "status-stale", {}, [&] {
        return fmt::format("BatchJob {} rests in state \"{}\", {} Scheduling and {} order",
                           name_of(job.metadata), status.state,
                           job.spec.active_scheduling ? "with a" : "without a",
                           job.spec.creation_request ? "with an" : "without an");
    });
}

}  // namespace esi::simulation::checks

// The rules of a BatchJob: which Scheduling may have it, its order, its application, its
// placements.
#include <fmt/format.h>

#include <algorithm>

#include "check/rights.h"
#include "plan/plan.h"

namespace esi::simulation::checks {

namespace job_state = model::job_state;

namespace {

bool contains(const std::vector<int>& list, int what) {
    return std::ranges::find(list, what) != list.end();
}

std::string name_of(const model::object_meta& meta) { return meta.key().text(); }

bool wants(const model::scheduling& who, const model::object_key& job) {
    auto is = [&](model::object_key each) {
        if (each.namespace_.empty()) each.namespace_ = who.metadata.namespace_;
        return each == job;
    };
    const auto& spec = who.spec;
    return (spec.queue_based && std::ranges::any_of(*spec.queue_based, is)) ||
           (spec.pool_based &&
            std::ranges::any_of(spec.pool_based->jobs, is, &model::pool_job::name)) ||
           (spec.slot_based &&
            std::ranges::any_of(spec.slot_based->jobs, is, &model::slot_job::name));
}

}  // namespace

void rights_rules::job_changed(const job_record& before, const job_record& after) {
    const auto& was = before.job->spec.active_scheduling;
    const auto& is = after.job->spec.active_scheduling;
    if (was != is) {
        if (!was) {
            job_is_acquired_when_ready(before, after);
        } else {
            job_is_released_by_its_holder(before, after);
        }
    }
    if (before.job->spec.creation_request != after.job->spec.creation_request) {
        order_follows_the_assignment(before, after);
    }
    if (before.job->status.placements != after.job->status.placements) {
        placements_are_of_the_run(before, after);
    }
    const bool reported = at(before.raw->body(), {"status"}) != at(after.raw->body(), {"status"});
    if (!reported) return;
    ready_means_nothing_is_left(after);
    running_means_an_application_of_the_run(after);
    result_is_what_the_application_said(before, after);
}

void rights_rules::job_is_acquired_when_ready(const job_record& before, const job_record& after) {
    const auto& job = *before.job;
    const auto& by = *after.job->spec.active_scheduling;
    out_.require(by.namespace_ != hostile_namespace || job.metadata.namespace_ == by.namespace_,
                 "forgery-heeded", {}, [&] {
                     return fmt::format("BatchJob {} was acquired by {} of another namespace",
                                        name_of(job.metadata), by.key().text());
                 });
    const bool ready = job.status.state == job_state::ready &&
                       job.status.observed_generation == job.metadata.generation;
    out_.require(ready, "acquired-unready", {job.metadata.uid}, [&] {
        return fmt::format(
            "BatchJob {} was acquired by {} in state \"{}\", observedGeneration {} "
            "of {}",
            name_of(job.metadata), after.job->spec.active_scheduling->key().text(),
            job.status.state, job.status.observed_generation, job.metadata.generation);
    });
}

void rights_rules::job_is_released_by_its_holder(const job_record& before,
                                                 const job_record& after) {
    const auto& job = after.job->metadata;
    const auto& was = *before.job->spec.active_scheduling;
    const auto& is = after.job->spec.active_scheduling;
    out_.require(!is, "job-taken-over", {job.uid}, [&] {
        return fmt::format("BatchJob {} went from {} ({}) to {} ({}) without a release",
                           name_of(job), was.key().text(), was.uid, is->key().text(), is->uid);
    });
    if (is) return;
    const auto* holder = all_.scheduling_by_uid(was.uid);
    if (!holder) return;
    const auto& who = *holder->scheduling;
    if (!who.status.releasing.empty()) return;
    // An end that has begun, or a plan whose time is over, takes jobs back.
    const bool assigned = std::ranges::any_of(who.status.assignments, [&](const auto& each) {
        return each.job.uid == job.uid && !each.ended && each.ending.empty();
    });
    const bool ends = std::ranges::any_of(who.status.assignments, [&](const auto& each) {
        return each.job.uid == job.uid && !each.ended && !each.ending.empty();
    });
    // A plan that was changed a moment ago may have been read before.
    const bool settled = here_.now() > holder->spec_changed + std::chrono::minutes(10) ||
                         who.metadata.generation <= 1;
    const bool wanted = settled && !ends && !is_cancelled(who, job.key()) &&
                        !who.spec.active_deadline_seconds && wants(who, job.key());
    const auto bed_uid = all_.testbed_uid(testbed_of(who));
    out_.require(!assigned && !wanted, "job-taken-over", {job.uid, who.metadata.uid, bed_uid}, [&] {
        return fmt::format("BatchJob {} was released though Scheduling {} {} and releases nothing",
                           name_of(job), name_of(who.metadata),
                           assigned ? "has assigned it" : "wants it");
    });
}

void rights_rules::order_follows_the_assignment(const job_record& before, const job_record& after) {
    const auto& job = *after.job;
    const auto& order = job.spec.creation_request;
    if (!order) return;
    const auto& meta = job.metadata;
    const auto& earlier = before.job->spec.creation_request;
    const auto text = [&] {
        return fmt::format("BatchJob {} was ordered to start as run {} in slots {}", name_of(meta),
                           order->run, grid::show_slot_list(order->slot_ids));
    };
    const auto uid = grid::scheduling_uid_of_hold(grid::hold_of_run(order->run));
    // When a person deletes the assignments in a Scheduling's status, the operator makes new ones.
    out_.require(!earlier || earlier->run == order->run, "order-replaced",
                 {meta.uid, std::string(uid)},
                 [&] { return text() + ", before run " + earlier->run + " was released"; });
    const auto& active = job.spec.active_scheduling;
    out_.require(active && active->uid == uid, "order-by-another", {meta.uid}, [&] {
        return fmt::format("{}, but it names {}", text(),
                           active ? active->key().text() + " (" + active->uid + ")" : "nobody");
    });
    auto known = all_.rights.find(order->run);
    const bool given = known != all_.rights.end() && known->second.given.job.uid == meta.uid &&
                       known->second.given.slot_ids == order->slot_ids &&
                       known->second.testbed == testbed_of(job);
    out_.require(given, "order-without-assignment", {meta.uid, uid}, [&] {
        return text() + (known == all_.rights.end()
                             ? std::string(", which no Scheduling has assigned")
                             : ", assigned was " + model::encode(known->second.given).dump());
    });
}

void rights_rules::placements_are_of_the_run(const job_record& before, const job_record& after) {
    const auto& job = *after.job;
    const auto& meta = job.metadata;
    const auto& order = job.spec.creation_request;
    std::set<int> slots;
    std::set<std::string_view> pods;
    for (const auto& entry : job.status.placements) {
        const auto text = [&] {
            return fmt::format("BatchJob {} recorded slot {} for pod {} ({})", name_of(meta),
                               entry.slot, entry.pod_name, entry.pod_uid);
        };
        out_.require(slots.insert(entry.slot).second && pods.insert(entry.pod_uid).second,
                     "slot-shared", {meta.uid}, [&] { return text() + " twice"; });
        // One that stays while another goes is nobody's decision.
        const auto& kept = before.job->status.placements;
        if (std::ranges::find(kept, entry) != kept.end()) continue;
        out_.require(order && contains(order->slot_ids, entry.slot), "pod-without-assignment",
                     {meta.uid}, [&] {
                         return fmt::format("{}; its slots are {}", text(),
                                            order ? grid::show_slot_list(order->slot_ids) : "none");
                     });
        const auto known = all_.pods.find(entry.pod_uid);
        out_.require(known == all_.pods.end() || !known->second.forged, "forgery-heeded", {},
                     [&] { return text() + ", which only says that it is of the run"; });
        auto run = all_.runs_of_pods.find(entry.pod_uid);
        const bool of_run = order && run != all_.runs_of_pods.end() && run->second == order->run;
        out_.require(of_run, "pod-without-assignment", {meta.uid, entry.pod_uid}, [&] {
            return fmt::format("{}, whose run is {}, not {}", text(),
                               run == all_.runs_of_pods.end() ? "unknown" : run->second,
                               order ? order->run : "");
        });
    }
    // A slot goes to another pod only when the first is gone or has ended.
    const auto& earlier = before.job->spec.creation_request;
    if (!order || !earlier || earlier->run != order->run) return;
    for (const auto& old : before.job->status.placements) {
        auto now = std::ranges::find(job.status.placements, old.slot, &model::placement::slot);
        if (now == job.status.placements.end() || now->pod_uid == old.pod_uid) continue;
        auto pod = all_.pods.find(old.pod_uid);
        const bool lives = pod != all_.pods.end() && pod->second.live();
        out_.require(!lives, "slot-shared", {meta.uid, old.pod_uid}, [&] {
            return fmt::format("BatchJob {} gave slot {} to pod {} while {} lives", name_of(meta),
                               old.slot, now->pod_name, old.pod_name);
        });
    }
}

void rights_rules::ready_means_nothing_is_left(const job_record& after) {
    const auto& job = *after.job;
    const auto& status = job.status;
    if (status.state != job_state::ready) return;
    std::string what;
    if (!status.placements.empty()) what = "has placements";
    if (!status.slot_ids.empty()) what = "has slots";
    if (status.application) what = "has the application " + status.application->name;
    const bool looked = status.observed_generation == job.metadata.generation;
    if (looked && job.spec.active_scheduling) what = "is held";
    for (const auto& [uid, app] : all_.applications) {
        // One that a paused leader made late was never spoken of.
        if (app.owner_uid == job.metadata.uid && all_.reported_apps.contains(uid)) {
            what = fmt::format("still has its {} of run {}", app.kind, app.run);
        }
    }
    out_.require(what.empty(), "ready-with-leftovers", {job.metadata.uid}, [&] {
        return fmt::format("BatchJob {} is ReadyState and {}", name_of(job.metadata), what);
    });
}

void rights_rules::running_means_an_application_of_the_run(const job_record& after) {
    const auto& job = *after.job;
    const auto& state = job.status.state;
    const auto& app = job.status.application;
    const bool runs = state == job_state::submitted || state == job_state::scheduled ||
                      state == job_state::running;
    if (runs) {
        const auto& order = job.spec.creation_request;
        out_.require(app && order && app->run == order->run, "application-without-assignment",
                     {job.metadata.uid}, [&] {
                         return fmt::format(
                             "BatchJob {} is {} with an application of run {}, its "
                             "order is of run {}",
                             name_of(job.metadata), state, app ? app->run : "-",
                             order ? order->run : "-");
                     });
    }
    if (!app || app->uid.empty()) return;
    auto owner = all_.owners_of_apps.find(app->uid);
    out_.require(owner != all_.owners_of_apps.end() && owner->second == job.metadata.uid,
                 "foreign-application", {job.metadata.uid, app->uid}, [&] {
                     return fmt::format(
                         "BatchJob {} reports {} {} ({}) as its own; its owner is "
                         "\"{}\"",
                         name_of(job.metadata), app->kind, app->name, app->uid,
                         owner == all_.owners_of_apps.end() ? "" : owner->second);
                 });
}

void rights_rules::result_is_what_the_application_said(const job_record& before,
                                                       const job_record& after) {
    const auto& meta = after.job->metadata;
    for (const auto& line : after.job->status.runs) {
        const auto& earlier = before.job->status.runs;
        const auto told = std::ranges::find(earlier, line.run, &model::run_record::run);
        if (told != earlier.end() && told->outcome == line.outcome) continue;
        const auto finished = all_.finished_runs.find(line.run);
        if (line.outcome == model::run_outcome::succeeded) {
            out_.require(finished != all_.finished_runs.end(), "success-untrue", {meta.uid}, [&] {
                return fmt::format(
                    "BatchJob {} tells run {} as a success; its application never did",
                    name_of(meta), line.run);
            });
        } else if (line.outcome != model::run_outcome::running) {
            // It can be read as long as it is there; one that goes must have been seen before.
            const bool there = std::ranges::any_of(
                all_.applications, [&](const auto& entry) { return entry.second.run == line.run; });
            const bool known = finished != all_.finished_runs.end() &&
                               here_.now() > finished->second + seconds(5) &&
                               (there || here_.fresh("batchjob"));
            out_.require(!known, "success-untold", {meta.uid}, [&] {
                return fmt::format(
                    "BatchJob {} tells run {} as {} ({}: {}); its application said "
                    "that all went well",
                    name_of(meta), line.run, line.outcome, line.reason, line.message);
            });
        }
    }
}

void rights_rules::application_added(const application_record& made) {
    if (made.run.empty() || made.owner_uid.empty()) return;
    const auto& meta = made.metadata;
    const auto text = [&] {
        return fmt::format("{} {} of run {} was created", made.kind, name_of(meta), made.run);
    };
    auto known = all_.rights.find(made.run);
    const bool given = known != all_.rights.end() && known->second.given.job.uid == made.owner_uid;
    // By no forged order, whoever may have edited his own job.
    out_.require(given || meta.namespace_ != hostile_namespace, "forgery-heeded", {},
                 [&] { return text() + " by an order that no Scheduling gave"; });
    if (!out_.require(given, "application-without-assignment", {meta.uid, made.owner_uid},
                      [&] { return text() + " without an assignment of it to its owner"; })) {
        return;
    }
    const auto* bed = all_.testbed(known->second.testbed);
    if (here_.fresh("batchjob") && bed) {
        const bool shown = bed->testbed->hold() == grid::hold_of_run(made.run);
        // A person may have removed the hold a moment ago.
        const bool just = here_.now() < bed->hold_changed + seconds(2);
        out_.require(shown || just, "application-without-assignment", {meta.uid, made.owner_uid},
                     [&] {
                         return fmt::format("{} while Testbed {} shows the hold \"{}\"", text(),
                                            known->second.testbed.text(), bed->testbed->hold());
                     });
    }
    // A second one is a mistake where the run still counts: what a paused leader makes late, of a
    // run that is over, takes no slot and is deleted.
    const auto* job = all_.job(known->second.given.job.key());
    const bool counts = job && job->job->metadata.uid == made.owner_uid &&
                        job->job->spec.creation_request &&
                        job->job->spec.creation_request->run == made.run &&
                        !model::is_final(job->job->status.state);
    const bool spoken =
        job && job->job->status.application && job->job->status.application->run == made.run;
    out_.require(all_.applications_of_run[made.run] <= 1 || !counts || !spoken, "application-twice",
                 {meta.uid, made.owner_uid}, [&] { return text() + " for a second time"; });
}

}  // namespace esi::simulation::checks

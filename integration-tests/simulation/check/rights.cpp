#include "check/rights.h"

#include <fmt/format.h>

#include <algorithm>

#include "grid/rights.h"
#include "model/conditions.h"
#include "model/names.h"
#include "plan/plan.h"

namespace esi::simulation::checks {

namespace names = model::names;
namespace job_state = model::job_state;

namespace {

bool same_right(const model::assignment& a, const model::assignment& b) {
    return a.job == b.job && a.slot_ids == b.slot_ids && a.run == b.run && a.since == b.since;
}

const model::assignment* find_run(const std::vector<model::assignment>& list,
                                  std::string_view run) {
    auto found = std::ranges::find(list, run, &model::assignment::run);
    return found == list.end() ? nullptr : &*found;
}

std::string name_of(const model::object_meta& meta) { return meta.key().text(); }

std::int64_t number_of(std::string_view run) {
    std::int64_t out = 0;
    auto text = run.substr(run.rfind('.') + 1);
    for (char c : text) {
        if (c < '0' || c > '9' || out > 1'000'000'000) return -1;
        out = out * 10 + (c - '0');
    }
    return text.empty() ? -1 : out;
}

/// Jobs in the order in which they are to start, without repetitions; empty for relaxed plans and
/// pools. `workers`: places of workers in the layout. A job that names other slots never starts.
std::vector<model::object_key> order_of(const model::scheduling& of, int workers) {
    std::vector<model::object_key> out;
    auto add = [&](model::object_key job) {
        if (job.namespace_.empty()) job.namespace_ = of.metadata.namespace_;
        if (std::ranges::find(out, job) == out.end()) out.push_back(std::move(job));
    };
    if (of.spec.queue_based) {
        for (const auto& job : *of.spec.queue_based) add(job);
        return out;
    }
    if (of.spec.pool_based) return out;
    // The mode stays, the jobs may change.
    const auto& kept = of.status.plan ? of.status.plan->slot_based : of.spec.slot_based;
    if (!kept || kept->mode == "relaxed") return out;
    const auto& jobs = of.spec.slot_based ? of.spec.slot_based->jobs : kept->jobs;
    std::set<model::object_key> named;
    for (const auto& job : jobs) {
        auto name = job.name;
        if (name.namespace_.empty()) name.namespace_ = of.metadata.namespace_;
        // The first entry counts.
        if (!named.insert(name).second) continue;
        if (std::ranges::all_of(job.slot_ids, [&](int id) { return id < workers; })) add(name);
    }
    return out;
}

}  // namespace

// --- Testbed ---

void rights_rules::testbed_changed(const testbed_record& before, const testbed_record& after) {
    hold_names_its_holder(after);
    layout_is_frozen(before, after);
    revision_counts_layouts(before, after);
    const auto was = before.testbed->hold();
    const auto is = after.testbed->hold();
    if (was == is) return;
    if (!is.empty()) {
        hold_is_set_once(before, after);
        hold_is_of_a_ready_testbed(before, after);
        hold_is_of_an_offered_testbed(before, after);
    } else {
        hold_is_removed_last(before);
    }
}

void rights_rules::testbed_gone(const testbed_record& before) {
    const auto& meta = before.testbed->metadata;
    out_.require(before.testbed->hold().empty(), "testbed-gone-while-held", {meta.uid}, [&] {
        return fmt::format("Testbed {} is gone while it shows the hold {} of {}", name_of(meta),
                           before.testbed->hold(), before.testbed->holder().text());
    });
}

void rights_rules::hold_names_its_holder(const testbed_record& after) {
    const auto& testbed = *after.testbed;
    const auto uid = grid::scheduling_uid_of_hold(testbed.hold());
    out_.require(testbed.hold().empty() == testbed.holder().name.empty(), "hold-torn",
                 {testbed.metadata.uid}, [&] {
                     return fmt::format("Testbed {} shows hold \"{}\" and the holder's name \"{}\"",
                                        name_of(testbed.metadata), testbed.hold(),
                                        testbed.holder().text());
                 });
    auto holder = all_.schedulings.find(testbed.holder());
    if (testbed.hold().empty() || holder == all_.schedulings.end()) return;
    // Another object may bear the name by now.
    const auto* by_uid = all_.scheduling_by_uid(uid);
    if (!by_uid) return;
    out_.require(by_uid == &holder->second, "hold-torn", {testbed.metadata.uid}, [&] {
        return fmt::format("Testbed {} names {} as its holder, the hold {} is of {}",
                           name_of(testbed.metadata), testbed.holder().text(), testbed.hold(),
                           name_of(by_uid->scheduling->metadata));
    });
}

void rights_rules::hold_is_set_once(const testbed_record& before, const testbed_record& after) {
    const auto& meta = after.testbed->metadata;
    const auto hold = after.testbed->hold();
    const auto uid = grid::scheduling_uid_of_hold(hold);
    out_.require(before.testbed->hold().empty(), "hold-taken-over", {meta.uid}, [&] {
        return fmt::format("Testbed {}: hold {} was replaced by {}", name_of(meta),
                           before.testbed->hold(), hold);
    });
    out_.require(!all_.holds.contains(hold), "token-reused", {meta.uid}, [&] {
        return fmt::format("Testbed {} shows the hold {} for a second time", name_of(meta), hold);
    });
    out_.require(hold == fmt::format("{}.{}", uid, before.raw->version()), "hold-unguarded",
                 {meta.uid}, [&] {
                     return fmt::format(
                         "Testbed {}: hold {} was written over resourceVersion {}, which is not "
                         "the one that it was decided at",
                         name_of(meta), hold, before.raw->version());
                 });
    out_.require(all_.finalized.contains(uid), "hold-without-finalizer", {meta.uid, uid}, [&] {
        return fmt::format("Testbed {} is held ({}) before its holder {} had the finalizer {}",
                           name_of(meta), hold, after.testbed->holder().text(),
                           names::scheduling_finalizer);
    });
}

void rights_rules::hold_is_of_an_offered_testbed(const testbed_record& before,
                                                 const testbed_record& after) {
    const auto& bed = *before.testbed;
    const auto holder = after.testbed->holder();
    // No Testbed is offered to that namespace.
    out_.require(
        holder.namespace_ != hostile_namespace || bed.metadata.namespace_ == holder.namespace_,
        "forgery-heeded", {}, [&] {
            return fmt::format("Testbed {} is held by {}", name_of(bed.metadata), holder.text());
        });
    out_.require(bed.is_offered_to(holder.namespace_), "hold-of-testbed-not-offered",
                 {bed.metadata.uid}, [&] {
                     return fmt::format(
                         "Testbed {} is held by {}, to whose namespace it is not "
                         "offered",
                         name_of(bed.metadata), holder.text());
                 });
}

void rights_rules::hold_is_of_a_ready_testbed(const testbed_record& before,
                                              const testbed_record& after) {
    const auto& testbed = *before.testbed;
    const auto* current =
        model::find_condition(testbed.status.conditions, model::condition_type::layout_current);
    std::string why;
    if (!testbed.status.layout) why = "it has no layout";
    if (current && current->status == "False") why = "LayoutCurrent is False";
    if (testbed.status.observed_generation < testbed.metadata.generation) {
        why = fmt::format("observedGeneration is {} of {}", testbed.status.observed_generation,
                          testbed.metadata.generation);
    }
    if (testbed.metadata.deleting()) why = "it is being deleted";
    out_.require(why.empty(), "hold-of-unready-testbed", {testbed.metadata.uid}, [&] {
        return fmt::format("Testbed {} was held ({}) though {}", name_of(testbed.metadata),
                           after.testbed->hold(), why);
    });
}

void rights_rules::hold_is_removed_last(const testbed_record& before) {
    const auto& meta = before.testbed->metadata;
    const auto hold = before.testbed->hold();
    const auto* holder = all_.scheduling_by_uid(grid::scheduling_uid_of_hold(hold));
    if (!holder) return;
    const auto& who = *holder->scheduling;
    out_.require(who.status.assignments.empty(), "hold-removed-with-assignments",
                 {meta.uid, who.metadata.uid}, [&] {
                     return fmt::format(
                         "the hold {} of Testbed {} was removed while Scheduling {} "
                         "has {} assignments",
                         hold, name_of(meta), name_of(who.metadata), who.status.assignments.size());
                 });
    for (const auto& [uid, pod] : all_.pods) {
        if (!pod.of_slot() || grid::hold_of_run(pod.pod->run()) != hold) continue;
        // One that waits at its gate is not let in any more.
        if (!all_.keeps_its_slot(pod)) continue;
        const auto job = std::string(all_.job_uid(*pod.pod)) + "/status";
        out_.require(false, "hold-removed-with-pods", {meta.uid, who.metadata.uid, uid, job}, [&] {
            return fmt::format("the hold {} of Testbed {} was removed while pod {} carries run {}",
                               hold, name_of(meta), pod.name(), pod.pod->run());
        });
    }
}

/// To the letter: not even its form is another.
void rights_rules::layout_is_frozen(const testbed_record& before, const testbed_record& after) {
    const auto& testbed = *after.testbed;
    if (testbed.hold().empty() && before.testbed->hold().empty()) return;
    const auto& was = at(before.raw->body(), {"status", "layout"});
    const auto& is = at(after.raw->body(), {"status", "layout"});
    out_.require(was == is, "layout-changed-while-held", {testbed.metadata.uid}, [&] {
        return fmt::format("Testbed {} under hold {}: layout {} became {}",
                           name_of(testbed.metadata),
                           testbed.hold().empty() ? before.testbed->hold() : testbed.hold(),
                           was.dump(), is.dump());
    });
}

void rights_rules::revision_counts_layouts(const testbed_record& before,
                                           const testbed_record& after) {
    const auto& was = before.testbed->status.layout;
    const auto& is = after.testbed->status.layout;
    if (!was || !is) return;
    const bool same = was->nodes == is->nodes && was->slots_per_node == is->slots_per_node &&
                      was->resources_per_slot == is->resources_per_slot &&
                      was->shapes == is->shapes && was->places == is->places;
    const auto wanted = was->revision + (same ? 0 : 1);
    const auto& meta = after.testbed->metadata;
    out_.require(is->revision == wanted, "layout-revision-wrong", {meta.uid}, [&] {
        return fmt::format("Testbed {}: {} layout has revision {} after {}", name_of(meta),
                           same ? "the same" : "another", is->revision, was->revision);
    });
}

// --- Scheduling ---

void rights_rules::scheduling_changed(const scheduling_record& before,
                                      const scheduling_record& after) {
    epoch_rises(before, after);
    assignments_only_grow_and_end(before, after);
}

void rights_rules::scheduling_gone(const scheduling_record& before) {
    const auto& who = before.scheduling->metadata;
    // What a paused leader wrote late, after the release had looked, is an orphan, not a mistake.
    auto late = [&](steady_time since) {
        return before.release_began && since >= *before.release_began;
    };
    for (const auto& [name, record] : all_.testbeds) {
        const auto& testbed = *record.testbed;
        const bool ours = grid::scheduling_uid_of_hold(testbed.hold()) == who.uid;
        out_.require(!ours || late(record.hold_changed), "gone-while-holding",
                     {who.uid, testbed.metadata.uid}, [&] {
                         return fmt::format("Scheduling {} is gone while Testbed {} shows its hold",
                                            name_of(who), name.text());
                     });
    }
    for (const auto& [name, record] : all_.jobs) {
        const auto& active = record.job->spec.active_scheduling;
        const bool ours = active && active->uid == who.uid;
        out_.require(!ours || late(record.claim_changed), "gone-while-holding",
                     {who.uid, record.job->metadata.uid}, [&] {
                         return fmt::format("Scheduling {} is gone while BatchJob {} names it",
                                            name_of(who), name.text());
                     });
    }
}

void rights_rules::epoch_rises(const scheduling_record& before, const scheduling_record& after) {
    const auto& was = before.scheduling->status;
    const auto& is = after.scheduling->status;
    const auto& meta = after.scheduling->metadata;
    const bool begins = was.releasing.empty() && !is.releasing.empty();
    const bool right = begins ? is.epoch == was.epoch + 1 : is.epoch == was.epoch;
    out_.require(right, "epoch-wrong", {meta.uid}, [&] {
        return fmt::format("Scheduling {}: epoch {} became {}, releasing \"{}\" became \"{}\"",
                           name_of(meta), was.epoch, is.epoch, was.releasing, is.releasing);
    });
}

void rights_rules::assignments_only_grow_and_end(const scheduling_record& before,
                                                 const scheduling_record& after) {
    const auto& was = before.scheduling->status;
    const auto& is = after.scheduling->status;
    if (was.assignments == is.assignments) return;
    const auto& meta = after.scheduling->metadata;
    for (const auto& old : was.assignments) {
        const auto* now = find_run(is.assignments, old.run);
        // What a pause has ended is dropped with its end, so that the job starts anew.
        const bool dropped = old.ending == model::assignment_outcome::suspended;
        if (!now && dropped && !old.ended && was.releasing.empty()) {
            assignment_ends_without_pods(after, old);
        }
        if (!now) {
            out_.require(!was.releasing.empty() || old.ended || dropped, "assignment-lost",
                         {meta.uid}, [&] {
                             return fmt::format(
                                 "Scheduling {}: the assignment of {} (run {}, slots {}) is gone "
                                 "though it has not ended and nothing is released",
                                 name_of(meta), old.job.key().text(), old.run,
                                 grid::show_slot_list(old.slot_ids));
                         });
            continue;
        }
        const bool kept = same_right(old, *now) && old.attempt == now->attempt &&
                          (old.ending.empty() || old.ending == now->ending) &&
                          (!old.ended || (old.ended == now->ended && old.outcome == now->outcome));
        out_.require(kept, "assignment-changed", {meta.uid}, [&] {
            return fmt::format("Scheduling {}: assignment {} became {}", name_of(meta),
                               model::encode(old).dump(), model::encode(*now).dump());
        });
        if (!old.ended && now->ended) assignment_ends_without_pods(after, *now);
    }
    for (const auto& given : is.assignments) {
        if (find_run(was.assignments, given.run)) continue;
        assignment_is_new(before, after, given);
        start_is_wanted(before, given);
        retry_follows_a_failure(before, after, given);
        order_of_starts_is_kept(after, given);
    }
    assignments_are_disjoint(after);
}

void rights_rules::assignment_is_new(const scheduling_record& before,
                                     const scheduling_record& after,
                                     const model::assignment& given) {
    const auto& who = *after.scheduling;
    const auto& meta = who.metadata;
    const auto text = [&] {
        return fmt::format("Scheduling {} gave {} to {} (run {})", name_of(meta),
                           grid::show_slot_list(given.slot_ids), given.job.key().text(), given.run);
    };
    auto known = all_.rights.find(given.run);
    const bool repeated =
        known != all_.rights.end() || number_of(given.run) <= before.scheduling->status.last_run;
    out_.require(!repeated, "token-reused", {meta.uid},
                 [&] { return text() + ": this run or a later one was given before"; });
    out_.require(before.scheduling->status.releasing.empty() && who.status.releasing.empty(),
                 "assigned-while-releasing", {meta.uid},
                 [&] { return text() + " while it releases: " + who.status.releasing; });

    const auto* bed = all_.testbed(testbed_of(who));
    const auto hold = grid::hold_of_run(given.run);
    const auto bed_uid = all_.testbed_uid(testbed_of(who));
    out_.require(
        bed && bed->testbed->hold() == hold, "assignment-without-hold", {meta.uid, bed_uid}, [&] {
            return fmt::format("{} under hold {}, Testbed {} shows \"{}\"", text(), hold,
                               testbed_of(who).text(), bed ? bed->testbed->hold() : "(it is gone)");
        });
    // A hand may take the hold away between the live look and the write, but not long before.
    const bool long_gone = bed && bed->testbed->hold() != hold &&
                           here_.now() > bed->hold_changed + std::chrono::minutes(1);
    out_.require(!long_gone, "assignment-without-hold", {meta.uid}, [&] {
        return fmt::format("{} under hold {}, which Testbed {} has not shown for a minute", text(),
                           hold, testbed_of(who).text());
    });
    if (bed && bed->testbed->status.layout) {
        const auto total = grid::count_of_slots(*bed->testbed->status.layout);
        auto ids = given.slot_ids;
        std::ranges::sort(ids);
        const bool inside = !ids.empty() && ids.front() >= 0 && ids.back() < total &&
                            std::ranges::adjacent_find(ids) == ids.end();
        out_.require(inside, "slot-outside-layout", {meta.uid, bed_uid},
                     [&] { return fmt::format("{}, the layout has {} slots", text(), total); });
    }
    if (bed && bed->testbed->status.layout) coordinator_is_assigned(after, given, *bed);
    for (const int slot : given.slot_ids) {
        if (!bed || !here_.fresh("scheduling")) break;
        const auto broken = bed->broken_since.find(slot);
        const bool long_ago =
            broken != bed->broken_since.end() && here_.now() > broken->second + seconds(5);
        out_.require(!long_ago, "slot-in-error-assigned", {meta.uid, bed_uid}, [&] {
            return fmt::format("{}, though the Testbed calls slot {} ERROR", text(), slot);
        });
    }
    const auto* job = all_.job(given.job.key());
    if (job && job->job->metadata.uid == given.job.uid) {
        const auto& active = job->job->spec.active_scheduling;
        out_.require(active && active->uid == meta.uid, "assignment-of-unacquired-job",
                     {meta.uid, given.job.uid}, [&] {
                         return fmt::format("{}, which names {}", text(),
                                            active ? active->key().text() : "nobody");
                     });
    }
}

/// One place, where there are any, and with the others in one write.
void rights_rules::coordinator_is_assigned(const scheduling_record& after,
                                           const model::assignment& given,
                                           const testbed_record& bed) {
    const auto& layout = *bed.testbed->status.layout;
    const auto total = grid::count_of_slots(layout);
    const auto wanted = workers_of(layout) < total ? 1 : 0;
    const auto got = std::ranges::count_if(
        given.slot_ids, [&](int slot) { return is_of_coordinator(layout, slot); });
    const auto& meta = after.scheduling->metadata;
    out_.require(got == wanted, "assignment-without-coordinator",
                 {meta.uid, bed.testbed->metadata.uid}, [&] {
                     return fmt::format(
                         "Scheduling {} gave {} to {} (run {}): {} places of coordinators, not {}",
                         name_of(meta), grid::show_slot_list(given.slot_ids),
                         given.job.key().text(), given.run, got, wanted);
                 });
}

/// The write is guarded by the version of the plan, so the spec before it is what was decided by.
void rights_rules::start_is_wanted(const scheduling_record& before,
                                   const model::assignment& given) {
    const auto& who = *before.scheduling;
    const auto text = [&] {
        return fmt::format("Scheduling {} started {} (run {})", name_of(who.metadata),
                           given.job.key().text(), given.run);
    };
    out_.require(!who.spec.suspend.value_or(false), "started-while-suspended", {who.metadata.uid},
                 [&] { return text() + " while it was suspended"; });
    out_.require(!is_cancelled(who, given.job.key()), "started-though-cancelled",
                 {who.metadata.uid}, [&] { return text() + ", which was cancelled"; });
}

void rights_rules::retry_follows_a_failure(const scheduling_record& before,
                                           const scheduling_record& after,
                                           const model::assignment& given) {
    const auto attempt = given.attempt.value_or(0);
    if (attempt == 0) return;
    const auto& who = *before.scheduling;
    const auto& was = who.status.assignments;
    const auto failed = std::ranges::find_if(was, [&](const auto& each) {
        return each.job == given.job && each.ended && each.run != given.run &&
               each.outcome == model::assignment_outcome::failed &&
               each.attempt.value_or(0) + 1 == attempt;
    });
    const auto policy = std::ranges::find_if(who.spec.job_policies, [&](const auto& each) {
        return grid::in_namespace(each.name, who.metadata.namespace_) == given.job.key();
    });
    const bool left = policy != who.spec.job_policies.end() && attempt <= policy->backoff_limit;
    out_.require(
        failed != was.end() && left, "retry-unfounded", {after.scheduling->metadata.uid}, [&] {
            return fmt::format("Scheduling {} started {} (run {}) as attempt {} {}",
                               name_of(who.metadata), given.job.key().text(), given.run,
                               attempt + 1,
                               left ? "though none has failed before" : "beyond its backoffLimit");
        });
}

void rights_rules::assignments_are_disjoint(const scheduling_record& after) {
    std::map<int, const model::assignment*> taken;
    const auto& meta = after.scheduling->metadata;
    for (const auto& given : after.scheduling->status.assignments) {
        if (given.ended) continue;
        for (int slot : given.slot_ids) {
            auto [there, first] = taken.emplace(slot, &given);
            out_.require(first, "slot-shared", {meta.uid}, [&] {
                return fmt::format(
                    "Scheduling {}: slot {} is assigned to {} (run {}) and to {} "
                    "(run {})",
                    name_of(meta), slot, there->second->job.key().text(), there->second->run,
                    given.job.key().text(), given.run);
            });
        }
    }
}

void rights_rules::assignment_ends_without_pods(const scheduling_record& after,
                                                const model::assignment& ended) {
    const auto& meta = after.scheduling->metadata;
    for (const auto& [uid, pod] : all_.pods) {
        if (!pod.of_slot() || pod.pod->run() != ended.run) continue;
        if (!all_.keeps_its_slot(pod)) continue;
        const auto job = ended.job.uid + "/status";
        out_.require(false, "ended-with-pods", {meta.uid, ended.job.uid, uid, job}, [&] {
            return fmt::format("Scheduling {} ended run {} of {} while pod {} carries it",
                               name_of(meta), ended.run, ended.job.key().text(), pod.name());
        });
    }
}

void rights_rules::order_of_starts_is_kept(const scheduling_record& after,
                                           const model::assignment& given) {
    const auto& who = *after.scheduling;
    const auto& assignments = who.status.assignments;
    const bool queue = who.spec.queue_based.has_value();
    const auto* bed = all_.testbed(testbed_of(who));
    const int total =
        bed && bed->testbed->status.layout ? workers_of(*bed->testbed->status.layout) : 0;
    for (const auto& before : order_of(who, total)) {
        if (before == given.job.key()) return;
        if (is_cancelled(who, before)) continue;
        const bool started = std::ranges::any_of(
            assignments, [&](const auto& each) { return each.job.key() == before; });
        if (started) continue;
        const bool dropped = std::ranges::any_of(all_.rights, [&](const auto& entry) {
            return entry.second.scheduling_uid == who.metadata.uid &&
                   entry.second.given.job.key() == before;
        });
        if (dropped) continue;
        const auto* job = all_.job(before);
        if (queue) {
            // Only who is ours, alive and ready holds others up; and who fits at all.
            if (!job || job->job->metadata.deleting() || !here_.fresh("scheduling")) continue;
            const auto& active = job->job->spec.active_scheduling;
            const auto& state = job->job->status.state;
            if (!active || active->uid != who.metadata.uid ||
                here_.now() < job->claim_changed + seconds(5) || model::is_final(state)) {
                continue;
            }
            auto wanted = std::ranges::count_if(*who.spec.queue_based, [&](auto each) {
                if (each.namespace_.empty()) each.namespace_ = who.metadata.namespace_;
                return each == before;
            });
            if (wanted > total) continue;
        }
        out_.require(false, queue ? "queue-overtaken" : "strict-overtaken",
                     {who.metadata.uid, job ? std::string_view(job->job->metadata.uid) : ""}, [&] {
                         return fmt::format(
                             "Scheduling {} started {} (run {}) before {}, which is "
                             "in front of it",
                             name_of(who.metadata), given.job.key().text(), given.run,
                             before.text());
                     });
    }
}

}  // namespace esi::simulation::checks

#include "batchjob/decide.h"

#include <fmt/format.h>

#include <algorithm>

#include "batchjob/contains.h"
#include "batchjob/pass.h"
#include "batchjob/runs.h"
#include "grid/grid.h"
#include "model/names.h"
#include "model/text.h"

namespace esi::batchjob {

namespace state = model::job_state;
namespace names = model::names;

namespace {

/// A driver's end is seen later than its application's, or the other way round.
constexpr seconds coordinator_patience{60};

/// How long an application may be on its way out before people are told who keeps it.
constexpr seconds deletion_patience{60};

/// How long "in queue" is held back: its write would collide with that of the order.
constexpr milliseconds order_patience{100};

/// How long an order that nobody gave may stand before the Scheduling is asked again.
constexpr seconds assignment_patience{10};

}  // namespace

decision decide(const view& seen, wall_time now) { return pass(seen, now).run(); }

const model::creation_request* order_of(const model::batchjob& job, std::string* why) {
    const auto explain = [why](std::string text) {
        if (why) *why = std::move(text);
        return nullptr;
    };
    const auto& order = job.spec.creation_request;
    const auto& active = job.spec.active_scheduling;
    if (!order || !active) return nullptr;
    if (order->run.empty()) {
        return explain(
            "spec.creationRequest has no run token: only the scheduling operator gives "
            "slots to a job");
    }
    if (order->slot_ids.empty()) return explain("spec.creationRequest names no slot");
    const auto uid = grid::owner_of_run(order->run);
    if (!active->uid.empty() && active->uid != uid) {
        return explain(
            fmt::format("spec.creationRequest is of another Scheduling (run {}) than "
                        "spec.activeScheduling (uid {})",
                        order->run, active->uid));
    }
    return &*order;
}

pass::pass(const view& seen, wall_time now)
    : seen_(seen), now_(now), job_(*seen.job), status_(out_.status) {
    status_ = job_.status;
}

decision pass::run() {
    status_.type = type_of(job_.spec);
    status_.active_scheduling = job_.spec.active_scheduling;

    std::string why;
    const auto* order = order_of(job_, &why);
    if (!why.empty()) problem(why);
    if (!order && about_to_start() && why.empty()) {
        hold_back(order_patience);
    } else if (!order) {
        unassigned();
    } else if (failed() || has_ended(status_, order->run)) {
        over(*order);
    } else if (!was_given(*order)) {
        if (!out_.act_first) unassigned();
    } else {
        assigned(*order);
        // Ended in this look: the result is written, then what still stands is removed.
        if (!out_.act_first && final()) over(*order);
    }
    if (!out_.act_first) describe();
    return std::move(out_);
}

bool pass::about_to_start() const {
    return seen_.just_acquired && job_.spec.active_scheduling && status_.state == state::ready &&
           !app() && seen_.pods.empty();
}

void pass::hold_back(milliseconds time) {
    out_.hold_back = true;
    out_.again_in = time;
}

// The scheduling operator (or a person) has taken the order away, or never gave one.
void pass::unassigned() {
    const auto* there = app();
    if (!ours(there) && needs_proof_of_absence()) {
        out_.next = read_application{};
        out_.act_first = true;
        return;
    }
    if (!ours(there)) there = nullptr;

    const auto* open = open_line(status_);
    if (open && !finish_as_told(std::string(open->run), there)) {
        // A Scheduling takes both away in one patch; who leaves one of them standing is a person.
        const auto& active = job_.spec.active_scheduling;
        const auto holder = grid::owner_of_run(open->run);
        const bool named = active && active->uid == holder;
        const bool by_hand = job_.spec.creation_request || named;
        const auto* text = named     ? "spec.creationRequest was taken away while the job ran"
                           : by_hand ? "spec.activeScheduling was taken away while the job ran"
                                     : "the Scheduling released the job before its run had ended";
        end(run_outcome::released, by_hand ? "ReleasedByHand" : "Released", text, stamp());
    }
    clear_assignment();
    refer(there);
    take_reset();

    const bool left =
        there || !status_.placements.empty() ||
        std::ranges::any_of(seen_.pods, [&](const pod_pointer& pod) { return is_left(*pod); });
    if (!failed()) {
        status_.state = left                          ? state::pending_deletion
                        : job_.spec.active_scheduling ? state::in_queue
                                                      : state::ready;
    }
    const std::string_view reason = left ? "Releasing" : "NotAssigned";
    set(condition_type::submitted, "False", reason,
        left ? "waits until application and pods are gone" : "");
    set(condition_type::placed, "False", reason, "");
    set(condition_type::running, "False", reason, "");
    remove_leftovers({}, false);
    check();
}

/// A release that was asked for after the last look has to end before the failure is forgotten;
/// a reset while the failed run is still assigned counts at its release.
void pass::take_reset() {
    const auto reset = job_.metadata.annotation(names::reset);
    const bool asked = !reset.empty() && reset != status_.observed_reset;
    const bool changed = !status_.spec_hash.empty() && status_.spec_hash != hash_of(job_.spec);
    status_.observed_reset = reset;
    if (failed() && (asked || changed)) status_.state = state::pending_deletion;
}

bool pass::needs_proof_of_absence() const {
    if (!seen_.kind || seen_.live.application_read) return false;
    // No status has spoken of a run, and the spec has changed at most once since the last status:
    // there was no generation for which anything could have been made.
    const bool spoken = status_.application.has_value() || !status_.slot_ids.empty();
    return spoken || job_.metadata.generation - status_.observed_generation > 1;
}

/// Whether the run may have been begun as another kind, in a generation that no status has spoken
/// about: the names of two kinds do not collide, so its create would be no answer.
bool pass::kind_may_have_changed() const {
    if (!seen_.kind) return false;
    if (job_.status.type != status_.type) return true;
    // Acquisition and order are two changes, an edit to the other kind and back two more.
    const auto unseen = job_.metadata.generation - status_.observed_generation;
    return unseen > (job_.status.slot_ids.empty() ? 2 : 1);
}

/// A run begins only by an assignment that its Scheduling shows: an order alone may be anybody's.
bool pass::was_given(const model::creation_request& order) {
    if (line_of(status_, order.run)) return true;
    if (!seen_.live.assignment_read) {
        out_.next = read_assignment{};
        out_.act_first = true;
        return false;
    }
    if (seen_.live.assigned) return true;
    problem(
        fmt::format("spec.creationRequest (run {}) starts nothing: Scheduling {} has not "
                    "assigned these slots to the job; take spec.creationRequest away",
                    order.run, job_.spec.active_scheduling->key().text()));
    look_again(assignment_patience);
    return false;
}

/// Something of a run that was: a coordinator, or a pod whose owner still stands. One that only
/// says so keeps nobody from what comes next.
bool pass::is_left(const model::pod& pod) const {
    if (pod.metadata.annotation(names::run).empty()) return false;
    if (seen_.kind->role_of(pod, job_.metadata.name) == pod_role::coordinator) return true;
    const auto* owner = pod.metadata.controller_owner();
    if (!owner) return false;
    return owner->kind != "Pod" || std::ranges::any_of(seen_.pods, [&](const pod_pointer& other) {
               return other->metadata.uid == owner->uid;
           });
}

void pass::clear_assignment() {
    status_.slots.reset();
    status_.slot_ids.clear();
    status_.replication.reset();
    // Whose annotations somebody has taken away tells no run any more, and may not be deleted: it
    // is a stranger from now on, which the Testbed sees in its slot as long as it is there.
    std::erase_if(status_.placements, [&](const model::placement& entry) {
        return std::ranges::any_of(seen_.pods, [&](const pod_pointer& pod) {
            return pod->metadata.uid == entry.pod_uid &&
                   pod->metadata.annotation(names::run).empty();
        });
    });
    drop_ended_placements();
}

/// As long as one pod on record lives the record stands: nothing else proves which slots are taken.
void pass::drop_ended_placements() {
    const bool stands = std::ranges::any_of(status_.placements, [&](const auto& entry) {
        return seen_.standing.contains(entry.pod_uid);
    });
    if (!stands) status_.placements.clear();
}

// The run has ended, or the job had failed before: what still stands of it goes, the state stays.
void pass::over(const model::creation_request& order) {
    const auto* there = app();
    if (!there && status_.application && seen_.kind && !seen_.live.application_read) {
        out_.next = read_application{};
        out_.act_first = true;
        return;
    }
    if (!ours(there)) there = nullptr;
    status_.slots = testbed_of(job_);
    status_.slot_ids = order.slot_ids;
    status_.replication = static_cast<int>(order.slot_ids.size());
    drop_ended_placements();
    refer(there);
    if (!final()) {
        // Only a status edited by hand: the line of the run knows how it ended.
        status_.state =
            !status_.runs.empty() && status_.runs.back().outcome == run_outcome::succeeded
                ? state::completed
                : state::failed;
    }
    // An application that ended by itself stays for people to look at until the release; but not
    // one that keeps its pods, and so the slots.
    const bool stays = there && there->run() == order.run && there->final() && seen_.kind &&
                       !seen_.kind->pods_stand();
    remove_leftovers(order.run, stays);
}

/// The driver of an application that stays tells people why it ended. One that runs on though its
/// application has failed (a Spark operator that lost its memory submits again, and is told that
/// the driver exists) would make executors for ever.
bool pass::coordinator_may_stay(const model::pod& pod) {
    if (pod.terminal() || status_.runs.empty() || !status_.runs.back().stopped) return true;
    const auto end = status_.runs.back().stopped->value;
    if (!is_near(end, coordinator_patience)) return false;
    look_again(end + coordinator_patience - now_);
    return true;
}

void pass::remove_leftovers(std::string_view keep_run, bool application_stays) {
    const auto* there = app();
    if (!ours(there)) there = nullptr;
    const auto asked = [this](const model::object_meta& meta) {
        return meta.deleting() || seen_.asked_to_go.contains(meta.uid);
    };
    const std::string why =
        keep_run.empty() ? "the run was released" : fmt::format("run {} has ended", keep_run);
    if (there && !application_stays && !asked(there->metadata)) {
        out_.next = delete_application{there->metadata.name, there->metadata.uid,
                                       std::string(there->run()), why};
        return;
    }
    if (there) tell_who_keeps(there->metadata);
    delete_pods leftovers;
    leftovers.why = why;
    delete_pods overdue{{}, why, true};
    for (const auto& pod : seen_.pods) {
        const auto run = pod->metadata.annotation(names::run);
        if (run.empty() || asked(pod->metadata)) continue;
        // As long as its Deployment stands, another one would come.
        if (there && seen_.kind->pods_stand() && run == there->run()) continue;
        const bool coordinator =
            seen_.kind && seen_.kind->role_of(*pod, job_.metadata.name) == pod_role::coordinator;
        const bool of_run = coordinator && run == keep_run;
        if (!application_stays || !of_run) {
            leftovers.pods.push_back(pod);
        } else if (!coordinator_may_stay(*pod)) {
            overdue.pods.push_back(pod);
        }
    }
    if (leftovers.pods.empty()) leftovers = std::move(overdue);
    if (!leftovers.pods.empty()) out_.next = std::move(leftovers);
}

/// A finalizer holds an object for as long as nobody takes it off, and its pods hold their slots.
void pass::tell_who_keeps(const model::object_meta& meta) {
    if (!meta.deletion_timestamp || meta.finalizers.empty()) return;
    const auto patience = meta.deletion_timestamp->value + deletion_patience;
    if (now_ < patience) return look_again(patience - now_);
    blame("ApplicationStays",
          fmt::format("{} {} was deleted at {} and is still there: finalizer {} waits for its "
                      "operator; does the {} operator run?",
                      seen_.kind->resource().kind, meta.name,
                      meta.deletion_timestamp->whole_seconds(), meta.finalizers.front(),
                      seen_.kind->type()));
}

void pass::assigned(const model::creation_request& order) {
    status_.slots = testbed_of(job_);
    status_.slot_ids = order.slot_ids;
    status_.replication = static_cast<int>(order.slot_ids.size());
    // Asked for before there was a failure: none that comes later is forgotten for it.
    status_.observed_reset = job_.metadata.annotation(names::reset);

    const auto* there = app();
    const bool stood = status_.application && status_.application->run == order.run &&
                       !status_.application->uid.empty();
    if (!there || (!ours(there) && !seen_.live.application_read)) {
        const bool proven = seen_.live.application_read || !kind_may_have_changed();
        if (!there && !stood && proven) return launch(order);
        if (!seen_.live.application_read) {
            out_.next = read_application{};
            out_.act_first = true;
            return;
        }
    }
    if (stood && !ours(there)) {
        refer(nullptr);
        if (finish_as_told(order.run, nullptr)) return;
        return fail("ApplicationDeleted",
                    fmt::format("{} {} was deleted while the job ran", seen_.kind->resource().kind,
                                job_.metadata.name));
    }
    if (!ours(there)) {
        const auto* owner = there->metadata.controller_owner();
        return fail_submission(
            order, "NameTaken",
            fmt::format("{} {} exists already and belongs to {}; ESI never touches it: rename the "
                        "BatchJob, or remove it",
                        seen_.kind->resource().kind, there->metadata.key().text(),
                        owner ? fmt::format("{} {} (uid {})", owner->kind, owner->name, owner->uid)
                              : std::string("nobody")));
    }
    if (there->run() != order.run) {
        status_.state = state::in_queue;
        drop_ended_placements();
        refer(there);
        set(condition_type::submitted, "False", "OldApplication",
            "waits until the application of an earlier run is gone");
        remove_leftovers({}, false);
        return;
    }
    // Who deletes what has ended takes nothing away: it has told its result.
    if (there->metadata.deleting() && !there->final()) {
        refer(there);
        return fail("ApplicationDeleted",
                    fmt::format("{} {} was deleted while the job ran", seen_.kind->resource().kind,
                                there->metadata.name));
    }
    progress(order, *there);
}

/// What holds whatever the state: the generation spoken about, conditions that need a value, and
/// the texts for people.
void pass::describe() {
    status_.observed_generation = job_.metadata.generation;
    if (seen_.kind && seen_.served) {
        const auto limits = seen_.kind->limits();
        set(condition_type::backend_available, "True", limits.empty() ? "Established" : "Limited",
            fmt::format("{} is served{}{}", seen_.kind->definition(), limits.empty() ? "" : "; ",
                        limits));
    } else {
        set(condition_type::backend_available, "False",
            seen_.kind ? "DefinitionMissing" : "NotSupported", backend_missing());
    }
    if (!model::find_condition(status_.conditions, condition_type::succeeded)) {
        set(condition_type::succeeded, "False", "NotRunYet", "");
    }
    const auto fit = fits();
    set(condition_type::fits, fit.status, fit.reason, fit.text);
    tell_problems();
    summarize();
    // What was true of an older generation was looked at again, and still is: `kubectl wait` takes
    // a condition of an older generation for not met.
    for (auto& each : status_.conditions) {
        each.observed_generation = job_.metadata.generation;
        // One that went there and back in this look has not changed.
        const auto* was = model::find_condition(job_.status.conditions, each.type);
        if (was && was->status == each.status && was->last_transition_time) {
            each.last_transition_time = was->last_transition_time;
        }
    }
}

const application* pass::app() const {
    return seen_.live.application_read ? seen_.live.application.get() : seen_.application.get();
}

bool pass::ours(const application* app) const { return app && app->owned_by(job_.metadata); }

std::vector<pod_pointer> pass::pods_of(std::string_view run, pod_role role) const {
    std::vector<pod_pointer> out;
    if (!seen_.kind) return out;
    for (const auto& pod : seen_.pods) {
        if (pod->metadata.annotation(names::run) == run && is_member(pod, role)) {
            out.push_back(pod);
        }
    }
    return out;
}

/// On record, or made for the application. Once that is gone a coordinator only tells how it ended.
bool pass::is_member(const pod_pointer& pod, pod_role role) const {
    if (seen_.kind->role_of(*pod, job_.metadata.name) != role) return false;
    const auto& uid = pod->metadata.uid;
    if (std::ranges::find(status_.placements, uid, &model::placement::pod_uid) !=
        status_.placements.end()) {
        return true;
    }
    const auto* there = app();
    if (!ours(there)) return role == pod_role::coordinator;
    return seen_.kind->foreign(*pod, *there, seen_.pods).empty();
}

bool pass::failed() const {
    return status_.state == state::failed || status_.state == state::failed_submission;
}

bool pass::final() const { return model::is_final(status_.state); }

void pass::set(std::string_view type, std::string_view status, std::string_view reason,
               std::string_view message) {
    model::set_condition(status_.conditions, type, status, reason, message,
                         job_.metadata.generation, now_);
}

void pass::look_again(std::chrono::microseconds time) {
    // A little late rather than a little early: the deadline has passed when we look.
    time = std::max(time, std::chrono::microseconds(0)) + milliseconds(20);
    out_.again_in = out_.again_in ? std::min(*out_.again_in, time) : time;
}

void pass::refer(const application* app) {
    if (!app) {
        status_.application.reset();
        return;
    }
    const auto& type = seen_.kind->resource();
    status_.application =
        model::application_ref{type.api_version(), std::string(type.kind), app->metadata.name,
                               app->metadata.uid, std::string(app->run())};
}

std::string pass::backend_missing() const {
    if (!seen_.kind) {
        return fmt::format("this operator has no backend for {} jobs", type_of(job_.spec));
    }
    return fmt::format("the CustomResourceDefinition {} is not there: install the {} operator",
                       seen_.kind->definition(), seen_.kind->type());
}

}  // namespace esi::batchjob

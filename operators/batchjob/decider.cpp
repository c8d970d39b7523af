#include "batchjob/decider.h"

#include <fmt/format.h>

#include <algorithm>

#include "batchjob/backends/kind.h"
#include "batchjob/runs.h"
#include "grid/grid.h"
#include "grid/rights.h"
#include "model/names.h"

namespace esi::batchjob {

namespace state = model::job_state;
namespace names = model::names;

namespace {

/// How long "in queue" is held back: its write would conflict with that of the order.
constexpr milliseconds order_patience{100};

/// How long an assignment that the cache shows counts after it was made. An answer that shows it
/// may be under way just as long.
constexpr seconds assignment_counts_for{10};

/// How long an order may exist without an assignment before the Scheduling is read again.
constexpr seconds assignment_patience{10};

}  // namespace

decider::decider(const view& seen, wall_time now)
    : seen_(seen), now_(now), job_(*seen.job), status_(out_.status) {
    status_ = job_.status;
}

decision decider::run() {
    status_.type = seen_.spec_kind ? seen_.spec_kind->type() : std::string_view();
    status_.active_scheduling = job_.spec.active_scheduling;

    const auto* order = find_order();
    if (!order && about_to_start() && problems_.empty()) {
        hold_back(order_patience);
    } else if (!order) {
        unassigned();
    } else if (failed() || has_ended(status_, order->run)) {
        after_end(*order);
    } else if (!order_is_assigned(*order)) {
        if (!out_.act_first) unassigned();
    } else {
        assigned(*order);
        if (!out_.act_first && ends_unproven()) read_application_first();
        // The run has ended by this decision: the same status says what is deleted next.
        if (!out_.act_first && final()) after_end(*order);
    }
    if (!out_.act_first) describe();
    return std::move(out_);
}

const model::creation_request* decider::find_order() {
    const auto& order = job_.spec.creation_request;
    const auto& active = job_.spec.active_scheduling;
    if (!order || !active) return nullptr;
    if (order->run.empty()) {
        add_problem(
            "spec.creationRequest has no run token: only the scheduling operator gives "
            "slots to a job");
        return nullptr;
    }
    if (order->slot_ids.empty()) {
        add_problem("spec.creationRequest names no slot");
        return nullptr;
    }
    const auto uid = grid::owner_of_run(order->run);
    if (!active->uid.empty() && active->uid != uid) {
        add_problem(
            fmt::format("spec.creationRequest is of another Scheduling (run {}) than "
                        "spec.activeScheduling (uid {})",
                        order->run, active->uid));
        return nullptr;
    }
    return &*order;
}

bool decider::about_to_start() const {
    return seen_.just_acquired && job_.spec.active_scheduling && status_.state == state::ready &&
           !app() && seen_.pods.empty();
}

void decider::hold_back(milliseconds time) {
    out_.hold_back = true;
    out_.again_in = time;
}

void decider::unassigned() {
    const auto* shown = ours(app()) ? app() : nullptr;
    if (!shown && needs_proof_of_absence()) return read_application_first();

    const auto* open = running_line(status_);
    if (open && !close_with_last_result(std::string(open->run), shown)) release_by_others(*open);
    const auto* there = shown && !is_handed_back(*shown) ? shown : nullptr;
    if (ends_unproven()) return read_application_first();
    clear_assignment();
    name_application(there && !is_only_kept(*there) ? there : nullptr);
    apply_reset();

    const bool left =
        there || !status_.placements.empty() ||
        std::ranges::any_of(seen_.pods, [&](const pod_pointer& pod) { return is_leftover(*pod); });
    if (!failed()) {
        status_.state = left                          ? state::pending_deletion
                        : job_.spec.active_scheduling ? state::in_queue
                                                      : state::ready;
    }
    const std::string_view reason = left ? "Releasing" : "NotAssigned";
    set_condition(condition_type::submitted, "False", reason,
                  left ? "waits until application and pods are gone" : "");
    set_condition(condition_type::placed, "False", reason, "");
    set_condition(condition_type::running, "False", reason, "");
    remove_leftovers({}, false);
    check();
}

/// The order was removed while the run was under way.
void decider::release_by_others(const model::run_record& line) {
    // The scheduling operator removes both fields in one patch. If one of them is left, a person
    // has removed the other.
    const auto& active = job_.spec.active_scheduling;
    const bool still_held = active && active->uid == grid::owner_of_run(line.run);
    const bool by_hand = job_.spec.creation_request || still_held;
    const auto* text = still_held ? "spec.creationRequest was taken away while the job ran"
                       : by_hand  ? "spec.activeScheduling was taken away while the job ran"
                                  : "the Scheduling released the job before its run had ended";
    close_run(run_outcome::released, by_hand ? "ReleasedByHand" : "Released", text, stamp());
}

/// The state goes by way of PendingDeletion, so that what is left of the run is deleted before the
/// failure is forgotten. A reset that comes while the failed run is assigned counts at its release.
void decider::apply_reset() {
    const auto reset = job_.metadata.annotation(names::reset);
    const bool asked = !reset.empty() && reset != status_.observed_reset;
    // A spec that cannot be read looks like another spec.
    const bool changed = job_.metadata.undecodable.empty() && !status_.spec_hash.empty() &&
                         status_.spec_hash != spec_hash_now();
    status_.observed_reset = reset;
    if (failed() && (asked || changed)) status_.state = state::pending_deletion;
}

bool decider::needs_proof_of_absence() const {
    if (!seen_.kind || seen_.live.application_read) return false;
    // Where no status names a run, and the spec has changed at most once since the last status, no
    // generation in between had a run for which an application could have been created.
    const bool spoken = status_.application.has_value() || !status_.slot_ids.empty();
    return spoken || job_.metadata.generation - status_.observed_generation > 1;
}

/// True: the run may have begun as another kind, in a generation for which no status was written.
/// Objects of two kinds may have the same name, so the create alone would not show it.
bool decider::kind_may_have_changed() const {
    if (!seen_.kind) return false;
    if (job_.status.type != status_.type) return true;
    // To acquire and to order are two changes; an edit to another kind and back are two more.
    const auto unseen = job_.metadata.generation - status_.observed_generation;
    return unseen > (job_.status.slot_ids.empty() ? 2 : 1);
}

/// A run begins only when its Scheduling shows the assignment: any account that may edit the job's
/// spec could have written an order.
bool decider::order_is_assigned(const model::creation_request& order) {
    if (line_of(status_, order.run)) return true;
    if (!seen_.live.assignment_read) {
        if (was_just_assigned(order)) return true;
        out_.next = read_assignment{};
        out_.act_first = true;
        return false;
    }
    if (seen_.live.assigned) return true;
    const auto& active = job_.spec.active_scheduling;
    add_problem(
        fmt::format("spec.creationRequest (run {}) starts nothing: Scheduling {} has not "
                    "assigned these slots to the job; take spec.creationRequest away",
                    order.run, active ? active->key().text() : ""));
    reconcile_in(assignment_patience);
    return false;
}

/// True: the cache shows the assignment, and it was made a moment ago. An older one is read live,
/// as it may have ended since: a cache may be minutes behind, and any account that may edit the job
/// could write the order of an ended run again.
bool decider::was_just_assigned(const model::creation_request& order) const {
    const auto* by = seen_.scheduling.get();
    if (!by || !grid::is_assigned(job_, *by)) return false;
    return std::ranges::any_of(by->status.assignments, [&](const auto& each) {
        return each.run == order.run && each.since &&
               is_near(each.since->value, assignment_counts_for);
    });
}

void decider::after_end(const model::creation_request& order) {
    if (!app() && status_.application && seen_.kind && !seen_.live.application_read) {
        return read_application_first();
    }
    const auto* there = ours(app()) ? app() : nullptr;
    show_assignment(order);
    drop_ended_placements();
    name_application(there);
    if (!final()) {
        // A person has edited the status: the run's line still has the outcome.
        status_.state =
            !status_.runs.empty() && status_.runs.back().outcome == run_outcome::succeeded
                ? state::completed
                : state::failed;
    }
    // An application that ended by itself is kept for people until the release, unless it keeps its
    // pods, and so the slots.
    const bool stays = there && there->run() == order.run && there->final() && seen_.kind &&
                       !seen_.kind->keeps_pods();
    remove_leftovers(order.run, stays);
}

void decider::assigned(const model::creation_request& order) {
    show_assignment(order);
    // A reset that came before a failure does not apply to it.
    status_.observed_reset = job_.metadata.annotation(names::reset);

    const auto* there = app();
    const bool was_named = status_.application && status_.application->run == order.run &&
                           !status_.application->uid.empty();
    // A newer release may have begun the run as a kind that this release does not know: it can
    // neither read nor judge the application.
    if (was_named && !seen_.kind) return;
    const bool read = seen_.live.application_read;
    if (!there && !was_named && (read || !kind_may_have_changed())) return launch(order);
    if (!ours(there) && !read) return read_application_first();

    const auto deleted = [&] {
        fail_run("ApplicationDeleted",
                 fmt::format("{} {} was deleted while the job ran", seen_.kind->resource().kind,
                             job_.metadata.name));
    };
    if (was_named && !ours(there)) {
        name_application(nullptr);
        if (!close_with_last_result(order.run, nullptr)) deleted();
        return;
    }
    if (!ours(there)) {
        return fail_launch(
            order, "NameTaken",
            fmt::format("{} {} exists already and belongs to {}; ESI never touches it: rename the "
                        "BatchJob, or remove it",
                        seen_.kind->resource().kind, there->metadata.key().text(),
                        show_owner(there->metadata)));
    }
    if (there->run() != order.run && is_handed_back(*there)) {
        return fail_launch(order, "ApplicationEnded",
                           fmt::format("{} {} has ended in an earlier run: make it again",
                                       seen_.kind->coordinator(), there->metadata.key().text()));
    }
    if (there->run() != order.run) {
        status_.state = state::in_queue;
        drop_ended_placements();
        name_application(there);
        set_condition(condition_type::submitted, "False", "OldApplication",
                      "waits until the application of an earlier run is gone");
        remove_leftovers({}, false);
        return;
    }
    // An ended application may be deleted: it reports its result until it is gone.
    if (there->metadata.deleting() && !there->final()) {
        name_application(there);
        return deleted();
    }
    progress(order, *there);
}

void decider::show_assignment(const model::creation_request& order) {
    status_.slots = grid::testbed_of(job_);
    status_.slot_ids = order.slot_ids;
    status_.replication = static_cast<int>(slots_of_workers(order.slot_ids, order.run).size());
}

/// Sets what every status has: the observed generation, conditions that need a value, and the texts
/// for people.
void decider::describe() {
    status_.observed_generation = job_.metadata.generation;
    bound_neighbours(status_.runs, nameable());
    if (seen_.kind && seen_.served) {
        const auto limits = seen_.kind->limits();
        set_condition(
            condition_type::backend_available, "True", limits.empty() ? "Established" : "Limited",
            fmt::format("{}{}{}", seen_.kind->served_text(), limits.empty() ? "" : "; ", limits));
    } else {
        set_condition(condition_type::backend_available, "False",
                      seen_.kind ? "DefinitionMissing" : "NotSupported", backend_missing());
    }
    if (!model::find_condition(status_.conditions, condition_type::succeeded)) {
        set_condition(condition_type::succeeded, "False", "NotRunYet", "");
    }
    const auto fit = fits();
    set_condition(condition_type::fits, fit.status, fit.reason, fit.text);
    report_problems();
    summarize();
    // Unchanged conditions hold for this generation, too; `kubectl wait` counts a condition of an
    // older generation as not met.
    for (auto& each : status_.conditions) {
        each.observed_generation = job_.metadata.generation;
        // A condition that changed and changed back within this decision has not changed.
        const auto* was = model::find_condition(job_.status.conditions, each.type);
        if (was && was->status == each.status && was->last_transition_time) {
            each.last_transition_time = was->last_transition_time;
        }
    }
}

const application* decider::app() const {
    return seen_.live.application_read ? seen_.live.application.get() : seen_.application.get();
}

bool decider::ours(const application* app) const {
    return app && seen_.kind && belongs_to(*app, *seen_.kind, job_);
}

std::vector<pod_pointer> decider::pods_of(std::string_view run, pod_role role) const {
    std::vector<pod_pointer> out;
    if (!seen_.kind) return out;
    for (const auto& pod : seen_.pods) {
        if (pod->metadata.annotation(names::run) == run && is_member(pod, role)) {
            out.push_back(pod);
        }
    }
    return out;
}

/// True: the pod is placed, or was made for the application. Once that is gone, a coordinator still
/// counts: it shows how the run ended.
bool decider::is_member(const pod_pointer& pod, pod_role role) const {
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

const model::testbed_layout* decider::layout() const {
    if (!seen_.testbed) return nullptr;
    const auto& layout = seen_.testbed->status.layout;
    return layout ? &*layout : nullptr;
}

/// By the layout whose slots the run was given. If that is gone, by the coordinator's pod: it
/// carries the Testbed's labels if it takes a slot, and an order names that slot last.
std::optional<int> decider::slot_of_coordinator(std::span<const int> slots,
                                                std::string_view run) const {
    if (slots.empty()) return std::nullopt;
    if (const auto* known = layout(); known && grid::is_under_hold(run, *seen_.testbed)) {
        const auto of_role = grid::with_role(*known, slots, model::slot_role::coordinator);
        return of_role.empty() ? std::nullopt : std::optional(of_role.front());
    }
    const bool takes_one = std::ranges::any_of(
        pods_of(run, pod_role::coordinator),
        [](const pod_pointer& pod) { return !pod->metadata.label(names::testbed).empty(); });
    return takes_one ? std::optional(slots.back()) : std::nullopt;
}

std::vector<int> decider::slots_of_workers(std::span<const int> slots, std::string_view run) const {
    const auto coordinator = slot_of_coordinator(slots, run);
    std::vector<int> out(slots.begin(), slots.end());
    if (coordinator) std::erase(out, *coordinator);
    return out;
}

std::vector<pod_pointer> decider::pods_in_slots(const model::creation_request& order) const {
    auto out = pods_of(order.run, pod_role::slot);
    if (!slot_of_coordinator(order.slot_ids, order.run)) return out;
    for (auto& pod : pods_of(order.run, pod_role::coordinator)) out.push_back(std::move(pod));
    return out;
}

bool decider::failed() const {
    return status_.state == state::failed || status_.state == state::failed_submission;
}

bool decider::final() const { return model::is_final(status_.state); }

void decider::set_condition(std::string_view type, std::string_view status, std::string_view reason,
                            std::string_view message) {
    model::set_condition(status_.conditions, type, status, reason, message,
                         job_.metadata.generation, now_);
}

void decider::reconcile_in(std::chrono::microseconds time) {
    // Better a little late than too early, so that the deadline has passed by then.
    time = std::max(time, std::chrono::microseconds(0)) + milliseconds(20);
    out_.again_in = out_.again_in ? std::min(*out_.again_in, time) : time;
}

void decider::name_application(const application* app) {
    if (!app) {
        status_.application.reset();
        return;
    }
    const auto& type = seen_.kind->resource();
    status_.application =
        model::application_ref{type.api_version(), std::string(type.kind), app->metadata.name,
                               app->metadata.uid, std::string(app->run())};
}

void decider::read_application_first() {
    out_.next = read_application{};
    out_.act_first = true;
}

void decider::set_reason(std::string_view reason, const std::string& text) {
    reason_ = reason;
    reason_text_ = text;
    add_problem(text);
}

const model::raw_json* decider::spec() const {
    return seen_.spec_kind ? seen_.spec_kind->spec_in(job_.spec) : nullptr;
}

std::string decider::spec_hash_now() const { return hash_of(seen_.spec_kind, job_.spec); }

std::string_view decider::spec_field() const {
    return seen_.spec_kind ? seen_.spec_kind->spec_field() : std::string_view("spec");
}

std::string decider::backend_missing() const {
    if (!seen_.kind && status_.type.empty()) {
        return "the spec describes no application of a kind that this operator knows; the operator "
               "may be older than the BatchJob: update it";
    }
    if (!seen_.kind) {
        return fmt::format("this operator has no backend for {} jobs", status_.type);
    }
    return seen_.kind->not_served();
}

}  // namespace esi::batchjob

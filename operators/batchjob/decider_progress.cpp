// A run under way: which of its pods take which slots, and its progress.
#include <fmt/format.h>

#include <algorithm>

#include "base/contains.h"
#include "batchjob/decider.h"
#include "batchjob/fill_slots.h"
#include "batchjob/runs.h"
#include "grid/grid.h"
#include "grid/rights.h"
#include "grid/slot_room.h"
#include "model/names.h"

namespace esi::batchjob {

namespace state = model::job_state;
namespace names = model::names;

namespace {

/// Pods of one application are created one after the other; pods in quick succession are placed by
/// one write.
constexpr milliseconds sibling_patience{5};
/// How soon a surplus pod is placed again.
constexpr seconds surplus_pause{2};
/// How soon a pod is marked again after a conflict or a transient error of the API server.
constexpr seconds soon_marked{2};

/// Adds to `into` the result for other slots of the same run.
void merge(filled_slots& into, filled_slots other) {
    for (auto& each : other.placements) into.placements.push_back(std::move(each));
    std::ranges::sort(into.placements, {}, &model::placement::slot);
    for (auto& each : other.to_read) into.to_read.push_back(std::move(each));
    for (auto& each : other.surplus) into.surplus.push_back(std::move(each));
}

/// Sets a time from pods where it is not set yet: the earliest (or latest) of them.
template <class Pick, class Better>
void take_time(std::optional<model::timestamp>& into, const std::vector<pod_pointer>& pods,
               Pick pick, Better better) {
    if (into) return;
    for (const auto& pod : pods) {
        const auto& time = pick(*pod);
        if (time && (!into || better(*time, *into))) into = time;
    }
}

std::set<std::string> nodes_of(const std::vector<pod_pointer>& bound) {
    std::set<std::string> out;
    for (const auto& pod : bound) {
        if (pod->live()) out.insert(pod->node_name);
    }
    return out;
}

}  // namespace

void decider::progress(const model::creation_request& order, const application& app) {
    delete_pods_of_other_runs(order);
    start_run(order, app);
    const bool again = start_attempt(order, app);
    name_application(&app);

    auto all = pods_in_slots(order);
    for (const auto& pod : all) {
        if (auto why = seen_.kind->pod_problem(*pod); !why.empty()) {
            return fail_run("PodNotPrepared", std::move(why));
        }
    }
    if (auto why = pod_larger_than_its_slots(order); !why.empty()) {
        return fail_run("LargerThanSlot", std::move(why));
    }
    if (mark_workers(order, app) || !record_placements(order)) return;
    report_foreign_pods(order);

    auto& line = *line_of(status_, order.run);
    withdraw_result(line, app);
    const auto pods = count_pods(line, std::move(all), again);
    note_job_times(line, app);
    advance(line, pods, app, order.slot_ids.size());

    set_condition(condition_type::submitted, "True", "ApplicationCreated",
                  fmt::format("{} {}", seen_.kind->resource().kind, app.metadata.name));
    if (status_.state == state::running) {
        set_condition(condition_type::running, "True", "Running", "");
    } else {
        set_condition(condition_type::running, "False", "NotStarted", "");
    }
    if (close_when_final(order, app) || fail_when_overdue(order)) return;
    report_application(app);
    report_scheduling(order, pods.bound.size());
    check_timeouts(order, app, pods.placed, pods.bound.size());
}

/// Why a pod that is not bound is larger than each slot of its role, as an admission plugin of the
/// cluster may add to what the spec asks for (the overhead of a RuntimeClass). It would wait at its
/// gate for ever. Empty: there is none, or the cache does not show the layout of this run yet.
std::string decider::pod_larger_than_its_slots(const model::creation_request& order) const {
    const auto* bed = seen_.testbed.get();
    if (!bed || !bed->status.layout || !grid::is_under_hold(job_, *bed)) return {};
    const auto& layout = *bed->status.layout;
    const auto count = grid::count_of_slots(layout);
    const auto judge = [&](pod_role role, std::span<const int> slots) -> std::string {
        for (const auto& pod : pods_of(order.run, role)) {
            if (pod->bound() || !pod->live() || pod->metadata.deleting()) continue;
            std::string why;
            for (const int slot : slots) {
                if (slot < 0 || slot >= count) return {};
                why = grid::larger_than_slot(pod->requests, grid::size_of(layout, slot));
                if (why.empty()) break;
            }
            if (!why.empty()) {
                return fmt::format("pod {} is larger than the slot: {}", describe_pod(*pod), why);
            }
        }
        return {};
    };
    auto why = judge(pod_role::slot, slots_of_workers(order.slot_ids, order.run));
    const auto place = slot_of_coordinator(order.slot_ids, order.run);
    if (!why.empty() || !place) return why;
    return judge(pod_role::coordinator, std::span(&*place, 1));
}

/// Pods of earlier runs must not be beside those of this one: they would take its room.
void decider::delete_pods_of_other_runs(const model::creation_request& order) {
    delete_pods others;
    others.why = fmt::format("another run than {}", order.run);
    for (const auto& pod : seen_.pods) {
        const auto run = pod->metadata.annotation(names::run);
        if (!run.empty() && run != order.run && !pod->metadata.deleting() &&
            !seen_.deletion_answered.contains(pod->metadata.uid)) {
            others.pods.push_back(pod);
        }
    }
    if (!others.pods.empty()) out_.next = std::move(others);
}

/// Workers of an application that was taken over are made by it alone, and know nothing of the run.
/// True: some are to be made members of it before anything else is decided: the oldest, as many as
/// the run has slots for.
bool decider::mark_workers(const model::creation_request& order, const application& app) {
    if (!seen_.kind->adopts() || !spec() || !layout() || app.final()) return false;
    std::vector<pod_pointer> fresh;
    std::vector<pod_pointer> ungated;
    std::size_t refused = 0;
    std::string example;
    for (const auto& pod : seen_.pods) {
        const bool is_own = seen_.kind->role_of(*pod, job_.metadata.name) == pod_role::slot &&
                            seen_.kind->foreign(*pod, app, seen_.pods).empty();
        const bool waits = pod->live() && !pod->bound() && !pod->metadata.deleting();
        if (!is_own || !waits || !pod->run().empty()) continue;
        if (const auto at = seen_.unmarked.find(pod->metadata.uid); at != seen_.unmarked.end()) {
            reconcile_in(at->second.empty() ? soon_marked : mark_pause);
            if (at->second.empty() || ++refused > 1) continue;
            example = fmt::format("{} {} cannot be marked: {}", seen_.kind->worker(),
                                  pod->metadata.name, at->second);
        } else {
            (contains(pod->scheduling_gates, names::gate) ? fresh : ungated).push_back(pod);
        }
    }
    if (refused > 1) example += fmt::format(" (and {} more)", refused - 1);
    if (refused > 0) add_problem(std::move(example));
    const auto members = pods_of(order.run, pod_role::slot);
    const auto taken =
        std::ranges::count_if(members, [](const pod_pointer& pod) { return pod->live(); });
    const auto wanted = std::ssize(slots_of_workers(order.slot_ids, order.run)) - taken;
    std::ranges::sort(fresh, [](const pod_pointer& a, const pod_pointer& b) {
        return came_before(a->metadata, b->metadata);
    });
    const auto most = std::clamp<std::ptrdiff_t>(wanted, 0, std::ssize(fresh));
    const auto name_first = [&](std::span<const pod_pointer> pods, std::string_view why) {
        constexpr std::size_t most_named = 3;
        for (const auto& pod : pods.first(std::min(most_named, pods.size()))) {
            add_problem(fmt::format("{} {} {}", seen_.kind->worker(), pod->metadata.name, why));
        }
    };
    name_first(ungated, fmt::format("takes no place: it was made without the scheduling gate {}",
                                    names::gate));
    name_first(std::span(fresh).subspan(static_cast<std::size_t>(most)),
               "waits: each slot of the run has a pod already");
    fresh.resize(static_cast<std::size_t>(most));
    if (fresh.empty()) return false;
    out_.next = mark_pods{std::move(fresh), seen_.kind->marks(request_for(order), pod_role::slot)};
    out_.act_first = true;
    return true;
}

/// Gives the run's slots to its pods: those of workers to workers, that of the coordinator, if the
/// order has one, to the coordinator. False: nothing else is to be decided before: recorded pods
/// have to be read live, or more pods are about to come.
bool decider::record_placements(const model::creation_request& order) {
    const auto workers = slots_of_workers(order.slot_ids, order.run);
    auto filled =
        fill_slots(workers, status_.placements, pods_of(order.run, pod_role::slot), seen_.live);
    if (const auto place = slot_of_coordinator(order.slot_ids, order.run)) {
        merge(filled, fill_slots(std::span(&*place, 1), status_.placements,
                                 pods_of(order.run, pod_role::coordinator), seen_.live));
    }
    if (!filled.to_read.empty()) {
        out_.next = read_pods{filled.to_read};
        out_.act_first = true;
        return false;
    }
    if (seen_.pods_coming && filled.placements != status_.placements &&
        std::ranges::count_if(pods_in_slots(order), [](const auto& pod) { return pod->live(); }) <
            std::ssize(order.slot_ids)) {
        hold_back(sibling_patience);
        return false;
    }
    status_.placements = filled.placements;
    for (const auto& pod : filled.surplus) {
        add_problem(fmt::format("pod {} waits: each slot of the run has a pod already",
                                pod->metadata.name));
        // Only a live read saw the pod in its slot alive: the cache does not have it, so no event
        // may show its end.
        if (!seen_.live.living_pods.empty()) reconcile_in(surplus_pause);
    }
    return true;
}

/// Reports pods that carry the labels and the annotation of the run and were not made for its
/// application: they get no slot.
void decider::report_foreign_pods(const model::creation_request& order) {
    constexpr int most_reported = 3;
    int count = 0;
    const bool with_coordinator = slot_of_coordinator(order.slot_ids, order.run).has_value();
    for (const auto& pod : seen_.pods) {
        const auto role = seen_.kind->role_of(*pod, job_.metadata.name);
        // An application names no coordinator before its operator has written a status.
        const bool needs_slot = role == pod_role::slot || (role == pod_role::coordinator &&
                                                           with_coordinator && app()->taken_up());
        const bool is_marked = pod->metadata.annotation(names::run) == order.run && needs_slot;
        if (!is_marked || !pod->live() || is_member(pod, role)) continue;
        if (++count > most_reported) break;
        add_problem(fmt::format("pod {} gets no slot: {}", pod->metadata.name,
                                seen_.kind->foreign(*pod, *app(), seen_.pods)));
    }
}

/// close_when_final has put the result into the line before its end; an application that is no
/// longer final (its operator restarts it) has no result.
void decider::withdraw_result(model::run_record& line, const application& app) const {
    if (app.final() || line.reason.empty()) return;
    line.reason.clear();
    line.message.clear();
    line.stopped.reset();
}

decider::slot_pods decider::count_pods(const model::run_record& line, std::vector<pod_pointer> all,
                                       bool again) const {
    slot_pods out;
    out.all = std::move(all);
    if (again) {
        // Pods of an earlier attempt say nothing about this one.
        std::erase_if(out.all, [&](const pod_pointer& pod) {
            return line.submitted && pod->metadata.creation_timestamp &&
                   *pod->metadata.creation_timestamp < *line.submitted;
        });
    }
    out.placed = status_.placements.size();
    for (const auto& entry : status_.placements) {
        const auto at = std::ranges::find_if(
            out.all, [&](const pod_pointer& pod) { return pod->metadata.uid == entry.pod_uid; });
        if (at != out.all.end() && (*at)->bound()) out.bound.push_back(*at);
        // The placement of a pod of an earlier attempt is kept for its replacement: it does not
        // count.
        if (again && at == out.all.end()) --out.placed;
    }
    out.running = static_cast<std::size_t>(std::ranges::count_if(
        out.all, [](const pod_pointer& pod) { return pod->phase == "Running"; }));
    return out;
}

/// Moves on by Submitted, Scheduled, Running: one or more states, never back.
void decider::advance(model::run_record& line, const slot_pods& pods, const application& app,
                      std::size_t wanted) {
    // A run begins with its first worker, whether its coordinator is in a slot or not.
    auto workers = pods.all;
    std::erase_if(workers, [&](const pod_pointer& pod) {
        return seen_.kind->role_of(*pod, job_.metadata.name) != pod_role::slot;
    });
    take_time(
        line.started, workers, [](const model::pod& pod) { return pod.started_at; }, std::less<>());
    if (status_.state != state::submitted && status_.state != state::scheduled &&
        status_.state != state::running) {
        status_.state = state::submitted;
    }
    const bool all_bound = pods.bound.size() >= wanted;
    const bool runs = app.phase == phase::running && pods.running >= wanted;
    if (status_.state == state::submitted && (all_bound || runs)) {
        status_.state = state::scheduled;
        take_time(
            line.scheduled, pods.bound,
            [](const model::pod& pod) {
                return pod.scheduled_status == "True" ? pod.scheduled_time : std::nullopt;
            },
            std::greater<>());
        if (!line.scheduled) line.scheduled = stamp();
    }
    if (status_.state == state::scheduled && runs) {
        status_.state = state::running;
        open_event(status_, line);
    }
    if (status_.state != state::submitted)
        note_neighbours(line, nodes_of(pods.bound), seen_.neighbours, nameable());
}

/// Reports what the application itself says though it has not ended.
void decider::report_application(const application& app) {
    const auto& kind = seen_.kind->resource().kind;
    if (app.phase == phase::paused || app.phase == phase::unknown) {
        const auto text = fmt::format("{} {} is in state {}", kind, app.metadata.name, app.word);
        set_reason(app.phase == phase::paused ? "Suspended" : "UnknownApplicationState", text);
        set_condition(condition_type::running, "Unknown", reason_, text);
        out_.unknown_state = app.phase == phase::unknown;
    }
    if (app.attempt == 0 && !app.message.empty()) {
        add_problem(fmt::format("{} {}: {}", kind, app.metadata.name, app.message));
    }
}

}  // namespace esi::batchjob

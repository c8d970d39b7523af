// The waits of a run under way, for people (status.problems, the conditions), and the time-outs
// that end them.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "batchjob/decider.h"
#include "batchjob/runs.h"
#include "grid/rights.h"
#include "model/names.h"

namespace esi::batchjob {

namespace state = model::job_state;
namespace names = model::names;

namespace {

/// How long a scheduler may ignore a pod of a job before that is reported.
constexpr seconds scheduler_patience{5};
/// If a pod that was let in is rejected and not bound for this long, the job waits for it.
constexpr seconds binding_patience{2};
/// How long pods of a run may not exist before that is reported: on real nodes a driver comes after
/// 13 to 98 s, and its first executor as long after that.
constexpr seconds pods_patience{60};

bool unschedulable(const model::pod& pod) {
    return !pod.bound() && pod.live() && pod.scheduled_status == "False" &&
           pod.scheduled_reason == "Unschedulable";
}

/// The time since which the scheduler has rejected a pod that may go to its slot. Nothing: ESI has
/// not let the pod in.
std::optional<model::timestamp> let_in_and_rejected_since(const model::pod& pod) {
    if (pod.metadata.annotation(names::slot_node).empty()) return std::nullopt;
    return pod.scheduled_time;
}

/// "DriverUnschedulable", "JobManagerUnschedulable"
std::string unschedulable_reason(std::string_view coordinator) {
    std::string out(coordinator);
    if (!out.empty()) {
        out[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(out[0])));
    }
    return out + "Unschedulable";
}

}  // namespace

/// The condition Placed: whether all pods are bound, and if not, why.
void decider::report_scheduling(const model::creation_request& order, std::size_t bound) {
    const auto wanted = order.slot_ids.size();
    const auto pods = pods_in_slots(order);
    // The coordinators that stay off the testbed.
    std::vector<pod_pointer> coordinators;
    if (!slot_of_coordinator(order.slot_ids, order.run)) {
        coordinators = pods_of(order.run, pod_role::coordinator);
    }
    report_unschedulable_coordinators(coordinators);
    if (bound >= wanted) {
        set_condition(condition_type::placed, "True", "AllBound", "");
        return;
    }
    if (report_absent_scheduler(pods) || report_absent_scheduler(coordinators)) return;
    if (report_rejected_pod(pods)) return;
    const auto live = std::ranges::count_if(
        pods, [](const pod_pointer& pod) { return pod->live() && !pod->metadata.deleting(); });
    if (static_cast<std::size_t>(live) < wanted) {
        set_condition(condition_type::placed, "False", "WaitingForPods",
                      fmt::format("{} of {} pods exist", live, wanted));
    } else {
        set_condition(condition_type::placed, "False", "WaitingForSlots",
                      fmt::format("{} of {} pods are bound", bound, wanted));
    }
}

void decider::report_unschedulable_coordinators(const std::vector<pod_pointer>& coordinators) {
    for (const auto& pod : coordinators) {
        if (!unschedulable(*pod)) continue;
        const auto text = fmt::format("{} {} cannot be scheduled: {}", seen_.kind->coordinator(),
                                      pod->metadata.name, pod->scheduled_message);
        set_reason(unschedulable_reason(seen_.kind->coordinator()), text);
        set_condition(condition_type::running, "False", reason_, text);
    }
}

/// True: a scheduler ignores one of these pods, and this is reported.
bool decider::report_absent_scheduler(const std::vector<pod_pointer>& pods) {
    for (const auto& pod : pods) {
        const auto since = unseen_since(*pod);
        if (!since) continue;
        if (now_ < *since + scheduler_patience) {
            reconcile_in(*since + scheduler_patience - now_);
            continue;
        }
        const auto text =
            fmt::format("no scheduler has looked at pod {} for {} s: is there one named {}?",
                        pod->metadata.name, scheduler_patience.count(), pod->scheduler_name);
        set_reason(reasons::scheduler_absent, text);
        set_condition(condition_type::placed, "False", reason_, text);
        return true;
    }
    return false;
}

/// True: the scheduler has rejected one of these pods, and this is reported.
bool decider::report_rejected_pod(const std::vector<pod_pointer>& pods) {
    const auto at = std::ranges::find_if(pods, [](const auto& pod) { return unschedulable(*pod); });
    if (at == pods.end()) return false;
    const auto& pod = **at;
    auto text = fmt::format("pod {}: {}", describe_pod(pod), pod.scheduled_message);
    const auto since = let_in_and_rejected_since(pod);
    if (since && now_ >= since->value + binding_patience) {
        text = fmt::format("pod {} waits since {} for {} to bind it to {}: {}", describe_pod(pod),
                           since->whole_seconds(), pod.scheduler_name,
                           pod.metadata.annotation(names::slot_node), pod.scheduled_message);
        set_reason("WaitsForBinding", text);
        set_condition(condition_type::placed, "False", reason_, text);
        return true;
    }
    if (since) reconcile_in(since->value + binding_patience - now_);
    add_problem(text);
    set_condition(condition_type::placed, "False", "Unschedulable", text);
    return true;
}

/// Why pods of the run do not exist, which component is the cause, and since when; nothing if that
/// is still normal.
std::optional<decider::absence> decider::absence_of_pods(const model::creation_request& order,
                                                         const application& app,
                                                         std::size_t placed) const {
    const auto submitted = line_of(status_, order.run)->submitted.value_or(stamp()).value;
    const auto coordinator = newest_coordinator(order.run);
    const auto& kind = *seen_.kind;
    const auto key = app.metadata.key();
    if (!coordinator && !app.taken_up()) {
        return absence{reasons::operator_silent,
                       fmt::format("{} {} has no status: does the {} operator run and watch "
                                   "namespace {}?",
                                   kind.resource().kind, key.text(), kind.type(), key.namespace_),
                       submitted};
    }
    if (!coordinator || coordinator->phase != "Running") return std::nullopt;
    auto since = coordinator->started_at ? coordinator->started_at->value : submitted;
    // The kubelet's clock may be far ahead.
    if (since < submitted || since > now_ + pods_patience) since = submitted;
    return absence{
        reasons::pods_missing,
        fmt::format("{} runs, {}: {}; is there PriorityClass {}?", kind.coordinator(),
                    describe_missing_workers(order, placed),
                    kind.where_to_look(key, coordinator->metadata.name), kind.priority_class()),
        since};
}

/// "1 of 2 executors exist". `placed`: number of entries in status.placements that count, with that
/// of the coordinator if it takes a slot.
std::string decider::describe_missing_workers(const model::creation_request& order,
                                              std::size_t placed) const {
    const auto place = slot_of_coordinator(order.slot_ids, order.run);
    const bool counted =
        place && std::ranges::find(status_.placements, *place, &model::placement::slot) !=
                     status_.placements.end();
    return fmt::format("{} of {} {}s exist", placed - std::min<std::size_t>(placed, counted),
                       slots_of_workers(order.slot_ids, order.run).size(), seen_.kind->worker());
}

/// Ends a run whose pods do not exist, or are not bound, within the time that the order allows.
void decider::check_timeouts(const model::creation_request& order, const application& app,
                             std::size_t placed, std::size_t bound) {
    if (status_.state != state::submitted) return;
    const auto submitted = line_of(status_, order.run)->submitted.value_or(stamp()).value;
    const auto wanted = order.slot_ids.size();
    if (placed < wanted) return check_submit_timeout(order, app, placed, submitted);

    // All pods exist since the newest was created.
    auto since = submitted;
    for (const auto& pod : pods_in_slots(order)) {
        if (pod->live() && pod->metadata.creation_timestamp) {
            since = std::max(since, pod->metadata.creation_timestamp->value);
        }
    }
    const auto limit = grid::schedule_timeout(order);
    const auto deadline = grid::binding_deadline(order, submitted, since);
    if (now_ < deadline) return reconcile_in(deadline - now_);
    fail_run("ScheduleTimeout", fmt::format("{} of {} pods are bound {} s after all existed: {}",
                                            bound, wanted, limit.count(), describe_unbound()));
}

void decider::check_submit_timeout(const model::creation_request& order, const application& app,
                                   std::size_t placed, wall_time submitted) {
    const auto limit = grid::submit_timeout(order);
    const auto deadline = submitted + limit;
    const bool over = now_ >= deadline;
    if (const auto why = absence_of_pods(order, app, placed)) {
        const auto reported_at = why->since + pods_patience;
        if (!over && now_ < reported_at) {
            reconcile_in(reported_at - now_);
        } else if (reason_.empty()) {
            set_reason(why->reason, why->text);
        } else {
            // The job also waits for something else, which is its reason.
            add_problem(why->text);
        }
    }
    if (!over) return reconcile_in(deadline - now_);
    std::string message = fmt::format("{} of {} pods exist {} s after the submission", placed,
                                      order.slot_ids.size(), limit.count());
    for (const auto& text : problems_) message += "; " + text;
    fail_run("SubmitTimeout", std::move(message));
}

/// The time since which a scheduler could have seen a pod that it has not seen; nothing if it has
/// seen it, or could not.
std::optional<wall_time> decider::unseen_since(const model::pod& pod) const {
    if (pod.bound() || !pod.live() || pod.metadata.deleting() || !pod.scheduling_gates.empty()) {
        return std::nullopt;
    }
    // The API server itself writes SchedulingGated, when the pod is created.
    if (!pod.scheduled_status.empty() && pod.scheduled_reason != "SchedulingGated") {
        return std::nullopt;
    }
    const auto at = seen_.ungated_since.find(pod.metadata.uid);
    return at == seen_.ungated_since.end() ? now_ : at->second;
}

std::string decider::describe_pod(const model::pod& pod) const {
    for (const auto& entry : status_.placements) {
        if (entry.pod_uid == pod.metadata.uid) {
            return fmt::format("{} (slot {})", pod.metadata.name, entry.slot);
        }
    }
    return pod.metadata.name;
}

std::string decider::describe_unbound() const {
    std::string out;
    for (const auto& entry : status_.placements) {
        const auto at = std::ranges::find_if(
            seen_.pods, [&](const pod_pointer& pod) { return pod->metadata.uid == entry.pod_uid; });
        if (at != seen_.pods.end() && (*at)->bound()) continue;
        std::string words = "is gone";
        if (at != seen_.pods.end()) {
            const auto& pod = **at;
            words = !pod.scheduling_gates.empty()    ? "waits at its gate"
                    : !pod.scheduled_message.empty() ? pod.scheduled_message
                                                     : "no scheduler has looked at it";
        }
        out += fmt::format("{}pod {} for slot {}: {}", out.empty() ? "" : "; ", entry.pod_name,
                           entry.slot, words);
    }
    return out;
}

}  // namespace esi::batchjob

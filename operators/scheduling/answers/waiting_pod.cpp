#include "scheduling/answers/waiting_pod.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/names.h"
#include "scheduling/answers/blocking.h"
#include "scheduling/words.h"

namespace esi::scheduling::answers {

namespace {

using model::object_key;
namespace names = model::names;

void say(waiting_pod& out, std::string_view reason, std::string text, std::string freed_by) {
    out.reason = reason;
    out.text = std::move(text);
    out.freed_by = std::move(freed_by);
}

/// Why ESI does not handle a pod; empty if the pod is of a run that counts.
std::string why_foreign(const view& v, const model::pod& pod, const model::batchjob* job) {
    if (pod.metadata.label(names::job).empty() || pod.run().empty()) {
        return "no operator of ESI made it a pod of a run: it has no label " +
               std::string(names::job) + " or no annotation " + std::string(names::run);
    }
    if (job == nullptr) return "its BatchJob does not exist";
    const auto& order = job->spec.creation_request;
    if (!order) return "its BatchJob has no order to start";
    if (order->run != pod.run())
        return "its run is not the one that its BatchJob is ordered to make";
    const auto& active = job->spec.active_scheduling;
    const auto holder = active ? v.find_scheduling(active->key()) : nullptr;
    if (!holder || !grid::is_assigned(*job, *holder)) {
        return "no Scheduling has assigned the run to its BatchJob";
    }
    return {};
}

/// None once all pods of the run have been bound: a replacement pod may wait for as long as the run
/// goes on.
std::optional<model::timestamp> deadline_of(const model::batchjob& job, const model::pod& pod,
                                            std::span<const grid::pod_pointer> beside) {
    if (job.status.state != model::job_state::submitted) return std::nullopt;
    const auto& order = *job.spec.creation_request;
    std::optional<model::timestamp> submitted;
    for (const auto& line : job.status.runs) {
        if (line.run == order.run) submitted = line.submitted;
    }
    if (!submitted) return std::nullopt;
    auto newest = submitted->value;
    const auto count = [&](const model::pod& each) {
        if (!each.metadata.creation_timestamp || each.run() != order.run || !each.live()) return;
        newest = std::max(newest, each.metadata.creation_timestamp->value);
    };
    count(pod);
    for (const auto& each : beside) count(*each);
    return model::timestamp{grid::binding_deadline(order, submitted->value, newest)};
}

void explain_binding(waiting_pod& out, const model::pod& pod, wall_time now) {
    const bool late = out.deadline && now >= out.deadline->value;
    const auto where = out.slot ? fmt::format(" to node {}, slot {}", out.node, *out.slot) : "";
    auto text = "its scheduler has not bound it" + where;
    if (!pod.scheduled_message.empty()) text += ": " + pod.scheduled_message;
    say(out, late ? waiting_reason::not_bound_in_time : waiting_reason::not_bound, std::move(text),
        late ? "its run fails, as the time to bind its pods is over"
             : "its scheduler binds it (see the Events of the pod)");
}

/// For a pod that ESI's gate holds, and that has a slot of the Testbed of `v.self`.
void explain_slot(waiting_pod& out, const view& v, const model::pod& pod) {
    const int slot = *out.slot;
    const auto row = v.slots->at(slot);
    out.node = row.place.node;
    if (v.in_error().contains(slot)) {
        return say(out, waiting_reason::slot_in_error,
                   fmt::format("slot {} on node {} cannot be used", slot, out.node),
                   end_of_error(v.find_testbed(testbed_of(*v.self)).get()));
    }
    const auto other = std::ranges::find_if(
        row.job_pods, [&](const auto& each) { return each->metadata.uid != pod.metadata.uid; });
    if (other != row.job_pods.end()) {
        const auto key = (*other)->metadata.key();
        const bool own = key.namespace_ == pod.metadata.namespace_;
        return say(
            out, waiting_reason::slot_occupied,
            fmt::format("{} is still in slot {} on node {}",
                        own ? "Pod " + key.text() : std::string(grid::foreign_pod), slot, out.node),
            "the end of that pod");
    }
    if (v.slots->free().contains(slot)) {
        return say(out, waiting_reason::ghost_in_slot,
                   fmt::format("the ghost still runs in slot {} on node {}", slot, out.node),
                   "the testbed operator ends the ghost");
    }
    say(out, waiting_reason::not_let_in,
        fmt::format("no ghost holds slot {} on node {}, and the pod is not let in yet", slot,
                    out.node),
        "the testbed operator lets it in");
}

}  // namespace

std::optional<waiting_pod> wait_of_pod(const view& v, const model::pod& pod,
                                       std::span<const grid::pod_pointer> beside, wall_time now) {
    if (pod.bound() || pod.terminal()) return std::nullopt;
    waiting_pod out;
    out.namespace_ = pod.metadata.namespace_;
    out.name = pod.metadata.name;
    out.created = pod.metadata.creation_timestamp;
    if (pod.is_ghost()) {
        out.node = pod.metadata.annotation(names::node);
        say(out, waiting_reason::room_taken,
            fmt::format("a ghost: the room of its slot on node {} is not free yet", out.node),
            "the end of the pods that use the room");
        return out;
    }
    out.run = pod.run();
    const object_key key{pod.metadata.namespace_, std::string(pod.metadata.label(names::job))};
    const auto job = key.name.empty() ? nullptr : v.find_job(key);
    if (auto text = why_foreign(v, pod, job.get()); !text.empty()) {
        say(out, waiting_reason::foreign, std::move(text), "not by ESI");
        return out;
    }
    out.job = key;
    out.deadline = deadline_of(*job, pod, beside);
    const auto& placements = job->status.placements;
    const auto own = std::ranges::find(placements, pod.metadata.uid, &model::placement::pod_uid);
    if (own != placements.end()) out.slot = own->slot;
    const auto& order = *job->spec.creation_request;
    const bool known = out.slot && order.testbed_name == grid::testbed_of(*v.self) &&
                       *out.slot >= 0 && *out.slot < v.slots->size();
    if (grid::let_in(pod)) {
        if (known) out.node = v.slots->at(*out.slot).place.node;
        explain_binding(out, pod, now);
    } else if (!out.slot && placements.size() >= order.slot_ids.size()) {
        say(out, waiting_reason::surplus,
            fmt::format("the {} slots of its run are recorded for other pods",
                        order.slot_ids.size()),
            "the end of one of these pods");
    } else if (!out.slot) {
        say(out, waiting_reason::no_slot, "no slot of its run is recorded for it yet",
            "the batchjob operator records a slot for it (status.placements)");
    } else if (known) {
        explain_slot(out, v, pod);
    } else {
        say(out, waiting_reason::not_let_in,
            fmt::format("it is not let in to slot {} yet", *out.slot),
            "the testbed operator lets it in");
    }
    return out;
}

}  // namespace esi::scheduling::answers

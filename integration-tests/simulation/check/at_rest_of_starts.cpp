// At the end: whether a Scheduling holds back a job that could start. A run without faults has the
// same mistake, so that comparing the two ends does not show it.
#include <fmt/format.h>

#include <algorithm>

#include "check/at_rest.h"

namespace esi::simulation::checks {

namespace job_state = model::job_state;
namespace states = model::scheduling_state;

namespace {

model::object_key with_namespace(model::object_key job, const model::scheduling& who) {
    if (job.namespace_.empty()) job.namespace_ = who.metadata.namespace_;
    return job;
}

bool has_started(const model::scheduling& who, const model::object_key& job) {
    return std::ranges::any_of(who.status.assignments,
                               [&](const auto& each) { return each.job.key() == job; });
}

}  // namespace

/// Acquired, in the queue, without an order.
bool rest_rules::may_start(const model::scheduling& who, const model::object_key& name) const {
    const auto* record = all_.job(name);
    if (!record || has_started(who, name) || is_cancelled(who, name) ||
        out_.was_edited(record->job->metadata.uid + "/status"))
        return false;
    const auto& job = *record->job;
    return job.spec.active_scheduling && job.spec.active_scheduling->uid == who.metadata.uid &&
           !job.metadata.deleting() && job.status.state == job_state::in_queue;
}

/// Positions with a bound ghost, into which no pod is let in, and which the Testbed does not report
/// as broken.
std::set<int> rest_rules::free_slots_of(const model::testbed& bed) const {
    std::set<int> out;
    const auto rows = all_.rows_of(bed);
    const auto total = bed.status.layout ? grid::count_of_slots(*bed.status.layout) : 0;
    for (int position = 0; position < total; ++position) {
        const auto where = place_of(bed, position);
        if (!where) continue;
        const auto row = std::ranges::find(rows, position, &model::slot_status::position);
        if (row != rows.end() && row->state == model::slot_state::error) continue;
        const auto ghosts = all_.ghosts_of.find(*where);
        if (ghosts == all_.ghosts_of.end()) continue;
        const bool stands = std::ranges::any_of(ghosts->second, [&](const auto& uid) {
            const auto found = all_.pods.find(uid);
            return found != all_.pods.end() && found->second.live() && found->second.pod->bound() &&
                   !found->second.pod->metadata.deleting();
        });
        const auto inside = all_.in_place.find(*where);
        if (stands && (inside == all_.in_place.end() || inside->second.empty())) {
            out.insert(position);
        }
    }
    return out;
}

void rest_rules::no_start_is_withheld(const model::scheduling& who) {
    const auto* bed = all_.testbed(testbed_of(who));
    if (!bed || !bed->testbed->is_offered_to(who.metadata.namespace_) || who.metadata.deleting() ||
        !who.status.releasing.empty() || who.status.state != states::confirmation ||
        out_.was_edited(who.metadata.uid + "/status") ||
        grid::scheduling_uid_of_hold(bed->testbed->hold()) != who.metadata.uid) {
        return;
    }
    // Nothing is started by a pause, nor when the plan's time is over.
    if (who.spec.suspend.value_or(false) || who.spec.active_deadline_seconds) return;
    auto free = free_slots_of(*bed->testbed);
    for (const auto& each : who.status.assignments) {
        if (each.ended) continue;
        for (const int slot : each.slot_ids) free.erase(slot);
    }
    if (const auto& layout = bed->testbed->status.layout; layout && !layout->shapes.empty()) {
        // No job starts without a place for its coordinator, where there are such.
        const auto erased =
            std::erase_if(free, [&](int slot) { return is_of_coordinator(*layout, slot); });
        if (erased == 0 && workers_of(*layout) < grid::count_of_slots(*layout)) return;
    }
    const auto require_none = [&](const model::object_key* job, std::string_view wants) {
        out_.require(job == nullptr, "start-withheld", {}, [&] {
            return fmt::format(
                "Scheduling {} does not start {}, though it could: it wants {}, free are {}; it "
                "waits for \"{}\"",
                who.metadata.key().text(), job->text(), wants,
                grid::show_slot_list(std::vector<int>(free.begin(), free.end())),
                who.status.waiting_for);
        });
    };
    if (who.spec.queue_based) {
        std::vector<model::object_key> left;
        for (const auto& entry : *who.spec.queue_based) {
            auto job = with_namespace(entry, who);
            const auto* record = all_.job(job);
            // A job whose state a person has overwritten may be the next, or not: nothing is
            // known of the rest.
            if (record && out_.was_edited(record->job->metadata.uid + "/status") &&
                !has_started(who, job)) {
                return;
            }
            if (may_start(who, job)) left.push_back(std::move(job));
        }
        if (left.empty()) return;
        // The entry at place i takes the i-th free slot: the first job is complete with its last.
        const auto last = std::ranges::find(left.rbegin(), left.rend(), left.front());
        const auto places = static_cast<std::size_t>(left.rend() - last);
        require_none(places <= free.size() ? &left.front() : nullptr,
                     fmt::format("{} slots", std::ranges::count(left, left.front())));
        return;
    }
    if (who.spec.pool_based) {
        for (const auto& entry : who.spec.pool_based->jobs) {
            const auto job = with_namespace(entry.name, who);
            if (!may_start(who, job)) continue;
            require_none(std::ssize(free) >= entry.slots ? &job : nullptr,
                         fmt::format("{} slots", entry.slots));
        }
        return;
    }
    if (!who.spec.slot_based) return;
    const auto& kept = who.status.plan ? who.status.plan->slot_based : who.spec.slot_based;
    const bool strict = !kept || kept->mode == "strict";
    for (const auto& entry : who.spec.slot_based->jobs) {
        const auto job = with_namespace(entry.name, who);
        if (has_started(who, job) || is_cancelled(who, job)) continue;
        const bool could = may_start(who, job) && std::ranges::all_of(entry.slot_ids, [&](int id) {
                               return free.contains(id);
                           });
        require_none(could ? &job : nullptr, grid::show_slot_list(entry.slot_ids));
        if (strict) return;
    }
}

}  // namespace esi::simulation::checks

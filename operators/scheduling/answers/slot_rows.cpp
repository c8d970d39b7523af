#include "scheduling/answers/slot_rows.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "grid/places.h"
#include "grid/records.h"
#include "grid/rights.h"

namespace esi::scheduling::answers {

namespace {

namespace slot_state = model::slot_state;

/// Position -> the job that it is assigned to.
using reservations = std::map<int, std::string>;

reservations reserved_in(const model::testbed& of, const slot_sources& from) {
    reservations out;
    const auto holder = from.schedulings.find(of.holder());
    for (const auto& [unused, job] : from.jobs.all()) {
        const auto& order = job->spec.creation_request;
        if (!order || !grid::has_right(*job, of, holder.get())) continue;
        const bool own = job->metadata.namespace_ == of.metadata.namespace_;
        const std::string name(own ? job->metadata.name : grid::foreign_pod);
        for (const int slot : order->slot_ids) out[slot] = name;
    }
    return out;
}

model::slot_status row_of(const model::testbed& of, const grid::slot_view& slot,
                          const reservations& reserved) {
    model::slot_status row;
    row.position = slot.place.position;
    row.node_name = slot.place.node;
    row.node_id = slot.place.node_id;
    row.slot_position_on_node = slot.place.index;
    const auto assigned = reserved.find(slot.place.position);
    const auto pod = slot.job_pods.empty() ? slot.ghost : slot.job_pods.front();
    if (pod) {
        const bool own = pod->metadata.namespace_ == of.metadata.namespace_;
        row.pod_name = own ? pod->metadata.name : grid::foreign_pod;
        row.pod_u_id = pod->metadata.uid;
    }
    if (!slot.job_pods.empty()) {
        row.state = slot_state::occupied;
    } else if (assigned != reserved.end()) {
        row.state = slot_state::reserved;
        row.reserved_for = assigned->second;
    } else if (slot.free()) {
        row.state = slot_state::free;
    } else {
        row.state = slot.ghost && slot.ghost->live() ? slot_state::reserved : slot_state::error;
    }
    return row;
}

/// Nothing if a position has no line.
std::optional<std::vector<model::slot_status>> rows_by_slices(const model::testbed& of,
                                                              const slot_sources& from) {
    if (!grid::has_slices(of)) return std::nullopt;
    const auto slices = from.slots_of(of.metadata.key())->slices_of(of);
    std::vector<model::slot_status> out;
    for (const auto& place : grid::slots_of(*of.status.layout)) {
        auto row = grid::row_of_line(slices.text_at(place.position), place);
        if (!row) return std::nullopt;
        out.push_back(std::move(*row));
    }
    return out;
}

}  // namespace

bool leaves_slots_out(const model::testbed& of) {
    return of.status.slots.empty() && of.status.layout && !of.status.layout->nodes.empty();
}

std::vector<model::slot_status> rows_by_pods(const model::testbed& of, const slot_sources& from) {
    const auto reserved = reserved_in(of, from);
    const auto key = of.metadata.key();
    const auto slices = from.slots_of(key)->slices_of(of);
    grid::records known(key);
    known.add(slices);
    for (const auto& [unused, job] : from.jobs.all()) known.add(*job);
    const auto pods = from.pods.by_index("testbed", key.text());
    const auto members = grid::members_of(of, known, pods);
    std::vector<model::slot_status> out;
    for (const auto& slot : grid::look(*of.status.layout, members)) {
        out.push_back(row_of(of, slot, reserved));
    }
    return out;
}

std::vector<model::slot_status> slot_rows(const model::testbed& of, const slot_sources& from) {
    if (!leaves_slots_out(of)) {
        auto out = of.status.slots;
        std::ranges::sort(out, {}, &model::slot_status::position);
        return out;
    }
    if (auto rows = rows_by_slices(of, from)) return std::move(*rows);
    return rows_by_pods(of, from);
}

}  // namespace esi::scheduling::answers

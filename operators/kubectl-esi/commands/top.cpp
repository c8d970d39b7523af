#include "kubectl-esi/commands/top.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "grid/places.h"
#include "kubectl-esi/read/world.h"
#include "kubectl-esi/shown/documents.h"
#include "kubectl-esi/shown/words.h"
#include "model/names.h"

namespace esi::kubectl {

namespace types = kube::types;
namespace slot_state = model::slot_state;
using shown::cell;
using shown::json;
using shown::tint;

namespace {

tint tint_of(std::string_view state) {
    if (state == slot_state::free) return tint::good;
    if (state == slot_state::occupied) return tint::busy;
    if (state == slot_state::reserved) return tint::wait;
    if (state == slot_state::error) return tint::bad;
    return tint::plain;
}

tint tint_of_testbed(const model::testbed_status& status) {
    return status.reason.empty() ? tint::plain : tint::bad;
}

std::string holder_of(const model::testbed& testbed) {
    const auto holder = testbed.holder();
    if (holder.name.empty()) return std::string(shown::none);
    return shown::name_in(holder, testbed.metadata.namespace_);
}

std::string cell_text(const shown_slot& slot) {
    auto out = fmt::format("{} {}", slot.row.position, slot.row.state);
    if (!slot.job.empty()) out += " " + slot.job;
    return out;
}

std::vector<model::slot_status> rows_of(const model::testbed& testbed,
                                        std::span<const grid::slice_pointer> slices) {
    if (!grid::has_slices(testbed) || !testbed.status.layout) return testbed.status.slots;
    std::vector<model::slot_status> out;
    const grid::slice_list list(testbed, slices);
    for (const auto& place : grid::slots_of(*testbed.status.layout)) {
        if (auto row = grid::row_of_line(list.text_at(place.position), place)) {
            out.push_back(std::move(*row));
        }
    }
    return out;
}

json json_of(const std::vector<slot_map>& of) {
    json items = json::array();
    for (const auto& each : of) {
        const auto& testbed = *each.testbed;
        json slots = json::array();
        for (const auto& slot : each.slots) {
            auto row = model::encode(slot.row);
            if (!slot.job.empty()) row["job"] = slot.job;
            slots.push_back(std::move(row));
        }
        json one = {{"namespace", testbed.metadata.namespace_},
                    {"name", testbed.metadata.name},
                    {"state", testbed.status.state},
                    {"slots", std::move(slots)}};
        if (!testbed.status.reason.empty()) one["reason"] = testbed.status.reason;
        if (testbed.status.counts) one["counts"] = model::encode(*testbed.status.counts);
        if (const auto holder = testbed.holder(); !holder.name.empty()) {
            one["heldBy"] = model::encode(holder);
        }
        items.push_back(std::move(one));
    }
    return {{"items", std::move(items)}};
}

}  // namespace

slot_map map_of(std::shared_ptr<const model::testbed> testbed,
                std::span<const grid::slice_pointer> slices,
                std::span<const std::shared_ptr<const model::batchjob>> jobs) {
    const auto& own = testbed->metadata.namespace_;
    std::map<std::string_view, std::string> by_pod;
    std::map<int, std::string> by_order;
    for (const auto& job : jobs) {
        const auto name = shown::name_in(job->metadata.key(), own);
        for (const auto& each : job->status.placements) by_pod[each.pod_uid] = name;
        const auto& order = job->spec.creation_request;
        if (!order || grid::in_namespace(order->testbed_name, job->metadata.namespace_) !=
                          testbed->metadata.key()) {
            continue;
        }
        for (const int id : order->slot_ids) by_order[id] = name;
    }
    slot_map out;
    for (auto& row : rows_of(*testbed, slices)) {
        std::string job;
        const bool free = row.state == slot_state::free;
        if (const auto found = by_pod.find(row.pod_u_id); !free && found != by_pod.end()) {
            job = found->second;
        } else if (const auto ordered = by_order.find(row.position);
                   !free && ordered != by_order.end()) {
            job = ordered->second;
        } else if (!free && row.reserved_for) {
            job = *row.reserved_for;
        } else if (row.state == slot_state::occupied) {
            job = row.pod_name;
        }
        out.slots.push_back({std::move(row), std::move(job)});
    }
    std::ranges::sort(out.slots, {}, [](const auto& each) { return each.row.position; });
    out.testbed = std::move(testbed);
    return out;
}

std::string map_text(const std::vector<slot_map>& of, const shown::look& as) {
    std::string out;
    for (const auto& each : of) {
        const auto& status = each.testbed->status;
        const auto counts = status.counts.value_or(model::slot_counts{});
        shown::table head({"TESTBED", "STATE", "HELD-BY", "NODES", "SLOTS", "FREE", "OCCUPIED",
                           "RESERVED", "ERROR", "REASON"});
        head.add({each.testbed->metadata.key().text(), shown::or_none(status.state),
                  holder_of(*each.testbed), std::to_string(counts.nodes),
                  std::to_string(counts.total), std::to_string(counts.free),
                  std::to_string(counts.occupied), std::to_string(counts.reserved),
                  std::to_string(counts.error), cell(status.reason, tint_of_testbed(status))});
        if (!out.empty()) out += "\n";
        out += head.text(as);

        std::map<std::pair<std::int64_t, std::string>, std::map<int, const shown_slot*>> nodes;
        int columns = 0;
        for (const auto& slot : each.slots) {
            const auto index = slot.row.slot_position_on_node;
            nodes[{slot.row.node_id, slot.row.node_name}][index] = &slot;
            columns = std::max(columns, index + 1);
        }
        if (nodes.empty()) continue;
        std::vector<std::string> headings{"NODE", "ID"};
        for (int i = 0; i < columns; ++i) headings.push_back(fmt::format("SLOT-{}", i));
        shown::table body(std::move(headings));
        for (const auto& [node, slots] : nodes) {
            std::vector<cell> row{node.second, std::to_string(node.first)};
            for (int i = 0; i < columns; ++i) {
                const auto found = slots.find(i);
                if (found == slots.end()) {
                    row.emplace_back("");
                } else {
                    row.emplace_back(cell_text(*found->second), tint_of(found->second->row.state));
                }
            }
            body.add(std::move(row));
        }
        auto inner = as;
        inner.indent = as.indent + 2;
        out += body.text(inner);
    }
    return out;
}

std::string slot_rows_text(const std::vector<slot_map>& of, const shown::look& as) {
    shown::table rows({"TESTBED", "POSITION", "NODE", "ID", "INDEX", "STATE", "JOB", "POD",
                       "RESERVED-FOR", "HELD-BY"});
    for (const auto& each : of) {
        for (const auto& [row, job] : each.slots) {
            rows.add({each.testbed->metadata.key().text(), std::to_string(row.position),
                      row.node_name, std::to_string(row.node_id),
                      std::to_string(row.slot_position_on_node),
                      cell(row.state, tint_of(row.state)), shown::or_none(job),
                      shown::or_none(row.pod_name), shown::or_none(row.reserved_for.value_or("")),
                      holder_of(*each.testbed)});
        }
    }
    return rows.text(as);
}

asio::awaitable<result<reply>> top(session& in, std::string name) {
    std::vector<std::shared_ptr<const model::testbed>> testbeds;
    if (name.empty()) {
        auto list = co_await read_listed<model::testbed>(in, types::testbed);
        if (!list) co_return std::unexpected(std::move(list).error());
        testbeds = std::move(*list);
    } else {
        auto one = co_await read_one<model::testbed>(in, types::testbed,
                                                     {in.own_namespace(), std::move(name)});
        if (!one) co_return std::unexpected(std::move(one).error());
        testbeds.push_back(std::move(*one));
    }
    // The jobs whose pods are in the slots may be of other namespaces than their Testbed.
    std::vector<std::string> hidden;
    auto jobs = co_await read_widely<model::batchjob>(in, types::batchjob, {in.own_namespace()}, {},
                                                      hidden);
    if (!jobs) co_return std::unexpected(std::move(jobs).error());
    std::vector<std::shared_ptr<const model::batchjob>> seen;
    for (auto& each : *jobs)
        seen.push_back(std::make_shared<const model::batchjob>(std::move(each)));

    std::vector<slot_map> maps;
    for (auto& testbed : testbeds) {
        std::vector<grid::slice_pointer> slices;
        if (grid::has_slices(*testbed)) {
            kube::list_options of;
            of.label_selector = std::string(model::names::testbed) + "=" + testbed->metadata.name;
            auto list = co_await kube::live_list<model::slot_slice>(
                in.api, types::slot_slice, testbed->metadata.namespace_, of);
            if (!list) co_return std::unexpected(std::move(list).error());
            for (auto& each : *list) {
                slices.push_back(std::make_shared<const model::slot_slice>(std::move(each)));
            }
        }
        maps.push_back(map_of(std::move(testbed), slices, seen));
    }
    reply out;
    if (!in.tables()) {
        out.out = shown::object_text(json_of(maps), in.flags.output);
    } else if (maps.empty()) {
        out.note = in.flags.all_namespaces
                       ? "No testbeds found\n"
                       : "No testbeds found in " + in.own_namespace() + " namespace.\n";
    } else {
        out.out = in.wide() ? slot_rows_text(maps, in.look()) : map_text(maps, in.look());
    }
    co_return out;
}

}  // namespace esi::kubectl

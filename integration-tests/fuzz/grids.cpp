// Positions, slot lists and tokens. Oracles: the position of a slot is the number of slots before
// it, pods stand where their annotations say, and what is shown reads as the same. Input: a byte
// for each choice; the whole of it is also read as a slot list.
#include <algorithm>
#include <set>

#include "choices.h"
#include "grid/grid.h"
#include "grid/places.h"
#include "model/names.h"
#include "target.h"

namespace esi::fuzz {
namespace {

namespace keys = model::names;

model::testbed_layout make(choices& from) {
    model::testbed_layout out;
    out.slots_per_node = from.upto(6) - 1;
    if (from.one_in(16)) out.slots_per_node = model::most_slots_per_node + from.upto(2);
    for (int n = from.upto(6); n > 0; --n) {
        model::layout_node node;
        node.name = "n" + std::to_string(n);
        node.id = from.one_in(8) ? from.number() : from.upto(4);
        out.nodes.push_back(std::move(node));
    }
    return out;
}

void check_slots(const model::testbed_layout& layout, const std::vector<grid::slot>& slots) {
    const int per_node = layout.slots_per_node;
    const bool legal = per_node >= 1 && per_node <= model::most_slots_per_node;
    const auto nodes = static_cast<int>(layout.nodes.size());
    const int total = legal ? per_node * nodes : 0;
    require(static_cast<int>(slots.size()) == total && grid::count_of_slots(layout) == total,
            "{} slots instead of {}", slots.size(), total);
    std::set<std::pair<std::string, int>> places;
    for (int i = 0; i < total; ++i) {
        const auto& slot = slots[static_cast<std::size_t>(i)];
        require(slot.position == i && slot.index == i / nodes, "slot {} is at {}, index {}", i,
                slot.position, slot.index);
        require(places.emplace(slot.node, slot.index).second, "two slots at one place");
        const auto& first = slots[static_cast<std::size_t>(i % nodes)];
        require(slot.node == first.node && slot.node_id == first.node_id, "rows differ");
        if (i % nodes > 0) {
            const auto& before = slots[static_cast<std::size_t>(i) - 1];
            require(std::pair(before.node_id, before.node) < std::pair(slot.node_id, slot.node),
                    "nodes are out of order");
        }
    }
}

grid::pod_pointer make_pod(choices& from) {
    model::pod out;
    const std::string numbers[] = {"0",  "1",  "2",  "3",  "4", "7",           "01",
                                   "-1", "+1", " 1", "1 ", "",  "99999999999", "x"};
    const std::string nodes[] = {"n1", "n2", "n3", "n9", ""};
    const std::string phases[] = {"Running", "Pending", "Succeeded", "Failed", ""};
    out.metadata.annotations[std::string(keys::node)] = from.pick(nodes);
    out.metadata.annotations[std::string(keys::index)] = from.pick(numbers);
    out.metadata.annotations[std::string(keys::slot)] = from.pick(numbers);
    out.metadata.annotations[std::string(keys::slot_node)] = from.pick(nodes);
    if (!from.one_in(4)) out.metadata.annotations[std::string(keys::run)] = "s.1.1";
    if (from.one_in(2)) out.metadata.labels[std::string(keys::ghost)] = "true";
    if (from.one_in(6)) out.scheduling_gates.emplace_back(keys::gate);
    if (from.one_in(6)) out.metadata.deletion_timestamp.emplace();
    out.phase = from.pick(phases);
    out.node_name = from.pick(nodes);
    return std::make_shared<const model::pod>(std::move(out));
}

void check_look(const model::testbed_layout& layout, const std::vector<grid::pod_pointer>& pods) {
    const auto slots = grid::slots_of(layout);
    const auto views = grid::look(layout, pods);
    require(views.size() == slots.size(), "{} views of {} slots", views.size(), slots.size());
    std::set<const model::pod*> seen;
    for (std::size_t i = 0; i < views.size(); ++i) {
        const auto& view = views[i];
        require(view.place.position == static_cast<int>(i), "views are out of order");
        if (view.ghost) {
            require(view.ghost->is_ghost() &&
                        view.ghost->metadata.annotation(keys::node) == view.place.node &&
                        grid::slot_index_of_ghost(*view.ghost) == view.place.index,
                    "another slot's ghost in {}", i);
        }
        for (const auto& pod : view.job_pods) {
            require(seen.insert(pod.get()).second, "a pod in two slots");
            require(!pod->is_ghost() && !pod->terminal() && !pod->run().empty() &&
                        grid::let_in(*pod) && grid::slot_of_pod(*pod) == static_cast<int>(i) &&
                        (!pod->bound() || pod->node_name == view.place.node),
                    "a pod that has no right to slot {}", i);
        }
        require(!view.free() || (view.job_pods.empty() && view.ghost && view.ghost->bound() &&
                                 view.ghost->live() && !view.ghost->metadata.deleting()),
                "slot {} is not free", i);
    }
}

void check_lists(std::string_view text) {
    const auto got = grid::parse_slot_list(text);
    if (got.empty()) return;
    require(std::ranges::all_of(got, [](int id) { return id >= 0; }), "a slot below 0");
    const auto shown = grid::show_slot_list(got);
    require(grid::parse_slot_list(shown) == got, "\"{}\" is shown as {}", text, shown);
    // Zeros in front are the only other way to write it.
    require(text.size() >= shown.size() &&
                text.find_first_not_of("0123456789,") == std::string_view::npos,
            "\"{}\" is taken as {}", text, shown);
    const auto hold = grid::hold_of_run(text);
    require(hold.size() <= text.size() && text.starts_with(hold), "hold \"{}\"", hold);
}

void grids(std::string_view input) {
    check_lists(input);
    choices from(input);
    const auto layout = make(from);
    check_slots(layout, grid::slots_of(layout));
    std::vector<grid::pod_pointer> pods;
    while (!from.empty() && pods.size() < 12) pods.push_back(make_pod(from));
    check_look(layout, pods);
    std::set<std::string> names;
    for (const auto& slot : grid::slots_of(layout)) {
        const auto name = grid::ghost_name("bed", "uid", slot.node, slot.index);
        require(name.size() == 3 + 17 && names.insert(name).second, "ghost {}", name);
    }
}

}  // namespace
}  // namespace esi::fuzz

ESI_FUZZ_TARGET(grids, esi::fuzz::grids)

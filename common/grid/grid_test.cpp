#include "grid/grid.h"

#include <gtest/gtest.h>

#include "grid/places.h"
#include "model/names.h"

namespace esi::grid {
namespace {

namespace names = model::names;

model::testbed_layout three_nodes() {
    model::testbed_layout layout;
    layout.revision = 1;
    // Out of order on purpose: the order is the node id's.
    layout.nodes = {{"node-c", "uc", 7}, {"node-a", "ua", 0}, {"node-b", "ub", 2}};
    layout.slots_per_node = 2;
    return layout;
}

pod_pointer ghost(std::string node, std::string index, bool bound, std::string phase = "Running") {
    model::pod pod;
    pod.metadata.name = "ghost-" + node + index;
    pod.metadata.labels = {{std::string(names::testbed), "tb"},
                           {std::string(names::testbed_namespace), "default"},
                           {std::string(names::ghost), "true"}};
    pod.metadata.annotations = {{std::string(names::node), node},
                                {std::string(names::index), index}};
    if (bound) pod.node_name = node;
    pod.phase = std::move(phase);
    return std::make_shared<const model::pod>(std::move(pod));
}

model::pod job_pod(std::string slot, std::string node) {
    model::pod pod;
    pod.metadata.name = "executor-" + slot;
    pod.metadata.labels = {{std::string(names::testbed), "tb"},
                           {std::string(names::testbed_namespace), "default"},
                           {std::string(names::job), "job"}};
    pod.metadata.annotations = {{std::string(names::run), "uid.12.1"},
                                {std::string(names::slot), std::move(slot)},
                                {std::string(names::slot_node), node}};
    pod.node_name = node;
    pod.phase = "Running";
    return pod;
}

pod_pointer shared(model::pod pod) { return std::make_shared<const model::pod>(std::move(pod)); }

TEST(grid, consecutive_positions_go_round_the_nodes) {
    std::vector<std::string> seen;
    for (const auto& slot : slots_of(three_nodes())) {
        seen.push_back(std::to_string(slot.position) + " " + slot.node + " " +
                       std::to_string(slot.node_id) + " " + std::to_string(slot.index));
    }
    EXPECT_EQ(seen, (std::vector<std::string>{"0 node-a 0 0", "1 node-b 2 0", "2 node-c 7 0",
                                              "3 node-a 0 1", "4 node-b 2 1", "5 node-c 7 1"}));
}

TEST(grid, slots_at_are_those_of_all_slots) {
    std::vector<std::string> seen;
    for (const auto& slot : slots_at(three_nodes(), std::vector{5, -1, 0, 6, 4})) {
        seen.push_back(std::to_string(slot.position) + " " + slot.node + " " +
                       std::to_string(slot.node_id) + " " + std::to_string(slot.index));
    }
    EXPECT_EQ(seen, (std::vector<std::string>{"5 node-c 7 1", "0 node-a 0 0", "4 node-b 2 1"}));
    auto beyond = three_nodes();
    beyond.slots_per_node = 111;
    EXPECT_TRUE(slots_at(beyond, std::vector{0}).empty());
}

TEST(grid, a_layout_beyond_the_bounds_has_no_slots) {
    for (int per_node : {-1, 0, 111, 2147483647}) {
        auto layout = three_nodes();
        layout.slots_per_node = per_node;
        EXPECT_EQ(count_of_slots(layout), 0) << per_node;
        EXPECT_TRUE(slots_of(layout).empty()) << per_node;
        EXPECT_TRUE(look(layout, {}).empty()) << per_node;
    }
    auto layout = three_nodes();
    layout.slots_per_node = 110;
    EXPECT_EQ(count_of_slots(layout), 330);
    layout.nodes.resize(20001);
    EXPECT_EQ(count_of_slots(layout), 0);
    EXPECT_TRUE(slots_of(layout).empty());
}

/// driver on node b, four executors on a, a, b, c.
model::testbed_layout claimed() {
    model::testbed_layout out;
    out.revision = 3;
    out.nodes = {{"b", "uid-b", 0}, {"a", "uid-a", 1}, {"c", "uid-c", 2}};
    out.shapes = {
        {"driver", "coordinator", 1, {{"cpu", *model::quantity::parse("1")}}},
        {"executors", "worker", 4, {{"cpu", *model::quantity::parse("4")}}},
    };
    out.places = {0, 1, 1, 0, 2};
    return out;
}

TEST(grid, places_of_a_claim_are_where_its_layout_says) {
    const auto layout = claimed();
    ASSERT_EQ(count_of_slots(layout), 5);
    std::vector<std::string> all;
    for (const auto& slot : slots_of(layout)) {
        all.push_back(fmt::format("{} {}/{} {} {}", slot.position, slot.node, slot.index,
                                  role_of(layout, slot.position),
                                  size_of(layout, slot.position).at("cpu").text));
    }
    EXPECT_EQ(all,
              (std::vector<std::string>{"0 b/0 coordinator 1", "1 a/0 worker 4", "2 a/1 worker 4",
                                        "3 b/1 worker 4", "4 c/0 worker 4"}));
    const places by_node(layout);
    EXPECT_EQ(by_node.position_of("b", 1), 3);
    EXPECT_EQ(by_node.position_of("b", 2), std::nullopt);
    EXPECT_EQ(by_node.position_of("d", 0), std::nullopt);
    EXPECT_FALSE(by_node.at(5));
    ASSERT_EQ(by_node.on("a").size(), 2u);
    EXPECT_EQ(by_node.on("a")[1].position, 2);
    EXPECT_EQ(with_role(layout, std::vector{0, 1, 4}, model::slot_role::worker),
              (std::vector{1, 4}));
    EXPECT_EQ(with_role(layout, std::vector{0, 1, 4}, model::slot_role::coordinator),
              (std::vector{0}));
    EXPECT_EQ(sizes_of(layout, model::slot_role::worker).size(), 1u);
    EXPECT_TRUE(size_of(layout, 5).empty());
}

TEST(grid, a_layout_of_a_claim_that_does_not_add_up_has_no_slots) {
    auto layout = claimed();
    layout.places.pop_back();
    EXPECT_EQ(count_of_slots(layout), 0);
    layout = claimed();
    layout.places[2] = 3;
    EXPECT_EQ(count_of_slots(layout), 0);
    layout = claimed();
    layout.shapes[0].count = -1;
    layout.shapes[1].count = 6;
    EXPECT_EQ(count_of_slots(layout), 0);
    layout = claimed();
    layout.slots_per_node = 2;
    EXPECT_EQ(count_of_slots(layout), 0);
    layout = claimed();
    layout.shapes[1].count = 2'000'000'000;
    EXPECT_EQ(count_of_slots(layout), 0);
    EXPECT_TRUE(places(layout).on("a").empty());
}

TEST(grid, a_ghosts_name_is_fixed_by_testbed_node_and_index) {
    const auto name = ghost_name("tb", "uid-1", "node-a", 0);
    EXPECT_EQ(name.size(), std::string("tb-ghost-").size() + 10);
    EXPECT_EQ(name, ghost_name("tb", "uid-1", "node-a", 0));
    EXPECT_NE(name, ghost_name("tb", "uid-2", "node-a", 0));
    EXPECT_NE(name, ghost_name("tb", "uid-1", "node-b", 0));
    EXPECT_NE(name, ghost_name("tb", "uid-1", "node-a", 1));
    EXPECT_EQ(name.find_first_not_of("0123456789abcdef", 9), std::string::npos);
}

TEST(grid, a_slot_is_free_when_its_ghost_is_bound_and_nobody_is_in_it) {
    std::vector<pod_pointer> pods{ghost("node-a", "0", true), ghost("node-b", "0", false),
                                  ghost("node-a", "1", true, "Failed"), ghost("node-b", "1", true),
                                  shared(job_pod("4", "node-b"))};
    auto slots = look(three_nodes(), pods);
    ASSERT_EQ(slots.size(), 6u);
    EXPECT_TRUE(slots[0].free());
    EXPECT_FALSE(slots[1].free()) << "its ghost is not bound";
    EXPECT_FALSE(slots[2].free()) << "no ghost";
    EXPECT_FALSE(slots[3].free()) << "its ghost has failed";
    EXPECT_FALSE(slots[4].free()) << "a job pod is in it";
    ASSERT_EQ(slots[4].job_pods.size(), 1u);
    EXPECT_EQ(slots[4].job_pods[0]->metadata.name, "executor-4");
}

TEST(grid, a_pod_is_in_a_slot_only_with_run_node_and_without_the_gate) {
    struct row {
        const char* what;
        std::size_t expected;
        void (*change)(model::pod&);
    };
    for (const auto& row : {
             row{"bound", 1, [](model::pod&) {}},
             row{"let in, not bound yet", 1, [](model::pod& pod) { pod.node_name.clear(); }},
             row{"terminating still counts", 1,
                 [](model::pod& pod) { pod.metadata.deletion_timestamp.emplace(); }},
             row{"succeeded", 0, [](model::pod& pod) { pod.phase = "Succeeded"; }},
             row{"failed", 0, [](model::pod& pod) { pod.phase = "Failed"; }},
             row{"gated", 0,
                 [](model::pod& pod) {
                     pod.node_name.clear();
                     pod.scheduling_gates = {std::string(names::gate)};
                 }},
             row{"no run", 0,
                 [](model::pod& pod) { pod.metadata.annotations.erase(std::string(names::run)); }},
             row{"bound elsewhere", 0, [](model::pod& pod) { pod.node_name = "node-b"; }},
             row{"slot of another layout", 0,
                 [](model::pod& pod) {
                     pod.metadata.annotations[std::string(names::slot_node)] = "node-b";
                 }},
             row{"slot out of range", 0,
                 [](model::pod& pod) { pod.metadata.annotations[std::string(names::slot)] = "6"; }},
             row{"slot is no number", 0,
                 [](model::pod& pod) {
                     pod.metadata.annotations[std::string(names::slot)] = "-0";
                 }},
         }) {
        auto pod = job_pod("0", "node-a");
        row.change(pod);
        std::vector<pod_pointer> pods{shared(pod)};
        EXPECT_EQ(look(three_nodes(), pods)[0].job_pods.size(), row.expected) << row.what;
    }
}

TEST(grid, slot_lists_are_read_strictly) {
    EXPECT_EQ(parse_slot_list("3,5,8"), (std::vector<int>{3, 5, 8}));
    EXPECT_EQ(parse_slot_list("0"), (std::vector<int>{0}));
    for (auto bad :
         {"", ",", "1,", ",1", "1,,2", "a", "1;2", "-1", "+1", " 1", "1 ", "1.0", "99999999999"}) {
        EXPECT_TRUE(parse_slot_list(bad).empty()) << bad;
    }
    EXPECT_EQ(show_slot_list(std::vector<int>{3, 5, 8}), "3,5,8");
    EXPECT_EQ(show_slot_list(std::vector<int>{}), "");
}

TEST(grid, a_run_names_its_hold_and_a_hold_its_scheduling) {
    EXPECT_EQ(hold_of_run("4f1c-9.1234.7"), "4f1c-9.1234");
    EXPECT_EQ(scheduling_uid_of_hold("4f1c-9.1234"), "4f1c-9");
    EXPECT_EQ(hold_of_run("nodot"), "");
    EXPECT_EQ(scheduling_uid_of_hold(""), "");
}

}  // namespace
}  // namespace esi::grid

#include "testbed/claims/claim.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "grid/places.h"
#include "testbed/room/ghosts.h"
#include "testbed/testing.h"

namespace esi::testbed::claims {
namespace {

using testbed::tests::lines;
using testbed::tests::resources;
using testbed::tests::world;
using testing::HasSubstr;
namespace names = model::names;

/// A Testbed with a claim of a driver and three executors, and four nodes of 2 CPUs.
struct claiming : world {
    claiming() : world({"node-a", "node-b", "node-c", "node-d"}) {
        testbed.spec = {};
        testbed.spec.isolation = "None";
        auto& claim = testbed.spec.claim.emplace();
        claim.shapes = {{"driver", "coordinator", 1, resources("500m", "1Gi"), {}},
                        {"executors", "worker", 3, resources("1", "2Gi"), {}}};
        claim.packing = "Pack";
        claim.priority = 7;
        testbed.status.layout.reset();
        known.claim = {"NoRoom", "0 of 4 places fit"};
    }
    placement::cluster_room room() const {
        placement::cluster_room out;
        for (const auto& [name, node] : nodes) {
            out.node_changed(name, std::make_shared<const model::node>(node));
        }
        return out;
    }
    void form() {
        const auto at = room();
        const auto found = placement::fit(places_asked_for(testbed), at, {});
        testbed.status.layout =
            layout_of(testbed, std::get<placement::chosen_nodes>(found), at, false);
    }
    model::pod& place(int position, const std::string& cpu, const std::string& memory) {
        const auto at = grid::slots_at(*testbed.status.layout, std::vector{position}).at(0);
        auto& made = ghost(at.node, at.index);
        made.requests = model::to_amounts(resources(cpu, memory));
        return made;
    }
    void all_places() {
        place(0, "500m", "1Gi");
        for (int position = 1; position < 4; ++position) place(position, "1", "2Gi");
    }
};

TEST(claim, without_places_it_says_why_and_makes_nothing) {
    claiming at;
    EXPECT_EQ(at.actions(), lines{});
    EXPECT_EQ(at.decide().status.state, "IN_PROGRESS");
    EXPECT_EQ(at.decide().status.reason, "NoRoom");
    EXPECT_EQ(at.condition("Formed").status, "False");
    EXPECT_EQ(at.condition("Formed").reason, "NoRoom");
    EXPECT_EQ(at.condition("Ready").reason, "NoRoom");
    EXPECT_EQ(at.condition("LayoutCurrent").status, "False");
    EXPECT_EQ(at.condition("Reconciling").status, "True");
    EXPECT_FALSE(at.decide().status.layout);
    at.known.claim = {"PriorityClassMissing", "esi-claim-7"};
    EXPECT_EQ(at.decide().status.state, "ERROR");
    EXPECT_EQ(at.condition("Stalled").reason, "PriorityClassMissing");
    at.known.claim = {"Suspended", "spec.claim.suspend is true"};
    EXPECT_EQ(at.condition("Stalled").reason, "");
    EXPECT_EQ(at.condition("Reconciling").reason, "");
}

TEST(claim, a_wait_is_told_once_for_each_reason) {
    claiming at;
    auto decided = at.decide();
    ASSERT_EQ(decided.notes.size(), 1u);
    EXPECT_EQ(decided.notes[0].reason, "NoRoom");
    EXPECT_TRUE(decided.notes[0].warning);
    at.known.told[decided.notes[0].subject] = decided.notes[0].text;
    at.known.claim.message = "1 of 4 places fit";
    decided = at.decide();
    EXPECT_TRUE(decided.notes.empty());
    EXPECT_EQ(decided.subjects.size(), 1u);
    at.known.claim = {"NeverFits", "no"};
    EXPECT_EQ(at.decide().notes.size(), 1u);
}

TEST(claim, has_a_ghost_of_its_shapes_size_in_each_place) {
    claiming at;
    at.form();
    EXPECT_EQ(at.testbed.status.layout->revision, 1);
    EXPECT_EQ(at.actions().size(), 4u);
    EXPECT_EQ(at.states(), "RESERVED RESERVED RESERVED RESERVED");
    at.all_places();
    EXPECT_EQ(at.actions(), lines{});
    EXPECT_EQ(at.states(), "FREE FREE FREE FREE");
    EXPECT_EQ(at.decide().status.state, "SUCCESS");
    EXPECT_EQ(at.condition("Formed").status, "True");
    EXPECT_EQ(at.condition("Formed").reason, "Placed");
    EXPECT_EQ(at.condition("Ready").status, "True");
    EXPECT_EQ(at.condition("LayoutCurrent").status, "True");
    at.pods.back().requests["cpu"] = 900;
    ASSERT_FALSE(at.actions().empty()) << "a ghost of another size is no ghost of the place";
    EXPECT_THAT(at.actions()[0], HasSubstr("remove"));
}

TEST(claim, its_ghosts_go_when_the_places_are_given_back) {
    claiming at;
    at.form();
    at.all_places();
    at.testbed.status.layout = layout_without_places(at.testbed);
    EXPECT_EQ(at.testbed.status.layout->revision, 2);
    EXPECT_EQ(at.actions().size(), 4u);
    for (const auto& each : at.actions()) EXPECT_THAT(each, HasSubstr("remove"));
    EXPECT_EQ(at.condition("Formed").status, "False");
}

/// The places were not free for 30 s.
struct claiming_in_vain : claiming {
    claiming_in_vain() { form(); }
    give_back back() const {
        const auto seen = see();
        const grid::places places(*testbed.status.layout);
        const ground on{*testbed.status.layout, places};
        return as_not_free(testbed, ledger_of(seen, on, known, now, wall), places, known, now,
                           seconds(30));
    }
    std::string node_of(int position) const {
        return grid::slots_at(*testbed.status.layout, std::vector{position}).at(0).node;
    }
    /// Omits the place at this position.
    void other_places(int but) {
        for (int position = 0; position < 4; ++position) {
            if (position == but) continue;
            place(position, position == 0 ? "500m" : "1", position == 0 ? "1Gi" : "2Gi");
        }
    }
};

TEST(claim, a_node_is_left_out_where_a_ghost_waits_though_it_has_the_room) {
    claiming_in_vain at;
    at.other_places(3);
    const auto where = at.node_of(3);
    EXPECT_TRUE(at.back().nodes.empty()) << "nothing is known against it";
    EXPECT_THAT(at.back().at.message,
                testing::EndsWith("all places are given back and planned anew"));
    auto& waits = at.place(3, "1", "2Gi");
    waits.node_name.clear();
    waits.phase = "Pending";
    EXPECT_EQ(at.back().nodes, std::set{where});
    EXPECT_EQ(at.back().at.message,
              fmt::format("1 of 4 places not free for 30 s, on {}: all places are given back and "
                          "planned anew without this node",
                          where));
    at.stranger("fat", where, "1500m");
    EXPECT_TRUE(at.back().nodes.empty()) << "a stranger has the room, which the ledger shows";
}

TEST(claim, a_node_is_left_out_where_it_has_a_problem_or_a_ghost_has_ended) {
    claiming_in_vain at;
    at.all_places();
    const auto where = at.node_of(3);
    at.nodes[where].ready = false;
    EXPECT_EQ(at.back().nodes, std::set{where});
    at.nodes[where].ready = true;
    at.pods.back().phase = "Failed";
    at.pods.back().reason = "OutOfcpu";
    EXPECT_EQ(at.back().nodes, std::set{where});
    const auto name = at.pods.back().metadata.name;
    at.pods.pop_back();
    EXPECT_TRUE(at.back().nodes.empty());
    at.known.ghost_failed(name, at.now, "it has ended: OutOfcpu");
    EXPECT_EQ(at.back().nodes, std::set{where}) << "it was removed";
    at.now += seconds(2);
    at.known.incomplete = {at.now, at.now, 3};
    EXPECT_TRUE(at.back().nodes.empty()) << "that was before the places were waited for";
    at.known.ghost_failed(name, at.now, "it has ended: OutOfcpu");
    EXPECT_EQ(at.back().nodes, std::set{where});
    at.known.ghost_failed(name, at.now, "exceeded quota", true);
    EXPECT_TRUE(at.back().nodes.empty()) << "no node is at fault there";
}

TEST(claim, the_words_name_the_nodes_that_are_left_out_where_others_stay) {
    claiming_in_vain at;
    ASSERT_EQ(at.testbed.status.layout->nodes.size(), 2u);
    const auto one = at.testbed.status.layout->nodes[0].name;
    const auto other = at.testbed.status.layout->nodes[1].name;
    at.nodes[other].unschedulable = true;
    EXPECT_EQ(at.back().nodes, std::set{other});
    EXPECT_THAT(at.back().at.message,
                HasSubstr(fmt::format("on {}, {}:", std::min(one, other), std::max(one, other))));
    EXPECT_THAT(at.back().at.message,
                testing::EndsWith(fmt::format("planned anew without {}", other)));
}

TEST(claim, counts_places_of_unequal_size_against_the_room) {
    claiming at;
    at.form();
    const auto where = grid::slots_at(*at.testbed.status.layout, std::vector{0}).at(0).node;
    at.stranger("fat", where, "1");
    const auto status = at.decide().status;
    ASSERT_EQ(status.node_problems.count(where), 1u);
    EXPECT_THAT(status.node_problems.at(where)[0], HasSubstr("cpu missing"));
    EXPECT_EQ(status.counts->error, 1);
}

TEST(claim, a_pod_is_held_against_the_size_of_its_own_place) {
    claiming at;
    at.form();
    at.all_places();
    at.hold();
    auto& job = at.job("spark", {1, 2, 3, 0});
    at.placed(job, "driver", 0).requests = model::to_amounts(resources("1", "1Gi"));
    at.placed(job, "exec-1", 1).requests = model::to_amounts(resources("1", "2Gi"));
    const auto done = at.actions();
    EXPECT_EQ(
        std::ranges::count_if(done, [](const auto& each) { return each.starts_with("swap"); }), 1);
    const auto states = at.decide().status.slots;
    EXPECT_EQ(states[0].state, "ERROR") << "the driver is larger than its place";
    EXPECT_EQ(states[1].state, "RESERVED");
}

TEST(claim, its_ghosts_have_its_priority_and_the_tolerations_of_the_shape) {
    claiming at;
    at.testbed.spec.claim->shapes[1].constraints.tolerations = {
        {"gpu", "Equal", "yes", "NoSchedule"}};
    at.form();
    const auto places = grid::slots_of(*at.testbed.status.layout);
    const auto driver = ghost_object(at.testbed, *at.testbed.status.layout, places[0], {});
    const auto executor = ghost_object(at.testbed, *at.testbed.status.layout, places[1], {});
    EXPECT_EQ(driver["spec"]["priorityClassName"], "esi-claim-7");
    EXPECT_EQ(driver["spec"]["containers"][0]["resources"]["requests"]["cpu"], "500m");
    EXPECT_EQ(executor["spec"]["containers"][0]["resources"]["requests"]["cpu"], "1");
    EXPECT_EQ(driver["metadata"]["annotations"]["cluster-autoscaler.kubernetes.io/safe-to-evict"],
              "false");
    EXPECT_EQ(driver["spec"]["tolerations"].size() + 1, executor["spec"]["tolerations"].size());
    EXPECT_EQ(executor["spec"]["tolerations"].back(),
              nlohmann::json::parse(
                  R"({"key":"gpu","operator":"Equal","value":"yes","effect":"NoSchedule"})"));
    EXPECT_EQ(claim_priority_class(-5), "esi-claim-minus-5");
}

TEST(claim, is_planned_all_or_none_and_by_its_constraints) {
    claiming at;
    auto& claim = *at.testbed.spec.claim;
    claim.shapes[1].constraints.node_selector = {{"tuberlin.de/slots", "2"}};
    const auto places = places_asked_for(at.testbed);
    ASSERT_EQ(places.size(), 4u);
    EXPECT_NE(places[1]->metadata.uid, places[2]->metadata.uid);
    placement::fit_options how;
    how.members = "places";
    how.member = "place";
    const auto found = placement::fit(places, at.room(), {}, how);
    const auto* none = std::get_if<placement::no_fit>(&found);
    ASSERT_TRUE(none);
    EXPECT_THAT(none->message, HasSubstr("3 of 4 places fit; place default/tb-executors-2"));
}

TEST(claim, spread_places_are_on_many_nodes_and_packed_ones_on_few) {
    claiming at;
    const auto nodes_of = [&](placement::packing how) {
        placement::fit_options options;
        options.how = how;
        const auto room = at.room();
        const auto found = placement::fit(places_asked_for(at.testbed), room, {}, options);
        return layout_of(at.testbed, std::get<placement::chosen_nodes>(found), room, false)
            .nodes.size();
    };
    EXPECT_EQ(nodes_of(placement::packing::fewest_nodes), 2u);
    EXPECT_EQ(nodes_of(placement::packing::spread), 4u);
}

TEST(claim, the_highest_priority_goes_first_and_then_the_oldest) {
    claiming a;
    claiming b;
    b.testbed.metadata.name = "other";
    b.testbed.metadata.creation_timestamp = model::timestamp{testbed::tests::at_second(5)};
    EXPECT_TRUE(comes_before(b.testbed, a.testbed));
    a.testbed.spec.claim->priority = 8;
    EXPECT_TRUE(comes_before(a.testbed, b.testbed));
}

TEST(claim, its_class_has_to_be_as_its_ghosts_need_it) {
    EXPECT_THAT(class_problem(7, ""), HasSubstr("esi-claim-7"));
    EXPECT_THAT(class_problem(7, ""), HasSubstr("claims.priorities={7}"));
    EXPECT_THAT(class_problem(7, R"({"value":8,"preemptionPolicy":"Never"})"),
                HasSubstr("has not the value 7"));
    EXPECT_THAT(class_problem(7, R"({"value":7})"), HasSubstr("preemptionPolicy"));
    EXPECT_EQ(class_problem(7, R"({"value":7,"preemptionPolicy":"Never"})"), "");
}

TEST(claim, a_wrong_claim_is_refused_with_all_its_faults) {
    claiming at;
    at.testbed.spec.claim->shapes = {{"a", "worker", 0, {}, {}}};
    const auto problems = problems_of(at.testbed.spec);
    EXPECT_EQ(problems.size(), 4u) << fmt::format("{}", fmt::join(problems, "\n"));
    EXPECT_EQ(at.condition("Formed").reason, "SpecInvalid");
    at.testbed.spec.claim->shapes = {{"a", "worker", 1001, resources("1", "1Gi"), {}}};
    EXPECT_EQ(problems_of(at.testbed.spec).size(), 1u);
    EXPECT_LE(places_asked_for(at.testbed).size(), 1000u);
}

TEST(claim, constraints_that_are_too_long_are_refused) {
    claiming at;
    auto& shapes = at.testbed.spec.claim->shapes;
    shapes[0].constraints.affinity.text = std::string(most_claim_constraints - 20, 'x');
    shapes[1].constraints.node_selector = {{"disk", "ssd"}};
    shapes[1].constraints.tolerations = {{"gpu", "", "yes", "No"}};
    EXPECT_TRUE(problems_of(at.testbed.spec).empty());
    shapes[1].constraints.tolerations[0].effect = "NoSchedule";
    const auto problems = problems_of(at.testbed.spec);
    ASSERT_EQ(problems.size(), 1u);
    EXPECT_THAT(problems[0], HasSubstr("16387 bytes"));
    EXPECT_THAT(problems[0], HasSubstr("at most 16384"));
    EXPECT_EQ(at.condition("Formed").reason, "SpecInvalid");
}

TEST(claim, what_is_promised_has_what_the_place_takes_and_no_constraints) {
    claiming at;
    auto& constraints = at.testbed.spec.claim->shapes[1].constraints;
    constraints.affinity.text = R"({"nodeAffinity":{}})";
    constraints.node_selector = {{"disk", "ssd"}};
    constraints.tolerations = {{"gpu", "Equal", "yes", "NoSchedule"}};
    const auto place = places_asked_for(at.testbed).at(1);
    const auto promised = promise_for(*place);
    EXPECT_EQ(promised->metadata.uid, place->metadata.uid);
    EXPECT_EQ(promised->metadata.labels, place->metadata.labels);
    EXPECT_EQ(promised->requests, place->requests);
    EXPECT_TRUE(promised->affinity.text.empty());
    EXPECT_TRUE(promised->node_selector.empty());
    EXPECT_TRUE(promised->tolerations.empty());
}

}  // namespace
}  // namespace esi::testbed::claims

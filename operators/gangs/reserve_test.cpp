#include <gmock/gmock.h>

#include "gangs/testing/world.h"

namespace esi::gangs::tests {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

/// A full cluster, and a gang that waits for two nodes of it.
struct waiting : world {
    waiting() {
        add_node("node-a", "cpu=2");
        add_node("node-b", "cpu=2");
        for (const auto* node : {"node-a", "node-b"}) {
            for (int i = 0; i < 2; ++i) add_stranger(fmt::format("s{}-{}", i, node), "cpu=1", node);
        }
        add_gang("large", 4, "cpu=1");
    }
    bool reserved(const std::string& name) {
        const auto& has = known->gangs.at(key(name)).has;
        return has && has->reservation;
    }
    void until_reserved(const std::string& name = "large") {
        settle();
        wait(seconds(301));
        settle();
        ASSERT_TRUE(reserved(name));
    }
};

// kube-batch#492, spark-operator#2512, kueue#9715.
TEST(gang_reservation, no_number_of_smaller_ones_keeps_the_first_from_starting) {
    waiting w;
    w.settle();
    EXPECT_FALSE(w.reserved("large"));
    // Backfill, as long as it has not waited for long.
    w.remove("s0-node-a");
    w.add_gang("small", 1, "cpu=1");
    w.settle();
    EXPECT_EQ(w.count("small", stage::let_in), 1);
    w.bind();
    w.wait(seconds(301));
    w.settle();
    EXPECT_TRUE(w.reserved("large"));
    EXPECT_EQ(w.count("large", stage::reserved), 4);
    EXPECT_TRUE(w.told("ReservationBegun"));
    // From now on what becomes free is kept, piece by piece.
    for (const auto* name : {"small-0", "s1-node-a", "s0-node-b"}) {
        w.remove(name);
        w.add_gang(fmt::format("late-{}", name), 1, "cpu=1");
        w.settle();
        EXPECT_EQ(w.count(fmt::format("late-{}", name), stage::gated), 1);
        EXPECT_EQ(w.count("large", stage::let_in), 0);
    }
    w.remove("s1-node-b");
    w.settle();
    EXPECT_EQ(w.count("large", stage::let_in), 4);
    EXPECT_TRUE(w.within());
}

TEST(gang_reservation, it_ends_and_nothing_is_kept) {
    waiting w;
    ASSERT_NO_FATAL_FAILURE(w.until_reserved());
    w.remove("s0-node-a");
    w.add_gang("small", 1, "cpu=1");
    w.settle();
    EXPECT_EQ(w.count("small", stage::gated), 1);
    w.wait(seconds(1801));
    w.settle();
    EXPECT_FALSE(w.reserved("large"));
    EXPECT_TRUE(w.told("ReservationEnded"));
    EXPECT_EQ(w.count("large", stage::reserved), 0);
    EXPECT_EQ(w.count("small", stage::let_in), 1);
}

TEST(gang_reservation, where_nothing_becomes_free_there_is_no_other_one) {
    waiting w;
    w.add_gang("other", 4, "cpu=1");
    w.settle();
    for (int i = 0; i < 5; ++i) {
        w.wait(seconds(2200));
        w.settle();
    }
    EXPECT_FALSE(w.reserved("large"));
    EXPECT_FALSE(w.reserved("other"));
    // One went, and another came in its place: it may happen again.
    w.remove("s0-node-a");
    w.add_stranger("next", "cpu=1", "node-a");
    w.settle();
    w.wait(seconds(301));
    w.settle();
    EXPECT_TRUE(w.reserved("large") || w.reserved("other"));
}

TEST(gang_reservation, who_had_one_in_vain_does_not_take_it_from_one_of_a_lower_priority) {
    waiting w;
    w.add_gang("urgent", 4, "cpu=1", 100);
    ASSERT_NO_FATAL_FAILURE(w.until_reserved("urgent"));
    w.wait(seconds(1801));
    w.settle();
    ASSERT_FALSE(w.reserved("urgent"));
    EXPECT_TRUE(w.reserved("large"));
    // Room that becomes free is kept for the gang of higher priority, as before, once its time has
    // come.
    w.remove("s0-node-a");
    w.settle();
    EXPECT_TRUE(w.reserved("large"));
    w.wait(seconds(301));
    w.settle();
    EXPECT_TRUE(w.reserved("urgent"));
    EXPECT_FALSE(w.reserved("large"));
}

TEST(gang_reservation, is_not_begun_for_one_from_whom_it_would_be_taken_at_once) {
    waiting w;
    w.wait(seconds(301));
    w.settle();
    ASSERT_TRUE(w.reserved("large"));
    // It takes the reservation away, and has not waited long enough for its own.
    w.add_gang("urgent", 4, "cpu=1", 100);
    w.settle();
    EXPECT_FALSE(w.reserved("large"));
    EXPECT_FALSE(w.reserved("urgent"));
    EXPECT_THAT(w.settle(), testing::IsEmpty()) << "nothing is nominated and taken back by turns";
    w.wait(seconds(301));
    w.settle();
    EXPECT_TRUE(w.reserved("urgent"));
}

TEST(gang_reservation, one_at_a_time_and_the_next_is_for_who_had_none) {
    waiting w;
    w.add_gang("other", 4, "cpu=1");
    w.settle();
    w.wait(seconds(400));
    w.settle();
    EXPECT_TRUE(w.reserved("large"));
    EXPECT_FALSE(w.reserved("other"));
    w.wait(seconds(1801));
    w.settle();
    EXPECT_FALSE(w.reserved("large"));
    EXPECT_TRUE(w.reserved("other"));
}

TEST(gang_reservation, namespaces_take_turns_however_many_groups_one_makes) {
    waiting w;
    ASSERT_NO_FATAL_FAILURE(w.until_reserved());
    const auto first = w.add_gang_in("many", "first", 4, "cpu=1");
    const auto second = w.add_gang_in("many", "second", 4, "cpu=1");
    const auto has_one = [&](const gang_key& of) { return w.known->gangs.at(of).has.has_value(); };
    w.settle();
    w.wait(seconds(1801));
    w.settle();
    ASSERT_TRUE(has_one(first)) << "the turn of the other namespace";
    // One goes, and another comes in its place: the next reservation may succeed.
    w.remove("s0-node-a");
    w.add_stranger("next", "cpu=1", "node-a");
    w.settle();
    w.wait(seconds(1801));
    w.settle();
    EXPECT_FALSE(has_one(second)) << "it had none yet, but its namespace had the last one";
    EXPECT_TRUE(w.reserved("large"));
}

TEST(gang_reservation, a_namespace_whose_group_goes_with_its_reservation_has_had_its_turn) {
    waiting w;
    ASSERT_NO_FATAL_FAILURE(w.until_reserved());
    const auto first = w.add_gang_in("many", "first", 4, "cpu=1");
    const auto second = w.add_gang_in("many", "second", 4, "cpu=1");
    w.settle();
    w.wait(seconds(1801));
    w.settle();
    ASSERT_TRUE(w.known->gangs.at(first).has);
    w.remove("s0-node-a");
    w.add_stranger("next", "cpu=1", "node-a");
    w.wait(seconds(1400));
    w.groups.erase(first);
    w.dirty.insert(first);
    for (int i = 0; i < 4; ++i) w.remove(fmt::format("first-{}", i));
    w.settle();
    EXPECT_FALSE(w.known->gangs.at(second).has);
    EXPECT_TRUE(w.reserved("large"));
}

TEST(gang_reservation, a_gang_of_higher_priority_does_not_wait_for_one_of_a_lower) {
    waiting w;
    ASSERT_NO_FATAL_FAILURE(w.until_reserved());
    w.remove("s0-node-a");
    w.settle();
    w.add_gang("urgent", 1, "cpu=1", 100);
    w.settle();
    EXPECT_EQ(w.count("urgent", stage::let_in), 1);
}

TEST(gang_reservation, places_elsewhere_complete_it) {
    waiting w;
    ASSERT_NO_FATAL_FAILURE(w.until_reserved());
    w.remove("s0-node-a");
    w.settle();
    w.add_node("node-c", "cpu=3");
    w.settle();
    EXPECT_EQ(w.count("large", stage::let_in), 4);
    EXPECT_TRUE(w.within());
}

TEST(gang_reservation, one_whose_plan_needs_facts_gets_it_while_pods_come_and_go) {
    world w;
    for (const auto* node : {"node-a", "node-b"}) {
        w.add_node(node, "cpu=1");
        w.add_stranger(fmt::format("s-{}", node), "cpu=1", node);
    }
    w.add_gang("apart", 2, "cpu=1");
    w.keep_apart("apart", 2);
    for (int i = 0; i < 12; ++i) {
        w.add_stranger("other", "cpu=0", "node-a");
        w.remove("other");
        w.settle();
        const auto& own = w.own("apart");
        EXPECT_EQ(own.has && own.has->reserved_since, own.has.has_value());
        w.wait(seconds(40));
    }
    const auto& has = w.own("apart").has;
    ASSERT_TRUE(has.has_value());
    EXPECT_TRUE(has->reservation);
}

TEST(gang_reservation, those_that_have_not_waited_long_enough_stand_before_nobody) {
    waiting w;
    ASSERT_NO_FATAL_FAILURE(w.until_reserved());
    w.wait(seconds(1801));
    w.settle();
    ASSERT_FALSE(w.reserved("large"));
    w.remove("s0-node-a");
    w.add_stranger("next", "cpu=1", "node-a");
    w.wait(seconds(200));
    w.add_gang("fresh", 4, "cpu=1");
    w.settle();
    w.wait(seconds(101));
    w.settle();
    EXPECT_TRUE(w.reserved("large"));
}

TEST(gang_reservation, it_is_complete_though_its_nodes_lack_what_nobody_of_it_asks_for) {
    waiting w;
    auto node = *w.nodes.at("node-a");
    node.allocatable["example.com/gpu"] = 0;
    w.put_node(node);
    w.add_stranger("gpu", "example.com/gpu=1", "node-a");
    w.settle();
    w.wait(seconds(301));
    w.settle();
    ASSERT_TRUE(w.reserved("large"));
    for (const auto* name : {"s0-node-a", "s1-node-a", "s0-node-b", "s1-node-b"}) w.remove(name);
    w.settle();
    EXPECT_EQ(w.count("large", stage::let_in), 4);
}

TEST(gang_reservation, it_is_given_back_with_its_gang) {
    waiting w;
    ASSERT_NO_FATAL_FAILURE(w.until_reserved());
    w.change("large").metadata.annotations[std::string(names::suspend)] = "true";
    w.settle();
    EXPECT_TRUE(w.room->promises().empty());
    EXPECT_FALSE(w.known->reserving.has_value());
    EXPECT_EQ(w.count("large", stage::gated), 4);
}

TEST(gang_reservation, nodes_that_go_and_come_do_not_make_it_longer) {
    waiting w;
    ASSERT_NO_FATAL_FAILURE(w.until_reserved());
    auto node = *w.nodes.at("node-a");
    for (int i = 0; i < 20; ++i) {
        node.unschedulable = true;
        w.put_node(node);
        w.settle();
        EXPECT_EQ(w.count("large", stage::reserved), 0);
        node.unschedulable = false;
        w.put_node(node);
        w.settle();
        w.wait(seconds(100));
        w.settle();
    }
    EXPECT_TRUE(w.told("ReservationEnded"));
}

TEST(gang_reservation, room_that_is_there_for_a_moment_does_not_make_it_longer) {
    waiting w;
    ASSERT_NO_FATAL_FAILURE(w.until_reserved());
    w.refuse["look lab/large"] = error{errc::server, "no"};
    w.remove("s0-node-a");
    w.add_node("node-c", "cpu=3");
    for (int i = 0; i < 60 && !w.told("ReservationEnded"); ++i) {
        w.settle();
        EXPECT_FALSE(w.reserved("large"));
        w.add_stranger("churn", "cpu=3", "node-c");
        w.settle();
        w.wait(seconds(100));
        w.settle();
        w.remove("churn");
    }
    EXPECT_TRUE(w.told("ReservationEnded"));
    EXPECT_EQ(w.count("large", stage::let_in), 0);
}

TEST(gang_reservation, time_in_which_another_had_taken_it_away_does_not_count) {
    waiting w;
    ASSERT_NO_FATAL_FAILURE(w.until_reserved());
    w.wait(seconds(900));
    w.settle();
    w.add_gang("urgent", 4, "cpu=1", 100);
    w.settle();
    ASSERT_FALSE(w.reserved("large"));
    // Longer than a reservation may be.
    w.wait(seconds(200));
    w.remove_group("urgent");
    for (int i = 0; i < 4; ++i) w.remove(fmt::format("urgent-{}", i));
    w.wait(seconds(1700));
    w.settle();
    ASSERT_TRUE(w.reserved("large"));
    w.wait(seconds(890));
    w.settle();
    EXPECT_TRUE(w.reserved("large"));
    EXPECT_FALSE(w.told("ReservationEnded"));
    w.wait(seconds(20));
    w.settle();
    EXPECT_FALSE(w.reserved("large"));
    EXPECT_TRUE(w.told("ReservationEnded"));
}

TEST(gang_reservation, members_that_go_and_come_do_not_make_it_longer) {
    waiting w;
    w.remove_group("large");
    for (int i = 0; i < 4; ++i) w.remove(fmt::format("large-{}", i));
    w.add_gang("single", 1, "cpu=2");
    ASSERT_NO_FATAL_FAILURE(w.until_reserved("single"));
    for (int i = 1; i < 12 && !w.told("ReservationEnded"); ++i) {
        auto next = w.member(fmt::format("single-{}", i), "single", "cpu=2");
        w.put(next);
        w.settle();
        w.remove(fmt::format("single-{}", i - 1));
        w.settle();
        w.wait(seconds(200));
        w.settle();
    }
    EXPECT_TRUE(w.told("ReservationEnded"));
}

TEST(gang_reservation, who_never_fits_is_told_with_numbers_and_keeps_nothing) {
    waiting w;
    w.add_gang("huge", 9, "cpu=1", 1000);
    w.settle();
    EXPECT_EQ(w.reason_of("huge"), "NeverFits");
    EXPECT_THAT(w.message_of("huge"), HasSubstr("4 of 9 members fit"));
    w.wait(seconds(301));
    w.settle();
    EXPECT_FALSE(w.reserved("huge"));
    EXPECT_TRUE(w.reserved("large"));
}

TEST(gang_reservation, a_wait_is_counted_from_the_members_and_not_from_the_start_of_the_process) {
    waiting w;
    w.settle();
    w.wait(seconds(301));
    w.restart();
    w.settle();
    EXPECT_TRUE(w.reserved("large"));
}

TEST(gang_reservation, a_restart_does_not_take_a_reservation_for_room) {
    waiting w;
    w.settle();
    w.wait(seconds(301));
    w.settle();
    ASSERT_EQ(w.count("large", stage::reserved), 4);
    w.restart();
    w.settle();
    EXPECT_EQ(w.count("large", stage::let_in), 0);
    EXPECT_TRUE(w.reserved("large"));
}

TEST(gang_reservation, one_that_would_start_elsewhere_is_not_kept_waiting) {
    waiting w;
    w.settle();
    w.wait(seconds(200));
    w.add_node("node-c", "cpu=4");
    w.settle();
    EXPECT_EQ(w.count("large", stage::let_in), 4);
    EXPECT_FALSE(w.known->reserving.has_value());
}

}  // namespace
}  // namespace esi::gangs::tests

// Members: those that are missing, those beyond the minimum, those that are made again.
#include "gangs/decide.h"

#include <gmock/gmock.h>

#include "gangs/testing/world.h"

namespace esi::gangs::tests {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(gang_members, a_missing_one_is_told_with_the_cure_for_stateful_sets) {
    world w;
    w.add_node("node-a", "cpu=4");
    w.group("db", 3);
    auto pod = w.member("db-0", "db", "cpu=1");
    pod.metadata.owner_references = {{"apps/v1", "StatefulSet", "db", "uid-db", true}};
    w.put(pod);
    EXPECT_THAT(w.settle(), IsEmpty());
    EXPECT_EQ(w.state_of("db"), "MembersMissing");
    EXPECT_THAT(w.message_of("db"), HasSubstr("1 of 3 members are there"));
    EXPECT_THAT(w.message_of("db"), HasSubstr("unless its spec.podManagementPolicy is Parallel"));
    // In any start members come one after the other: that is no Event.
    EXPECT_FALSE(w.told("MembersMissing"));
    w.wait(seconds(31));
    w.settle();
    EXPECT_TRUE(w.told("MembersMissing"));
}

TEST(gang_members, a_minimum_of_nothing_is_invalid) {
    world w;
    w.add_node("node-a", "cpu=4");
    w.add_gang("train", 2, "cpu=1");
    for (const std::int64_t minimum : {0, -3, 5001}) {
        w.change("train").spec.min_member = minimum;
        EXPECT_THAT(w.settle(), IsEmpty()) << minimum;
        EXPECT_EQ(w.state_of("train"), "Invalid");
    }
    w.change("train").spec.min_member.reset();
    EXPECT_THAT(w.settle(), IsEmpty());
    EXPECT_EQ(w.reason_of("train"), "MinMemberInvalid");
}

// tenstack: pods above minMember were refused for ever.
TEST(gang_members, those_beyond_the_minimum_come_one_by_one_once_it_runs) {
    world w;
    w.add_node("node-a", "cpu=9");
    w.add_gang("train", 4, "cpu=1");
    w.change("train").spec.min_member = 2;
    w.settle();
    EXPECT_EQ(w.count("train", stage::let_in), 2);
    EXPECT_EQ(w.count("train", stage::gated), 2);
    w.bind();
    w.settle();
    EXPECT_EQ(w.count("train", stage::let_in), 1);
    w.bind();
    w.settle();
    w.bind();
    w.settle();
    EXPECT_EQ(w.count("train", stage::bound), 4);
}

TEST(gang_members, those_beyond_the_minimum_wait_for_groups_of_their_priority) {
    world w;
    w.add_node("node-a", "cpu=3");
    w.add_gang("train", 2, "cpu=1");
    w.change("train").spec.min_member = 1;
    w.settle();
    w.add_gang("large", 3, "cpu=1");
    w.bind();
    w.settle();
    EXPECT_EQ(w.count("train", stage::gated), 1);
    EXPECT_THAT(w.own("train").wait.surplus, HasSubstr("groups of its priority or above"));
    w.remove("large-0");
    w.settle();
    EXPECT_EQ(w.count("train", stage::let_in), 1);
}

TEST(gang_members, one_that_is_made_again_goes_before_new_groups) {
    world w;
    w.add_node("node-a", "cpu=2");
    w.add_gang("train", 2, "cpu=1");
    w.settle();
    w.bind();
    w.add_gang("urgent", 1, "cpu=1", 100);
    w.settle();
    w.remove("train-1");
    w.put(w.member("train-2", "train", "cpu=1"));
    w.settle();
    EXPECT_EQ(w.count("train", stage::let_in), 1);
    EXPECT_EQ(w.count("urgent", stage::gated), 1);
}

// tenstack: recreating one pod rejected the whole group.
TEST(gang_members, one_that_is_made_again_does_not_disturb_the_others) {
    world w;
    w.add_node("node-a", "cpu=3");
    w.run_gang("train", 3, "cpu=1");
    w.edit("train-0", [](model::pod& pod) { pod.phase = "Failed"; });
    w.put(w.member("train-0b", "train", "cpu=1"));
    EXPECT_THAT(w.settle(),
                ElementsAre("nominate lab/train-0b node-a", "look lab/train train-0b@node-a"));
    w.bind();
    w.settle();
    EXPECT_EQ(w.state_of("train"), "Running");
}

TEST(gang_members, who_has_succeeded_counts_for_its_own_run_only) {
    world w;
    w.add_node("node-a", "cpu=3");
    w.run_gang("train", 2, "cpu=1");
    for (const auto* name : {"train-0", "train-1"}) {
        w.edit(name, [](model::pod& pod) { pod.phase = "Succeeded"; });
    }
    w.settle();
    EXPECT_EQ(w.state_of("train"), "Ended");
    // A new Job with the same group: its one member does not start alone.
    auto next = w.member("again-0", "train", "cpu=1");
    next.metadata.owner_references.front().uid = "uid-other-job";
    w.put(next);
    EXPECT_THAT(w.settle(), IsEmpty());
    EXPECT_EQ(w.state_of("train"), "MembersMissing");
}

TEST(gang_members, a_minimum_that_grows_after_the_start_is_told_and_not_enforced) {
    world w;
    w.add_node("node-a", "cpu=9");
    w.run_gang("train", 2, "cpu=1");
    w.change("train").spec.min_member = 4;
    EXPECT_THAT(w.settle(), IsEmpty());
    EXPECT_TRUE(w.told("MinMemberGrew"));
    EXPECT_EQ(w.state_of("train"), "Running");
    EXPECT_EQ(w.count("train", stage::bound), 2);
}

TEST(gang_members, those_that_a_grown_minimum_asks_for_are_beyond_the_one_that_was_reached) {
    world w;
    w.add_node("node-a", "cpu=3");
    w.run_gang("train", 1, "cpu=1");
    w.add_gang("large", 3, "cpu=1");
    w.settle();
    for (int i = 1; i < 3; ++i) w.put(w.member(fmt::format("train-{}", i), "train", "cpu=1"));
    w.change("train").spec.min_member = 3;
    EXPECT_THAT(w.settle(), IsEmpty());
    EXPECT_EQ(w.count("train", stage::gated), 2);
    EXPECT_THAT(w.own("train").wait.surplus, HasSubstr("groups of its priority or above"));
}

TEST(gang_members, a_grown_minimum_that_was_reached_is_refilled_after_a_restart) {
    world w;
    w.add_node("node-a", "cpu=4");
    w.run_gang("train", 2, "cpu=1");
    w.change("train").spec.min_member = 3;
    w.put(w.member("train-2", "train", "cpu=1"));
    w.settle();
    w.bind();
    w.settle();
    const auto all = [&]() -> const muster& { return w.own("train").what; };
    ASSERT_EQ(all().enough, 3);
    w.remove("train-0");
    w.restart();
    w.settle();
    EXPECT_EQ(all().enough, 3);
    w.put(w.member("train-9", "train", "cpu=1"));
    w.pass();
    EXPECT_EQ(all().how, start::refill);
}

TEST(gang_members, a_grown_minimum_that_was_not_reached_makes_no_gang_one_that_never_ran) {
    // One beyond the minimum is on its way, and the phase tells that the gang ran or does not; or
    // it is there, and another one is lost.
    using std::pair;
    for (const auto& [on_its_way, told] :
         {pair(true, true), pair(true, false), pair(false, false)}) {
        world w;
        w.add_node("node-a", "cpu=4");
        w.run_gang("train", 2, "cpu=1");
        w.delete_when_partial("train");
        w.change("train").spec.min_member = on_its_way ? 3 : 4;
        w.put(w.member("train-2", "train", "cpu=1"));
        w.settle();
        ASSERT_EQ(w.count("train", stage::let_in), 1);
        if (!on_its_way) {
            w.bind();
            w.settle();
            w.remove("train-0");
            w.settle();
        }
        // Their containers run, or not.
        for (const auto* name : {"train-0", "train-1", "train-2"}) {
            if (told || !w.pods.contains(name)) continue;
            w.edit(name, [](model::pod& pod) { pod.phase = "Pending"; });
        }
        w.settle();
        const auto& phase = w.groups.at(world::key("train")).status.phase;
        ASSERT_EQ(phase, told ? "Running" : "Scheduling");
        w.restart();
        w.settle();
        EXPECT_EQ(w.own("train").attempt.reached, 2);
        w.wait(seconds(100));
        EXPECT_THAT(w.settle(), IsEmpty());
        EXPECT_EQ(w.groups.at(world::key("train")).status.phase, told ? "Running" : "Scheduling");
    }
}

TEST(gang_members, a_minimum_that_grows_before_it_was_reached_gets_no_room_before_others) {
    for (const bool restart : {false, true}) {
        world w;
        w.add_node("node-a", "cpu=4");
        w.add_gang("train", 2, "cpu=1");
        w.settle();
        ASSERT_EQ(w.count("train", stage::let_in), 2);
        w.change("train").spec.min_member = 1000;
        for (int i = 2; i < 50; ++i) {
            w.put(w.member(fmt::format("train-{}", i), "train", "cpu=1"));
        }
        w.add_gang("other", 2, "cpu=1", 10);
        if (restart) w.restart();
        w.settle();
        EXPECT_EQ(w.own("train").what.enough, 2);
        EXPECT_EQ(w.count("other", stage::let_in), 2);
        w.bind();
        if (restart) w.restart();
        w.settle();
        EXPECT_EQ(w.state_of("train"), "Running");
        // A person who takes the marks away gains nothing.
        for (const auto* name : {"train-0", "train-1"}) {
            w.edit(name, [](model::pod& pod) {
                pod.metadata.annotations.erase(std::string(names::gang_plan));
            });
        }
        w.restart();
        w.settle();
        EXPECT_EQ(w.own("train").what.enough, 2);
    }
}

TEST(gang_members, one_that_is_made_again_does_not_wait_for_the_pause_of_one_beyond_the_minimum) {
    world w;
    w.add_node("node-a", "cpu=4");
    w.group("train", 2);
    w.add_members("train", 3, "cpu=1");
    w.refuse["look lab/train train-2"] = error{errc::invalid, "a webhook says no"};
    for (int i = 0; i < 60; ++i) {
        w.settle();
        w.bind();
        w.wait(seconds(1));
    }
    ASSERT_TRUE(w.own("train").is_put_off(w.now));
    w.remove("train-0");
    w.put(w.member("train-9", "train", "cpu=1"));
    w.refuse["look lab/train train-2@"] = error{errc::invalid, "a webhook says no"};
    w.settle();
    EXPECT_EQ(w.own("train").vain.plans, 0);
}

TEST(gang_members,
     those_beyond_the_minimum_do_not_wait_for_a_group_that_lacks_something_else_than_room) {
    world w;
    w.add_node("node-a", "cpu=9");
    w.add_gang("claims", 1, "cpu=1", 100);
    w.edit("claims-0", [](model::pod& pod) { pod.claims = {"data"}; });
    w.settle();
    ASSERT_EQ(w.reason_of("claims"), "ConstraintNotPlanned");
    w.add_gang("train", 2, "cpu=1");
    w.change("train").spec.min_member = 1;
    w.settle();
    w.bind();
    w.settle();
    EXPECT_EQ(w.count("train", stage::let_in), 1);
}

TEST(gang_members, one_with_another_gate_is_not_there_yet) {
    world w;
    w.add_node("node-a", "cpu=9");
    w.add_gang("train", 2, "cpu=1");
    w.edit("train-1", [](model::pod& pod) { pod.scheduling_gates.emplace_back("example.com/x"); });
    EXPECT_THAT(w.settle(), IsEmpty());
    EXPECT_THAT(w.message_of("train"), HasSubstr("example.com/x on pod train-1"));
    w.edit("train-1", [](model::pod& pod) { pod.scheduling_gates.pop_back(); });
    w.settle();
    EXPECT_EQ(w.count("train", stage::let_in), 2);
}

TEST(gang_members, one_that_was_never_gated_is_told_and_counts_as_none) {
    world w;
    w.add_node("node-a", "cpu=9");
    w.add_gang("train", 2, "cpu=1");
    w.edit("train-1", [](model::pod& pod) { pod.scheduling_gates.clear(); });
    EXPECT_THAT(w.settle(), IsEmpty());
    EXPECT_TRUE(w.told("NotGated"));
    EXPECT_EQ(w.state_of("train"), "MembersMissing");
}

TEST(gang_members, annotations_alone_make_a_gang) {
    world w;
    w.add_node("node-a", "cpu=9");
    w.add_members("qj", 2, "cpu=1", way::kube_batch);
    EXPECT_THAT(w.settle(), IsEmpty());
    EXPECT_EQ(w.state_of("qj", way::kube_batch), "GroupMissing");
    for (const auto* name : {"qj-0", "qj-1"}) {
        w.edit(name, [](model::pod& pod) {
            pod.metadata.annotations[std::string(names::group_min_member)] = "2";
        });
    }
    w.settle();
    EXPECT_EQ(w.count("qj", stage::let_in, way::kube_batch), 2);
}

TEST(gang_members, a_gang_of_a_namespace_that_is_not_enabled_is_told) {
    world w;
    w.enabled = false;
    w.add_node("node-a", "cpu=9");
    w.add_gang("train", 2, "cpu=1");
    EXPECT_THAT(w.settle(), IsEmpty());
    EXPECT_EQ(w.state_of("train"), "NotEnabled");
    EXPECT_TRUE(w.told("NotEnabled"));
    EXPECT_EQ(w.groups.at(world::key("train")).status.phase, "");
}

TEST(gang_members, groups_of_others_in_other_namespaces_are_left_alone) {
    world w;
    w.enabled = false;
    w.add_node("node-a", "cpu=9");
    w.add_gang("train", 2, "cpu=1");
    for (const auto* name : {"train-0", "train-1"}) {
        w.edit(name, [](model::pod& pod) { pod.scheduling_gates.clear(); });
    }
    w.notes.clear();
    w.settle();
    w.wait(seconds(100));
    EXPECT_THAT(w.settle(), IsEmpty());
    EXPECT_TRUE(w.notes.empty());
    EXPECT_EQ(w.groups.at(world::key("train")).status.phase, "");
}

}  // namespace
}  // namespace esi::gangs::tests

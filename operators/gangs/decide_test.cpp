#include "gangs/decide.h"

#include <gmock/gmock.h>

#include <utility>

#include "gangs/pass.h"
#include "gangs/world.h"

namespace esi::gangs::tests {
namespace {

using placement::tests::make_node;
using placement::tests::make_pod;
using placement::tests::shared;
using testing::AllOf;
using testing::ElementsAre;
using testing::Ge;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Le;
using testing::UnorderedElementsAre;

/// A gang of two that has its places, and whose looks are answered with an error.
struct held_at_its_look : world {
    held_at_its_look() {
        add_node("node-a", "cpu=2");
        add_gang("train", 2, "cpu=1");
        refuse["look lab/train"] = error{errc::server, "no"};
        settle();
    }
};

TEST(gangs, three_members_cost_three_nominations_and_one_look) {
    world w;
    w.add_node("node-a", "cpu=4 memory=8Gi");
    w.add_gang("train", 3, "cpu=1");
    EXPECT_THAT(w.settle(),
                ElementsAre("nominate lab/train-0 node-a", "nominate lab/train-1 node-a",
                            "nominate lab/train-2 node-a",
                            "look lab/train train-0@node-a train-1@node-a "
                            "train-2@node-a"));
    EXPECT_EQ(w.count("train", stage::let_in), 3);
    w.bind();
    EXPECT_THAT(w.settle(), IsEmpty());
    EXPECT_EQ(w.state_of("train"), "Running");
    EXPECT_TRUE(w.room->promises().empty());
}

TEST(gangs, nobody_is_let_in_before_all_are_nominated) {
    world w;
    w.add_node("node-a", "cpu=4");
    w.add_gang("train", 2, "cpu=1");
    w.refuse["nominate lab/train-1"] = error{errc::server, "no"};
    w.settle();
    EXPECT_EQ(w.count("train", stage::reserved), 1);
    EXPECT_EQ(w.count("train", stage::let_in), 0);
    w.refuse.clear();
    w.wait(seconds(60));
    w.settle();
    EXPECT_EQ(w.count("train", stage::let_in), 2);
}

TEST(gangs, a_gang_is_planned_whole_or_not_at_all) {
    world w;
    w.add_node("node-a", "cpu=2");
    w.add_gang("train", 3, "cpu=1");
    EXPECT_THAT(w.settle(), IsEmpty());
    EXPECT_EQ(w.state_of("train"), "Waiting");
    EXPECT_THAT(w.message_of("train"), HasSubstr("2 of 3 members fit"));
    EXPECT_TRUE(w.room->promises().empty());
}

// kube-batch#514, #561, scheduler-plugins#114, #117.
TEST(gangs, two_gangs_do_not_keep_each_other_from_starting_half_placed) {
    world w;
    w.add_node("node-a", "cpu=2");
    w.add_node("node-b", "cpu=2");
    w.add_gang("one", 3, "cpu=1");
    w.add_gang("two", 3, "cpu=1");
    w.settle();
    EXPECT_EQ(w.count("one", stage::let_in), 3);
    EXPECT_EQ(w.count("two", stage::gated), 3);
    EXPECT_TRUE(w.within());
    w.bind();
    w.settle();
    for (int i = 0; i < 3; ++i) {
        w.edit(fmt::format("one-{}", i), [](model::pod& pod) { pod.phase = "Succeeded"; });
    }
    w.settle();
    EXPECT_EQ(w.count("two", stage::let_in), 3);
}

TEST(gangs, priorities_go_first_then_age) {
    world w;
    w.add_node("node-a", "cpu=2");
    w.add_gang("old", 2, "cpu=1", 5);
    w.add_gang("young", 2, "cpu=1", 5);
    w.add_gang("urgent", 2, "cpu=1", 10);
    w.settle();
    EXPECT_EQ(w.count("urgent", stage::let_in), 2);
    EXPECT_EQ(w.at("old").before, 0);
    EXPECT_EQ(w.at("young").before, 1);
    EXPECT_EQ(w.at("young").behind, world::key("old"));
    w.remove("urgent-0");
    w.remove("urgent-1");
    w.settle();
    EXPECT_EQ(w.count("old", stage::let_in), 2);
}

TEST(gangs, the_class_of_a_group_counts_only_as_far_as_a_member_has_that_priority) {
    world w;
    w.add_node("node-a", "cpu=1");
    w.classes = {{"high", 1000}, {"low", 10}};
    w.add_gang("low", 1, "cpu=1", 500);
    w.change("low").spec.priority_class_name = "low";
    w.add_gang("middle", 1, "cpu=1", 50);
    w.add_gang("claims", 1, "cpu=1", 0);
    w.change("claims").spec.priority_class_name = "high";
    w.settle();
    EXPECT_EQ(w.count("middle", stage::let_in), 1);
    EXPECT_EQ(w.at("low").before, 0);
    EXPECT_EQ(w.at("claims").before, 1);
}

// tenstack: a denied group was frozen for 20 s whatever was freed.
TEST(gangs, who_did_not_fit_is_tried_as_soon_as_room_is_freed) {
    world w;
    w.add_node("node-a", "cpu=2");
    w.add_stranger("other", "cpu=1", "node-a");
    w.add_gang("train", 2, "cpu=1");
    w.settle();
    EXPECT_EQ(w.reason_of("train"), "NoRoom");
    w.remove("other");
    w.settle();
    EXPECT_EQ(w.count("train", stage::let_in), 2);
}

TEST(gangs, without_freed_room_nothing_is_tried_again) {
    world w;
    w.add_node("node-a", "cpu=2");
    w.add_gang("train", 3, "cpu=1");
    w.settle();
    const auto failed = w.known->gangs.at(world::key("train")).failed_at;
    ASSERT_TRUE(failed.has_value());
    w.add_stranger("other", "cpu=1", "node-a");
    w.settle();
    EXPECT_EQ(w.known->gangs.at(world::key("train")).failed_at, failed);
}

TEST(gangs, who_asks_for_less_is_tried_again_though_nothing_became_free) {
    world w;
    w.add_node("node-a", "cpu=2");
    w.add_gang("fewer", 3, "cpu=1");
    w.settle();
    EXPECT_EQ(w.reason_of("fewer"), "NeverFits");
    w.change("fewer").spec.min_member = 2;
    w.settle();
    EXPECT_EQ(w.count("fewer", stage::let_in), 2);

    w.add_node("node-b", "cpu=2");
    w.add_gang("smaller", 1, "cpu=4");
    w.settle();
    EXPECT_EQ(w.reason_of("smaller"), "NeverFits");
    // Seen in one pass: its controller has made it anew.
    w.remove("smaller-0");
    w.add_members("smaller", 1, "cpu=2");
    w.settle();
    EXPECT_EQ(w.count("smaller", stage::let_in), 1);

    auto node = make_node("node-c", "cpu=2");
    node.taints = {{"dedicated", "gangs", "NoSchedule"}};
    w.put_node(node);
    w.add_gang("tolerant", 1, "cpu=2");
    w.settle();
    EXPECT_EQ(w.count("tolerant", stage::gated), 1);
    w.edit("tolerant-0",
           [](model::pod& pod) { pod.tolerations = {{"dedicated", "Exists", "", ""}}; });
    w.settle();
    EXPECT_EQ(w.count("tolerant", stage::let_in), 1);
}

TEST(gangs, a_note_on_a_group_that_does_not_fit_is_no_reason_to_try_it_again) {
    world w;
    w.add_node("node-a", "cpu=2");
    w.add_gang("train", 3, "cpu=1");
    w.settle();
    const auto tried = w.known->gangs.at(world::key("train")).tried_in;
    w.change("train").metadata.annotations["example.com/note"] = "please";
    w.edit("train-0", [](model::pod& pod) { pod.metadata.annotations["note"] = "please"; });
    w.settle();
    EXPECT_EQ(w.known->gangs.at(world::key("train")).tried_in, tried);
    EXPECT_EQ(w.reason_of("train"), "NeverFits");
}

TEST(gangs, smaller_ones_go_first_while_the_first_does_not_fit) {
    world w;
    w.add_node("node-a", "cpu=3");
    w.add_stranger("other", "cpu=1", "node-a");
    w.add_gang("large", 3, "cpu=1");
    w.add_gang("small", 2, "cpu=1");
    w.settle();
    EXPECT_EQ(w.count("large", stage::gated), 3);
    EXPECT_EQ(w.count("small", stage::let_in), 2);
}

TEST(gangs, alike_ones_are_tried_once_a_pass) {
    world w;
    w.add_node("node-a", "cpu=2");
    w.add_stranger("other", "cpu=1", "node-a");
    for (int i = 0; i < 5; ++i) w.add_gang(fmt::format("g{}", i), 2, "cpu=1");
    w.settle();
    EXPECT_THAT(w.message_of("g4"), HasSubstr("as lab/g0, which asks for the same"));
    EXPECT_EQ(w.at("g4").before, 4);
}

TEST(gangs, suspended_ones_stand_in_no_order_and_give_back_what_they_have) {
    held_at_its_look w;
    EXPECT_EQ(w.count("train", stage::reserved), 2);
    w.change("train").metadata.annotations[std::string(names::suspend)] = "true";
    EXPECT_THAT(w.settle(), UnorderedElementsAre("give-back lab/train-0", "give-back lab/train-1"));
    EXPECT_EQ(w.state_of("train"), "Suspended");
    EXPECT_TRUE(w.room->promises().empty());
    w.refuse.clear();
    w.change("train").metadata.annotations.clear();
    w.wait(seconds(10));
    w.settle();
    EXPECT_EQ(w.count("train", stage::let_in), 2);
}

TEST(gangs, once_a_member_was_let_in_a_suspended_gang_goes_on) {
    world w;
    w.add_node("node-a", "cpu=2");
    w.add_gang("train", 2, "cpu=1");
    w.settle();
    // One of the two patches was lost.
    w.edit("train-1", [](model::pod& pod) {
        pod.scheduling_gates = {std::string(names::gang)};
        pod.metadata.annotations.erase(std::string(names::gang_node));
    });
    w.was_looked_at("train", "train-1", "node-a");
    w.change("train").metadata.annotations[std::string(names::suspend)] = "true";
    EXPECT_THAT(w.settle(), ElementsAre("let-in lab/train-1 node-a"));
}

TEST(gangs, when_all_that_were_let_in_are_gone_the_rest_does_not_start_alone) {
    world w;
    w.add_node("node-a", "cpu=3");
    w.add_gang("train", 3, "cpu=1");
    w.settle();
    w.edit("train-2", [](model::pod& pod) {
        pod.scheduling_gates = {std::string(names::gang)};
        pod.metadata.annotations.erase(std::string(names::gang_node));
    });
    w.was_looked_at("train", "train-2", "node-a");
    w.remove("train-0");
    w.remove("train-1");
    w.wait(seconds(10));
    EXPECT_THAT(w.settle(), ElementsAre("give-back lab/train-2"));
    EXPECT_EQ(w.count("train", stage::let_in), 0);
}

// yunikorn-core#556, koordinator#1741: what a group reserved must not stay when it goes.
TEST(gangs, a_group_that_goes_leaves_nothing) {
    held_at_its_look w;
    w.remove_group("train");
    EXPECT_THAT(w.settle(), UnorderedElementsAre("give-back lab/train-0", "give-back lab/train-1"));
    EXPECT_EQ(w.state_of("train"), "GroupMissing");
    EXPECT_TRUE(w.room->promises().empty());
    w.remove("train-0");
    w.remove("train-1");
    w.settle();
    EXPECT_TRUE(w.known->gangs.empty());
}

TEST(gangs, a_pod_that_names_no_group_any_more_gives_back_its_nomination) {
    world w;
    w.add_node("node-a", "cpu=2");
    w.add_gang("train", 1, "cpu=1");
    w.refuse["look lab/train"] = error{errc::server, "no"};
    w.settle();
    w.edit("train-0", [](model::pod& pod) { pod.metadata.labels.clear(); });
    EXPECT_THAT(w.settle(), ElementsAre("give-back lab/train-0"));
    EXPECT_TRUE(w.room->promises().empty());
}

TEST(gangs, when_a_reserved_member_goes_the_rest_is_planned_anew_or_gives_back) {
    held_at_its_look w;
    w.remove("train-0");
    EXPECT_THAT(w.settle(), ElementsAre("give-back lab/train-1"));
    EXPECT_EQ(w.state_of("train"), "MembersMissing");
    EXPECT_TRUE(w.room->promises().empty());
}

TEST(gangs, a_nomination_that_was_cleared_is_set_again) {
    held_at_its_look w;
    w.edit("train-0", [](model::pod& pod) { pod.nominated_node_name.clear(); });
    EXPECT_THAT(w.pass(), ElementsAre("nominate lab/train-0 node-a"));
}

// kube-scheduler 1.36.3 does so when the API server has refused the bind.
TEST(gangs, a_let_in_member_that_lost_its_nomination_gets_it_back) {
    world w;
    w.add_node("node-a", "cpu=2");
    w.add_gang("train", 2, "cpu=1");
    w.settle();
    w.edit("train-1", [](model::pod& pod) { pod.nominated_node_name.clear(); });
    EXPECT_THAT(w.settle(), ElementsAre("nominate lab/train-1 node-a"));
    // Taken away again and again it is set again after pauses, which become longer.
    int times = 0;
    for (int i = 0; i < 600; ++i) {
        w.edit("train-1", [](model::pod& pod) { pod.nominated_node_name.clear(); });
        w.wait(milliseconds(100));
        times += static_cast<int>(w.settle().size());
    }
    EXPECT_THAT(times, AllOf(Ge(4), Le(7)));
    w.wait(seconds(600));
    // Refused for good it is not nominated any more.
    w.edit("train-1", [](model::pod& pod) {
        pod.scheduled_status = "False";
        pod.scheduled_reason = "Unschedulable";
        pod.nominated_node_name.clear();
        pod.metadata.owner_references.clear();
    });
    w.settle();
    w.wait(seconds(20));
    w.edit("train-1", [](model::pod& pod) { pod.nominated_node_name.clear(); });
    EXPECT_THAT(w.settle(), IsEmpty());
    w.wait(seconds(3600));
    EXPECT_THAT(w.settle(), IsEmpty());
    w.bind();
    EXPECT_THAT(w.settle(), IsEmpty());
    EXPECT_EQ(w.state_of("train"), "Running");
}

TEST(gangs, a_restarted_scheduler_is_shown_all_nominations) {
    held_at_its_look w;
    w.scheduler = "scheduler-2/1";
    w.wait(seconds(1));
    EXPECT_THAT(w.settle(), testing::IsSupersetOf({"show lab/train-0", "show lab/train-1"}));
    w.wait(seconds(1));
    EXPECT_THAT(w.settle(), testing::Not(testing::Contains("show lab/train-0")));
}

TEST(gangs, a_look_that_finds_the_room_taken_lets_nobody_in) {
    world w;
    w.add_node("node-a", "cpu=2");
    w.add_gang("train", 2, "cpu=1");
    w.nominate_two();
    ASSERT_THAT(w.pass(), ElementsAre("look lab/train train-0@node-a train-1@node-a"));
    // The cache does not show yet what the API server says.
    auto live = w.live();
    live.on_nodes["node-a"].push_back(shared(make_pod("stranger", "cpu=1", "node-a")));
    const auto& look = std::get<look_and_let_in>(w.last.actions.front());
    const auto why = judge_look(look, live, *w.room, w.shown);
    EXPECT_EQ(why, "the node of train-0, train-1 has 1 cpu left, and 2 is needed");
    outcome refused;
    refused.refused = why;
    take_outcome(*w.known, w.last.actions.front(), refused, w.now);
    EXPECT_THAT(w.pass(), IsEmpty());
    EXPECT_EQ(w.reason_of("train"), "LookRefused");
    EXPECT_EQ(w.message_of("train"), why);
    w.wait(seconds(1));
    EXPECT_THAT(w.pass(), ElementsAre("look lab/train train-0@node-a train-1@node-a"));
}

TEST(gangs, refused_looks_make_another_plan_and_do_not_race) {
    world w;
    w.add_node("node-a", "cpu=2");
    w.add_gang("train", 2, "cpu=1");
    int looks = 0;
    for (int i = 0; i < 4000; ++i) {
        w.pass();
        for (const auto& each : std::vector(w.last.actions)) {
            if (std::holds_alternative<look_and_let_in>(each)) {
                ++looks;
                outcome refused;
                refused.refused = "no";
                take_outcome(*w.known, each, refused, w.now);
            } else {
                take_outcome(*w.known, each, w.carry_out(each), w.now);
            }
        }
        w.wait(milliseconds(10));
    }
    // 40 s: 0.1 + 0.2 + 0.4 + 0.8 + 1.6 + 3.2 s, then every 5 s.
    EXPECT_GE(looks, 10);
    EXPECT_LE(looks, 14);
    EXPECT_EQ(w.count("train", stage::let_in), 0);
}

TEST(gangs, whom_nobody_lets_in_does_not_keep_its_room_for_ever) {
    for (const char* refused : {"look lab/train", "nominate lab/train"}) {
        world w;
        w.add_node("node-a", "cpu=2");
        w.add_gang("train", 2, "cpu=1", 100);
        w.refuse[refused] = error{errc::invalid, "admission webhook denied the request"};
        std::size_t writes = 0;
        const auto pass_seconds = [&](int count) {
            for (int i = 0; i < count; ++i) {
                for (const auto& line : w.settle()) writes += line.find("lab/train") != line.npos;
                w.bind();
                w.wait(seconds(1));
            }
        };
        pass_seconds(3600);
        EXPECT_TRUE(w.told("LookRefused")) << refused;
        EXPECT_THAT(w.message_of("train"), HasSubstr("admission webhook")) << refused;
        // Twice in a row, then after 10 s, 20 s, ... 600 s.
        EXPECT_LE(writes, 150U) << refused;
        w.add_gang("other", 2, "cpu=1");
        pass_seconds(1000);
        EXPECT_EQ(w.state_of("other"), "Running") << refused;
        // Whatever refused it is gone.
        w.refuse.clear();
        w.remove("other-0");
        w.remove("other-1");
        w.wait(seconds(601));
        w.settle();
        w.wait(seconds(601));
        w.settle();
        EXPECT_EQ(w.count("train", stage::let_in), 2) << refused;
    }
}

TEST(gangs, who_tolerates_everything_is_not_planned_onto_a_cordoned_node) {
    world w;
    auto node = make_node("node-a", "cpu=2");
    w.add_gang("train", 2, "cpu=1");
    for (const auto* name : {"train-0", "train-1"}) {
        w.edit(name, [](model::pod& pod) { pod.tolerations = {{"", "Exists", "", ""}}; });
    }
    for (const bool cordoned : {true, false}) {
        node.unschedulable = cordoned;
        node.ready = cordoned;
        w.put_node(node);
        EXPECT_THAT(w.settle(), IsEmpty());
        EXPECT_EQ(w.reason_of("train"), "NeverFits");
    }
    node.ready = true;
    w.put_node(node);
    w.settle();
    EXPECT_EQ(w.count("train", stage::let_in), 2);
}

TEST(gangs, a_deleted_member_that_a_finalizer_keeps_gives_back_its_nomination) {
    held_at_its_look w;
    const auto delete_with_finalizer = [&](const std::string& name) {
        w.edit(name, [&](model::pod& pod) {
            pod.metadata.finalizers = {"lab/keeps"};
            pod.metadata.deletion_timestamp = model::timestamp{w.wall};
        });
    };
    for (const auto* name : {"train-0", "train-1"}) {
        delete_with_finalizer(name);
        w.settle();
    }
    EXPECT_EQ(w.pods.at("train-0")->nominated_node_name, "");
    EXPECT_EQ(w.pods.at("train-1")->nominated_node_name, "");
    EXPECT_TRUE(w.room->promises().empty());
    // One that was let in and is not bound.
    w.refuse.clear();
    w.add_gang("next", 1, "cpu=1");
    w.settle();
    ASSERT_EQ(w.count("next", stage::let_in), 1);
    delete_with_finalizer("next-0");
    EXPECT_THAT(w.settle(), ElementsAre("give-back lab/next-0"));
    EXPECT_EQ(w.pods.at("next-0")->nominated_node_name, "");
    // One that ESI has no part in: kube-scheduler nominated it when it evicted others for it.
    auto own = w.member("own", "next", "cpu=1");
    own.scheduling_gates.clear();
    own.nominated_node_name = "node-a";
    own.metadata.deletion_timestamp = model::timestamp{w.wall};
    w.put(own);
    EXPECT_THAT(w.settle(), IsEmpty());
}

TEST(gangs, whoever_takes_room_from_a_reserved_gang_makes_the_last_of_them_give_back) {
    world w;
    w.add_node("node-a", "cpu=4");
    w.add_gang("first", 2, "cpu=1");
    w.add_gang("second", 2, "cpu=1");
    w.refuse["look"] = error{errc::server, "no"};
    w.settle();
    EXPECT_EQ(w.count("second", stage::reserved), 2);
    w.add_stranger("urgent", "cpu=1", "node-a");
    EXPECT_THAT(w.settle(),
                testing::IsSupersetOf({"give-back lab/second-0", "give-back lab/second-1"}));
    EXPECT_TRUE(w.within());
    EXPECT_EQ(w.count("first", stage::reserved), 2);
}

TEST(gangs, a_node_that_goes_makes_a_reserved_gang_be_planned_elsewhere) {
    world w;
    w.add_node("node-a", "cpu=2");
    w.add_gang("train", 2, "cpu=1");
    w.refuse["look"] = error{errc::server, "no"};
    w.settle();
    w.add_node("node-b", "cpu=2");
    auto cordoned = *w.nodes.at("node-a");
    cordoned.unschedulable = true;
    w.put_node(cordoned);
    w.settle();
    EXPECT_EQ(w.pods.at("train-0")->nominated_node_name, "node-b");
    EXPECT_EQ(w.pods.at("train-1")->nominated_node_name, "node-b");
}

// --- a restart of the process ---

TEST(gangs_after_a_restart, nominated_members_keep_their_places_and_are_shown_once) {
    world w;
    w.add_node("node-a", "cpu=2");
    w.add_node("node-b", "cpu=2");
    w.add_gang("train", 3, "cpu=1");
    w.refuse["look"] = error{errc::server, "no"};
    w.settle();
    const auto before = w.room->promises().size();
    w.refuse.clear();
    w.restart();
    EXPECT_THAT(w.settle(),
                ElementsAre("show lab/train-0", "show lab/train-1", "show lab/train-2",
                            "look lab/train train-0@node-a train-1@node-a train-2@node-b"));
    EXPECT_EQ(before, 3U);
    EXPECT_EQ(w.room->promises().size(), 3U);
}

TEST(gangs_after_a_restart, a_node_that_has_lost_a_resource_meanwhile_keeps_nobody) {
    world w;
    w.add_node("node-a", "cpu=2 gpu=2");
    w.add_gang("train", 2, "cpu=1 gpu=1");
    w.refuse["look"] = error{errc::server, "no"};
    w.settle();
    EXPECT_EQ(w.count("train", stage::reserved), 2);
    w.refuse.clear();
    w.add_node("node-a", "cpu=2");
    w.add_node("node-b", "cpu=2 gpu=2");
    w.restart();
    w.settle();
    EXPECT_EQ(w.count("train", stage::let_in), 2);
    for (const char* each : {"train-0", "train-1"}) {
        EXPECT_EQ(w.pods.at(each)->metadata.annotation(names::gang_node), "node-b");
    }
}

TEST(gangs_after_a_restart, another_gang_does_not_get_the_room_of_a_nominated_one) {
    world w;
    w.add_node("node-a", "cpu=2");
    w.add_gang("train", 2, "cpu=1");
    w.refuse["look"] = error{errc::server, "no"};
    w.settle();
    w.add_gang("urgent", 2, "cpu=1", 100);
    w.refuse.clear();
    w.restart();
    w.settle();
    EXPECT_EQ(w.count("train", stage::let_in), 2);
    EXPECT_EQ(w.count("urgent", stage::gated), 2);
}

TEST(gangs_after_a_restart, of_a_gang_that_was_let_in_half_the_rest_goes_on) {
    world w;
    w.add_node("node-a", "cpu=3");
    w.add_gang("train", 3, "cpu=1");
    w.settle();
    w.edit("train-2", [](model::pod& pod) {
        pod.scheduling_gates = {std::string(names::gang)};
        pod.metadata.annotations.erase(std::string(names::gang_node));
    });
    w.restart();
    w.settle();
    EXPECT_EQ(w.count("train", stage::let_in), 3);
    EXPECT_TRUE(w.within());
}

TEST(gangs_after_a_restart, half_nominated_gangs_are_completed_or_give_back) {
    world w;
    w.add_node("node-a", "cpu=3");
    w.add_gang("train", 3, "cpu=1");
    w.refuse["nominate lab/train-2"] = error{errc::server, "no"};
    w.settle();
    EXPECT_EQ(w.count("train", stage::reserved), 2);
    w.refuse.clear();
    w.add_stranger("other", "cpu=1", "node-a");
    w.restart();
    w.settle();
    EXPECT_EQ(w.count("train", stage::gated), 3);
    EXPECT_TRUE(w.room->promises().empty());
    w.remove("other");
    w.settle();
    EXPECT_EQ(w.count("train", stage::let_in), 3);
}

// --- members ---

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
    EXPECT_THAT(w.at("train").surplus, HasSubstr("groups of its priority or above"));
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
    // A new Job with the same group: nobody starts alone.
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
    EXPECT_THAT(w.at("train").surplus, HasSubstr("groups of its priority or above"));
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
    const auto all = [&]() -> const muster& { return w.known->gangs.at(world::key("train")).what; };
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
        EXPECT_EQ(w.known->gangs.at(world::key("train")).reached, 2);
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
        EXPECT_EQ(w.known->gangs.at(world::key("train")).what.enough, 2);
        EXPECT_EQ(w.count("other", stage::let_in), 2);
        w.bind();
        if (restart) w.restart();
        w.settle();
        EXPECT_EQ(w.state_of("train"), "Running");
        // Whoever takes the marks away gains nothing.
        for (const auto* name : {"train-0", "train-1"}) {
            w.edit(name, [](model::pod& pod) {
                pod.metadata.annotations.erase(std::string(names::gang_plan));
            });
        }
        w.restart();
        w.settle();
        EXPECT_EQ(w.known->gangs.at(world::key("train")).what.enough, 2);
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
    ASSERT_TRUE(w.known->gangs.at(world::key("train")).put_off);
    w.remove("train-0");
    w.put(w.member("train-9", "train", "cpu=1"));
    w.refuse["look lab/train train-2@"] = error{errc::invalid, "a webhook says no"};
    w.settle();
    EXPECT_EQ(w.known->gangs.at(world::key("train")).vain_plans, 0);
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

TEST(gangs, each_action_is_given_once_while_it_is_under_way) {
    world w;
    w.add_node("node-a", "cpu=2");
    w.add_gang("train", 2, "cpu=1");
    EXPECT_THAT(w.pass(),
                ElementsAre("nominate lab/train-0 node-a", HasSubstr("status lab/train")));
    EXPECT_THAT(w.pass(), IsEmpty());
    w.wait(seconds(60));
    EXPECT_THAT(w.pass(), IsEmpty());
}

TEST(gangs, no_place_is_given_up_while_its_look_is_under_way) {
    world w;
    w.add_node("node-a", "cpu=2");
    w.add_gang("train", 2, "cpu=1");
    w.nominate_two();
    w.pass();
    ASSERT_TRUE(std::holds_alternative<look_and_let_in>(w.last.actions.front()));
    const auto look = w.last.actions.front();
    w.change("train").metadata.annotations[std::string(names::suspend)] = "true";
    w.pass();
    EXPECT_EQ(w.room->promises().size(), 2U);
    take_outcome(*w.known, look, outcome{error{errc::timeout, "late"}, {}, {}, {}}, w.now);
    w.pass();
    EXPECT_TRUE(w.room->promises().empty());
}

TEST(gangs, a_look_of_a_group_that_went_lets_nobody_in_of_the_one_that_came) {
    world w;
    w.add_node("node-a", "cpu=4");
    w.add_gang("train", 2, "cpu=1");
    w.nominate_two();
    w.pass();
    ASSERT_TRUE(std::holds_alternative<look_and_let_in>(w.last.actions.front()));
    const auto look = w.last.actions.front();
    const auto old = w.pods.at("train-0")->metadata.uid;
    w.remove("train-0");
    w.remove("train-1");
    w.remove_group("train");
    w.pass();
    w.add_gang("train", 2, "cpu=1");
    w.pass();
    bool first = true;
    for (const auto& each : std::vector(w.last.actions)) {
        auto how = w.carry_out(each);
        // Of one of them the cache does not show the nomination yet.
        if (std::exchange(first, false)) {
            for (auto& [uid, version] : how.written) version = "999999";
        }
        take_outcome(*w.known, each, how, w.now);
    }
    outcome late;
    late.written[old] = "5";
    take_outcome(*w.known, look, late, w.now);
    const auto& has = w.known->gangs.at(world::key("train")).has;
    EXPECT_FALSE(has && has->looked);
    for (const auto& line : w.pass()) EXPECT_FALSE(line.starts_with("let-in")) << line;
    for (const auto& each : std::vector(w.last.actions)) {
        take_outcome(*w.known, each, w.carry_out(each), w.now);
    }
    w.wait(seconds(6));
    w.settle();
    EXPECT_EQ(w.count("train", stage::let_in), 2);
}

TEST(gangs, a_namespace_with_many_that_wait_delays_those_of_others_by_one_pass) {
    world w;
    w.add_node("node-a", "cpu=2");
    w.add_stranger("s", "cpu=1", "node-a");
    // Each asks for something else, and would fit if the stranger went.
    for (int i = 0; i < 6 * most_fits; ++i) {
        w.add_gang_in("many", fmt::format("g{}", i), 1, fmt::format("cpu={}m", 1100 + i));
    }
    w.wait(seconds(1));
    w.add_gang("later", 1, "cpu=1");
    w.pass();
    EXPECT_FALSE(w.known->gangs.at(world::key("later")).has) << "those that are older are first";
    w.pass();
    EXPECT_TRUE(w.known->gangs.at(world::key("later")).has);
}

TEST(gangs, no_number_of_those_that_never_fit_delays_one_that_fits) {
    world w;
    w.add_node("node-a", "cpu=1");
    for (int i = 0; i < 2 * most_fits; ++i) {
        w.add_gang(fmt::format("huge{}", i), 1, fmt::format("cpu={}m", 2000 + i));
    }
    w.add_gang("yours", 1, "cpu=1");
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(w.known->gangs.contains(world::key("yours")) &&
                      w.known->gangs.at(world::key("yours")).has.has_value(),
                  false);
        // Somewhere some pod ends all the time.
        w.add_stranger("other", "cpu=0", "node-a");
        w.remove("other");
        w.pass();
    }
    EXPECT_TRUE(w.known->gangs.at(world::key("yours")).has.has_value());
}

/// Gangs of fours for a third more members than may be on their way, with room for all.
struct many_gangs : world {
    static constexpr int fours = most_on_their_way / 3;
    many_gangs() {
        for (int i = 0; i < 10; ++i) add_node(fmt::format("node-{}", i), "cpu=100");
        for (int i = 0; i < fours; ++i) add_gang(name(i), 4, "cpu=1");
    }
    static std::string name(int i) { return fmt::format("four{:03}", i); }
    int planned() const {
        return static_cast<int>(std::ranges::count_if(
            known->gangs, [](const auto& each) { return each.second.has.has_value(); }));
    }
    void pass_all() {
        for (int i = 0; i < 3; ++i) pass();
    }
};

TEST(gangs, no_more_are_planned_than_may_be_on_their_way) {
    many_gangs w;
    w.settle();
    EXPECT_EQ(w.count(w.name(most_on_their_way / 4 - 1), stage::let_in), 4);
    const auto& waits = w.known->gangs.at(world::key(w.name(w.fours - 1))).at;
    EXPECT_EQ(waits.reason, "InLine");
    EXPECT_THAT(waits.message, testing::HasSubstr("on their way"));
    EXPECT_EQ(w.count(w.name(most_on_their_way / 4), stage::gated), 4) << "none is bound yet";
    w.bind();
    w.settle();
    EXPECT_EQ(w.count(w.name(w.fours - 1), stage::let_in), 4);
}

TEST(gangs, who_hangs_on_the_way_keeps_nobody_back_for_long) {
    many_gangs w;
    w.pass_all();
    ASSERT_TRUE(w.last.again.has_value());
    EXPECT_LE(*w.last.again, longest_way) << "nothing else has to happen";
    w.wait(longest_way);
    w.pass_all();
    EXPECT_EQ(w.planned(), w.fours);
}

TEST(gangs, gangs_of_another_namespace_have_their_share) {
    many_gangs w;
    w.settle();
    const auto add = [&](const std::string& name) {
        return w.add_gang_in("shop", name, 4, "cpu=1");
    };
    const auto theirs = add("theirs");
    w.add_gang("urgent", 4, "cpu=1", 10);
    w.pass();
    EXPECT_TRUE(w.known->gangs.at(theirs).has.has_value());
    EXPECT_FALSE(w.known->gangs.at(world::key("urgent")).has.has_value());
    // Their share is used up then.
    for (int i = 0; i < most_on_their_way / 8; ++i) add(fmt::format("more{}", i));
    const auto last = add("zzz");
    w.pass_all();
    EXPECT_FALSE(w.known->gangs.at(last).has.has_value());
}

TEST(gangs, a_member_that_a_running_gang_lacks_does_not_wait_for_those_on_their_way) {
    many_gangs w;
    w.add_gang("runs", 2, "cpu=1", 10);
    w.settle();
    w.bind();
    w.settle();
    for (int i = 0; i < w.fours; ++i) w.add_gang("more" + w.name(i), 4, "cpu=1");
    w.pass_all();
    w.remove("runs-0");
    w.add_members("runs", 1, "cpu=1", way::coscheduling, 10);
    w.pass();
    EXPECT_TRUE(w.known->gangs.at(world::key("runs")).has.has_value());
    EXPECT_FALSE(w.known->gangs.at(world::key("more" + w.name(w.fours - 1))).has.has_value());
}

TEST(gangs, what_was_read_is_not_used_later_or_by_a_gang_that_no_longer_waits) {
    world w;
    w.add_node("node-a", "cpu=1");
    w.add_node("node-b", "cpu=1");
    w.add_gang("apart", 2, "cpu=1");
    w.keep_apart("apart", 2);
    const auto read = [&] {
        for (const auto& line : w.pass()) EXPECT_FALSE(line.starts_with("nominate")) << line;
        for (const auto& each : std::vector(w.last.actions)) {
            take_outcome(*w.known, each, w.carry_out(each), w.now);
        }
        return w.known->gangs.at(world::key("apart")).read.has_value();
    };
    ASSERT_TRUE(read());
    w.wait(seconds(20));
    ASSERT_TRUE(read());
    w.change("apart").metadata.annotations[std::string(names::suspend)] = "true";
    w.pass();
    EXPECT_FALSE(w.known->gangs.at(world::key("apart")).read.has_value());
    w.change("apart").metadata.annotations.clear();
    w.settle();
    EXPECT_EQ(w.count("apart", stage::let_in), 2);
}

TEST(gangs, those_that_read_again_do_not_stand_in_the_line) {
    world w;
    w.options.most_on_their_way = 2;
    for (const auto* node : {"node-a", "node-b"}) w.add_node(node, "cpu=2");
    w.add_gang("apart", 3, "cpu=1");
    w.keep_apart("apart", 3);
    w.settle();
    ASSERT_TRUE(w.known->gangs.at(world::key("apart")).failed_at.has_value());
    w.wait(seconds(60));
    w.add_stranger("other", "cpu=1", "node-a");
    w.add_gang("late", 1, "cpu=1");
    EXPECT_THAT(w.pass(),
                testing::IsSupersetOf({"read-facts lab/apart", "nominate lab/late-0 node-a"}));
}

TEST(gangs, a_pass_ends_when_its_plans_have_cost_much) {
    world w;
    for (int i = 0; i < 500; ++i) w.add_node(fmt::format("node-{:03}", i), "cpu=1");
    for (int g = 0; g < 60; ++g) {
        const auto name = fmt::format("g{:02}", g);
        w.group(name, 200);
        for (int i = 0; i < 200; ++i) {
            w.put(w.member(fmt::format("{}-{:03}", name, i), name,
                           fmt::format("cpu={}m", 2000 + g * 200 + i)));
        }
    }
    const auto tried = [&] {
        return std::ranges::count_if(
            w.known->gangs, [](const auto& entry) { return entry.second.failed_at.has_value(); });
    };
    w.pass();
    const auto first = tried();
    EXPECT_GE(first, 1);
    EXPECT_LT(first, 60);
    EXPECT_EQ(w.last.again, milliseconds(10));
    for (int i = 0; i < 60 && tried() < 60; ++i) w.pass();
    EXPECT_EQ(tried(), 60);
}

TEST(gangs, what_a_node_lacks_of_something_that_no_member_asks_for_keeps_nobody_back) {
    world w;
    w.add_node("node-a", "cpu=4 example.com/gpu=1");
    w.add_stranger("other", "example.com/gpu=1", "node-a");
    auto node = *w.nodes.at("node-a");
    node.allocatable["example.com/gpu"] = 0;
    w.put_node(node);
    w.add_gang("train", 2, "cpu=1");
    w.pass();
    const auto planned = w.known->gangs.at(world::key("train")).has.value().since;
    const auto first = w.last.actions;
    w.wait(seconds(1));
    w.pass();
    EXPECT_EQ(w.known->gangs.at(world::key("train")).has.value().since, planned);
    for (const auto& each : first) take_outcome(*w.known, each, w.carry_out(each), w.now);
    w.settle();
    EXPECT_EQ(w.count("train", stage::let_in), 2);
}

TEST(gangs, groups_of_another_namespace_are_not_named) {
    world w;
    w.add_node("node-a", "cpu=1");
    w.add_stranger("other", "cpu=1", "node-a");
    w.add_gang("secret", 1, "cpu=1");
    const auto theirs = w.add_gang_in("shop", "theirs", 1, "cpu=1");
    w.settle();
    w.wait(seconds(2));
    w.settle();
    const auto& own = w.known->gangs.at(theirs);
    EXPECT_THAT(own.at.message, HasSubstr("0 of 1 members fit"));
    EXPECT_EQ(own.at.before, 1);
    EXPECT_THAT(own.at.message, testing::Not(HasSubstr("secret")));
    bool told = false;
    for (const auto& each : w.notes) {
        if (each.of != theirs) continue;
        told = true;
        EXPECT_THAT(each.text, testing::Not(HasSubstr("secret")));
    }
    EXPECT_TRUE(told);
}

TEST(gangs, each_member_is_found_by_its_uid) {
    world w;
    w.add_gang("train", 20, "cpu=1");
    w.see();
    const auto& all = *w.gangs.at(world::key("train"));
    ASSERT_EQ(all.by_uid.size(), 20U);
    for (const auto& each : all.members) EXPECT_EQ(all.find(each.uid()), &each);
    EXPECT_EQ(all.find("uid-of-nobody"), nullptr);
    EXPECT_EQ(all.find(""), nullptr);
}

TEST(gangs, a_thousand_that_wait_are_all_placed_in_the_end) {
    world w;
    for (int i = 0; i < 100; ++i) w.add_node(fmt::format("node-{:03}", i), "cpu=20");
    for (int i = 0; i < 1000; ++i) w.add_gang(fmt::format("g{}", i), 2, "cpu=1");
    // So many are on their way at once at most.
    for (int i = 0; i < 2000 / most_on_their_way + 1; ++i) {
        w.settle();
        w.bind();
    }
    EXPECT_TRUE(std::ranges::all_of(w.pods, [](const auto& pod) { return pod.second->bound(); }));
    EXPECT_TRUE(w.within());
}

}  // namespace
}  // namespace esi::gangs::tests

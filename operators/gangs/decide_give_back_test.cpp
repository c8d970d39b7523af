// Places that a gang has and that are given back, or set again.
#include "gangs/decide.h"

#include <gmock/gmock.h>

#include "gangs/testing/world.h"

namespace esi::gangs::tests {
namespace {

using placement::tests::make_node;
using testing::AllOf;
using testing::ElementsAre;
using testing::Ge;
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

}  // namespace
}  // namespace esi::gangs::tests

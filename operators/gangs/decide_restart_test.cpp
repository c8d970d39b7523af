// A restart of the process.
#include "gangs/decide.h"

#include <gmock/gmock.h>

#include "gangs/testing/world.h"

namespace esi::gangs::tests {
namespace {

using testing::ElementsAre;

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

}  // namespace
}  // namespace esi::gangs::tests

// A gang on its way: planned whole or not at all, nominated, looked at, let in.
#include "gangs/decide.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "gangs/testing/world.h"

namespace esi::gangs::tests {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

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

// Which gang is tried first, and which is tried again.
#include "gangs/decide.h"

#include <gmock/gmock.h>

#include "gangs/pass.h"
#include "gangs/testing/world.h"

namespace esi::gangs::tests {
namespace {

using placement::tests::make_node;
using testing::HasSubstr;

TEST(gangs, priorities_go_first_then_age) {
    world w;
    w.add_node("node-a", "cpu=2");
    w.add_gang("old", 2, "cpu=1", 5);
    w.add_gang("young", 2, "cpu=1", 5);
    w.add_gang("urgent", 2, "cpu=1", 10);
    w.settle();
    EXPECT_EQ(w.count("urgent", stage::let_in), 2);
    EXPECT_EQ(w.own("old").wait.before, 0);
    EXPECT_EQ(w.own("young").wait.before, 1);
    EXPECT_EQ(w.own("young").wait.behind, world::key("old"));
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
    EXPECT_EQ(w.own("low").wait.before, 0);
    EXPECT_EQ(w.own("claims").wait.before, 1);
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
    const auto failed = w.own("train").wait.failed_at;
    ASSERT_TRUE(failed.has_value());
    w.add_stranger("other", "cpu=1", "node-a");
    w.settle();
    EXPECT_EQ(w.own("train").wait.failed_at, failed);
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
    // One pass sees both changes: the controller of the pod has replaced it.
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
    const auto tried = w.own("train").wait.tried_in;
    w.change("train").metadata.annotations["example.com/note"] = "please";
    w.edit("train-0", [](model::pod& pod) { pod.metadata.annotations["note"] = "please"; });
    w.settle();
    EXPECT_EQ(w.own("train").wait.tried_in, tried);
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
    EXPECT_EQ(w.own("g4").wait.before, 4);
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
    EXPECT_FALSE(w.own("later").has) << "those that are older are first";
    w.pass();
    EXPECT_TRUE(w.own("later").has);
}

TEST(gangs, no_number_of_those_that_never_fit_delays_one_that_fits) {
    world w;
    w.add_node("node-a", "cpu=1");
    for (int i = 0; i < 2 * most_fits; ++i) {
        w.add_gang(fmt::format("huge{}", i), 1, fmt::format("cpu={}m", 2000 + i));
    }
    w.add_gang("yours", 1, "cpu=1");
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(w.known->gangs.contains(world::key("yours")) && w.own("yours").has.has_value(),
                  false);
        // Somewhere some pod ends all the time.
        w.add_stranger("other", "cpu=0", "node-a");
        w.remove("other");
        w.pass();
    }
    EXPECT_TRUE(w.own("yours").has.has_value());
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
    const auto planned = w.own("train").has.value().since;
    const auto first = w.last.actions;
    w.wait(seconds(1));
    w.pass();
    EXPECT_EQ(w.own("train").has.value().since, planned);
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
    EXPECT_EQ(own.wait.before, 1);
    EXPECT_THAT(own.at.message, testing::Not(HasSubstr("secret")));
    bool told = false;
    for (const auto& each : w.notes) {
        if (each.of != theirs) continue;
        told = true;
        EXPECT_THAT(each.text, testing::Not(HasSubstr("secret")));
    }
    EXPECT_TRUE(told);
}

}  // namespace
}  // namespace esi::gangs::tests

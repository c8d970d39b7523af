// How much is planned in a pass, and how much may be on its way at once.
#include "gangs/decide.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "gangs/pass.h"
#include "gangs/testing/world.h"

namespace esi::gangs::tests {
namespace {

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
    EXPECT_FALSE(w.own("urgent").has.has_value());
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
    EXPECT_TRUE(w.own("runs").has.has_value());
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
        return w.own("apart").wait.read.has_value();
    };
    ASSERT_TRUE(read());
    w.wait(seconds(20));
    ASSERT_TRUE(read());
    w.change("apart").metadata.annotations[std::string(names::suspend)] = "true";
    w.pass();
    EXPECT_FALSE(w.own("apart").wait.read.has_value());
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
    ASSERT_TRUE(w.own("apart").wait.failed_at.has_value());
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
        return std::ranges::count_if(w.known->gangs, [](const auto& entry) {
            return entry.second.wait.failed_at.has_value();
        });
    };
    w.pass();
    const auto first = tried();
    EXPECT_GE(first, 1);
    EXPECT_LT(first, 60);
    EXPECT_EQ(w.last.again, milliseconds(10));
    for (int i = 0; i < 60 && tried() < 60; ++i) w.pass();
    EXPECT_EQ(tried(), 60);
}

}  // namespace
}  // namespace esi::gangs::tests

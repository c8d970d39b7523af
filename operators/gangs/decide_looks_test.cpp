// Looks that are refused, hang, or are answered late.
#include "gangs/decide.h"

#include <gmock/gmock.h>

#include <utility>

#include "gangs/testing/world.h"

namespace esi::gangs::tests {
namespace {

using placement::tests::make_pod;
using placement::tests::shared;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

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
        // The cache does not show the nomination of the first one yet.
        if (std::exchange(first, false)) {
            for (auto& [uid, version] : how.written) version = "999999";
        }
        take_outcome(*w.known, each, how, w.now);
    }
    outcome late;
    late.written[old] = "5";
    take_outcome(*w.known, look, late, w.now);
    const auto& has = w.own("train").has;
    EXPECT_FALSE(has && has->looked);
    for (const auto& line : w.pass()) EXPECT_FALSE(line.starts_with("let-in")) << line;
    for (const auto& each : std::vector(w.last.actions)) {
        take_outcome(*w.known, each, w.carry_out(each), w.now);
    }
    w.wait(seconds(6));
    w.settle();
    EXPECT_EQ(w.count("train", stage::let_in), 2);
}

}  // namespace
}  // namespace esi::gangs::tests

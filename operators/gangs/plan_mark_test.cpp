// The marks, and how a second process that believes it leads treats them.
#include "gangs/plan_mark.h"

#include <gmock/gmock.h>

#include "gangs/testing/world.h"

namespace esi::gangs::tests {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Not;

TEST(plan_mark, says_who_is_first_and_who_made_it) {
    const auto mark = plan_mark("uid-w-0", "host_1", 7, 3);
    EXPECT_EQ(first_of(mark), "uid-w-0");
    EXPECT_TRUE(is_made_by(mark, "host_1"));
    EXPECT_FALSE(is_made_by(mark, "host"));
    EXPECT_EQ(first_of(plan_mark("", "host_1", 7, 3)), "");
    EXPECT_EQ(members_of(mark), 3);
    for (const auto* text : {"", "a/b/7", "a/b/7+", "a/b/7+0", "a/b/7+-3", "a/b+3/7", "a/b/7+3x"}) {
        EXPECT_FALSE(members_of(text)) << text;
    }
    for (const auto* text : {"", "x", "/", "//", "a/b"}) {
        EXPECT_FALSE(is_made_by(text, "host_1")) << text;
    }
}

/// A gang of three on one node, nominated by another process.
struct of_another : world {
    of_another() {
        add_node("node-a", "cpu=3");
        add_gang("train", 3, "cpu=1");
        settle_none();
    }
    /// The caches are full, and this process leads.
    void settle_none() {
        known->process = "me";
        const auto kept = pods;
        for (const auto& [name, pod] : kept) remove(name);
        settle();
        for (const auto& [name, pod] : kept) put(*pod);
    }
    /// The actions of a pass, without writes of status.
    lines moves() {
        auto out = pass();
        std::erase_if(out, [](const auto& line) { return line.starts_with("status"); });
        return out;
    }
    std::string uid(const std::string& name) { return pods.at(name)->metadata.uid; }
    void theirs(const std::string& name, const std::string& node = "node-a") {
        edit(name, [&](model::pod& pod) {
            pod.nominated_node_name = node;
            pod.metadata.annotations[std::string(names::gang_plan)] =
                plan_mark(uid("train-0"), "another", 1, 3);
        });
    }
};

TEST(plan_of_another, that_is_whole_is_taken_over_as_it_stands) {
    of_another w;
    for (const auto* name : {"train-0", "train-1", "train-2"}) w.theirs(name);
    EXPECT_THAT(w.moves(), ElementsAre("show lab/train-0", "show lab/train-1", "show lab/train-2"));
    EXPECT_EQ(w.own("train").has->mark, plan_mark(w.uid("train-0"), "another", 1, 3));
}

TEST(plan_of_another, that_is_not_whole_is_waited_for_and_then_taken_away_by_its_first_member) {
    of_another w;
    w.add_node("node-b", "cpu=9");
    for (const auto* name : {"train-0", "train-1"}) w.theirs(name, "node-b");
    EXPECT_THAT(w.moves(), IsEmpty());
    w.wait(seconds(1));
    EXPECT_THAT(w.moves(), IsEmpty());
    w.wait(seconds(1));
    const auto all = w.moves();
    ASSERT_EQ(all.size(), 1) << "the others stay as they are until this has worked";
    EXPECT_TRUE(all.front().starts_with("nominate lab/train-0")) << all.front();
    w.known->under_way.clear();
    w.settle();
    EXPECT_EQ(w.count("train", stage::let_in), 3);
}

TEST(plan_of_another, whose_first_member_has_another_mark_counts_no_more) {
    of_another w;
    for (const auto* name : {"train-1", "train-2"}) w.theirs(name);
    w.settle();
    EXPECT_EQ(w.count("train", stage::let_in), 3);
}

TEST(plan_of_another, that_took_the_first_member_first_is_gone_by) {
    of_another w;
    w.refuse["nominate"] = error{errc::conflict, "changed"};
    w.settle();
    ASSERT_TRUE(w.own("train").has);
    w.refuse.clear();
    for (const auto* name : {"train-0", "train-1"}) w.theirs(name);
    w.wait(seconds(1));
    EXPECT_THAT(w.moves(), IsEmpty());
    EXPECT_FALSE(w.own("train").has);
}

TEST(plan_of_another, that_has_begun_is_ended_by_its_places) {
    of_another w;
    w.add_node("node-b", "cpu=9");
    for (const auto* name : {"train-0", "train-1", "train-2"}) w.theirs(name, "node-b");
    w.edit("train-0", [](model::pod& pod) {
        pod.scheduling_gates.clear();
        pod.metadata.annotations[std::string(names::gang_node)] = "node-b";
    });
    const auto all = w.settle();
    EXPECT_THAT(all, Contains("look lab/train train-1@node-b train-2@node-b"));
    EXPECT_EQ(w.count("train", stage::let_in), 3);
}

TEST(plan_of_another, that_begins_after_it_was_dropped_is_gone_by) {
    of_another w;
    w.add_gang("other", 3, "cpu=1");
    // It gives up the other process's plan in favour of its own, and cannot take it away any more.
    w.refuse["give-back lab/train-0"] = error{errc::conflict, "changed"};
    w.refuse["look"] = error{errc::server, "no"};
    for (const auto* name : {"train-0", "train-1", "train-2"}) w.theirs(name);
    w.pass();
    auto& own = w.known->gangs.at(world::key("train"));
    ASSERT_TRUE(own.has);
    for (const auto& [uid, to] : own.has->places) w.room->release(uid);
    own.others.dropped[own.has->mark] = false;
    own.has.reset();
    w.edit("train-0", [](model::pod& pod) {
        pod.scheduling_gates.clear();
        pod.metadata.annotations[std::string(names::gang_node)] = "node-a";
    });
    w.known->under_way.clear();
    w.refuse.clear();
    const auto all = w.settle();
    EXPECT_THAT(all, Not(Contains(testing::StartsWith("give-back lab/train"))));
    EXPECT_THAT(all, Contains("look lab/train train-1@node-a train-2@node-a"));
    EXPECT_EQ(w.count("train", stage::let_in), 3);
}

TEST(plan_of_another, takes_a_place_that_was_looked_at_and_it_is_looked_at_again) {
    of_another w;
    w.add_node("node-b", "cpu=9");
    w.refuse["let-in"] = error{errc::server, "no"};
    w.settle();
    const auto node = std::string(w.pods.at("train-0")->metadata.annotation(names::gang_node));
    ASSERT_FALSE(node.empty());
    // The cache shows that the last one's let-in was lost, and then that another process has given
    // it another place.
    w.edit("train-2", [&](model::pod& pod) {
        pod.scheduling_gates = {std::string(names::gang)};
        pod.metadata.annotations.erase(std::string(names::gang_node));
    });
    w.was_looked_at("train", "train-2", node);
    w.edit("train-2", [&](model::pod& pod) {
        pod.nominated_node_name = node == "node-a" ? "node-b" : "node-a";
        pod.metadata.annotations[std::string(names::gang_plan)] =
            plan_mark(pod.metadata.uid, "another", 2, 3);
    });
    for (const auto& line : w.moves()) EXPECT_FALSE(line.starts_with("let-in")) << line;
    w.known->under_way.clear();
    w.refuse.clear();
    EXPECT_THAT(w.settle(), Contains(testing::StartsWith("look lab/train train-2")));
    EXPECT_EQ(w.count("train", stage::let_in), 3);
}

TEST(plan_mark, a_member_nominated_elsewhere_by_hand_is_planned_anew) {
    world w;
    w.add_node("node-a", "cpu=3");
    w.add_node("node-b", "cpu=3");
    w.add_gang("train", 3, "cpu=1");
    w.refuse["look"] = error{errc::server, "no"};
    w.settle();
    const auto node = w.pods.at("train-2")->nominated_node_name;
    w.edit("train-2", [&](model::pod& pod) {
        pod.nominated_node_name = node == "node-a" ? "node-b" : "node-a";
    });
    w.refuse.clear();
    w.wait(seconds(10));
    w.settle();
    EXPECT_EQ(w.count("train", stage::let_in), 3);
}

TEST(plan_mark, a_start_whose_answer_was_lost_is_gone_on_with) {
    world w;
    w.known->process = "me";
    w.add_node("node-a", "cpu=3");
    w.add_gang("train", 3, "cpu=1");
    w.refuse["look"] = error{errc::timeout, "no answer"};
    w.settle();
    ASSERT_EQ(w.count("train", stage::reserved), 3);
    auto& own = w.known->gangs.at(world::key("train"));
    // It gave up, and then sees that its first member is in.
    for (const auto& [uid, to] : own.has->places) w.room->release(uid);
    const std::string first(first_of(own.has->mark));
    own.has.reset();
    for (const auto& [name, pod] : std::map(w.pods)) {
        if (pod->metadata.uid != first) continue;
        w.edit(name, [](model::pod& each) {
            each.scheduling_gates.clear();
            each.metadata.annotations[std::string(names::gang_node)] = "node-a";
        });
    }
    w.refuse.clear();
    w.wait(seconds(10));
    const auto all = w.settle();
    EXPECT_THAT(all, Not(Contains(testing::StartsWith("give-back"))));
    EXPECT_THAT(all, Not(Contains(testing::StartsWith("nominate"))));
    EXPECT_EQ(w.count("train", stage::let_in), 3);
}

TEST(plan_mark, who_takes_marks_away_makes_few_writes) {
    world w;
    w.add_node("node-a", "cpu=3");
    w.add_gang("train", 3, "cpu=1");
    w.refuse["look"] = error{errc::server, "no"};
    w.settle();
    int writes = 0;
    for (int i = 0; i < 600; ++i) {
        for (const auto& [name, pod] : std::map(w.pods)) {
            if (first_of(mark_of(*pod)) != pod->metadata.uid) continue;
            w.edit(name, [](model::pod& each) {
                each.metadata.annotations.erase(std::string(names::gang_plan));
            });
        }
        w.wait(milliseconds(100));
        writes += static_cast<int>(std::ranges::count_if(
            w.settle(), [](const auto& line) { return line.starts_with("nominate"); }));
    }
    EXPECT_LE(writes, 60) << "in a minute, of three members";
    w.refuse.clear();
    w.wait(seconds(30));
    w.settle();
    EXPECT_EQ(w.count("train", stage::let_in), 3);
}

TEST(plan_of_another, with_ever_new_marks_holds_up_nothing) {
    of_another w;
    for (int i = 0; i < 40; ++i) {
        for (const auto* name : {"train-0", "train-1"}) {
            w.edit(name, [&](model::pod& pod) {
                if (stage_of(pod) == stage::let_in) return;
                pod.nominated_node_name = "node-a";
                pod.metadata.annotations[std::string(names::gang_plan)] =
                    plan_mark(w.uid("train-0"), "another", static_cast<std::uint64_t>(i), 3);
            });
        }
        w.wait(milliseconds(100));
        w.settle();
    }
    EXPECT_EQ(w.count("train", stage::let_in), 3);
}

TEST(plan_of_another, for_room_of_an_earlier_gang_is_given_up_and_not_taken_over_again) {
    of_another w;
    w.add_gang("later", 3, "cpu=1");
    w.refuse["look"] = error{errc::server, "no"};
    for (const auto* name : {"train-0", "train-1", "train-2"}) w.theirs(name);
    for (const auto* name : {"later-0", "later-1", "later-2"}) {
        w.edit(name, [&](model::pod& pod) {
            pod.nominated_node_name = "node-a";
            pod.metadata.annotations[std::string(names::gang_plan)] =
                plan_mark(w.uid("later-0"), "third", 1, 3);
        });
    }
    const auto all = w.settle();
    EXPECT_THAT(all, IsSupersetOf({"give-back lab/later-0", "give-back lab/later-1",
                                   "give-back lab/later-2"}));
    EXPECT_THAT(all, Not(Contains("give-back lab/train-0")));
    EXPECT_EQ(all.size(), 6 + 1) << "three are shown, three given back, one look";
    EXPECT_EQ(w.count("later", stage::reserved), 0);
}

TEST(plan_mark, a_member_that_came_later_is_no_less_than_the_first) {
    world w;
    w.add_node("node-a", "cpu=4");
    w.group("train", 1);
    w.add_members("train", 2, "cpu=1");
    w.settle();
    w.bind();
    w.settle();
    EXPECT_EQ(w.count("train", stage::let_in), 1) << w.message_of("train");
    w.bind();
    w.settle();
    EXPECT_EQ(w.count("train", stage::bound), 2);
}

}  // namespace
}  // namespace esi::gangs::tests

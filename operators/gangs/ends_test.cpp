#include <gmock/gmock.h>

#include "gangs/testing/world.h"

namespace esi::gangs::tests {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

struct started : world {
    started() {
        add_node("node-a", "cpu=9");
        add_gang("train", 2, "cpu=1");
        settle();
    }
    void refuse_pod(const std::string& name) {
        edit(name, [](model::pod& pod) {
            pod.scheduled_status = "False";
            pod.scheduled_reason = "Unschedulable";
            pod.scheduled_message = "0/1 nodes are available: 1 Insufficient cpu.";
        });
    }
};

TEST(gang_ends, a_refused_member_is_deleted_and_its_follower_placed_first) {
    started w;
    w.bind_one("train-0");
    w.refuse_pod("train-1");
    EXPECT_THAT(w.settle(), IsEmpty());
    w.wait(seconds(9));
    EXPECT_THAT(w.settle(), IsEmpty());
    w.wait(seconds(2));
    EXPECT_THAT(w.settle(), ElementsAre("delete lab/train-1"));
    EXPECT_TRUE(w.told("MemberRefused"));
    w.put(w.member("train-1", "train", "cpu=1"));
    w.settle();
    EXPECT_EQ(w.count("train", stage::let_in), 1);
}

TEST(gang_ends, that_is_done_at_most_twice) {
    started w;
    w.bind_one("train-0");
    int deleted = 0;
    for (int i = 0; i < 6; ++i) {
        w.refuse_pod("train-1");
        w.settle();
        w.wait(seconds(11));
        const auto done = w.settle();
        if (done != lines{"delete lab/train-1"}) break;
        ++deleted;
        w.put(w.member("train-1", "train", "cpu=1"));
        w.settle();
        ASSERT_EQ(w.count("train", stage::let_in), 1);
    }
    EXPECT_EQ(deleted, 2);
    EXPECT_THAT(w.notes.back().text, HasSubstr("2 pods were deleted in its place before"));
}

TEST(gang_ends, one_without_a_controller_is_named_and_stays) {
    started w;
    w.edit("train-1", [](model::pod& pod) { pod.metadata.owner_references.clear(); });
    w.refuse_pod("train-1");
    w.settle();
    w.wait(seconds(11));
    EXPECT_THAT(w.settle(), IsEmpty());
    EXPECT_TRUE(w.told("MemberRefused"));
}

TEST(gang_ends, on_a_node_that_is_not_ready_nobody_is_refused) {
    started w;
    auto node = *w.nodes.at("node-a");
    node.ready = false;
    w.put_node(node);
    w.refuse_pod("train-1");
    w.settle();
    w.wait(seconds(20));
    EXPECT_THAT(w.settle(), IsEmpty());
    w.remove_node("node-a");
    w.settle();
    w.wait(seconds(11));
    EXPECT_THAT(w.settle(), Contains("delete lab/train-1"));
}

TEST(gang_ends, a_partial_gang_is_kept_and_its_phase_is_unknown) {
    started w;
    w.bind_one("train-0");
    w.settle();
    w.wait(seconds(61));
    EXPECT_THAT(w.settle(), Not(Contains(HasSubstr("delete"))));
    EXPECT_EQ(w.state_of("train"), "Partial");
    EXPECT_EQ(w.groups.at(world::key("train")).status.phase, "Unknown");
    EXPECT_TRUE(w.told("PartialStart"));
    w.bind_one("train-1");
    w.settle();
    EXPECT_EQ(w.state_of("train"), "Running");
}

TEST(gang_ends, the_group_says_how_long_an_attempt_is) {
    started w;
    w.change("train").spec.attempt = seconds(300);
    w.bind_one("train-0");
    w.settle();
    w.wait(seconds(250));
    w.settle();
    EXPECT_EQ(w.state_of("train"), "Starting");
    w.wait(seconds(51));
    w.settle();
    EXPECT_EQ(w.state_of("train"), "Partial");
}

TEST(gang_ends, with_on_partial_delete_all_its_members_go_once_and_it_starts_anew) {
    started w;
    w.delete_when_partial("train");
    w.bind_one("train-0");
    w.settle();
    w.wait(seconds(61));
    EXPECT_THAT(w.settle(),
                testing::UnorderedElementsAre("delete lab/train-0", "delete lab/train-1"));
    EXPECT_TRUE(w.told("PartialGangDeleted"));
    w.add_members("train", 2, "cpu=1");
    w.settle();
    w.wait(seconds(11));
    w.settle();
    EXPECT_EQ(w.count("train", stage::let_in), 2);
    w.bind();
    w.settle();
    w.wait(seconds(100));
    EXPECT_THAT(w.settle(), IsEmpty());
    EXPECT_EQ(w.state_of("train"), "Running");
}

TEST(gang_ends, with_on_partial_delete_rounds_are_paused_longer_each_time) {
    started w;
    auto& group = w.change("train");
    group.metadata.annotations[std::string(names::on_partial)] = "Delete";
    group.spec.attempt = milliseconds(1);
    for (const int pause : {10, 20, 40}) {
        w.bind_one("train-0");
        EXPECT_THAT(w.settle(), IsEmpty());
        w.wait(seconds(9));
        EXPECT_THAT(w.settle(), IsEmpty()) << "an attempt lasts 10 s at least";
        w.wait(seconds(2));
        EXPECT_EQ(w.settle().size(), 2U);
        w.add_members("train", 2, "cpu=1");
        w.wait(seconds(pause - 1));
        EXPECT_THAT(w.settle(), IsEmpty());
        EXPECT_EQ(w.state_of("train"), "Waiting");
        EXPECT_EQ(w.reason_of("train"), "PartialStart");
        w.wait(seconds(2));
        w.settle();
        ASSERT_EQ(w.count("train", stage::let_in), 2);
    }
}

TEST(gang_ends, with_on_partial_delete_who_was_not_let_in_is_left_alone) {
    started w;
    w.delete_when_partial("train");
    w.change("train").spec.min_member = 3;
    auto pod = w.member("own", "train", "cpu=1");
    pod.scheduling_gates.clear();
    pod.node_name = "node-a";
    pod.phase = "Running";
    w.put(pod);
    w.settle();
    w.wait(seconds(61));
    EXPECT_THAT(w.settle(),
                testing::UnorderedElementsAre("delete lab/train-0", "delete lab/train-1"));
}

TEST(gang_ends, a_deletion_counts_though_its_answer_comes_after_the_follower_or_never) {
    started w;
    w.bind_one("train-0");
    int deleted = 0;
    for (int i = 0; i < 5; ++i) {
        w.refuse_pod("train-1");
        w.settle();
        w.wait(seconds(11));
        const auto done = w.pass();
        if (std::ranges::find(done, "delete lab/train-1") == done.end()) break;
        ++deleted;
        std::vector<action> late = w.last.actions;
        w.remove("train-1");
        w.pass();
        w.put(w.member("train-1", "train", "cpu=1"));
        w.pass();
        std::vector<action> more = w.last.actions;
        late.insert(late.end(), more.begin(), more.end());
        for (const auto& each : late) {
            outcome how;
            how.failed = error{errc::timeout, "no answer"};
            take_outcome(*w.known, each, how, w.now);
        }
        w.wait(seconds(2));
        w.settle();
        ASSERT_EQ(w.count("train", stage::let_in), 1);
    }
    EXPECT_EQ(deleted, 2);
}

TEST(gang_ends, different_words_about_one_pod_do_not_make_each_other_be_told_again) {
    started w;
    w.edit("train-1", [](model::pod& pod) {
        pod.metadata.owner_references.clear();
        pod.metadata.annotations[std::string(names::group_name)] = "another";
    });
    w.refuse_pod("train-1");
    w.settle();
    w.wait(seconds(11));
    for (int i = 0; i < 5; ++i) {
        w.change("train");
        w.settle();
    }
    EXPECT_EQ(std::ranges::count(w.notes, "MemberRefused", &note::reason), 1);
    EXPECT_EQ(std::ranges::count(w.notes, "NamesSeveralGroups", &note::reason), 1);
}

TEST(gang_ends, a_gang_that_ran_is_never_deleted_for_a_member_that_it_lost) {
    started w;
    w.delete_when_partial("train");
    w.bind();
    w.settle();
    w.remove("train-1");
    w.settle();
    w.wait(seconds(600));
    EXPECT_THAT(w.settle(), IsEmpty());
    EXPECT_EQ(w.reason_of("train"), "MembersLost");
}

TEST(gang_ends, nor_is_it_after_a_restart) {
    // The status is written after the member was lost, or before.
    for (const bool restart_first : {false, true}) {
        started w;
        w.delete_when_partial("train");
        w.bind();
        w.settle();
        w.wait(seconds(20));
        w.settle();
        if (restart_first) w.restart();
        w.remove("train-1");
        w.settle();
        w.wait(seconds(20));
        w.settle();
        w.restart();
        w.settle();
        w.wait(seconds(600));
        EXPECT_THAT(w.settle(), IsEmpty());
        EXPECT_EQ(w.reason_of("train"), "MembersLost");
    }
}

TEST(gang_ends, nor_while_a_lost_member_is_made_up_for) {
    for (const auto by : {way::kube_batch, way::coscheduling, way::tenstack}) {
        // The follower has a place, or was let in and is not bound.
        for (const bool has_place : {true, false}) {
            world w;
            w.add_node("node-a", "cpu=9");
            w.group("train", 3, by);
            w.add_members("train", 3, "cpu=1", by);
            w.delete_when_partial("train", by);
            w.settle();
            w.bind();
            w.settle();
            w.remove("train-0");
            if (has_place) w.refuse["look"] = error{errc::invalid, "a webhook says no"};
            w.put(w.member("train-9", "train", "cpu=1", by));
            w.settle();
            ASSERT_EQ(w.state_of("train", by), "Starting");
            w.wait(seconds(20));
            w.settle();
            EXPECT_EQ(w.groups.at(world::key("train", by)).status.phase, "Unknown");
            w.restart();
            w.refuse.clear();
            w.settle();
            w.wait(seconds(100));
            EXPECT_THAT(w.settle(), IsEmpty());
            EXPECT_EQ(w.count("train", stage::let_in, by), 1);
        }
    }
}

TEST(gang_ends, nor_where_only_one_that_ended_well_is_left_of_the_run) {
    world w;
    w.add_node("node-a", "cpu=3");
    w.run_gang("train", 3, "cpu=1");
    w.delete_when_partial("train");
    w.edit("train-0", [](model::pod& pod) { pod.phase = "Succeeded"; });
    w.remove("train-1");
    w.remove("train-2");
    w.add_stranger("large", "cpu=2", "node-a");
    for (const auto* name : {"train-3", "train-4"}) w.put(w.member(name, "train", "cpu=1"));
    w.settle();
    w.wait(seconds(20));
    w.settle();
    EXPECT_EQ(w.groups.at(world::key("train")).status.phase, "Unknown");
    w.restart();
    w.settle();
    w.remove("large");
    w.settle();
    EXPECT_EQ(w.count("train", stage::let_in), 2);
    w.bind_one("train-3");
    w.settle();
    w.wait(seconds(100));
    EXPECT_THAT(w.settle(), IsEmpty());
}

TEST(gang_ends, pods_of_another_run_and_those_that_leave_make_no_gang_one_that_ran) {
    started w;
    w.delete_when_partial("train");
    w.bind_one("train-0");
    for (const bool leaves : {false, true}) {
        auto other = w.member(leaves ? "leaves" : "earlier", "train", "cpu=1");
        other.scheduling_gates.clear();
        other.metadata.annotations[std::string(names::gang_node)] = "node-a";
        other.metadata.annotations[std::string(names::gang_plan)] = plan_mark("uid-0", "p", 1, 1);
        other.node_name = "node-a";
        if (leaves) {
            other.metadata.deletion_timestamp = model::timestamp{w.wall};
        } else {
            other.phase = "Succeeded";
            other.metadata.owner_references.front().uid = "uid-job-before";
        }
        w.put(other);
    }
    w.restart();
    w.settle();
    EXPECT_FALSE(w.own("train").attempt.reached);
}

TEST(gang_ends, nor_where_a_member_failed_or_the_phase_is_still_scheduling) {
    for (const bool failed : {true, false}) {
        world w;
        w.add_node("node-a", "cpu=9");
        w.add_gang("train", 3, "cpu=1");
        w.delete_when_partial("train");
        w.settle();
        w.bind();
        // Their containers do not run yet.
        if (!failed) {
            for (int i = 0; i < 3; ++i) {
                w.edit(fmt::format("train-{}", i), [](model::pod& pod) { pod.phase = "Pending"; });
            }
        }
        w.settle();
        w.edit("train-0", [&](model::pod& pod) { pod.phase = "Failed"; });
        w.settle();
        w.wait(seconds(20));
        w.settle();
        w.restart();
        w.settle();
        w.wait(seconds(100));
        EXPECT_THAT(w.settle(), IsEmpty()) << failed;
    }
}

TEST(gang_ends, a_delete_that_a_restart_has_interrupted_goes_on) {
    started w;
    w.delete_when_partial("train");
    w.bind_one("train-0");
    w.settle();
    w.wait(seconds(61));
    w.refuse["delete"] = error{errc::server, "no answer"};
    w.settle();
    w.restart();
    w.refuse.clear();
    w.settle();
    w.wait(seconds(61));
    EXPECT_THAT(w.settle(),
                testing::UnorderedElementsAre("delete lab/train-0", "delete lab/train-1"));
}

TEST(gang_ends, a_status_makes_no_member_one_of_a_gang_that_ran) {
    world w;
    w.add_node("node-a", "cpu=9");
    w.group("train", 3).status.phase = "Running";
    w.add_members("train", 2, "cpu=1");
    // Bound, and never at the gate.
    auto own = w.member("own", "train", "cpu=1");
    own.scheduling_gates.clear();
    own.node_name = "node-a";
    own.phase = "Running";
    w.put(own);
    w.pass();
    const auto& all = w.own("train").what;
    EXPECT_FALSE(all.begun);
    EXPECT_EQ(all.how, start::whole);
}

TEST(gang_ends, a_deletion_that_fails_is_tried_again) {
    started w;
    w.refuse_pod("train-1");
    w.refuse["delete"] = error{errc::too_many_requests, "later"};
    w.settle();
    w.wait(seconds(11));
    EXPECT_THAT(w.settle(), Contains("delete lab/train-1"));
    w.refuse.clear();
    w.wait(seconds(31));
    EXPECT_THAT(w.settle(), Contains("delete lab/train-1"));
}

TEST(gang_ends, when_all_have_ended_it_is_over) {
    started w;
    w.bind();
    w.settle();
    for (const auto* name : {"train-0", "train-1"}) {
        w.edit(name, [](model::pod& pod) { pod.phase = "Succeeded"; });
    }
    EXPECT_THAT(w.settle(), IsEmpty());
    EXPECT_EQ(w.state_of("train"), "Ended");
    EXPECT_EQ(w.groups.at(world::key("train")).status.phase, "Finished");
    // Its pods are cleaned up.
    w.remove("train-0");
    w.remove("train-1");
    w.wait(seconds(60));
    EXPECT_THAT(w.settle(), IsEmpty());
    EXPECT_EQ(w.state_of("train"), "Ended");
    EXPECT_EQ(w.groups.at(world::key("train")).status.phase, "Finished");
}

}  // namespace
}  // namespace esi::gangs::tests

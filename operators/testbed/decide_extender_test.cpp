// Pods without a gate: the extender path.
#include "testbed/decide.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testbed/testing.h"

namespace esi::testbed::tests {
namespace {

using testing::HasSubstr;

TEST(decide, on_the_extender_path_the_decision_goes_onto_the_pod) {
    auto at = held_with_job({1});
    auto& pod = at.placed(at.jobs[0], "exec-1", 1);
    pod.scheduling_gates.clear();
    EXPECT_EQ(at.actions(), lines{"commit 1 exec-1"});
    world::let_in(pod, 1, "node-a", false);
    pod.metadata.annotations[std::string(names::slot_ghost)] = "ghost-node-a-1";
    EXPECT_EQ(at.actions(), lines{"remove ghost-node-a-1"}) << "committed, its ghost still stands";
    at.jobs[0].status.placements.clear();
    at.jobs[0].spec.creation_request.reset();
    EXPECT_EQ(at.actions(), lines{"withdraw exec-1"});
}

TEST(decide, on_the_extender_path_nothing_is_committed_without_room) {
    auto at = held_with_job({0});
    auto& pod = at.placed(at.jobs[0], "exec-1", 0);
    pod.scheduling_gates.clear();
    std::erase_if(at.pods, [](const auto& p) { return p.metadata.uid == "ghost-node-a-0"; });
    EXPECT_EQ(at.actions(), lines{"commit 0 exec-1"});
    at.stranger("s", "node-a", "900m");
    EXPECT_EQ(at.actions(), lines{});
    EXPECT_EQ(at.states(), "ERROR FREE");
}

/// Committed on the extender path to slot 0, whose ghost is gone.
world committed() {
    auto at = held_with_job({0});
    auto& pod = at.placed(at.jobs[0], "exec-1", 0);
    world::let_in(pod, 0, "node-a", false);
    pod.metadata.annotations[std::string(names::slot_ghost)] = "ghost-node-a-0";
    pod.scheduler_name = "external-scheduler";
    std::erase_if(at.pods, [](const auto& p) { return p.metadata.uid == "ghost-node-a-0"; });
    return at;
}

TEST(decide, a_committed_pod_whose_room_is_free_is_woken_after_two_seconds_and_less_and_less) {
    auto at = committed();
    EXPECT_EQ(at.actions(), lines{});
    EXPECT_EQ(at.decide().again, std::optional<steady_time::duration>(seconds(2)));
    EXPECT_EQ(at.decide().unbound, std::set<std::string>{"uid-exec-1"});
    auto& waits = at.known.unbound["uid-exec-1"];
    waits.begin(at.now);
    EXPECT_EQ(at.actions(), lines{});
    EXPECT_EQ(reasons(at.decide()), lines{}) << "as ever";
    for (const int wait : {2, 4, 8, 16, 30, 30}) {
        at.now += seconds(wait) - milliseconds(1);
        EXPECT_EQ(at.actions(), lines{}) << wait;
        at.now += milliseconds(1);
        EXPECT_EQ(at.actions(), lines{"wake 0 exec-1"}) << wait;
        EXPECT_EQ(reasons(at.decide()), lines{"PodNotBound"}) << wait;
        waits.woke(at.now);
        EXPECT_EQ(at.actions(), lines{}) << wait;
    }
    at.known.told["unbound/uid-exec-1"] = at.decide().notes.at(0).text;
    EXPECT_EQ(reasons(at.decide()), lines{}) << "told once";
    EXPECT_THAT(at.known.told["unbound/uid-exec-1"],
                HasSubstr("slot 0 on node-a is free, and external-scheduler has not bound"));
}

TEST(decide, nobody_is_woken_whose_room_is_not_free_or_who_came_by_the_gate) {
    struct row {
        const char* what;
        void (*change)(world&);
    };
    const std::vector<row> rows{
        {"its ghost stands", [](world& at) { at.ghost("node-a", 0); }},
        {"its ghost goes",
         [](world& at) { at.ghost("node-a", 0).metadata.deletion_timestamp.emplace(); }},
        {"a stranger has the room", [](world& at) { at.stranger("s", "node-a", "900m"); }},
        {"its node is cordoned", [](world& at) { at.nodes["node-a"].unschedulable = true; }},
        {"it is bound", [](world& at) { at.pods.back().node_name = "node-a"; }},
        {"it is being deleted",
         [](world& at) { at.pods.back().metadata.deletion_timestamp.emplace(); }},
        {"it came by the gate",
         [](world& at) {
             at.pods.back().metadata.annotations.erase(std::string(names::slot_ghost));
         }},
    };
    for (const auto& row : rows) {
        auto at = committed();
        ASSERT_EQ(at.pods.back().metadata.name, "exec-1");
        row.change(at);
        at.known.unbound["uid-exec-1"].begin(at.now - seconds(60));
        EXPECT_EQ(at.decide().unbound, std::set<std::string>{}) << row.what;
        for (const auto& line : at.actions()) {
            EXPECT_THAT(line, testing::Not(HasSubstr("wake"))) << row.what;
        }
    }
}

TEST(decide, a_commit_made_without_a_ghost_is_taken_back_too) {
    auto at = held_with_job({0});
    auto& pod = at.placed(at.jobs[0], "exec-1", 0);
    world::let_in(pod, 0, "node-a", false);
    at.jobs[0].spec.creation_request.reset();
    EXPECT_EQ(at.actions(), lines{}) << "the one patch of the gate path cannot be taken back";
    pod.metadata.annotations[std::string(names::slot_ghost)] = "";
    EXPECT_EQ(at.actions(), lines{"withdraw exec-1"});
}

}  // namespace
}  // namespace esi::testbed::tests

// Job pods in the places of ghosts, and ghosts in those of job pods.
#include "testbed/decide.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "testbed/testing.h"

namespace esi::testbed::tests {
namespace {

using testing::HasSubstr;

TEST(decide, an_assigned_slot_is_reserved_and_a_placed_pod_is_swapped_in) {
    auto at = held_with_job({0});
    EXPECT_EQ(at.states(), "RESERVED FREE");
    EXPECT_EQ(at.decide().status.slots[0].reserved_for, "j");
    EXPECT_EQ(at.actions(), lines{});
    EXPECT_EQ(at.decide().pods_waiting, 0);
    at.placed(at.jobs[0], "exec-1", 0);
    EXPECT_EQ(at.decide().status.slots[0].reserved_for, "exec-1");
    EXPECT_EQ(at.actions(), lines{"swap 0 exec-1"});
    EXPECT_EQ(at.decide().pods_waiting, 1);
    EXPECT_EQ(at.decide().status.state, "IN_PROGRESS");
}

TEST(decide, only_pods_with_the_right_token_are_let_in) {
    struct row {
        const char* what;
        void (*change)(world&);
    };
    const std::vector<row> rows{
        {"another hold", [](world& at) { at.hold("sched.101"); }},
        {"no hold", [](world& at) { at.testbed.metadata.annotations.clear(); }},
        {"old run on the pod",
         [](world& at) {
             at.pods.back().metadata.annotations[std::string(names::run)] = "sched.100.0";
         }},
        {"job has ended", [](world& at) { at.jobs[0].status.state = "FailedState"; }},
        {"job is being deleted",
         [](world& at) { at.jobs[0].metadata.deletion_timestamp.emplace(); }},
        {"orders gone", [](world& at) { at.jobs[0].spec.creation_request.reset(); }},
        {"another slot", [](world& at) { at.jobs[0].status.placements[0].slot = 1; }},
        {"another pod of the name", [](world& at) { at.pods.back().metadata.uid = "another"; }},
        {"another job's pod",
         [](world& at) { at.pods.back().metadata.labels[std::string(names::job)] = "k"; }},
        {"a pod that ends",
         [](world& at) { at.pods.back().metadata.deletion_timestamp.emplace(); }},
    };
    for (const auto& row : rows) {
        auto at = held_with_job({0});
        at.placed(at.jobs[0], "exec-1", 0);
        ASSERT_EQ(at.actions(), lines{"swap 0 exec-1"});
        row.change(at);
        EXPECT_EQ(at.actions(), lines{}) << row.what;
    }
}

TEST(decide, a_pod_that_cannot_be_let_in_is_refused_with_a_reason) {
    struct row {
        const char* why;
        void (*change)(world&);
    };
    const std::vector<row> rows{
        {"larger than the slot: it requests 700m cpu, the slot has 600m",
         [](world& at) { at.pods.back().requests["cpu"] = 700; }},
        {"larger than the slot: it requests 1 nvidia.com/gpu, the slot has 0",
         [](world& at) { at.pods.back().requests["nvidia.com/gpu"] = 1000; }},
        {"also waits for the scheduling gate other/gate",
         [](world& at) { at.pods.back().scheduling_gates.push_back("other/gate"); }},
        {"does not tolerate the taint special:NoSchedule of node-a",
         [](world& at) { at.nodes["node-a"].taints = {{"special", "", "NoSchedule"}}; }},
        {"nodeSelector disk=ssd does not match node-a",
         [](world& at) { at.pods.back().node_selector = {{"disk", "ssd"}}; }},
        {"required node affinity does not match node-a",
         [](world& at) {
             at.pods.back().affinity.text =
                 R"({"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"zone","operator":"Exists"}]}]}}})";
         }},
    };
    for (const auto& row : rows) {
        auto at = held_with_job({0});
        at.placed(at.jobs[0], "exec-1", 0);
        row.change(at);
        const auto decided = at.decide();
        EXPECT_EQ(at.actions(), lines{}) << row.why;
        EXPECT_EQ(at.states(), "ERROR FREE") << row.why;
        ASSERT_EQ(decided.notes.size(), 1u) << row.why;
        EXPECT_THAT(decided.notes[0].text, HasSubstr(row.why));
        EXPECT_EQ(decided.notes[0].reason, "PodRefused");
    }
}

TEST(decide, what_keeps_a_placed_pod_out_is_told) {
    auto at = held_with_job({0});
    auto& pod = at.placed(at.jobs[0], "exec-1", 0);
    at.known.meets("uid-exec-1", "pod not nominated", errc::forbidden, "no right to pods/status");
    EXPECT_EQ(at.states(), "ERROR FREE");
    EXPECT_EQ(at.decide().status.node_problems["node-a"],
              lines{"pod not nominated: no right to pods/status"});
    EXPECT_EQ(at.actions(), lines{"swap 0 exec-1"}) << "it is tried all the same";
    at.known.meets("uid-exec-1", "pod waits at its slot", std::nullopt, "node-a has 1m cpu left");
    at.known.meets("uid-exec-1", "pod waits at its slot", std::nullopt, "node-a has 2m cpu left");
    EXPECT_EQ(at.decide().status.node_problems["node-a"],
              lines{"pod waits at its slot: node-a has 2m cpu left"})
        << "as it is now";
    world::let_in(pod, 0, "node-a", false);
    EXPECT_EQ(at.states(), "RESERVED FREE");
}

TEST(decide, the_slot_is_occupied_once_the_pod_is_bound_and_stays_without_ghost) {
    auto at = held_with_job({0});
    auto& pod = at.placed(at.jobs[0], "exec-1", 0);
    std::erase_if(at.pods, [](const auto& p) { return p.metadata.uid == "ghost-node-a-0"; });
    EXPECT_EQ(at.actions(), lines{"swap 0 exec-1"}) << "the ghost is gone: no new one is made";
    (void)pod;
    world::let_in(at.pods.back(), 0, "node-a", false);
    EXPECT_EQ(at.actions(), lines{});
    EXPECT_EQ(at.states(), "RESERVED FREE");
    world::let_in(at.pods.back(), 0, "node-a");
    EXPECT_EQ(at.actions(), lines{});
    EXPECT_EQ(at.states(), "OCCUPIED FREE");
    EXPECT_EQ(at.decide().status.state, "RUNNING");
    EXPECT_EQ(at.decide().pods_waiting, 0);
    EXPECT_EQ(at.decide().status.slots[0].pod_name, "exec-1");
}

TEST(decide, a_ghost_beside_a_bound_job_pod_is_removed) {
    auto at = held_with_job({0});
    at.placed(at.jobs[0], "exec-1", 0);
    world::let_in(at.pods.back(), 0, "node-a");
    EXPECT_EQ(at.actions(), lines{"remove ghost-node-a-0"});
}

TEST(decide, a_ghost_waits_at_the_door_as_soon_as_the_job_pods_end_is_announced) {
    struct row {
        const char* what;
        void (*change)(world&);
        std::string states;
    };
    const std::vector<row> rows{
        {"terminating", [](world& at) { at.pods.back().metadata.deletion_timestamp.emplace(); },
         "OCCUPIED FREE"},
        {"failed", [](world& at) { at.pods.back().phase = "Failed"; }, "RESERVED FREE"},
        {"succeeded", [](world& at) { at.pods.back().phase = "Succeeded"; }, "RESERVED FREE"},
        {"run is no longer the job's", [](world& at) { at.jobs[0].spec.creation_request.reset(); },
         "OCCUPIED FREE"},
        {"the job has failed", [](world& at) { at.jobs[0].status.state = "FailedState"; },
         "OCCUPIED FREE"},
        {"gone, the slot still assigned", [](world& at) { at.pods.pop_back(); }, "RESERVED FREE"},
    };
    for (const auto& row : rows) {
        auto at = held_with_job({0});
        at.placed(at.jobs[0], "exec-1", 0);
        world::let_in(at.pods.back(), 0, "node-a");
        std::erase_if(at.pods, [](const auto& p) { return p.metadata.uid == "ghost-node-a-0"; });
        ASSERT_EQ(at.actions(), lines{}) << row.what;
        row.change(at);
        EXPECT_EQ(at.actions(), lines{"create 0 node-a/0"}) << row.what;
        EXPECT_EQ(at.states(), row.states) << row.what;
    }
}

TEST(decide, a_replacement_takes_the_place_of_the_pod_that_died_only_when_it_is_gone) {
    auto at = held_with_job({0, 1});
    at.placed(at.jobs[0], "old", 0);
    world::let_in(at.pods.back(), 0, "node-a");
    at.pods.back().metadata.deletion_timestamp.emplace();
    at.testbed.status.slots = at.decide().status.slots;
    at.jobs[0].status.placements.clear();
    at.placed(at.jobs[0], "new", 0);
    EXPECT_THAT(at.actions(), testing::Not(testing::Contains("swap 0 new")));
    std::erase_if(at.pods, [](const auto& pod) { return pod.metadata.name == "old"; });
    EXPECT_EQ(at.actions(), lines{"swap 0 new"});
    EXPECT_EQ(at.states(), "RESERVED RESERVED");
}

TEST(decide, after_an_abrupt_end_the_stranger_in_the_slot_is_named) {
    auto at = held_with_job({});
    at.nodes["node-a"].allocatable["cpu"] = 1200;
    std::erase_if(at.pods, [](const auto& p) { return p.metadata.uid == "ghost-node-a-0"; });
    at.known.vacated["node-a/0"] = at_second(90);
    at.stranger("stranger", "node-a", "600m");
    EXPECT_EQ(at.actions(), lines{});
    EXPECT_EQ(at.states(), "ERROR FREE");
    EXPECT_EQ(at.decide().strangers, std::set<std::string>{"node-a/0"});
    EXPECT_THAT(at.decide().status.node_problems["node-a"][0], HasSubstr("default/stranger"));
    at.pods.pop_back();
    EXPECT_EQ(at.actions(), lines{"create 0 node-a/0"});
}

TEST(decide, a_withdrawn_placement_loses_its_nomination) {
    auto at = held_with_job({0});
    auto& pod = at.placed(at.jobs[0], "exec-1", 0);
    at.jobs[0].status.placements.clear();
    EXPECT_EQ(at.actions(), lines{});
    pod.nominated_node_name = "node-a";
    EXPECT_EQ(at.actions(), lines{"withdraw exec-1"});
}

TEST(decide, a_pod_let_in_that_cannot_be_bound_is_given_up_after_ten_seconds) {
    struct row {
        const char* what;
        void (*change)(world&);
        lines expected;
    };
    const std::vector<row> rows{
        {"node fine: the scheduler is slow", [](world&) {}, {}},
        {"cordoned",
         [](world& at) { at.nodes["node-a"].unschedulable = true; },
         {"drop exec-1: the node is cordoned: kubectl uncordon node-a"}},
        {"node gone",
         [](world& at) { at.nodes.erase("node-a"); },
         {"drop exec-1: the node does not exist; its slots go when no Scheduling holds the "
          "Testbed"}},
        {"room taken",
         [](world& at) { at.stranger("s", "node-a", "900m"); },
         {"drop exec-1: the room of its slot is taken"}},
    };
    for (const auto& row : rows) {
        auto at = held_with_job({0});
        at.placed(at.jobs[0], "exec-1", 0);
        world::let_in(at.pods.back(), 0, "node-a", false);
        std::erase_if(at.pods, [](const auto& p) { return p.metadata.uid == "ghost-node-a-0"; });
        row.change(at);
        at.known.let_in_since["uid-exec-1"] = at.now;
        EXPECT_EQ(at.actions(), lines{}) << row.what;
        EXPECT_EQ(at.decide().again, std::optional<steady_time::duration>(seconds(10))) << row.what;
        at.now += seconds(10);
        EXPECT_EQ(at.actions(), row.expected) << row.what;
        const auto told = std::ranges::count(reasons(at.decide()), "PodGivenUp");
        EXPECT_EQ(told, std::ssize(row.expected)) << row.what;
    }
}

TEST(decide, one_slot_given_twice_is_the_firsts_and_a_problem) {
    auto at = held_with_job({0});
    at.job("k", {0}, "sched.100.2");
    at.placed(at.jobs[1], "exec-k", 0);
    EXPECT_EQ(at.actions(), lines{});
    EXPECT_THAT(at.decide().status.problems[0], HasSubstr("given to default/j and to default/k"));
}

TEST(decide, a_pod_that_is_recorded_for_two_slots_gets_one) {
    auto at = held_with_job({0, 1});
    auto& pod = at.placed(at.jobs[0], "exec-1", 1);
    at.jobs[0].status.placements.push_back({0, "uid-exec-1", "exec-1"});
    EXPECT_EQ(at.actions(), lines{"swap 0 exec-1"});
    EXPECT_EQ(at.decide().status.problems,
              lines{"pod default/exec-1 is recorded for slot 0 and for slot 1"});
    world::let_in(pod, 1, "node-a");
    EXPECT_EQ(at.actions(), lines{"remove ghost-node-a-1"}) << "it stays where it is";
    at.jobs[0].status.placements = {{0, "uid-exec-1", "exec-1"}, {0, "uid-exec-1", "exec-1"}};
    EXPECT_EQ(at.decide().status.problems, lines{}) << "the same twice";
}

TEST(decide, a_refused_pods_nomination_is_taken_back) {
    auto at = held_with_job({0});
    at.placed(at.jobs[0], "exec-1", 0).nominated_node_name = "node-a";
    at.nodes["node-a"].taints = {{"special", "", "NoSchedule"}};
    EXPECT_EQ(at.actions(), lines{"withdraw exec-1"});
    at.pods.back().nominated_node_name.clear();
    EXPECT_EQ(at.actions(), lines{});
}

TEST(decide, an_order_without_namespace_means_the_jobs_own) {
    auto at = held_with_job({0});
    at.jobs[0].spec.creation_request->testbed_name.namespace_.clear();
    EXPECT_EQ(at.states(), "RESERVED FREE");
    at.jobs[0].metadata.namespace_ = "other";
    EXPECT_EQ(at.states(), "FREE FREE");
}

}  // namespace
}  // namespace esi::testbed::tests

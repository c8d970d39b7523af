#include "neighbours/kube/kubelet.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "neighbours/cluster_for_tests.h"

namespace esi::simulation {
namespace {

using namespace std::chrono_literals;
using testing::cluster;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct machines : cluster {
    machines() { node("n1", "4"); }
    kubelet nodes{around};

    std::string bound(json pod, std::string to = "n1") {
        pod["spec"]["nodeName"] = std::move(to);
        return create(std::move(pod));
    }
};

TEST(kubelet, a_bound_pod_runs_and_ends_as_it_is_told) {
    machines c;
    const auto good = c.bound(c.pod_body("good", "1"));
    const auto bad = c.bound(c.pod_body("bad", "1"));
    c.run(2s);
    EXPECT_EQ(c.phase("good"), "Running");
    c.nodes.finish(good, 0);
    c.nodes.finish(bad, 137);
    c.run(1s);
    EXPECT_EQ(c.phase("good"), "Succeeded");
    EXPECT_EQ(c.phase("bad"), "Failed");
    EXPECT_EQ(c.get(kinds::pod,
                    "bad")["status"]["containerStatuses"][0]["state"]["terminated"]["exitCode"],
              137);
}

TEST(kubelet, a_pod_beyond_the_room_is_refused_for_good) {
    machines c;
    c.bound(c.pod_body("first", "3"));
    c.run(1s);
    c.bound(c.pod_body("second", "2"));
    c.run(1s);
    EXPECT_EQ(c.phase("second"), "Failed");
    const auto second = c.get(kinds::pod, "second");
    EXPECT_EQ(fields::text(second, {"status", "reason"}), "OutOfcpu");
    EXPECT_EQ(fields::text(second, {"status", "message"}),
              "Pod was rejected: Node didn't have enough resource: cpu, requested: 2000, used: "
              "3000, capacity: 4000");
    EXPECT_THAT(c.seen.lines, ElementsAre("second refused: OutOfcpu"));
}

TEST(kubelet, a_pod_with_another_nodes_affinity_is_refused) {
    machines c;
    c.bound(c.pinned(c.pod_body("astray", "1"), "n2"));
    c.run(1s);
    EXPECT_THAT(c.seen.lines, ElementsAre("astray refused: NodeAffinity"));
}

TEST(kubelet, the_room_of_a_terminating_pod_counts_until_it_is_gone) {
    machines c;
    auto slow = c.pod_body("slow", "4");
    slow["spec"]["terminationGracePeriodSeconds"] = 30;
    c.bound(slow);
    c.run(2s);
    c.remove("slow", 30);
    c.run(50ms);
    ASSERT_TRUE(c.exists("slow"));
    c.bound(c.pod_body("early", "4"));
    c.run(1s);
    EXPECT_FALSE(c.exists("slow"));
    EXPECT_THAT(c.seen.lines, ElementsAre("early refused: OutOfcpu"));
    c.bound(c.pod_body("late", "4"));
    c.run(2s);
    EXPECT_EQ(c.phase("late"), "Running");
}

TEST(kubelet, a_ghost_that_still_counts_makes_the_next_pod_out_of_cpu) {
    machines c;
    c.bound(c.pod_body("ghost", "4", "ghost"));
    c.run(2s);
    c.nodes.set_room_time(30ms, 30ms);
    c.nodes.set_pace({5ms, 5ms});
    c.remove("ghost");
    c.run(10ms);
    c.bound(c.pod_body("early", "4"));
    c.run(1s);
    EXPECT_THAT(c.seen.lines, ElementsAre("early refused: OutOfcpu"));
    c.nodes.set_room_time(0ms, 0ms);
    c.bound(c.pod_body("ghost-2", "4", "ghost"));
    c.run(1s);
    c.remove("ghost-2");
    c.bound(c.pod_body("next", "4"));
    c.run(2s);
    EXPECT_EQ(c.phase("next"), "Running");
}

TEST(kubelet, a_hanging_pod_keeps_terminating_until_released) {
    machines c;
    const auto uid = c.bound(c.pod_body("stuck", "1"));
    c.run(2s);
    c.nodes.hang(uid, true);
    c.remove("stuck", 5);
    c.run(1min);
    EXPECT_TRUE(c.exists("stuck"));
    c.nodes.hang(uid, false);
    c.run(5s);
    EXPECT_FALSE(c.exists("stuck"));
}

TEST(kubelet, a_silent_node_does_nothing_until_it_is_back) {
    machines c;
    const auto uid = c.bound(c.pod_body("runs", "1"));
    c.run(2s);
    c.nodes.node_down("n1");
    c.bound(c.pod_body("waits", "1"));
    c.nodes.finish(uid, 0);
    c.run(1min);
    EXPECT_EQ(c.phase("waits"), "Pending");
    EXPECT_EQ(c.phase("runs"), "Running");
    c.nodes.node_up("n1");
    c.run(5s);
    EXPECT_EQ(c.phase("waits"), "Running");
    EXPECT_EQ(c.phase("runs"), "Succeeded");
}

TEST(kubelet, a_container_that_is_always_restarted_comes_back_in_its_pod) {
    machines c;
    auto body = c.pod_body("server", "4");
    body["spec"]["restartPolicy"] = "Always";
    const auto uid = c.bound(body);
    c.run(2s);
    const auto container = [&] {
        return c.get(kinds::pod, "server")["status"]["containerStatuses"][0];
    };
    c.nodes.finish(uid, 137);
    c.run(3s);
    EXPECT_EQ(c.phase("server"), "Running");
    EXPECT_EQ(container()["restartCount"], 1);
    EXPECT_TRUE(container()["ready"].get<bool>());
    // The second time it has to wait.
    c.nodes.finish(uid, 1);
    c.run(3s);
    EXPECT_EQ(c.phase("server"), "Running");
    EXPECT_EQ(container()["state"]["waiting"]["reason"], "CrashLoopBackOff");
    EXPECT_FALSE(container()["ready"].get<bool>());
    c.run(12s);
    EXPECT_EQ(container()["restartCount"], 2);
    EXPECT_TRUE(container()["state"].contains("running"));
    // It keeps its room all the time.
    EXPECT_THAT(c.seen.lines, IsEmpty());
}

TEST(kubelet, a_restart_leaves_running_pods_running) {
    machines c;
    const auto uid = c.bound(c.pod_body("runs", "4"));
    c.run(2s);
    c.nodes.crash();
    c.nodes.finish(uid, 0);
    c.run(1s);
    EXPECT_EQ(c.phase("runs"), "Running");
    c.nodes.restart();
    c.run(1s);
    EXPECT_EQ(c.phase("runs"), "Succeeded");
    EXPECT_THAT(c.seen.lines, IsEmpty());
}

}  // namespace
}  // namespace esi::simulation

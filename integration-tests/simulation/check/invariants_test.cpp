#include "check/invariants.h"

#include <gmock/gmock.h>

#include "check/forged_world.h"

namespace esi::simulation {
namespace {

namespace names = model::names;
using testing::ElementsAre;

struct invariants_test : testing::Test {
    forged_world world;

    void SetUp() override { world.begin(); }
    std::string first() const {
        const auto& found = world.judge->violations();
        return found.empty() ? "" : found.front().rule + ": " + found.front().text;
    }
};

TEST_F(invariants_test, the_life_of_a_job_breaks_no_rule) {
    world.until_placed();
    world.swap_in();
    world.wait(seconds(30));
    world.finish();
    world.release();
    EXPECT_EQ(first(), "");
    world.wait(seconds(600));
    world.judge->at_end();
    EXPECT_EQ(first(), "");
    EXPECT_GT(world.judge->checks(), 50U);
}

TEST_F(invariants_test, with_all_disturbances_told_the_life_of_a_job_breaks_no_rule_either) {
    world.judge->all_disturbances_are_told();
    world.wait(seconds(60));
    world.until_placed();
    world.swap_in();
    world.wait(seconds(30));
    world.finish();
    world.release();
    EXPECT_EQ(first(), "");
}

// --- what is told ---

TEST_F(invariants_test, a_pod_that_is_preempted_for_a_ghost_is_seen) {
    world.make_ghosts();
    world.judge->preempted(world.stranger("other", "1"), world.ghost(0, "ghost-0", false));
    EXPECT_THAT(world.broken(), ElementsAre("preempted"));
}

TEST_F(invariants_test, a_ghost_that_is_preempted_for_a_stranger_is_nobodys_mistake) {
    world.make_ghosts();
    world.judge->preempted(world.ghost(0, "ghost-0", true), world.stranger("other", "1"));
    EXPECT_EQ(first(), "");
}

TEST_F(invariants_test, on_the_extender_path_only_the_ghost_of_the_slot_is_preempted) {
    world.until_placed();
    auto pod = world.executor("exec-2", "exec-uid-2");
    pod["spec"].erase("schedulingGates");
    pod["spec"]["schedulerName"] = "external-scheduler";
    pod["metadata"]["ownerReferences"] = {
        {{"kind", "Pod"}, {"name", "a-driver"}, {"uid", "driver"}}};
    pod["metadata"]["annotations"][names::slot_ghost] = "ghost-0";
    world.put(kinds::pod, pod);
    world.judge->preempted(world.ghost(0, "ghost-0", true), pod);
    EXPECT_EQ(first(), "");
    world.judge->preempted(world.ghost(1, "ghost-1", true), pod);
    EXPECT_THAT(world.broken(), ElementsAre("preempted"));
}

TEST_F(invariants_test, a_job_pod_that_a_kubelet_refuses_is_seen) {
    world.until_placed();
    world.swap_in();
    world.judge->refused(world.store.find(kinds::pod, "default", "exec-1")->body(), "OutOfcpu");
    EXPECT_THAT(world.broken(), ElementsAre("pod-refused"));
}

TEST_F(invariants_test, a_refusal_on_a_node_that_shrank_is_nobodys_mistake) {
    world.until_placed();
    world.swap_in();
    auto node = world.store.find(kinds::node, "", "node-0")->body();
    node["status"]["allocatable"]["cpu"] = "500m";
    world.put(kinds::node, node);
    world.judge->refused(world.store.find(kinds::pod, "default", "exec-1")->body(), "OutOfcpu");
    EXPECT_EQ(first(), "");
}

TEST_F(invariants_test, a_write_after_the_lease_is_seen) {
    kube::request patch("PATCH", "/api/v1/namespaces/default/pods/a");
    patch.body = R"({"metadata":{"resourceVersion":"7"}})";
    const auto now = world.time.now();
    world.judge->wrote("testbed", 0, patch, now, now + seconds(1));
    EXPECT_EQ(first(), "");
    world.judge->wrote("testbed", 1, patch, now, now - milliseconds(1));
    EXPECT_EQ(
        first(),
        "write-after-lease: esi-testbed/1: PATCH /api/v1/namespaces/default/pods/a was sent 1 "
        "ms after the lease had ended");
    world.judge->wrote("testbed", 1, patch, now, std::nullopt);
    EXPECT_EQ(world.judge->violations().size(), 2U);
}

TEST_F(invariants_test, a_transition_time_that_moves_without_the_status_is_seen) {
    const auto report = [this](std::string_view status, std::string_view since) {
        world.queue["status"]["conditions"] = {
            {{"type", "Acquired"}, {"status", status}, {"lastTransitionTime", since}}};
        world.queue = world.put(kinds::scheduling, world.queue);
    };
    report("False", "2026-01-02T03:04:05Z");
    report("True", "2026-01-02T03:04:06Z");
    EXPECT_EQ(first(), "");
    report("True", "2026-01-02T03:04:07Z");
    EXPECT_THAT(world.broken(), ElementsAre("transition-time-moved"));
}

TEST_F(invariants_test, a_patch_without_a_guard_is_seen) {
    kube::request patch("PATCH", "/api/v1/namespaces/default/pods/a");
    const auto now = world.time.now();
    patch.body = R"({"metadata":{"uid":"x","resourceVersion":"7"},"spec":{}})";
    world.judge->wrote("testbed", 0, patch, now, now);
    EXPECT_EQ(first(), "");
    patch.body = R"({"metadata":{"uid":"x"},"spec":{}})";
    world.judge->wrote("testbed", 0, patch, now, now);
    EXPECT_THAT(world.broken(), ElementsAre("unguarded-write"));
}

TEST_F(invariants_test, a_deletion_without_a_uid_is_seen) {
    kube::request deletion("DELETE", "/api/v1/namespaces/default/pods/a");
    const auto now = world.time.now();
    deletion.body = R"({"preconditions":{"uid":"x"}})";
    world.judge->wrote("testbed", 0, deletion, now, now);
    EXPECT_EQ(first(), "");
    deletion.body.clear();
    world.judge->wrote("testbed", 0, deletion, now, now);
    EXPECT_THAT(world.broken(), ElementsAre("unguarded-delete"));
}

}  // namespace
}  // namespace esi::simulation

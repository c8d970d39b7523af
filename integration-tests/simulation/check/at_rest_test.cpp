#include "check/invariants.h"

#include <gmock/gmock.h>

#include "check/forged_world.h"

namespace esi::simulation {
namespace {

using rules = std::vector<std::string>;

using testing::ElementsAre;

struct at_rest_test : testing::Test {
    forged_world world;

    void SetUp() override { world.begin(); }
    std::string first() const {
        const auto& found = world.judge->violations();
        return found.empty() ? "" : found.front().rule + ": " + found.front().text;
    }
    void until_it_waits_for_slots(const json& queue) {
        world.until_it_waits(queue, "more free slots");
    }
    void until_a_slot_is_empty() {
        world.make_ghosts();
        world.queue["status"]["waitingFor"] = "something";
        world.queue["status"]["observedGeneration"] = 1;
        world.queue = world.put(kinds::scheduling, world.queue);
        world.remove_pod("grid-ghost-1");
    }
    void say_that_it_is_in_error() {
        world.bed["status"]["slots"][1]["state"] = "ERROR";
        world.put(kinds::testbed, world.bed);
    }
};

// --- at the end ---

TEST_F(at_rest_test, at_the_end_a_free_slot_without_ghost_is_seen) {
    world.make_ghosts();
    world.remove_pod("grid-ghost-1");
    world.judge->at_end();
    EXPECT_THAT(world.broken(), testing::Contains("ghost-missing"));
}

TEST_F(at_rest_test, at_the_end_an_elders_ghost_that_waits_for_a_younger_ones_room_is_seen) {
    const auto with_annex_born = [](const char* when) {
        forged_world here;
        here.begin();
        here.bed["metadata"]["creationTimestamp"] = "2026-01-02T03:04:05Z";
        here.bed = here.put(kinds::testbed, here.bed);
        const auto rename = [](json body, const char* name, const char* uid) {
            body["metadata"]["name"] = name;
            body["metadata"]["uid"] = uid;
            body["metadata"].erase("resourceVersion");
            return body;
        };
        auto annex = rename(here.bed, "annex", "00000000-0000-4000-8000-0000000000bb");
        annex["metadata"]["creationTimestamp"] = when;
        here.put(kinds::testbed, annex);
        auto ghost = rename(here.ghost(0, "", false), "annex-ghost-0", "annex-ghost-uid");
        ghost["metadata"]["labels"][model::names::testbed] = "annex";
        ghost["metadata"]["ownerReferences"][0]["name"] = "annex";
        ghost["metadata"]["ownerReferences"][0]["uid"] = annex["metadata"]["uid"];
        here.put(kinds::pod, ghost);
        here.bind("annex-ghost-0", "node-0");
        here.put(kinds::pod, here.ghost(0, "ghost-0", false));
        here.judge->at_end();
        return here.broken();
    };
    EXPECT_THAT(with_annex_born("2099-01-02T03:04:05Z"), testing::Contains("elder-kept-waiting"));
    EXPECT_THAT(with_annex_born("1999-01-02T03:04:05Z"),
                testing::Not(testing::Contains("elder-kept-waiting")));
}

TEST_F(at_rest_test, at_the_end_a_slot_whose_room_is_taken_may_be_empty_when_it_is_said) {
    until_a_slot_is_empty();
    world.put(kinds::pod, world.stranger("other", "500m"));
    world.bind("other", "node-1");
    say_that_it_is_in_error();
    world.judge->at_end();
    EXPECT_EQ(first(), "");
}

TEST_F(at_rest_test, at_the_end_a_slot_whose_node_keeps_ghosts_away_may_be_empty_when_it_is_said) {
    until_a_slot_is_empty();
    auto node = world.store.find(kinds::node, {}, "node-1")->body();
    node["spec"]["taints"] = {{{"key", "dedicated"}, {"effect", "NoSchedule"}}};
    world.put(kinds::node, node);
    say_that_it_is_in_error();
    world.judge->at_end();
    EXPECT_EQ(first(), "");
}

TEST_F(at_rest_test, at_the_end_a_job_that_could_start_and_does_not_is_seen) {
    until_it_waits_for_slots({{{"name", "a"}}});
    world.judge->at_end();
    EXPECT_THAT(world.broken(), ElementsAre("start-withheld"));
}

TEST_F(at_rest_test, at_the_end_a_job_of_a_suspended_plan_may_wait) {
    until_it_waits_for_slots({{{"name", "a"}}});
    world.queue["spec"]["suspend"] = true;
    world.queue = world.put(kinds::scheduling, world.queue);
    world.judge->at_end();
    EXPECT_EQ(first(), "");
}

TEST_F(at_rest_test, at_the_end_a_run_whose_end_was_begun_and_that_goes_on_is_seen) {
    world.until_placed();
    world.swap_in();
    world.queue["status"]["waitingFor"] = "the end of job a";
    world.queue["status"]["assignments"][0]["ending"] = "Cancelled";
    world.queue = world.put(kinds::scheduling, world.queue);
    world.judge->at_end();
    EXPECT_THAT(world.broken(), testing::Contains("ending-ignored"));
}

TEST_F(at_rest_test, at_the_end_a_plan_that_says_it_is_suspended_and_is_not_is_seen) {
    world.queue["status"]["state"] = "AcquireState";
    world.queue["status"]["observedGeneration"] = 1;
    world.queue["status"]["conditions"] = {
        {{"type", "Acquired"}, {"status", "False"}, {"reason", "Suspended"}}};
    world.queue = world.put(kinds::scheduling, world.queue);
    world.judge->at_end();
    EXPECT_THAT(world.broken(), testing::Contains("untrue-reason"));
}

TEST_F(at_rest_test, at_the_end_a_job_may_wait_for_a_slot_that_is_not_free) {
    until_it_waits_for_slots({{{"name", "a"}}, {{"name", "a"}}, {{"name", "a"}}});
    world.judge->at_end();
    EXPECT_EQ(first(), "");
}

TEST_F(at_rest_test, at_the_end_a_job_may_wait_behind_one_whose_state_a_person_wrote) {
    auto other = world.job;
    other["metadata"]["name"] = "other";
    other["metadata"]["uid"] = "uid-of-other";
    world.put(kinds::batchjob, other);
    world.judge->meddled("edited batchjobs default/other");
    until_it_waits_for_slots({{{"name", "other"}}, {{"name", "a"}}});
    world.judge->at_end();
    EXPECT_EQ(first(), "");
}

TEST_F(at_rest_test, at_the_end_a_hold_of_nobody_is_seen) {
    world.make_ghosts();
    world.judge->meddled("edited schedulings default/queue without finalizers");
    world.set_finalizer();
    world.hold();
    world.store.erase(kinds::scheduling, "default", "queue");
    world.judge->at_end();
    EXPECT_THAT(world.broken(), ElementsAre("orphan-hold"));
}

TEST_F(at_rest_test, at_the_end_a_pod_that_waits_though_its_slot_is_there_is_seen) {
    world.until_placed();
    world.judge->at_end();
    EXPECT_THAT(world.broken(), testing::Contains("gated-for-nothing"));
}

TEST_F(at_rest_test, at_the_end_a_pod_that_has_ended_may_stay_with_its_application) {
    world.until_placed();
    world.swap_in();
    world.finish();
    auto driver = world.executor("exec-2", "exec-uid-2");
    driver["status"]["phase"] = "Succeeded";
    world.put(kinds::pod, driver);
    world.judge->at_end();
    EXPECT_THAT(world.broken(), testing::Not(testing::Contains("leftover-pod")));
}

TEST_F(at_rest_test, at_the_end_a_pod_of_a_run_that_is_over_is_seen) {
    world.until_placed();
    world.swap_in();
    world.finish();
    world.put(kinds::pod, world.executor("exec-2", "exec-uid-2"));
    world.judge->at_end();
    EXPECT_THAT(world.broken(), ElementsAre("leftover-pod"));
}

TEST_F(at_rest_test, at_the_end_a_forged_pod_of_a_run_that_is_over_may_stay_with_any_labels) {
    world.until_placed();
    world.swap_in();
    world.finish();
    auto forged = world.executor("exec-2", "exec-uid-2");
    forged_world::forge_with_many_labels(forged);
    world.put(kinds::pod, forged);
    world.judge->at_end();
    EXPECT_THAT(world.broken(), testing::IsEmpty());
}

TEST_F(at_rest_test, at_the_end_a_scheduling_that_waits_for_nothing_is_seen) {
    world.make_ghosts();
    world.judge->at_end();
    EXPECT_THAT(world.broken(), testing::Contains("scheduling-stuck"));
}

TEST_F(at_rest_test, at_the_end_one_that_waits_and_keeps_a_hold_is_seen) {
    world.make_ghosts();
    world.set_finalizer();
    world.hold();
    world.queue["status"]["observedGeneration"] = 1;
    world.queue["status"]["conditions"] = {
        {{"type", "Acquired"}, {"status", "False"}, {"reason", "OtherReason"}}};
    world.put(kinds::scheduling, world.queue);
    world.judge->at_end();
    EXPECT_THAT(world.broken(), testing::Contains("waits-and-holds"));
}

TEST_F(at_rest_test, at_the_end_a_reason_that_is_not_true_is_seen) {
    world.make_ghosts();
    world.queue["status"]["observedGeneration"] = 1;
    world.queue["status"]["conditions"] = {
        {{"type", "Acquired"}, {"status", "False"}, {"reason", "JobMissing"}}};
    world.put(kinds::scheduling, world.queue);
    world.judge->at_end();
    EXPECT_THAT(world.broken(), ElementsAre("untrue-reason"));
}

TEST_F(at_rest_test, at_the_end_an_object_that_is_still_being_deleted_is_seen) {
    world.make_ghosts();
    world.job["metadata"]["deletionTimestamp"] = "2026-01-02T03:05:05Z";
    world.put(kinds::batchjob, world.job);
    world.judge->at_end();
    EXPECT_THAT(world.broken(), testing::Contains("stuck-deletion"));
}

/// One that has come to its end; a test changes one thing of it.
struct finished_test : at_rest_test {
    void SetUp() override {
        at_rest_test::SetUp();
        world.until_placed();
        world.swap_in();
        world.finish();
    }
    rules at_end() {
        world.judge->at_end();
        return world.broken();
    }
};

TEST_F(finished_test, a_job_that_names_nobody_is_seen) {
    world.judge->meddled("edited batchjobs default/a without activeScheduling");
    world.job["spec"]["activeScheduling"]["name"] = "gone";
    world.put(kinds::batchjob, world.job);
    EXPECT_THAT(at_end(), ElementsAre("orphan-job"));
}

TEST_F(finished_test, what_somebody_edited_is_no_excuse_for_a_testbed_at_rest) {
    world.judge->meddled("edited testbeds default/grid");
    world.bed["status"]["slots"][1]["state"] = "OCCUPIED";
    world.put(kinds::testbed, world.bed);
    world.remove_pod("grid-ghost-1");
    EXPECT_THAT(at_end(), testing::IsSupersetOf({"ghost-missing", "status-stale"}));
}

TEST_F(finished_test, a_count_that_somebody_wrote_over_is_not_mended) {
    world.judge->meddled("edited schedulings default/queue");
    world.queue["status"]["progress"]["done"] = 0;
    world.put(kinds::scheduling, world.queue);
    EXPECT_THAT(at_end(), testing::IsEmpty());
}

TEST_F(finished_test, a_layout_may_wait_for_the_release) {
    world.store.erase(kinds::node, "", "node-1");
    world.bed["status"]["slots"][1]["state"] = "ERROR";
    world.bed["status"]["nodesOutOfUse"] = {{"count", 1}, {"names", {"node-1"}}};
    world.put(kinds::testbed, world.bed);
    EXPECT_THAT(at_end(), testing::IsEmpty());
}

TEST_F(finished_test, a_layout_that_waits_for_nothing_is_seen) {
    world.release();
    world.store.erase(kinds::node, "", "node-1");
    world.bed["status"]["slots"][1]["state"] = "ERROR";
    world.bed["status"]["nodesOutOfUse"] = {{"count", 1}, {"names", {"node-1"}}};
    world.put(kinds::testbed, world.bed);
    EXPECT_THAT(at_end(), ElementsAre("layout-stale"));
}

TEST_F(finished_test, a_node_that_is_wrongly_called_out_of_use_is_seen) {
    world.bed["status"]["nodesOutOfUse"] = {{"count", 1}, {"names", {"node-0"}}};
    world.put(kinds::testbed, world.bed);
    EXPECT_THAT(at_end(), ElementsAre("status-stale"));
}

TEST_F(finished_test, an_assignment_of_a_job_that_has_ended_is_seen) {
    world.until_next_run();
    world.job["status"]["state"] = "FailedState";
    world.put(kinds::batchjob, world.job);
    EXPECT_THAT(at_end(), testing::Contains("assignment-not-ended"));
}

TEST_F(finished_test, an_assignment_without_its_order_is_seen) {
    world.until_next_run();
    EXPECT_THAT(at_end(), testing::Contains("order-missing"));
}

TEST_F(finished_test, a_release_that_does_not_end_is_seen) {
    world.queue["status"]["epoch"] = 1;
    world.queue["status"]["releasing"] = "Deleted";
    world.put(kinds::scheduling, world.queue);
    EXPECT_THAT(at_end(), ElementsAre("release-stuck"));
}

TEST_F(finished_test, a_count_that_is_wrong_is_seen) {
    world.queue["status"]["progress"]["done"] = 0;
    world.put(kinds::scheduling, world.queue);
    EXPECT_THAT(at_end(), ElementsAre("status-stale"));
}

TEST_F(finished_test, a_slot_that_is_called_by_a_wrong_name_is_seen) {
    world.bed["status"]["slots"][1]["state"] = "OCCUPIED";
    world.put(kinds::testbed, world.bed);
    EXPECT_THAT(at_end(), ElementsAre("status-stale"));
}

}  // namespace
}  // namespace esi::simulation

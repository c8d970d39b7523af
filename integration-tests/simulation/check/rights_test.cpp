#include "check/invariants.h"

#include <gmock/gmock.h>

#include "check/forged_world.h"

namespace esi::simulation {
namespace {

namespace names = model::names;
using testing::ElementsAre;

struct rights_test : testing::Test {
    forged_world world;

    void SetUp() override { world.begin(); }
    /// The job's ended assignment gives way to its second attempt.
    void try_again() {
        auto second = world.queue["status"]["assignments"][0];
        second.erase("ended");
        second.erase("outcome");
        second["run"] = world.hold_token + ".2";
        second["attempt"] = 1;
        world.queue["status"]["lastRun"] = 2;
        world.queue["status"]["assignments"] = json::array({second});
        world.put(kinds::scheduling, world.queue);
    }
    std::string first() const {
        const auto& found = world.judge->violations();
        return found.empty() ? "" : found.front().rule + ": " + found.front().text;
    }
};

// --- hold ---

TEST_F(rights_test, a_hold_before_the_finalizer_is_seen) {
    world.hold();
    EXPECT_THAT(world.broken(), ElementsAre("hold-without-finalizer"));
}

TEST_F(rights_test, a_hold_that_replaces_another_is_seen) {
    world.set_finalizer();
    world.hold();
    world.hold();
    EXPECT_THAT(world.broken(), ElementsAre("hold-taken-over"));
}

TEST_F(rights_test, a_hold_of_an_older_state_of_the_testbed_is_seen) {
    world.set_finalizer();
    world.hold_as(std::string(forged_world::queue_uid) + ".7");
    EXPECT_THAT(world.broken(), ElementsAre("hold-unguarded"));
}

TEST_F(rights_test, a_hold_that_came_before_is_seen) {
    world.set_finalizer();
    world.hold();
    const auto token = world.hold_token;
    world.unhold();
    world.hold_as(token);
    EXPECT_THAT(world.broken(), testing::Contains("token-reused"));
}

TEST_F(rights_test, a_hold_without_its_labels_is_seen) {
    world.set_finalizer();
    world.hold();
    world.bed["metadata"].erase("labels");
    world.put(kinds::testbed, world.bed);
    EXPECT_THAT(world.broken(), ElementsAre("hold-torn"));
}

TEST_F(rights_test, a_hold_of_a_testbed_that_lags_behind_its_spec_is_seen) {
    world.set_finalizer();
    world.bed["metadata"]["generation"] = 2;
    world.bed = world.put(kinds::testbed, world.bed);
    world.hold();
    EXPECT_THAT(world.broken(), ElementsAre("hold-of-unready-testbed"));
}

TEST_F(rights_test, a_hold_from_a_namespace_that_the_testbed_is_not_offered_to_is_seen) {
    world.queue["metadata"]["namespace"] = "team-a";
    world.queue["metadata"]["name"] = "foreign";
    world.queue["metadata"]["uid"] = "foreign-uid";
    world.set_finalizer();
    const auto hold_of_foreign = [&] {
        const auto token = fmt::format("foreign-uid.{}", world.version_of(world.bed));
        world.bed["metadata"]["labels"] = {{names::active_scheduling_name, "foreign"},
                                           {names::active_scheduling_namespace, "team-a"}};
        world.bed["metadata"]["annotations"] = {{names::hold, token}};
        world.bed = world.put(kinds::testbed, world.bed);
    };
    world.bed["spec"]["allowedNamespaces"] = {"team-a"};
    world.bed = world.put(kinds::testbed, world.bed);
    hold_of_foreign();
    EXPECT_EQ(first(), "");
    world.unhold();
    world.bed["spec"]["allowedNamespaces"] = {"team-b"};
    world.bed = world.put(kinds::testbed, world.bed);
    hold_of_foreign();
    EXPECT_THAT(world.broken(), ElementsAre("hold-of-testbed-not-offered"));
}

TEST_F(rights_test, a_layout_that_changes_under_a_hold_is_seen) {
    world.set_finalizer();
    world.hold();
    world.bed["status"]["layout"]["nodes"].erase(1);
    world.bed["status"]["layout"]["revision"] = 2;
    world.put(kinds::testbed, world.bed);
    EXPECT_THAT(world.broken(), ElementsAre("layout-changed-while-held"));
}

/// The nodes of the layout in the other form.
void make_compact(json& testbed) {
    auto& layout = testbed["status"]["layout"];
    for (const auto& node : layout["nodes"]) {
        layout["compactNodes"].push_back(fmt::format("{} {} {}", node["name"].get<std::string>(),
                                                     node["uid"].get<std::string>(),
                                                     node["id"].get<int>()));
    }
    layout.erase("nodes");
}

TEST_F(rights_test, a_layout_that_gets_another_form_under_a_hold_is_seen) {
    world.set_finalizer();
    world.hold();
    make_compact(world.bed);
    world.put(kinds::testbed, world.bed);
    EXPECT_THAT(world.broken(), ElementsAre("layout-changed-while-held"));
}

TEST_F(rights_test, a_layout_may_get_another_form_without_a_hold) {
    make_compact(world.bed);
    world.put(kinds::testbed, world.bed);
    EXPECT_EQ(first(), "");
}

TEST_F(rights_test, a_revision_that_changes_with_the_form_alone_is_seen) {
    make_compact(world.bed);
    world.bed["status"]["layout"]["revision"] = 2;
    world.put(kinds::testbed, world.bed);
    EXPECT_THAT(world.broken(), ElementsAre("layout-revision-wrong"));
}

TEST_F(rights_test, another_layout_of_the_same_revision_is_seen) {
    world.bed["status"]["layout"]["nodes"].erase(1);
    world.put(kinds::testbed, world.bed);
    EXPECT_THAT(world.broken(), ElementsAre("layout-revision-wrong"));
}

TEST_F(rights_test, a_layout_may_change_without_a_hold) {
    world.bed["status"]["layout"]["nodes"].erase(1);
    world.bed["status"]["layout"]["revision"] = 2;
    world.put(kinds::testbed, world.bed);
    EXPECT_EQ(first(), "");
}

TEST_F(rights_test, a_layout_that_a_person_edited_is_not_ours) {
    world.set_finalizer();
    world.hold();
    world.judge->meddled("edited testbeds default/grid status");
    world.bed["status"]["layout"]["nodes"].erase(1);
    world.put(kinds::testbed, world.bed);
    EXPECT_EQ(first(), "");
}

TEST_F(rights_test, an_edit_that_is_told_right_after_it_is_not_ours_either) {
    world.set_finalizer();
    world.hold();
    world.bed["status"]["layout"]["nodes"].erase(1);
    world.put(kinds::testbed, world.bed);
    world.judge->meddled("edited testbed default/grid status");
    EXPECT_EQ(first(), "");
}

TEST_F(rights_test, a_hold_that_ends_while_a_pod_is_in_a_slot_is_seen) {
    world.until_placed();
    world.swap_in();
    world.unhold();
    EXPECT_THAT(world.broken(),
                ElementsAre("hold-removed-with-assignments", "hold-removed-with-pods"));
}

TEST_F(rights_test, a_testbed_that_goes_while_it_is_held_is_seen) {
    world.set_finalizer();
    world.hold();
    world.store.erase(kinds::testbed, "default", "grid");
    EXPECT_THAT(world.broken(), ElementsAre("testbed-gone-while-held"));
}

TEST_F(rights_test, a_scheduling_that_goes_while_it_holds_is_seen) {
    world.set_finalizer();
    world.hold();
    world.store.erase(kinds::scheduling, "default", "queue");
    EXPECT_THAT(world.broken(), ElementsAre("gone-while-holding"));
}

TEST_F(rights_test, a_late_hold_of_a_scheduling_that_was_released_is_legal) {
    world.set_finalizer();
    world.queue["status"]["epoch"] = 1;
    world.queue["status"]["releasing"] = "Deleted";
    world.put(kinds::scheduling, world.queue);
    world.wait(milliseconds(5));
    world.hold();
    world.store.erase(kinds::scheduling, "default", "queue");
    EXPECT_EQ(first(), "");
}

// --- assignment ---

TEST_F(rights_test, an_assignment_without_the_hold_is_seen) {
    world.set_finalizer();
    world.hold();
    world.acquire();
    world.unhold();
    world.assign();
    EXPECT_THAT(world.broken(), ElementsAre("assignment-without-hold"));
}

TEST_F(rights_test, an_assignment_of_a_job_that_is_not_acquired_is_seen) {
    world.set_finalizer();
    world.hold();
    world.assign();
    EXPECT_THAT(world.broken(), ElementsAre("assignment-of-unacquired-job"));
}

TEST_F(rights_test, two_assignments_of_one_slot_are_seen) {
    world.until_placed();
    auto second = world.queue["status"]["assignments"][0];
    second["run"] = world.hold_token + ".2";
    second["job"]["name"] = "b";
    second["job"]["uid"] = "another";
    world.queue["status"]["assignments"].push_back(second);
    world.queue["status"]["lastRun"] = 2;
    world.put(kinds::scheduling, world.queue);
    EXPECT_THAT(world.broken(), ElementsAre("slot-shared"));
}

TEST_F(rights_test, a_slot_may_be_assigned_again_when_the_first_assignment_has_ended) {
    world.until_placed();
    world.swap_in();
    world.finish();
    auto second = world.queue["status"]["assignments"][0];
    second.erase("ended");
    second.erase("outcome");
    second["run"] = world.hold_token + ".2";
    second["job"]["name"] = "b";
    second["job"]["uid"] = "another";
    world.queue["status"]["assignments"].push_back(second);
    world.queue["status"]["lastRun"] = 2;
    world.put(kinds::scheduling, world.queue);
    EXPECT_EQ(first(), "");
}

TEST_F(rights_test, a_run_that_was_given_before_is_seen) {
    world.until_placed();
    world.queue["status"]["assignments"][0]["ended"] = "2026-01-02T03:05:06Z";
    world.queue = world.put(kinds::scheduling, world.queue);
    auto none = world.queue;
    none["status"]["assignments"] = json::array();
    world.put(kinds::scheduling, none);
    world.queue["status"]["assignments"][0].erase("ended");
    world.put(kinds::scheduling, world.queue);
    EXPECT_THAT(world.broken(), testing::Contains("token-reused"));
}

TEST_F(rights_test, a_start_of_a_suspended_plan_is_seen) {
    world.queue["spec"]["suspend"] = true;
    world.set_finalizer();
    world.hold();
    world.acquire();
    world.assign();
    EXPECT_THAT(world.broken(), ElementsAre("started-while-suspended"));
}

TEST_F(rights_test, a_start_of_a_cancelled_job_is_seen) {
    world.queue["spec"]["cancelledJobs"] = {{{"name", "a"}}};
    world.set_finalizer();
    world.hold();
    world.acquire();
    world.assign();
    EXPECT_THAT(world.broken(), ElementsAre("started-though-cancelled"));
}

TEST_F(rights_test, a_retry_without_a_failure_is_seen) {
    world.queue["spec"]["jobPolicies"] = {{{"name", {{"name", "a"}}}, {"backoffLimit", 1}}};
    world.until_placed();
    world.swap_in();
    world.finish();
    try_again();
    EXPECT_THAT(world.broken(), ElementsAre("retry-unfounded"));
}

TEST_F(rights_test, a_retry_beyond_its_limit_is_seen) {
    world.until_placed();
    world.swap_in();
    world.finish();
    // As it stood before is not judged here.
    world.queue["status"]["assignments"][0]["outcome"] = "Failed";
    world.queue = world.put(kinds::scheduling, world.queue);
    ASSERT_THAT(world.broken(), ElementsAre("assignment-changed"));
    try_again();
    EXPECT_THAT(world.broken(), testing::Contains("retry-unfounded"));
}

TEST_F(rights_test, an_end_that_is_taken_back_is_seen) {
    world.until_placed();
    world.queue["status"]["assignments"][0]["ending"] = "Cancelled";
    world.queue = world.put(kinds::scheduling, world.queue);
    EXPECT_EQ(first(), "");
    world.queue["status"]["assignments"][0].erase("ending");
    world.put(kinds::scheduling, world.queue);
    EXPECT_THAT(world.broken(), ElementsAre("assignment-changed"));
}

TEST_F(rights_test, an_assignment_that_a_pause_drops_while_its_pod_is_there_is_seen) {
    world.judge->all_disturbances_are_told();
    world.until_placed();
    world.swap_in();
    world.wait(seconds(30));
    world.queue["status"]["assignments"][0]["ending"] = "Suspended";
    world.queue = world.put(kinds::scheduling, world.queue);
    EXPECT_EQ(first(), "");
    world.queue["status"]["assignments"] = json::array();
    world.put(kinds::scheduling, world.queue);
    EXPECT_THAT(world.broken(), ElementsAre("ended-with-pods"));
}

TEST_F(rights_test, an_assignment_that_is_lost_is_seen) {
    world.until_placed();
    world.queue["status"]["assignments"] = json::array();
    world.put(kinds::scheduling, world.queue);
    EXPECT_THAT(world.broken(), ElementsAre("assignment-lost"));
}

TEST_F(rights_test, an_assignment_that_changes_its_slots_is_seen) {
    world.until_placed();
    world.queue["status"]["assignments"][0]["slotIds"] = {1};
    world.put(kinds::scheduling, world.queue);
    EXPECT_THAT(world.broken(), ElementsAre("assignment-changed"));
}

TEST_F(rights_test, an_assignment_that_ends_while_its_pod_is_there_is_seen) {
    world.judge->all_disturbances_are_told();
    world.until_placed();
    world.swap_in();
    world.wait(seconds(30));
    auto& given = world.queue["status"]["assignments"][0];
    given["ended"] = "2026-01-02T03:05:06Z";
    given["outcome"] = "Succeeded";
    world.put(kinds::scheduling, world.queue);
    EXPECT_THAT(world.broken(), ElementsAre("ended-with-pods"));
}

/// A job that was made anew within the second in which the pod was made, as its time says it.
TEST_F(rights_test, an_assignment_of_a_job_made_anew_may_end_though_a_pod_of_the_old_one_is_there) {
    world.judge->all_disturbances_are_told();
    world.until_placed();
    world.swap_in();
    world.wait(seconds(30));
    world.store.erase(kinds::batchjob, "default", "a");
    auto anew = world.job;
    anew["metadata"]["uid"] = "another uid";
    anew["metadata"].erase("resourceVersion");
    anew["spec"] = {{"sparkSpec", json::object()}};
    anew["status"] = json::object();
    world.put(kinds::batchjob, anew);
    auto& given = world.queue["status"]["assignments"][0];
    given["ended"] = "2026-01-02T03:05:06Z";
    given["outcome"] = "Deleted";
    world.put(kinds::scheduling, world.queue);
    EXPECT_THAT(world.broken(), testing::Not(testing::Contains("ended-with-pods")));
}

TEST_F(rights_test, an_assignment_that_ends_too_early_is_seen_also_of_who_is_behind) {
    world.judge->all_disturbances_are_told();
    world.until_placed();
    world.swap_in();
    world.wait(seconds(30));
    world.judge->disturbed("scheduling", world.time.now());
    auto& given = world.queue["status"]["assignments"][0];
    given["ended"] = "2026-01-02T03:05:06Z";
    world.put(kinds::scheduling, world.queue);
    EXPECT_THAT(world.broken(), ElementsAre("ended-with-pods"));
}

TEST_F(rights_test, a_success_that_the_application_did_not_tell_is_seen) {
    world.until_placed();
    world.job["status"]["runs"] = {{{"run", world.run()}, {"outcome", "Succeeded"}}};
    world.job = world.put(kinds::batchjob, world.job);
    EXPECT_THAT(world.broken(), ElementsAre("success-untrue"));
}

TEST_F(rights_test, a_success_that_the_application_told_is_fine) {
    world.until_placed();
    auto app = world.store.find(kinds::spark_application, "default", "a")->body();
    app["status"]["applicationState"]["state"] = "COMPLETED";
    world.put(kinds::spark_application, app);
    world.job["status"]["runs"] = {{{"run", world.run()}, {"outcome", "Succeeded"}}};
    world.job = world.put(kinds::batchjob, world.job);
    EXPECT_EQ(first(), "");
}

TEST_F(rights_test, a_failure_that_the_application_did_not_tell_is_seen) {
    world.until_placed();
    auto app = world.store.find(kinds::spark_application, "default", "a")->body();
    app["status"]["applicationState"]["state"] = "COMPLETED";
    world.put(kinds::spark_application, app);
    world.wait(seconds(10));
    world.job["status"]["runs"] = {{{"run", world.run()}, {"outcome", "Failed"}}};
    world.job = world.put(kinds::batchjob, world.job);
    EXPECT_THAT(world.broken(), ElementsAre("success-untold"));
}

TEST_F(rights_test, an_epoch_that_does_not_rise_with_a_release_is_seen) {
    world.set_finalizer();
    world.queue["status"]["releasing"] = "Deleted";
    world.put(kinds::scheduling, world.queue);
    EXPECT_THAT(world.broken(), ElementsAre("epoch-wrong"));
}

TEST_F(rights_test, a_job_that_overtakes_another_of_the_queue_is_seen) {
    world.judge->all_disturbances_are_told();
    world.queue["spec"]["queueBased"] = {{{"name", "z"}}, {{"name", "a"}}};
    world.queue = world.put(kinds::scheduling, world.queue);
    auto other = world.job;
    other["metadata"]["name"] = "z";
    other["metadata"]["uid"] = "uid-of-z";
    other = world.put(kinds::batchjob, other);
    other["spec"]["activeScheduling"] = {
        {"namespace", "default"}, {"name", "queue"}, {"uid", forged_world::queue_uid}};
    world.put(kinds::batchjob, other);
    world.set_finalizer();
    world.hold();
    world.acquire();
    world.wait(seconds(30));
    world.assign();
    EXPECT_THAT(world.broken(), ElementsAre("queue-overtaken"));
}

TEST_F(rights_test, a_job_that_overtakes_in_strict_order_is_seen) {
    world.queue["spec"].erase("queueBased");
    world.queue["spec"]["slotBased"] = {{"mode", "strict"},
                                        {"jobs",
                                         {{{"name", {{"name", "z"}}}, {"slotIds", {1}}},
                                          {{"name", {{"name", "a"}}}, {"slotIds", {0}}}}}};
    world.queue = world.put(kinds::scheduling, world.queue);
    world.set_finalizer();
    world.hold();
    world.acquire();
    world.assign();
    EXPECT_THAT(world.broken(), ElementsAre("strict-overtaken"));
}

// --- job ---

TEST_F(rights_test, a_job_that_is_acquired_before_it_is_ready_is_seen) {
    world.job["status"]["state"] = "FailedState";
    world.job = world.put(kinds::batchjob, world.job);
    world.acquire();
    EXPECT_THAT(world.broken(), ElementsAre("acquired-unready"));
}

TEST_F(rights_test, a_job_that_changes_hands_is_seen) {
    world.acquire();
    world.job["spec"]["activeScheduling"]["uid"] = "another";
    world.put(kinds::batchjob, world.job);
    EXPECT_THAT(world.broken(), ElementsAre("job-taken-over"));
}

TEST_F(rights_test, a_job_that_is_released_while_its_run_goes_on_is_seen) {
    world.until_placed();
    world.job["spec"].erase("activeScheduling");
    world.job["spec"].erase("creationRequest");
    world.put(kinds::batchjob, world.job);
    EXPECT_THAT(world.broken(), ElementsAre("job-taken-over"));
}

TEST_F(rights_test, a_person_may_release_a_job) {
    world.until_placed();
    world.judge->meddled("edited batchjobs default/a without activeScheduling");
    world.job["spec"].erase("activeScheduling");
    world.put(kinds::batchjob, world.job);
    EXPECT_EQ(first(), "");
}

TEST_F(rights_test, an_order_for_other_slots_than_assigned_is_seen) {
    world.set_finalizer();
    world.hold();
    world.acquire();
    world.queue["spec"]["queueBased"] = {{{"name", "a"}}};
    world.assign();
    world.job["spec"]["creationRequest"]["slotIds"] = {1};
    world.job["spec"]["creationRequest"]["run"] = world.run();
    world.job["spec"]["creationRequest"]["testbedName"] = {{"name", "grid"}};
    world.put(kinds::batchjob, world.job);
    EXPECT_THAT(world.broken(), ElementsAre("order-without-assignment"));
}

TEST_F(rights_test, an_application_without_an_assignment_is_seen) {
    world.set_finalizer();
    world.hold();
    world.acquire();
    world.make_application();
    EXPECT_THAT(world.broken(), ElementsAre("application-without-assignment"));
}

TEST_F(rights_test, a_second_application_of_a_run_that_counts_is_seen) {
    world.judge->all_disturbances_are_told();
    world.until_placed();
    world.store.erase(kinds::spark_application, "default", "a");
    world.make_application();
    EXPECT_THAT(world.broken(), ElementsAre("application-twice"));
}

TEST_F(rights_test, an_application_of_a_run_that_was_released_may_come_late) {
    world.judge->all_disturbances_are_told();
    world.until_placed();
    world.swap_in();
    world.finish();
    world.release();
    world.make_application();
    EXPECT_EQ(first(), "");
    world.judge->at_end();
    EXPECT_THAT(world.broken(), ElementsAre("leftover-application"));
}

TEST_F(rights_test, an_application_of_somebody_else_that_is_reported_is_seen) {
    world.make_application_as("", "somebody");
    world.set_finalizer();
    world.hold();
    world.acquire();
    world.assign();
    world.order();
    world.submit();
    EXPECT_THAT(world.broken(), ElementsAre("foreign-application"));
}

TEST_F(rights_test, a_job_that_is_ready_with_a_placement_is_seen) {
    world.until_placed();
    world.job["status"]["state"] = "ReadyState";
    world.put(kinds::batchjob, world.job);
    EXPECT_THAT(world.broken(), ElementsAre("ready-with-leftovers"));
}

TEST_F(rights_test, a_placement_of_a_pod_of_another_run_is_seen) {
    world.until_placed();
    auto other = world.executor("exec-2", "exec-uid-2");
    other["metadata"]["annotations"][names::run] = "of.another.9";
    world.put(kinds::pod, other);
    world.remove_pod("exec-1");
    world.place_as("exec-2", "exec-uid-2");
    EXPECT_THAT(world.broken(), ElementsAre("pod-without-assignment"));
}

TEST_F(rights_test, a_slot_that_goes_to_another_pod_while_the_first_lives_is_seen) {
    world.until_placed();
    world.put(kinds::pod, world.executor("exec-2", "exec-uid-2"));
    world.place_as("exec-2", "exec-uid-2");
    EXPECT_THAT(world.broken(), ElementsAre("slot-shared"));
}

TEST_F(rights_test, a_forged_pod_in_the_placements_is_seen) {
    world.until_placed();
    auto forged = world.executor("exec-2", "exec-uid-2");
    forged["metadata"]["labels"]["example.com/forged"] = "true";
    world.put(kinds::pod, forged);
    world.remove_pod("exec-1");
    world.place_as("exec-2", "exec-uid-2");
    EXPECT_THAT(world.broken(), ElementsAre("forgery-heeded"));
}

TEST_F(rights_test, an_application_of_a_forged_order_is_seen_though_its_job_was_edited) {
    world.judge->meddled("edited batchjobs mallory/a-forger spec: a forged order");
    world.put(kinds::spark_application,
              {{"metadata",
                {{"name", "a-forger"},
                 {"namespace", "mallory"},
                 {"uid", "uid-of-app"},
                 {"annotations", {{model::names::run, "any.1.999"}}},
                 {"ownerReferences",
                  {{{"kind", "BatchJob"}, {"uid", "uid-of-job"}, {"controller", true}}}}}}});
    EXPECT_THAT(world.broken(), ::testing::Contains("forgery-heeded"));
}

TEST_F(rights_test, a_run_may_end_while_a_pod_waits_that_was_never_given_a_slot) {
    world.until_placed();
    world.put(kinds::pod, world.executor("exec-2", "exec-uid-2"));
    world.wait(seconds(30));
    world.job["status"]["state"] = "CompletedState";
    world.job = world.put(kinds::batchjob, world.job);
    world.remove_pod("exec-1");
    auto& given = world.queue["status"]["assignments"][0];
    given["ended"] = "2026-01-02T03:05:06Z";
    given["outcome"] = "Succeeded";
    world.put(kinds::scheduling, world.queue);
    EXPECT_EQ(first(), "");
}

TEST_F(rights_test, a_slot_may_go_to_another_pod_when_the_first_is_gone) {
    world.until_placed();
    world.put(kinds::pod, world.executor("exec-2", "exec-uid-2"));
    world.remove_pod("exec-1");
    world.place_as("exec-2", "exec-uid-2");
    EXPECT_EQ(first(), "");
}

TEST_F(rights_test, an_assignment_outside_of_the_layout_is_seen) {
    world.set_finalizer();
    world.hold();
    world.acquire();
    world.assign();
    auto second = world.queue["status"]["assignments"][0];
    second["run"] = world.hold_token + ".2";
    second["slotIds"] = {2};
    world.queue["status"]["assignments"].push_back(second);
    world.put(kinds::scheduling, world.queue);
    EXPECT_THAT(world.broken(), ElementsAre("slot-outside-layout"));
}

TEST_F(rights_test, a_slot_that_is_given_though_it_has_long_been_in_error_is_seen) {
    world.judge->all_disturbances_are_told();
    world.set_finalizer();
    world.hold();
    world.acquire();
    world.bed["status"]["slots"][0]["state"] = "ERROR";
    world.bed = world.put(kinds::testbed, world.bed);
    world.wait(seconds(10));
    world.assign();
    EXPECT_THAT(world.broken(), ElementsAre("slot-in-error-assigned"));
}

TEST_F(rights_test, a_slot_may_be_given_that_is_in_error_since_a_moment_ago) {
    world.judge->all_disturbances_are_told();
    world.set_finalizer();
    world.hold();
    world.acquire();
    world.bed["status"]["slots"][0]["state"] = "ERROR";
    world.bed = world.put(kinds::testbed, world.bed);
    world.assign();
    EXPECT_EQ(first(), "");
}

TEST_F(rights_test, an_assignment_during_a_release_is_seen) {
    world.set_finalizer();
    world.hold();
    world.acquire();
    world.queue["status"]["epoch"] = 1;
    world.queue["status"]["releasing"] = "Deleted";
    world.queue = world.put(kinds::scheduling, world.queue);
    world.assign();
    EXPECT_THAT(world.broken(), ElementsAre("assigned-while-releasing"));
}

TEST_F(rights_test, an_order_that_replaces_another_is_seen) {
    world.until_placed();
    world.job["spec"]["creationRequest"]["run"] = "of.another.9";
    world.put(kinds::batchjob, world.job);
    EXPECT_THAT(world.broken(),
                ElementsAre("order-replaced", "order-by-another", "order-without-assignment"));
}

}  // namespace
}  // namespace esi::simulation

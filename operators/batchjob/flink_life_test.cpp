// A Flink job's life: what differs from Spark's is that the pods stand until the deployment goes.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "batchjob/backends/flink/backend.h"
#include "batchjob/testing.h"

namespace esi::batchjob {
namespace {

using testing::at;
using testing::bind;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::order;
using testing::run_1;
using testing::stamp;
using testing::start;

const backend& flink() {
    static const flink::flink_backend it{{}, {}};
    return it;
}

/// `when`: second of the test's hour at which Flink's operator saw the job's present state.
application deployment(std::string_view job_state, std::string_view lifecycle = "STABLE",
                       int when = 30, std::string_view wanted = "running") {
    const auto text = fmt::format(
        R"({{"metadata":{{"name":"a","namespace":"jobs","uid":"app-1","resourceVersion":"5",)"
        R"("creationTimestamp":"2026-11-21T09:00:10Z","annotations":{{"esi.tu-berlin.de/run":"{}"}},)"
        R"("ownerReferences":[{{"apiVersion":"esi.tu-berlin.de/v1alpha1","kind":"BatchJob",)"
        R"("name":"a","uid":"job-uid","controller":true}}]}},)"
        R"("spec":{{"job":{{"state":"{}","upgradeMode":"stateless"}}}},)"
        R"("status":{{"jobStatus":{{"state":"{}","startTime":"{}","updateTime":"{}"}},)"
        R"("lifecycleState":"{}","jobManagerDeploymentStatus":"READY"}}}})",
        run_1, wanted, job_state, 1795251614000, 1795251600000 + when * 1000, lifecycle);
    return *flink().read(text);
}

std::shared_ptr<model::pod> pod_of(std::string name, std::string component) {
    auto pod = std::make_shared<model::pod>();
    pod->metadata.name = name;
    pod->metadata.namespace_ = "jobs";
    pod->metadata.uid = "uid-" + name;
    pod->metadata.creation_timestamp = stamp(12);
    pod->metadata.labels = {{"app", "a"},
                            {"component", component},
                            {"type", "flink-standalone-kubernetes"},
                            {"pod-template-hash", "x"},
                            {"esi.tu-berlin.de/job", "a"}};
    pod->metadata.annotations = {{"esi.tu-berlin.de/run", std::string(run_1)}};
    pod->phase = "Pending";
    const std::string set = component == "taskmanager" ? "a-taskmanager-x" : "a-x";
    pod->metadata.owner_references = {{"apps/v1", "ReplicaSet", set, "uid-" + set, true}};
    if (component == "taskmanager") {
        pod->scheduling_gates = {"esi.tu-berlin.de/slot"};
        pod->scheduled_status = "False";
        pod->scheduled_reason = "SchedulingGated";
    }
    return pod;
}
std::shared_ptr<model::pod> task_manager(std::string suffix) {
    return pod_of("a-taskmanager-x-" + suffix, "taskmanager");
}
std::shared_ptr<model::pod> job_manager() {
    auto pod = pod_of("a-y-jm", "jobmanager");
    bind(*pod, "infra", 12);
    start(*pod, 13);
    return pod;
}

struct flink_world : testing::world {
    flink_world() {
        kind = &flink();
        job->spec.spark_spec.reset();
        job->spec.flink_spec = model::raw_json{R"({"jarFile":"./WordCount.jar"})"};
    }
    void submit() {
        queued();
        order(*job, {0, 3});
        step(10);
        app = deployment("RECONCILING", "DEPLOYED");
        pods = {job_manager(), task_manager("p"), task_manager("q")};
        step(13);
    }
    void run() {
        submit();
        replace(1, [](model::pod& pod) {
            bind(pod, "node-a", 14);
            start(pod, 16);
        });
        replace(2, [](model::pod& pod) {
            bind(pod, "node-a", 15);
            start(pod, 17);
        });
        app = deployment("RUNNING", "STABLE", 18);
        step(18);
        take_log();
    }
};

TEST(flink_life, from_order_to_end_in_the_words_of_the_pods_and_of_flink) {
    flink_world w;
    w.submit();
    EXPECT_EQ(w.created["kind"], "FlinkDeployment");
    EXPECT_EQ(w.job->status.type, "Flink");
    EXPECT_EQ(w.job->status.state, "SubmittedState");
    EXPECT_EQ(w.job->status.placements,
              (std::vector<model::placement>{{0, "uid-a-taskmanager-x-p", "a-taskmanager-x-p"},
                                             {3, "uid-a-taskmanager-x-q", "a-taskmanager-x-q"}}));
    w.replace(1, [](model::pod& pod) { bind(pod, "node-a", 14); });
    w.replace(2, [](model::pod& pod) { bind(pod, "node-a", 15); });
    w.step(15);
    EXPECT_EQ(w.job->status.state, "ScheduledState");
    w.app = deployment("RUNNING", "STABLE", 18);
    w.replace(1, [](model::pod& pod) { start(pod, 16); });
    w.step(18);
    EXPECT_EQ(w.job->status.state, "ScheduledState") << "one TaskManager is still to come";
    w.replace(2, [](model::pod& pod) { start(pod, 17); });
    w.step(19);
    EXPECT_EQ(w.job->status.state, "RunningState");

    w.take_log();
    w.app = deployment("FINISHED", "STABLE", 30);
    w.step(33);
    EXPECT_EQ(w.job->status.state, "CompletedState");
    const auto& line = w.job->status.runs.back();
    EXPECT_EQ(line.started, stamp(16));
    EXPECT_EQ(line.stopped, stamp(30)) << "seen three seconds later";
    EXPECT_EQ(line.job_started, stamp(14)) << "as Flink has it";
    EXPECT_EQ(line.job_stopped, stamp(30));
    EXPECT_EQ(w.job->status.last_result, "Succeeded 14.0s");
    EXPECT_THAT(w.take_log(), ElementsAre("status CompletedState", "delete application app-1"))
        << "the result first, then what holds the slots";
}

TEST(flink_life, an_end_of_the_job_before_its_start_is_none) {
    flink_world w;
    w.run();
    w.app = deployment("FINISHED", "STABLE", 13);
    w.step(33);
    EXPECT_EQ(w.job->status.runs.back().job_started, stamp(14));
    EXPECT_FALSE(w.job->status.runs.back().job_stopped);
}

TEST(flink_life, a_run_too_short_to_be_seen_starting_has_flinks_own_start) {
    flink_world w;
    w.submit();
    w.app = deployment("FINISHED", "STABLE", 20);
    w.pods = {};
    w.step(22);
    EXPECT_EQ(w.job->status.runs.back().started, stamp(14));
    EXPECT_EQ(w.job->status.runs.back().stopped, stamp(20));
}

TEST(flink_life, pods_are_left_to_their_deployment_until_it_is_gone) {
    flink_world w;
    w.run();
    w.app = deployment("FINISHED");
    w.step(31);
    w.app->metadata.deletion_timestamp = stamp(31);
    w.app->metadata.finalizers = {"flinkdeployments.flink.apache.org/finalizer"};
    w.take_log();
    w.step(32);
    EXPECT_THAT(w.take_log(), IsEmpty()) << "a pod deleted now would be made again";
    EXPECT_EQ(w.job->status.state, "CompletedState");
    w.app.reset();
    w.step(40);
    EXPECT_THAT(w.take_log(),
                ElementsAre("read application", "status CompletedState", "delete pod a-y-jm",
                            "delete pod a-taskmanager-x-p", "delete pod a-taskmanager-x-q"));
}

TEST(flink_life, an_operator_that_does_not_let_go_is_told_of) {
    flink_world w;
    w.run();
    w.app = deployment("FINISHED");
    w.step(31);
    w.app->metadata.deletion_timestamp = stamp(31);
    w.app->metadata.finalizers = {"flinkdeployments.flink.apache.org/finalizer"};
    w.step(32);
    EXPECT_THAT(w.job->status.problems, IsEmpty());
    ASSERT_TRUE(w.again_in);
    EXPECT_GE(*w.again_in, seconds(59));
    w.step(92);
    EXPECT_THAT(w.job->status.problems,
                ElementsAre(HasSubstr("finalizer flinkdeployments.flink.apache.org/finalizer")));
    EXPECT_EQ(w.job->status.reason, "ApplicationStays");
    EXPECT_EQ(w.job->status.state, "CompletedState");
}

TEST(flink_life, a_release_deletes_the_deployment_and_waits_for_its_pods) {
    flink_world w;
    w.run();
    testing::release(*w.job);
    w.step(20);
    EXPECT_EQ(w.job->status.state, "PendingDeletion");
    EXPECT_THAT(w.take_log(), Contains("delete application app-1"));
    EXPECT_EQ(w.job->status.runs.back().outcome, "Released");
    w.app.reset();
    w.step(21);
    EXPECT_EQ(w.job->status.state, "PendingDeletion");
    w.pods.clear();
    w.step(22);
    EXPECT_EQ(w.job->status.state, "ReadyState");
}

TEST(flink_life, a_task_manager_that_dies_gives_its_slot_to_the_one_that_follows) {
    flink_world w;
    w.run();
    auto next = task_manager("r");
    next->metadata.creation_timestamp = stamp(20);
    w.replace(1, [](model::pod& pod) { pod.metadata.deletion_timestamp = stamp(20); });
    w.pods.push_back(next);
    w.step(20);
    EXPECT_EQ(w.job->status.placements[0].pod_name, "a-taskmanager-x-p");
    EXPECT_THAT(w.job->status.problems, ElementsAre(HasSubstr("each slot of the run has a pod")));
    w.pods = {w.pods[0], w.pods[2], w.pods[3]};
    w.step(21);
    EXPECT_EQ(w.job->status.placements[0],
              (model::placement{0, "uid-a-taskmanager-x-r", "a-taskmanager-x-r"}));
    EXPECT_EQ(w.job->status.placements[1].pod_name, "a-taskmanager-x-q");
    EXPECT_EQ(w.job->status.state, "RunningState");
    EXPECT_EQ(w.job->status.runs.size(), 1u);
    EXPECT_EQ(w.job->status.runs[0].started, stamp(16));
}

TEST(flink_life, a_failed_job_ends_with_flinks_message_and_frees_its_slots) {
    flink_world w;
    w.run();
    auto failed = deployment("FAILED", "FAILED", 25);
    failed.message = "Job execution failed.: Disk is full";
    w.app = failed;
    w.step(27);
    EXPECT_EQ(w.job->status.state, "FailedState");
    EXPECT_THAT(w.job->status.problems,
                ElementsAre("ApplicationFailed: Job execution failed.: Disk is full"));
    EXPECT_EQ(w.job->status.runs.back().stopped, stamp(25));
    EXPECT_THAT(w.take_log(), ElementsAre("status FailedState", "delete application app-1"));
}

TEST(flink_life, a_canceled_job_has_failed) {
    flink_world w;
    w.run();
    w.app = deployment("CANCELED", "STABLE", 25);
    w.step(26);
    EXPECT_EQ(w.job->status.state, "FailedState");
    EXPECT_THAT(w.job->status.problems, ElementsAre("ApplicationFailed: the job was canceled"));
}

TEST(flink_life, a_job_that_somebody_suspends_is_no_success) {
    flink_world w;
    w.run();
    w.app = deployment("FINISHED", "SUSPENDED", 25, "suspended");
    w.step(26);
    EXPECT_EQ(w.job->status.state, "RunningState");
    EXPECT_EQ(w.condition("Running"), "Unknown Suspended");
    EXPECT_THAT(w.job->status.problems, ElementsAre("FlinkDeployment a is in state suspended"));
}

TEST(flink_life, a_deployment_deleted_by_somebody_is_a_failure) {
    flink_world w;
    w.run();
    w.app->metadata.deletion_timestamp = stamp(20);
    w.step(20);
    EXPECT_EQ(w.job->status.state, "FailedState");
    EXPECT_EQ(w.job->status.reason, "ApplicationDeleted");
}

TEST(flink_life, a_job_manager_without_a_node_is_told_of_by_that_name) {
    flink_world w;
    w.submit();
    w.replace(0, [](model::pod& pod) {
        pod.node_name.clear();
        pod.phase = "Pending";
        pod.started_at.reset();
        pod.scheduled_status = "False";
        pod.scheduled_reason = "Unschedulable";
        pod.scheduled_message = "0/3 nodes are available";
    });
    w.step(14);
    EXPECT_EQ(w.job->status.reason, "JobManagerUnschedulable");
    EXPECT_THAT(w.job->status.problems,
                Contains("JobManager a-y-jm cannot be scheduled: 0/3 nodes are available"));
}

TEST(flink_life, a_parallelism_that_does_not_fit_the_slots_is_refused_before_the_create) {
    flink_world w;
    w.job->spec.flink_spec->text = R"({"jarFile":"/a.jar","parallelism":3})";
    w.queued();
    order(*w.job, {0, 3});
    w.take_log();
    w.step(10);
    EXPECT_EQ(w.job->status.state, "FailedSubmissionState");
    EXPECT_EQ(w.job->status.reason, "ParallelismMismatch");
    EXPECT_THAT(w.take_log(), ElementsAre("status FailedSubmissionState"));
}

}  // namespace
}  // namespace esi::batchjob

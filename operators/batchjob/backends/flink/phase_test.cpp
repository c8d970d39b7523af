#include "batchjob/backends/flink/phase.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "batchjob/backends/flink/backend.h"

namespace esi::batchjob::flink {
namespace {

application read(std::string_view text) {
    const auto got = flink_backend({}, {}).read(text);
    EXPECT_TRUE(got) << got.error().text;
    return got.value_or(application{});
}

TEST(flink_phase, follows_the_job_and_what_the_operator_does_with_it) {
    struct row {
        std::string job, lifecycle, manager, wanted, upgrade;
        phase expected;
    };
    const row rows[] = {
        {"", "", "", "running", "stateless", phase::underway},
        {"", "CREATED", "MISSING", "running", "stateless", phase::underway},
        {"RECONCILING", "DEPLOYED", "DEPLOYING", "running", "stateless", phase::underway},
        {"RECONCILING", "DEPLOYED", "DEPLOYED_NOT_READY", "running", "stateless", phase::underway},
        {"INITIALIZING", "DEPLOYED", "READY", "running", "stateless", phase::underway},
        {"CREATED", "DEPLOYED", "READY", "running", "stateless", phase::underway},
        {"RUNNING", "STABLE", "READY", "running", "stateless", phase::running},
        {"RESTARTING", "STABLE", "READY", "running", "stateless", phase::underway},
        {"FAILING", "STABLE", "READY", "running", "stateless", phase::underway},
        {"CANCELLING", "STABLE", "READY", "running", "stateless", phase::underway},
        {"FINISHED", "STABLE", "READY", "running", "stateless", phase::succeeded},
        {"FINISHED", "STABLE", "MISSING", "running", "stateless", phase::succeeded},
        {"FAILED", "FAILED", "READY", "running", "stateless", phase::failed},
        {"CANCELED", "STABLE", "READY", "running", "stateless", phase::failed},
        {"RECONCILING", "DEPLOYED", "ERROR", "running", "stateless", phase::failed},
        {"", "FAILED", "MISSING", "running", "stateless", phase::failed},
        // A person has suspended it: the operator writes FINISHED for the job it stopped.
        {"FINISHED", "SUSPENDED", "MISSING", "suspended", "stateless", phase::paused},
        {"FINISHED", "UPGRADING", "MISSING", "running", "stateless", phase::underway},
        {"RUNNING", "STABLE", "READY", "suspended", "stateless", phase::paused},
        {"SUSPENDED", "STABLE", "READY", "running", "stateless", phase::paused},
        // restartPolicy FromSavepointOnFailure: the operator restarts the job.
        {"FAILED", "FAILED", "READY", "running", "savepoint", phase::underway},
        {"CANCELED", "STABLE", "READY", "running", "savepoint", phase::failed},
        {"NEVER_HEARD_OF", "STABLE", "READY", "running", "stateless", phase::unknown},
        {"CREATED", "NEVER_HEARD_OF", "READY", "running", "stateless", phase::unknown},
        {"CREATED", "DEPLOYED", "NEVER_HEARD_OF", "running", "stateless", phase::unknown},
    };
    for (const auto& each : rows) {
        model::flink_deployment object;
        object.job_state = each.job;
        object.lifecycle_state = each.lifecycle;
        object.job_manager_state = each.manager;
        object.wanted_state = each.wanted;
        object.upgrade_mode = each.upgrade;
        EXPECT_EQ(phase_of(object), each.expected)
            << each.job << " " << each.lifecycle << " " << each.manager << " " << each.wanted;
    }
}

TEST(flink_phase, a_first_deployment_that_is_tried_again_is_no_failure) {
    const auto app = read(R"({"metadata":{"name":"a"},"status":{"lifecycleState":"FAILED",
        "jobManagerDeploymentStatus":"MISSING",
        "error":"{\"type\":\"ReconciliationException\",\"message\":\"exceeded quota\"}"}})");
    EXPECT_EQ(app.phase, phase::underway);
    EXPECT_EQ(app.message, "exceeded quota");
    const auto refused = read(R"({"metadata":{"name":"a"},"status":{"lifecycleState":"FAILED",
        "jobManagerDeploymentStatus":"MISSING",
        "error":"{\"type\":\"x.ValidationException\",\"message\":\"no memory\"}"}})");
    EXPECT_EQ(refused.phase, phase::failed);
    EXPECT_EQ(refused.message, "no memory");
}

TEST(flink_phase, a_job_manager_that_is_gone_ends_the_run) {
    const auto app = read(R"({"metadata":{"name":"a"},"status":{"lifecycleState":"DEPLOYED",
        "jobManagerDeploymentStatus":"MISSING",
        "jobStatus":{"state":"RECONCILING","startTime":"1795338000123"}}})");
    EXPECT_EQ(app.phase, phase::failed);
    EXPECT_EQ(app.message, "the JobManager's deployment is gone");
    // Before its job has begun it is only underway.
    EXPECT_EQ(read(R"({"metadata":{"name":"a"},"status":{"lifecycleState":"DEPLOYED",
        "jobManagerDeploymentStatus":"MISSING","jobStatus":{"state":"RECONCILING"}}})")
                  .phase,
              phase::underway);
}

TEST(flink_phase, times_come_from_flink) {
    const auto app = read(R"({"metadata":{"name":"a","namespace":"jobs"},
        "spec":{"job":{"state":"running","upgradeMode":"stateless"}},
        "status":{"jobStatus":{"state":"FINISHED","startTime":"1795338000123",
                               "updateTime":"1795338060456"},
                  "lifecycleState":"STABLE","jobManagerDeploymentStatus":"READY"}})");
    EXPECT_EQ(app.phase, phase::succeeded);
    EXPECT_EQ(app.word, "FINISHED");
    EXPECT_EQ(app.attempt, 1);
    ASSERT_TRUE(app.started && app.ended);
    EXPECT_EQ(app.started->micro(), "2026-11-22T09:00:00.000000Z");
    EXPECT_EQ(app.ended->micro(), "2026-11-22T09:01:00.000000Z") << "as all times of a run";
    ASSERT_TRUE(app.job_started && app.job_stopped);
    EXPECT_EQ(app.job_started->micro(), "2026-11-22T09:00:00.123000Z");
    EXPECT_EQ(app.job_stopped->micro(), "2026-11-22T09:01:00.456000Z");
}

TEST(flink_phase, a_running_job_has_no_end) {
    const auto app = read(R"({"metadata":{"name":"a"},"status":{"jobStatus":{"state":"RUNNING",
        "startTime":"1795338000123","updateTime":"1795338060456"}}})");
    EXPECT_TRUE(app.started);
    EXPECT_FALSE(app.ended);
    EXPECT_TRUE(app.job_started);
    EXPECT_FALSE(app.job_stopped);
}

TEST(flink_phase, odd_status_reads_as_absent) {
    const auto app = read(R"({"metadata":{"name":"a"},"spec":7,"status":{"error":[],
        "jobStatus":{"state":5,"startTime":"-1","updateTime":"soon"},"lifecycleState":null}})");
    EXPECT_EQ(app.phase, phase::underway);
    EXPECT_FALSE(app.started);
    EXPECT_EQ(app.attempt, 0);
}

TEST(flink_phase, the_message_is_that_of_the_error_and_its_innermost_cause) {
    EXPECT_EQ(message_of(R"({"type":"org.apache.flink.util.SerializedThrowable",
        "message":"Job execution failed.","stackTrace":"...","throwableList":[
        {"type":"x.NoRestart","message":"Recovery is suppressed"},
        {"type":"java.lang.Exception","message":"Disk is full\n"}]})"),
              "Job execution failed.: Disk is full");
    EXPECT_EQ(message_of(R"({"message":"Forbidden Flink config key: kubernetes.namespace"})"),
              "Forbidden Flink config key: kubernetes.namespace");
    EXPECT_EQ(message_of(R"({"type":"java.lang.NullPointerException","throwableList":[7]})"),
              "java.lang.NullPointerException");
    EXPECT_EQ(message_of("no JSON at all \n"), "no JSON at all");
    EXPECT_EQ(message_of(""), "");
}

TEST(flink_phase, a_deployment_that_never_stood_failed_its_submission) {
    const auto app = read(R"({"metadata":{"name":"a"},"status":{"lifecycleState":"FAILED",
        "jobManagerDeploymentStatus":"MISSING",
        "error":"{\"type\":\"ValidationException\",\"message\":\"no such version\"}"}})");
    EXPECT_EQ(app.phase, phase::failed);
    EXPECT_EQ(app.attempt, 0);
    EXPECT_EQ(app.message, "no such version");
}

TEST(flink_phase, a_failure_without_message_gets_one) {
    EXPECT_EQ(read(R"({"metadata":{},"status":{"jobStatus":{"state":"CANCELED"}}})").message,
              "the job was canceled");
    EXPECT_EQ(read(R"({"metadata":{},"status":{"jobManagerDeploymentStatus":"ERROR"}})").message,
              "the JobManager's deployment is in state ERROR");
}

TEST(flink_role, goes_by_the_labels_of_flink) {
    model::pod pod;
    pod.metadata.labels = {
        {"app", "a"}, {"component", "taskmanager"}, {"type", "flink-standalone-kubernetes"}};
    EXPECT_EQ(role_of(pod, "a"), pod_role::slot);
    EXPECT_EQ(role_of(pod, "b"), pod_role::none);
    pod.metadata.labels["component"] = "jobmanager";
    EXPECT_EQ(role_of(pod, "a"), pod_role::coordinator);
    pod.metadata.labels["type"] = "web";
    EXPECT_EQ(role_of(pod, "a"), pod_role::none);
    EXPECT_EQ(role_of(model::pod{}, ""), pod_role::none);
}

TEST(flink_phase, who_is_not_made_by_the_set_of_the_application_is_foreign) {
    application app;
    app.metadata.name = "a";
    for (const auto& [component, set] :
         {std::pair{"taskmanager", "a-taskmanager-x"}, std::pair{"jobmanager", "a-x"}}) {
        model::pod pod;
        pod.metadata.labels = {{"app", "a"},
                               {"component", component},
                               {"type", "flink-standalone-kubernetes"},
                               {"pod-template-hash", "x"}};
        const auto said = [&](std::string kind, std::string name, bool controller = true) {
            pod.metadata.owner_references = {
                {"apps/v1", std::move(kind), std::move(name), "uid", controller}};
            return foreign(pod, app);
        };
        EXPECT_EQ(said("ReplicaSet", set), "") << component;
        for (const char* other : {"a", "a-taskmanager", "b-taskmanager-x", "a-taskmanager-y", ""}) {
            EXPECT_NE(said("ReplicaSet", other), "") << component << " of " << other;
        }
        EXPECT_NE(said("Pod", set), "") << component;
        EXPECT_NE(said("ReplicaSet", set, false), "") << component << ", not controlled";
        pod.metadata.owner_references.clear();
        EXPECT_THAT(foreign(pod, app), testing::HasSubstr(std::string("not ReplicaSet ") + set));
    }
}

}  // namespace
}  // namespace esi::batchjob::flink

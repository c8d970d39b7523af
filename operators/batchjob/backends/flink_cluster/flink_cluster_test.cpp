#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "batchjob/backends/flink_cluster/backend.h"
#include "batchjob/backends/flink_cluster/phase.h"
#include "batchjob/backends/testing.h"

namespace esi::batchjob::flink_cluster {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

json parse(std::string_view text) { return json::parse(text); }

TEST(flink_cluster_mapping, the_flink_spec_is_its_job_section) {
    const auto got = map(request_for(R"({"jarFile": "./WordCount.jar", "className": "W",
        "args": ["--input", "./README.txt"], "mode": "Detached", "podLabels": {"team": "x"},
        "image": "flink:1.18", "flinkVersion": "v1_18", "taskSlots": 2,
        "flinkConfiguration": {"a": "b", "restart-strategy": "x"}})"),
                         {}, {}, flink::size_from::slot);
    ASSERT_TRUE(got) << got.error().text;
    EXPECT_THAT(got->overridden, ElementsAre("flinkConfiguration[restart-strategy]"));
    EXPECT_TRUE(got->ignored.empty());
    const auto off = parse(R"({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution":
        {"nodeSelectorTerms": [{"matchExpressions":
          [{"key": "example.com/slots", "operator": "DoesNotExist"}]}]}}})");
    EXPECT_EQ(got->object["kind"], "FlinkCluster");
    EXPECT_EQ(got->object["metadata"]["annotations"],
              parse(R"({"esi.tu-berlin.de/run": "s.7.1"})"));
    const auto& spec = got->object["spec"];
    EXPECT_EQ(spec["flinkVersion"], "1.18");
    EXPECT_EQ(spec["image"], parse(R"({"name": "flink:1.18"})"));
    EXPECT_EQ(spec["flinkProperties"], parse(R"({"a": "b", "restart-strategy": "none",
        "taskmanager.numberOfTaskSlots": "2"})"));
    auto job = parse(R"({"jarFile": "./WordCount.jar", "className": "W",
        "args": ["--input", "./README.txt"], "mode": "Detached", "parallelism": 4,
        "restartPolicy": "Never",
        "podLabels": {"team": "x", "esi.tu-berlin.de/job": "a"},
        "podAnnotations": {"esi.tu-berlin.de/run": "s.7.1"}})");
    job["affinity"] = off;
    EXPECT_EQ(spec["job"], job);
    auto manager = parse(R"({"replicas": 1,
        "resources": {"requests": {"cpu": "500m", "memory": "1600Mi"},
                      "limits": {"cpu": "500m", "memory": "1600Mi"}},
        "podLabels": {"esi.tu-berlin.de/job": "a"},
        "podAnnotations": {"esi.tu-berlin.de/run": "s.7.1"}})");
    manager["affinity"] = off;
    EXPECT_EQ(spec["jobManager"], manager);
    EXPECT_EQ(spec["taskManager"], parse(R"({"deploymentType": "Deployment", "replicas": 2,
        "resources": {"requests": {"cpu": "600m", "memory": "1.75Gi"},
                      "limits": {"cpu": "600m", "memory": "1.75Gi"}},
        "podLabels": {"esi.tu-berlin.de/job": "a", "esi.tu-berlin.de/testbed": "bed",
                      "esi.tu-berlin.de/testbed-namespace": "beds"},
        "podAnnotations": {"esi.tu-berlin.de/run": "s.7.1", "esi.tu-berlin.de/slots": "3,5"},
        "tolerations": [{"key": "esi.tu-berlin.de/testbed", "operator": "Exists"}]})"));
}

TEST(flink_cluster_mapping, a_job_manager_with_a_slot_is_as_large_as_it_and_carries_its_marks) {
    const auto got = map(request_with_coordinator(R"({"jarFile": "/a.jar",
        "resources": {"requests": {"cpu": "3"}}})"),
                         {}, {}, flink::size_from::slot);
    ASSERT_TRUE(got) << got.error().text;
    EXPECT_THAT(got->overridden, ElementsAre("resources"));
    const auto& spec = got->object["spec"];
    EXPECT_EQ(spec["jobManager"], parse(R"({"replicas": 1,
        "resources": {"requests": {"cpu": "1", "memory": "2Gi"},
                      "limits": {"cpu": "1", "memory": "2Gi"}},
        "podLabels": {"esi.tu-berlin.de/job": "a", "esi.tu-berlin.de/testbed": "bed",
                      "esi.tu-berlin.de/testbed-namespace": "beds"},
        "podAnnotations": {"esi.tu-berlin.de/run": "s.7.1", "esi.tu-berlin.de/slots": "0"},
        "tolerations": [{"key": "esi.tu-berlin.de/testbed", "operator": "Exists"}]})"));
    EXPECT_EQ(spec["taskManager"]["replicas"], 2);
    EXPECT_EQ(spec["taskManager"]["podAnnotations"]["esi.tu-berlin.de/slots"], "3,5");
}

TEST(flink_cluster_mapping, what_does_not_fit_is_refused_as_for_a_deployment) {
    const auto got =
        map(request_for(R"({"jarFile":"/a.jar","parallelism":3})"), {}, {}, flink::size_from::slot);
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().reason, "ParallelismMismatch");
}

TEST(flink_cluster_mapping, pod_templates_have_no_counterpart) {
    const auto got = map(request_for(R"({"jarFile":"/a.jar",
        "taskManager": {"podTemplate": {}}, "jobManager": {"x": 1}})"),
                         {}, {}, flink::size_from::slot);
    ASSERT_TRUE(got) << got.error().text;
    EXPECT_THAT(got->ignored, ElementsAre("jobManager.x", "taskManager.podTemplate"));
}

TEST(flink_cluster_phase, goes_by_the_job_because_the_cluster_knows_no_failure) {
    const std::pair<const char*, phase> rows[] = {
        {"", phase::underway},
        {"Pending", phase::underway},
        {"Deploying", phase::underway},
        {"Updating", phase::underway},
        {"Restarting", phase::underway},
        {"Running", phase::running},
        {"Succeeded", phase::succeeded},
        {"Failed", phase::failed},
        {"DeployFailed", phase::failed},
        {"Lost", phase::failed},
        {"Cancelled", phase::failed},
        {"Unknown", phase::unknown},
        {"NeverHeardOf", phase::unknown},
    };
    for (const auto& [word, expected] : rows) {
        model::flink_cluster object;
        object.job_state = word;
        EXPECT_EQ(phase_of(object), expected) << word;
    }
}

TEST(flink_cluster_phase, times_and_reasons_are_the_jobs) {
    const auto app = flink_cluster_backend({}, {}).read(R"({"metadata":{"name":"a"},"status":{
        "state":"Stopped","components":{"job":{"state":"Failed","startTime":"2026-11-21T09:00:14Z",
        "completionTime":"2026-11-21T09:00:30Z","failureReasons":["no disk",7,"no luck"]}}}})");
    ASSERT_TRUE(app) << app.error().text;
    EXPECT_EQ(app->message, "no disk; no luck");
    EXPECT_EQ(app->attempt, 1);
    ASSERT_TRUE(app->started && app->ended);
    EXPECT_EQ(app->started->whole_seconds(), "2026-11-21T09:00:14Z");
    EXPECT_EQ(app->ended->whole_seconds(), "2026-11-21T09:00:30Z");
}

TEST(flink_cluster_pods, one_that_no_policy_has_prepared_says_what_is_missing) {
    const flink_cluster_backend backend({}, {});
    model::pod pod;
    pod.metadata.name = "a-taskmanager-x";
    pod.metadata.labels = {{"app", "flink"}, {"cluster", "a"}, {"component", "taskmanager"}};
    EXPECT_EQ(backend.role_of(pod, "a"), pod_role::slot);
    EXPECT_EQ(backend.role_of(pod, "b"), pod_role::none);
    pod.scheduler_name = "default-scheduler";
    EXPECT_THAT(backend.pod_problem(pod),
                HasSubstr("has scheduler default-scheduler and priority class none instead of "
                          "default-scheduler and esi-job"));
    pod.priority_class_name = "esi-job";
    EXPECT_EQ(backend.pod_problem(pod), "");
}

TEST(flink_cluster_phase, who_is_not_made_by_the_set_of_the_cluster_is_foreign) {
    application app;
    app.metadata.name = "a";
    model::pod pod;
    pod.metadata.labels = {{"app", "flink"}, {"cluster", "a"}, {"component", "taskmanager"}};
    const auto said = [&](std::string kind, std::string name, bool controller = true) {
        pod.metadata.owner_references = {
            {"apps/v1", std::move(kind), std::move(name), "uid", controller}};
        return foreign(pod, app);
    };
    EXPECT_EQ(said("StatefulSet", "a-taskmanager"), "");
    EXPECT_EQ(said("ReplicaSet", "a-taskmanager-5d"), "");
    EXPECT_NE(said("StatefulSet", "b-taskmanager"), "");
    EXPECT_NE(said("StatefulSet", "a-jobmanager"), "");
    EXPECT_NE(said("ReplicaSet", "b-taskmanager-5d"), "");
    EXPECT_NE(said("Pod", "a-taskmanager"), "");
    EXPECT_NE(said("StatefulSet", "a-taskmanager", false), "") << "not controlled";
    pod.metadata.owner_references.clear();
    EXPECT_THAT(foreign(pod, app), HasSubstr("not of the set a-taskmanager"));
}

}  // namespace
}  // namespace esi::batchjob::flink_cluster

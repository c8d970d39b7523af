#include "neighbours/flink/pods.h"

#include <gtest/gtest.h>

namespace esi::simulation::flink {
namespace {

using namespace std::chrono_literals;

json application() {
    return json::parse(R"({
      "apiVersion": "flink.apache.org/v1beta1", "kind": "FlinkDeployment",
      "metadata": {"name": "a", "namespace": "jobs", "uid": "app-uid", "generation": 2},
      "spec": {"image": "flink:1.20", "flinkVersion": "v1_20", "mode": "standalone",
        "serviceAccount": "flink",
        "flinkConfiguration": {"taskmanager.numberOfTaskSlots": "2", "restart-strategy": "none"},
        "podTemplate": {
          "metadata": {"labels": {"team": "a"}, "annotations": {"note": "common"}},
          "spec": {"priorityClassName": "common", "containers": [
            {"name": "flink-main-container", "env": [{"name": "FROM_TEMPLATE", "value": "1"}]}]}},
        "jobManager": {"replicas": 1, "resource": {"memory": "1600m", "cpu": 0.5}},
        "taskManager": {"replicas": 2, "resource": {"memory": "1792m", "cpu": 0.6},
          "podTemplate": {
            "metadata": {"labels": {"esi.tu-berlin.de/job": "a", "app": "not this"},
                         "annotations": {"esi.tu-berlin.de/run": "s.7.1"}},
            "spec": {"priorityClassName": "esi-job", "containers": [{"name": "flink-main-container"}],
              "schedulingGates": [{"name": "esi.tu-berlin.de/slot"}]}}},
        "job": {"jarURI": "local:///a.jar", "parallelism": 4}}})");
}

TEST(flink_pods, a_task_manager_is_both_templates_with_what_flink_computes) {
    EXPECT_EQ(task_manager_pod(application()), json::parse(R"({
        "metadata": {
          "labels": {"team": "a", "esi.tu-berlin.de/job": "a", "app": "a",
                     "component": "taskmanager", "type": "flink-standalone-kubernetes"},
          "annotations": {"note": "common", "esi.tu-berlin.de/run": "s.7.1"}},
        "spec": {"priorityClassName": "esi-job", "serviceAccountName": "flink",
          "schedulingGates": [{"name": "esi.tu-berlin.de/slot"}],
          "containers": [{"name": "flink-main-container", "image": "flink:1.20",
            "env": [{"name": "FROM_TEMPLATE", "value": "1"}],
            "command": ["/docker-entrypoint.sh"], "args": ["taskmanager"],
            "resources": {"requests": {"cpu": "600m", "memory": "1792Mi"},
                          "limits": {"cpu": "600m", "memory": "1792Mi"}}}]}})"));
}

TEST(flink_pods, a_job_manager_tells_which_generation_it_is_of) {
    const auto pod = job_manager_pod(application());
    EXPECT_EQ(pod["metadata"]["annotations"]["flinkdeployment.flink.apache.org/generation"], "2");
    EXPECT_EQ(pod["metadata"]["labels"]["component"], "jobmanager");
    EXPECT_EQ(pod["spec"]["priorityClassName"], "common");
    EXPECT_EQ(pod["spec"]["containers"][0]["resources"]["requests"],
              json::parse(R"({"cpu": "500m", "memory": "1600Mi"})"));
}

TEST(flink_pods, the_number_of_task_managers_is_given_or_follows_from_the_parallelism) {
    auto app = application();
    EXPECT_EQ(task_managers_of(app), 2);
    app["spec"]["taskManager"].erase("replicas");
    app["spec"]["job"]["parallelism"] = 5;
    EXPECT_EQ(task_managers_of(app), 3);
}

TEST(flink_pods, sizes_and_times_are_read_as_flink_writes_them) {
    EXPECT_EQ(mebibytes("1600m"), 1600);
    EXPECT_EQ(mebibytes("2g"), 2048);
    EXPECT_EQ(mebibytes("2048 mb"), 2048);
    EXPECT_EQ(mebibytes("2Gi"), 2048);
    EXPECT_EQ(mebibytes("much"), std::nullopt);
    EXPECT_EQ(duration("600000"), 600s);
    EXPECT_EQ(duration("10 min"), 600s);
    EXPECT_EQ(duration("50 s"), 50s);
    EXPECT_EQ(duration("soon"), std::nullopt);
}

TEST(flink_pods, the_restart_strategy_has_a_key_of_old_and_one_of_new_versions) {
    auto app = application();
    EXPECT_TRUE(never_restarts(app));
    app["spec"]["flinkConfiguration"]["restart-strategy"] = "fixed-delay";
    EXPECT_FALSE(never_restarts(app));
    app["spec"]["flinkConfiguration"]["restart-strategy.type"] = "none";
    EXPECT_TRUE(never_restarts(app));
}

TEST(flink_pods, the_validator_names_what_is_missing) {
    auto app = application();
    EXPECT_EQ(fault_in(app), "");
    app["spec"]["taskManager"]["resource"].erase("memory");
    EXPECT_EQ(fault_in(app), "TaskManager resource memory must be defined.");
}

}  // namespace
}  // namespace esi::simulation::flink

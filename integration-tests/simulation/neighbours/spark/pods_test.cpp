#include "neighbours/spark/pods.h"

#include <gtest/gtest.h>

namespace esi::simulation::spark {
namespace {

json application() {
    return json::parse(R"({
      "apiVersion": "sparkoperator.k8s.io/v1beta2", "kind": "SparkApplication",
      "metadata": {"name": "a", "namespace": "jobs", "uid": "app-uid"},
      "spec": {
        "type": "Scala", "sparkVersion": "4.0.1", "image": "apache/spark:4.0.1",
        "sparkConf": {"spark.kubernetes.executor.scheduler.name": "external-scheduler"},
        "driver": {"coreRequest": "100m", "memory": "512m", "labels": {"esi.tu-berlin.de/job": "a"},
                   "template": {"spec": {"containers": [{"name": "spark-kubernetes-driver"}]}}},
        "executor": {
          "instances": 2, "cores": 1, "coreRequest": "600m", "memory": "1408m",
          "memoryOverhead": "384m", "priorityClassName": "ignored-without-webhook",
          "labels": {"esi.tu-berlin.de/job": "a"},
          "annotations": {"esi.tu-berlin.de/run": "s.7.1"},
          "template": {"metadata": {"labels": {"from": "template"}}, "spec": {
            "containers": [{"name": "sidecar"}, {"name": "spark-kubernetes-executor"}],
            "schedulerName": "default-scheduler", "priorityClassName": "esi-job",
            "tolerations": [{"key": "esi.tu-berlin.de/testbed", "operator": "Exists"}],
            "schedulingGates": [{"name": "esi.tu-berlin.de/slot"}]}}}}})");
}

TEST(spark_pods, an_executor_is_its_template_with_what_spark_computes) {
    const auto app = application();
    auto driver = driver_pod(app, submission_of(app));
    driver["metadata"]["uid"] = "driver-uid";
    auto pod = executor_pod(app, driver, 3);

    EXPECT_TRUE(pod["metadata"]["name"].get<std::string>().ends_with("-exec-3"));
    EXPECT_EQ(pod["metadata"]["ownerReferences"], json::parse(R"([{"apiVersion": "v1",
        "kind": "Pod", "name": "a-driver", "uid": "driver-uid", "controller": true}])"));
    EXPECT_EQ(pod["metadata"]["annotations"], json::parse(R"({"esi.tu-berlin.de/run": "s.7.1"})"));
    const auto& labels = pod["metadata"]["labels"];
    EXPECT_EQ(labels["from"], "template");
    EXPECT_EQ(labels["esi.tu-berlin.de/job"], "a");
    EXPECT_EQ(labels["spark-role"], "executor");
    EXPECT_EQ(labels["spark-exec-id"], "3");
    EXPECT_EQ(labels["sparkoperator.k8s.io/app-name"], "a");
    EXPECT_EQ(labels["sparkoperator.k8s.io/submission-id"],
              driver["metadata"]["labels"]["sparkoperator.k8s.io/submission-id"]);
    EXPECT_EQ(pod["spec"], json::parse(R"({
        "containers": [{"name": "sidecar"},
          {"name": "spark-kubernetes-executor", "image": "apache/spark:4.0.1",
           "args": ["executor"], "resources": {"requests": {"cpu": "600m", "memory": "1792Mi"},
                                                "limits": {"memory": "1792Mi"}}}],
        "schedulerName": "external-scheduler", "priorityClassName": "esi-job",
        "restartPolicy": "Never",
        "tolerations": [{"key": "esi.tu-berlin.de/testbed", "operator": "Exists"}],
        "schedulingGates": [{"name": "esi.tu-berlin.de/slot"}]})"));
}

TEST(spark_pods, a_driver_belongs_to_its_application) {
    const auto app = application();
    auto pod = driver_pod(app, submission_of(app));
    EXPECT_EQ(pod["metadata"]["name"], "a-driver");
    EXPECT_EQ(pod["metadata"]["ownerReferences"][0]["uid"], "app-uid");
    EXPECT_EQ(pod["metadata"]["labels"]["spark-role"], "driver");
    EXPECT_EQ(pod["spec"]["containers"][0]["resources"]["requests"],
              json::parse(R"({"cpu": "100m", "memory": "896Mi"})"));
}

TEST(spark_pods, sizes_are_read_as_the_jvm_writes_them) {
    EXPECT_EQ(mebibytes("1408m"), 1408);
    EXPECT_EQ(mebibytes("2g"), 2048);
    EXPECT_EQ(mebibytes("512"), 512);
    EXPECT_EQ(mebibytes("2048k"), 2);
    EXPECT_EQ(mebibytes("1Gi"), std::nullopt);
    EXPECT_EQ(mebibytes(""), std::nullopt);
}

TEST(spark_pods, every_attempt_has_a_submission_of_its_own) {
    auto app = application();
    const auto first = submission_of(app);
    app["status"]["submissionAttempts"] = 1;
    EXPECT_EQ(first.id.size(), 36u);
    EXPECT_NE(submission_of(app).id, first.id);
}

}  // namespace
}  // namespace esi::simulation::spark

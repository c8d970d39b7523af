// SparkApplications of kubeflow's operator.
#include "base/application_kinds.h"

namespace esi::simulation::applications {

namespace {

/// Only what makes a spec: the definition itself belongs to others.
constexpr const char* schema = R"(
type: object
required: [spec]
properties:
  spec:
    type: object
    x-kubernetes-preserve-unknown-fields: true
    required: [driver, executor, mainApplicationFile, sparkVersion, type]
    properties:
      driver: {type: object, x-kubernetes-preserve-unknown-fields: true}
      executor: {type: object, x-kubernetes-preserve-unknown-fields: true}
      mainApplicationFile: {type: string}
      sparkVersion: {type: string}
      type: {type: string, enum: [Java, Python, Scala, R]}
  status: {type: object, x-kubernetes-preserve-unknown-fields: true}
)";

/// Of every second job: its executors bring a node affinity of two terms, each of which matches
/// every node. Terms are ORed, so that who restricts such a pod has to do it in both.
json executor_of(std::string_view job) {
    if (job.empty() || job.back() % 2 == 0) return json::object();
    json terms = json::array();
    for (const char* nowhere : {"nowhere", "elsewhere"}) {
        terms.push_back(
            {{"matchExpressions", json::array({{{"key", "kubernetes.io/hostname"},
                                                {"operator", "NotIn"},
                                                {"values", json::array({nowhere})}}})}});
    }
    return {{"affinity",
             {{"nodeAffinity",
               {{"requiredDuringSchedulingIgnoredDuringExecution",
                 {{"nodeSelectorTerms", std::move(terms)}}}}}}}};
}

json small_spec(std::string_view job) {
    return {
        {"type", "Scala"},
        {"mode", "cluster"},
        {"sparkVersion", "4.0.1"},
        {"image", "apache/spark:4.0.1"},
        {"mainClass", "org.apache.spark.examples.SparkPi"},
        {"mainApplicationFile", "local:///opt/spark/examples/jars/spark-examples.jar"},
        {"restartPolicy", {{"type", "Never"}}},
        {"driver",
         {{"cores", 1}, {"coreRequest", "100m"}, {"memory", "512m"}, {"serviceAccount", "spark"}}},
        {"executor", executor_of(job)}};
}

json swept_spec() {
    return {{"type", "Scala"},
            {"mode", "cluster"},
            {"image", "example/spark:4.0.1"},
            {"mainClass", "org.apache.spark.examples.SparkPi"},
            {"mainApplicationFile", "local:///opt/spark/examples.jar"},
            {"sparkVersion", "4.0.1"},
            {"restartPolicy", {{"type", "Never"}}},
            {"driver", {{"cores", 1}, {"coreRequest", "100m"}, {"memory", "512m"}}},
            {"executor", {{"labels", {{"app", "pi"}}}}}};
}

}  // namespace

application_kind spark() {
    return {.name = "spark",
            .type = &kube::types::spark_application,
            .spec = "sparkSpec",
            .coordinator = {"spark-role", "driver"},
            .worker = {"spark-role", "executor"},
            .coordinator_of = {},
            .state = {"status", "applicationState", "state"},
            .good_end = "COMPLETED",
            .neighbours = {"spark-operator"},
            .cancellable = false,
            .schema = schema,
            .has_rules = false,
            .spec_of = small_spec,
            .edits = {{{"mainClass", "org.example.Other"}},
                      {{"driver", {{"memory", "768m"}}}},
                      {{"executor", {{"cores", 2}}}},
                      {{"type", "Cobol"}}},
            .swept_spec = swept_spec(),
            .swept_schema = nullptr};
}

}  // namespace esi::simulation::applications

#include "batchjob/backends/spark/mapping.h"
#include "batchjob/backends/testing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "batchjob/backends/spark/backend.h"

namespace esi::batchjob::spark {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::expected<built, spec_problem> map_spec(std::string spec, std::vector<int> slots = {3, 5}) {
    return map(request_for(std::move(spec), std::move(slots)), {}, size_from::slot);
}
json parse(std::string_view text) { return json::parse(text); }

TEST(spark_mapping, a_plain_job_on_the_gate_path) {
    const auto got = map_spec(R"({"type":"Scala","sparkVersion":"4.0.1",
        "mainApplicationFile":"local:///a.jar","driver":{"serviceAccount":"spark"},"executor":{}})");
    ASSERT_TRUE(got) << got.error().text;
    EXPECT_TRUE(got->overridden.empty());
    EXPECT_EQ(got->object, parse(R"({
      "apiVersion": "sparkoperator.k8s.io/v1beta2",
      "kind": "SparkApplication",
      "metadata": {
        "name": "a", "namespace": "jobs",
        "labels": {"esi.tu-berlin.de/job": "a"},
        "annotations": {"esi.tu-berlin.de/run": "s.7.1"},
        "ownerReferences": [{"apiVersion": "esi.tu-berlin.de/v1alpha1", "kind": "BatchJob",
          "name": "a", "uid": "job-uid", "controller": true, "blockOwnerDeletion": true}]
      },
      "spec": {
        "type": "Scala", "sparkVersion": "4.0.1", "mainApplicationFile": "local:///a.jar",
        "restartPolicy": {"type": "Never"},
        "sparkConf": {
          "spark.kubernetes.executor.scheduler.name": "default-scheduler",
          "spark.scheduler.minRegisteredResourcesRatio": "1.0",
          "spark.scheduler.maxRegisteredResourcesWaitingTime": "600s",
          "spark.kubernetes.allocation.batch.size": "2"
        },
        "driver": {
          "serviceAccount": "spark",
          "labels": {"esi.tu-berlin.de/job": "a"},
          "annotations": {"esi.tu-berlin.de/run": "s.7.1"},
          "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution":
            {"nodeSelectorTerms": [{"matchExpressions":
              [{"key": "example.com/slots", "operator": "DoesNotExist"}]}]}}},
          "template": {"spec": {
            "containers": [{"name": "spark-kubernetes-driver"}],
            "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution":
              {"nodeSelectorTerms": [{"matchExpressions":
                [{"key": "example.com/slots", "operator": "DoesNotExist"}]}]}}}
          }}
        },
        "executor": {
          "instances": 2, "cores": 1, "coreRequest": "600m",
          "memory": "1408m", "memoryOverhead": "384m",
          "schedulerName": "default-scheduler", "priorityClassName": "esi-job",
          "labels": {"esi.tu-berlin.de/job": "a", "esi.tu-berlin.de/testbed": "bed",
                     "esi.tu-berlin.de/testbed-namespace": "beds"},
          "annotations": {"esi.tu-berlin.de/run": "s.7.1", "esi.tu-berlin.de/slots": "3,5"},
          "template": {"spec": {
            "containers": [{"name": "spark-kubernetes-executor"}],
            "schedulerName": "default-scheduler", "priorityClassName": "esi-job",
            "tolerations": [{"key": "esi.tu-berlin.de/testbed", "operator": "Exists"}],
            "schedulingGates": [{"name": "esi.tu-berlin.de/slot"}]
          }}
        }
      }
    })"))
        << got->object.dump(2);
}

TEST(spark_mapping, the_extender_path_has_no_gate_and_its_own_scheduler_and_class) {
    placement_options options;
    options.extender = true;
    const auto got = map(request_for(R"({"driver":{},"executor":{}})"), options, size_from::slot);
    ASSERT_TRUE(got);
    const auto& spec = got->object["spec"];
    const auto& pod = spec["executor"]["template"]["spec"];
    EXPECT_FALSE(pod.contains("schedulingGates"));
    EXPECT_EQ(pod["schedulerName"], "external-scheduler");
    EXPECT_EQ(pod["priorityClassName"], "esi-extender");
    EXPECT_EQ(spec["sparkConf"]["spark.kubernetes.executor.scheduler.name"], "external-scheduler");
    // kube-scheduler asks the extender about the testbed's nodes, not about the whole cluster.
    EXPECT_EQ(pod["affinity"],
              parse(R"({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution":
                {"nodeSelectorTerms": [{"matchExpressions":
                  [{"key": "example.com/slots", "operator": "Exists"}]}]}}})"));
}

TEST(spark_mapping, a_driver_with_a_slot_is_as_large_as_it_and_waits_at_the_gate_as_executors_do) {
    const auto got = map(request_with_coordinator(R"({"type":"Scala","sparkVersion":"4.0.1",
        "mainApplicationFile":"local:///a.jar","driver":{"serviceAccount":"spark"},
        "executor":{}})"),
                         {}, size_from::slot);
    ASSERT_TRUE(got) << got.error().text;
    EXPECT_TRUE(got->overridden.empty());
    EXPECT_EQ(got->object["spec"], parse(R"({
        "type": "Scala", "sparkVersion": "4.0.1", "mainApplicationFile": "local:///a.jar",
        "restartPolicy": {"type": "Never"},
        "sparkConf": {
          "spark.kubernetes.driver.scheduler.name": "default-scheduler",
          "spark.kubernetes.executor.scheduler.name": "default-scheduler",
          "spark.scheduler.minRegisteredResourcesRatio": "1.0",
          "spark.scheduler.maxRegisteredResourcesWaitingTime": "600s",
          "spark.kubernetes.allocation.batch.size": "2"
        },
        "driver": {
          "serviceAccount": "spark",
          "cores": 1, "coreRequest": "1", "memory": "1664m", "memoryOverhead": "384m",
          "schedulerName": "default-scheduler", "priorityClassName": "esi-job",
          "labels": {"esi.tu-berlin.de/job": "a", "esi.tu-berlin.de/testbed": "bed",
                     "esi.tu-berlin.de/testbed-namespace": "beds"},
          "annotations": {"esi.tu-berlin.de/run": "s.7.1", "esi.tu-berlin.de/slots": "0"},
          "template": {"spec": {
            "containers": [{"name": "spark-kubernetes-driver"}],
            "schedulerName": "default-scheduler", "priorityClassName": "esi-job",
            "tolerations": [{"key": "esi.tu-berlin.de/testbed", "operator": "Exists"}],
            "schedulingGates": [{"name": "esi.tu-berlin.de/slot"}]
          }}
        },
        "executor": {
          "instances": 2, "cores": 1, "coreRequest": "600m",
          "memory": "1408m", "memoryOverhead": "384m",
          "schedulerName": "default-scheduler", "priorityClassName": "esi-job",
          "labels": {"esi.tu-berlin.de/job": "a", "esi.tu-berlin.de/testbed": "bed",
                     "esi.tu-berlin.de/testbed-namespace": "beds"},
          "annotations": {"esi.tu-berlin.de/run": "s.7.1", "esi.tu-berlin.de/slots": "3,5"},
          "template": {"spec": {
            "containers": [{"name": "spark-kubernetes-executor"}],
            "schedulerName": "default-scheduler", "priorityClassName": "esi-job",
            "tolerations": [{"key": "esi.tu-berlin.de/testbed", "operator": "Exists"}],
            "schedulingGates": [{"name": "esi.tu-berlin.de/slot"}]
          }}
        }
      })"))
        << got->object.dump(2);
}

TEST(spark_mapping, what_the_user_says_of_a_driver_with_a_slot_is_overridden_and_named) {
    const std::string spec = R"({"type":"Python","sparkConf":{"spark.driver.memory":"8g",
        "spark.driver.memoryOverheadFactor":"0.5","spark.kubernetes.driver.scheduler.name":"x",
        "spark.driver.maxResultSize":"1g"},
        "driver":{"cores":8,"memory":"8g","schedulerName":"x","nodeSelector":{"disk":"fast"},
          "template":{"spec":{"nodeName":"n","priority":7}}},"executor":{}})";
    auto request = request_with_coordinator(spec);
    request.by_slot = true;
    const auto got = map(request, {}, size_from::slot);
    ASSERT_TRUE(got) << got.error().text;
    EXPECT_THAT(
        got->overridden,
        ElementsAre("driver.schedulerName (x)",
                    "sparkConf[spark.driver.memoryOverheadFactor] (0.5)",
                    "sparkConf[spark.kubernetes.driver.scheduler.name] (x)", "driver.cores (8)",
                    "driver.memory (8g)", "sparkConf[spark.driver.memory] (8g)",
                    "driver.template.spec.nodeName", "driver.template.spec.priority"));
    const auto& driver = got->object["spec"]["driver"];
    EXPECT_EQ(driver["memory"], "1462m") << "40 % of it are overhead: Python runs outside the JVM";
    EXPECT_EQ(driver["memoryOverhead"], "586m");
    EXPECT_EQ(driver["template"]["spec"]["nodeSelector"], parse(R"({"disk":"fast"})"));
    EXPECT_FALSE(driver["template"]["spec"].contains("affinity")) << "it is not kept off";
    EXPECT_TRUE(got->object["spec"]["sparkConf"].contains("spark.driver.maxResultSize"));

    const auto off = map(request_for(spec), {}, size_from::slot);
    ASSERT_TRUE(off) << off.error().text;
    EXPECT_EQ(off->object["spec"]["driver"]["memory"], "8g")
        << "one that takes no slot is the user's";
    EXPECT_EQ(off->object["spec"]["sparkConf"]["spark.driver.memory"], "8g");
}

TEST(spark_mapping, the_extender_places_a_driver_with_a_slot_as_executors) {
    placement_options options;
    options.extender = true;
    const auto got =
        map(request_with_coordinator(R"({"driver":{},"executor":{}})"), options, size_from::slot);
    ASSERT_TRUE(got) << got.error().text;
    const auto& spec = got->object["spec"];
    EXPECT_EQ(spec["driver"]["schedulerName"], "external-scheduler");
    EXPECT_EQ(spec["sparkConf"]["spark.kubernetes.driver.scheduler.name"], "external-scheduler");
    const auto& pod = spec["driver"]["template"]["spec"];
    EXPECT_EQ(pod["schedulerName"], "external-scheduler");
    EXPECT_EQ(pod["priorityClassName"], "esi-extender");
    EXPECT_FALSE(pod.contains("schedulingGates"));
}

TEST(spark_mapping, a_slot_too_small_for_the_driver_is_refused_with_its_numbers) {
    auto request = request_with_coordinator(R"({"driver":{},"executor":{}})");
    request.coordinator->size["memory"] = *model::quantity::parse("800Mi");
    const auto got = map(request, {}, size_from::slot);
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().reason, "SlotTooSmall");
    EXPECT_EQ(got.error().text,
              "a Spark driver needs a slot of at least 834 MiB of memory (450 MiB heap and 384 MiB "
              "overhead); the slot has 800 MiB");
}

TEST(spark_mapping, volumes_mounts_and_tolerations_move_into_the_templates) {
    const auto got = map_spec(R"({
      "volumes": [{"name": "data", "hostPath": {"path": "/tmp"}},
                  {"name": "spark-local-dir-1", "emptyDir": {}},
                  {"name": "other", "emptyDir": {}}],
      "driver": {"volumeMounts": [{"name": "data", "mountPath": "/d"}],
                 "securityContext": {"runAsUser": 1},
                 "tolerations": [{"key": "infra", "operator": "Exists"}]},
      "executor": {"volumeMounts": [{"name": "data", "mountPath": "/e"},
                                    {"name": "spark-local-dir-1", "mountPath": "/s"}],
                   "podSecurityContext": {"fsGroup": 2},
                   "nodeSelector": {"disk": "fast"},
                   "tolerations": [{"key": "mine", "operator": "Exists"}],
                   "template": {"spec": {"containers": [{"name": "side"},
                       {"name": "spark-kubernetes-executor", "env": [{"name": "A", "value": "b"}]}],
                       "volumes": [{"name": "own", "emptyDir": {}}]}}}})");
    ASSERT_TRUE(got) << got.error().text;
    const auto& spec = got->object["spec"];
    EXPECT_EQ(spec["volumes"], parse(R"([{"name":"spark-local-dir-1","emptyDir":{}},
                                         {"name":"other","emptyDir":{}}])"));
    EXPECT_FALSE(spec["driver"].contains("volumeMounts"));
    EXPECT_FALSE(spec["driver"].contains("tolerations"));
    const auto& driver = spec["driver"]["template"]["spec"];
    EXPECT_EQ(driver["volumes"], parse(R"([{"name":"data","hostPath":{"path":"/tmp"}}])"));
    EXPECT_EQ(driver["containers"], parse(R"([{"name":"spark-kubernetes-driver",
        "volumeMounts":[{"name":"data","mountPath":"/d"}],"securityContext":{"runAsUser":1}}])"));
    EXPECT_EQ(driver["tolerations"], parse(R"([{"key":"infra","operator":"Exists"}])"));
    EXPECT_EQ(spec["executor"]["volumeMounts"],
              parse(R"([{"name":"spark-local-dir-1","mountPath":"/s"}])"));
    const auto& executor = spec["executor"]["template"]["spec"];
    EXPECT_EQ(executor["volumes"], parse(R"([{"name":"own","emptyDir":{}},
                                             {"name":"data","hostPath":{"path":"/tmp"}}])"));
    EXPECT_EQ(executor["containers"], parse(R"([{"name":"side"},
        {"name":"spark-kubernetes-executor","env":[{"name":"A","value":"b"}],
         "volumeMounts":[{"name":"data","mountPath":"/e"}]}])"));
    EXPECT_EQ(executor["securityContext"], parse(R"({"fsGroup":2})"));
    EXPECT_EQ(executor["nodeSelector"], parse(R"({"disk":"fast"})"));
    EXPECT_EQ(executor["tolerations"], parse(R"([{"key":"mine","operator":"Exists"},
                        {"key":"esi.tu-berlin.de/testbed","operator":"Exists"}])"));
}

TEST(spark_mapping, no_pod_may_take_longer_to_end_than_the_operator_allows) {
    const auto got = map_spec(R"({
      "driver": {"terminationGracePeriodSeconds": 600,
                 "template": {"spec": {"terminationGracePeriodSeconds": 86400}}},
      "executor": {"template": {"spec": {"terminationGracePeriodSeconds": 121}}}})");
    ASSERT_TRUE(got) << got.error().text;
    const auto& spec = got->object["spec"];
    EXPECT_EQ(spec["driver"]["terminationGracePeriodSeconds"], 120);
    for (const char* role : {"driver", "executor"}) {
        EXPECT_EQ(spec[role]["template"]["spec"]["terminationGracePeriodSeconds"], 120) << role;
    }
    EXPECT_EQ(got->overridden,
              (std::vector<std::string>{"driver.template.spec.terminationGracePeriodSeconds",
                                        "driver.terminationGracePeriodSeconds",
                                        "executor.template.spec.terminationGracePeriodSeconds"}));
}

TEST(spark_mapping, a_termination_grace_within_the_limit_stays_and_what_is_none_does_not) {
    const auto grace_of = [](const std::string& text) {
        placement_options options;
        options.max_termination_grace = seconds(60);
        const auto got = map(request_for(R"({"driver":{},"executor":{"template":{"spec":
                {"terminationGracePeriodSeconds":)" +
                                         text + "}}}}"),
                             options, size_from::slot);
        return got ? got->object["spec"]["executor"]["template"]["spec"]
                                ["terminationGracePeriodSeconds"]
                                    .dump()
                   : got.error().text;
    };
    for (const char* kept : {"0", "1", "60", "null", "-1"}) EXPECT_EQ(grace_of(kept), kept);
    for (const char* other : {"61", "\"86400\"", "1e9", "59.5", "18446744073709551615", "true"}) {
        EXPECT_EQ(grace_of(other), "60") << other;
    }
}

TEST(spark_mapping, a_drivers_other_affinity_does_not_let_it_onto_the_testbed) {
    const auto got =
        map_spec(R"({"driver": {"affinity": {"podAntiAffinity": {}}}, "executor":{}})");
    ASSERT_TRUE(got) << got.error().text;
    EXPECT_EQ(got->object["spec"]["driver"]["template"]["spec"]["affinity"],
              parse(R"({"podAntiAffinity": {}, "nodeAffinity":
                {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms":
                  [{"matchExpressions": [{"key": "example.com/slots",
                                          "operator": "DoesNotExist"}]}]}}})"));
}

TEST(spark_mapping, affinity_is_added_to_every_required_term_and_the_drivers_own_is_kept) {
    const std::string given = R"({
      "driver": {"affinity": {"nodeAffinity": {}, "podAffinity": {}}},
      "executor": {"affinity": {"podAntiAffinity": {}, "nodeAffinity":
        {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
          {"matchExpressions": [{"key": "zone", "operator": "Exists"}]}, {"matchFields": []}]}}}}})";
    const auto gated = map_spec(given);
    ASSERT_TRUE(gated) << gated.error().text;
    EXPECT_EQ(gated->object["spec"]["executor"]["template"]["spec"]["affinity"]["nodeAffinity"]
                           ["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"],
              parse(R"([{"matchExpressions": [{"key": "zone", "operator": "Exists"}]},
                        {"matchFields": []}])"))
        << "the gate's pin is enough: a label taken off while held keeps nobody out";
    placement_options options;
    options.extender = true;
    const auto got = map(request_for(given), options, size_from::slot);
    ASSERT_TRUE(got) << got.error().text;
    const auto& spec = got->object["spec"];
    EXPECT_EQ(spec["driver"]["template"]["spec"]["affinity"],
              parse(R"({"nodeAffinity": {}, "podAffinity": {}})"));
    const auto terms = parse(R"([
        {"matchExpressions": [{"key": "zone", "operator": "Exists"},
                              {"key": "example.com/slots", "operator": "Exists"}]},
        {"matchFields": []}])");
    for (const auto& affinity :
         {spec["executor"]["affinity"], spec["executor"]["template"]["spec"]["affinity"]}) {
        EXPECT_EQ(affinity["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
                          ["nodeSelectorTerms"],
                  terms);
        EXPECT_TRUE(affinity.contains("podAntiAffinity"));
    }
}

TEST(spark_mapping, keys_that_the_slots_decide_are_overridden_and_named) {
    auto request = request_for(R"({
      "sparkConf": {"spark.executor.memory": "9g", "spark.memory.offHeap.size": "1g",
                    "spark.kubernetes.namespace": "other",
                    "spark.kubernetes.executor.label.esi.tu-berlin.de/job": "x", "spark.ui.port": "1"},
      "driver": {"annotations": {"esi.tu-berlin.de/run": "mine", "keep": "1"},
                 "template": {"spec": {"nodeName": "n", "hostNetwork": true}}},
      "executor": {"instances": 9, "memory": "9g", "memoryLimit": "9g", "schedulerName": "x",
                   "coreLimit": "2",
                   "template": {"metadata": {"labels": {"esi.tu-berlin.de/testbed": "x", "k": "v"}},
                                "spec": {"nodeName": "n", "priorityClassName": "p"}}}})");
    request.by_slot = true;
    const auto got = map(request, {}, size_from::slot);
    ASSERT_TRUE(got) << got.error().text;
    EXPECT_THAT(
        got->overridden,
        ElementsAre("executor.instances (9)", "executor.memoryLimit (9g)",
                    "executor.schedulerName (x)", "sparkConf[spark.kubernetes.namespace] (other)",
                    "executor.memory (9g)", "sparkConf[spark.executor.memory] (9g)",
                    "sparkConf[spark.memory.offHeap.size] (1g)",
                    "sparkConf[spark.kubernetes.executor.label.esi.tu-berlin.de/job]",
                    "driver.annotations[esi.tu-berlin.de/run]",
                    "executor.template.metadata.labels[esi.tu-berlin.de/testbed]",
                    "driver.template.spec.nodeName", "executor.template.spec.priorityClassName",
                    "executor.template.spec.nodeName"));
    const auto& spec = got->object["spec"];
    EXPECT_EQ(spec["executor"]["instances"], 2);
    EXPECT_EQ(spec["executor"]["memory"], "1408m");
    EXPECT_EQ(spec["executor"]["coreLimit"], "2");
    EXPECT_FALSE(spec["executor"].contains("memoryLimit"));
    EXPECT_EQ(spec["sparkConf"]["spark.ui.port"], "1");
    EXPECT_FALSE(spec["sparkConf"].contains("spark.kubernetes.namespace"));
    EXPECT_FALSE(spec["sparkConf"].contains("spark.executor.memory"));
    EXPECT_FALSE(spec["driver"]["template"]["spec"].contains("nodeName"));
    EXPECT_EQ(spec["driver"]["annotations"],
              parse(R"({"esi.tu-berlin.de/run": "s.7.1", "keep": "1"})"));
    const auto& executor = spec["executor"]["template"];
    EXPECT_EQ(executor["metadata"]["labels"], parse(R"({"k": "v"})"));
    EXPECT_FALSE(executor["spec"].contains("nodeName"));
}

TEST(spark_mapping, what_slots_exclude_is_refused) {
    const std::tuple<const char*, const char*, const char*> rows[] = {
        {R"({"batchScheduler":"volcano"})", "BatchScheduler", "batchScheduler is refused"},
        {R"({"batchSchedulerOptions":{"queue":"q"}})", "BatchScheduler", "batchSchedulerOptions"},
        {R"({"restartPolicy":{"type":"Always"}})", "RestartAlways", "never completes"},
        {R"({"dynamicAllocation":{"enabled":true}})", "DynamicAllocation",
         "minExecutors unset, initialExecutors unset, maxExecutors unset, the job has 2 slots"},
        {R"({"dynamicAllocation":{"enabled":true,"minExecutors":1,"initialExecutors":2,"maxExecutors":4}})",
         "DynamicAllocation", "minExecutors 1, initialExecutors 2, maxExecutors 4"},
        {R"({"dynamicAllocation":{"enabled":true,"minExecutors":3,"initialExecutors":3,"maxExecutors":3}})",
         "DynamicAllocation", "the job has 2 slots"},
        {R"({"sparkConf":{"spark.dynamicAllocation.enabled":"true"}})", "DynamicAllocation", ""},
        {R"([])", "SpecMalformed", "sparkSpec must be an object"},
        {R"({"executor":"x"})", "SpecMalformed", "sparkSpec.executor must be an object"},
        {R"({"driver":[]})", "SpecMalformed", "sparkSpec.driver must be an object"},
        {R"({"sparkConf":1})", "SpecMalformed", "sparkSpec.sparkConf must be an object"},
        {R"({"restartPolicy":1})", "SpecMalformed", "sparkSpec.restartPolicy must be an object"},
        {R"({"executor":{"labels":1}})", "SpecMalformed", "executor.labels must be an object"},
        {R"({"executor":{"template":1}})", "SpecMalformed", "executor.template must be an object"},
        {R"({"executor":{"template":{"spec":{"containers":{}}}}})", "SpecMalformed", "a list"},
        {R"({"executor":{"template":{"metadata":1}}})", "SpecMalformed", "template.metadata"},
        {R"({"executor":{"tolerations":1}})", "SpecMalformed",
         "executor.tolerations must be a list"},
        {R"({"driver":{"volumeMounts":1}})", "SpecMalformed", "driver.volumeMounts must be a list"},
    };
    for (const auto& [spec, reason, words] : rows) {
        const auto got = map_spec(spec);
        ASSERT_FALSE(got) << spec;
        EXPECT_EQ(got.error().reason, reason) << spec;
        EXPECT_THAT(got.error().text, HasSubstr(words)) << spec;
    }
}

TEST(spark_mapping, odd_but_harmless_specs_are_mapped) {
    for (
        const char* spec :
        {R"({})", R"({"driver":null,"executor":null,"sparkConf":null})",
         R"({"volumes":[1,{"name":2}],"driver":{"volumeMounts":[null,{"name":"gone"}]}})",
         R"({"dynamicAllocation":{"enabled":false}})", R"({"batchScheduler":""})",
         R"({"executor":{"template":{"spec":{"containers":[null,7]}}}})",
         R"({"restartPolicy":{"type":"OnFailure","onFailureRetries":3}})",
         R"({"dynamicAllocation":{"enabled":true,"minExecutors":2,"initialExecutors":2,"maxExecutors":2}})"}) {
        const auto got = map_spec(spec);
        ASSERT_TRUE(got) << spec << ": " << got.error().text;
        EXPECT_FALSE(got->object["spec"].contains("dynamicAllocation")) << spec;
        EXPECT_FALSE(got->object["spec"].contains("batchScheduler")) << spec;
    }
}

TEST(spark_mapping, cores_are_whole_and_the_request_is_the_slots) {
    for (const auto& [cpu, cores] :
         {std::pair{"100m", 1}, {"600m", 1}, {"1", 1}, {"1999m", 1}, {"2", 2}, {"2.5", 2}}) {
        auto request = request_for("{}");
        request.slot_size["cpu"] = *model::quantity::parse(cpu);
        const auto got = map(request, {}, size_from::slot);
        ASSERT_TRUE(got);
        EXPECT_EQ(got->object["spec"]["executor"]["cores"], cores) << cpu;
        EXPECT_EQ(got->object["spec"]["executor"]["coreRequest"], cpu);
    }
}

TEST(spark_probe, has_one_executor_of_the_smallest_size_and_needs_no_testbed) {
    const spark_backend backend{placement_options{}};
    auto request = request_for(R"({"executor":{"instances":7}, "dynamicAllocation":
        {"enabled":true,"minExecutors":5,"initialExecutors":5,"maxExecutors":5}})");
    const auto got = backend.probe(request.job, request.spec, false);
    ASSERT_TRUE(got) << got.error().text;
    const auto& executor = got->object["spec"]["executor"];
    EXPECT_EQ(executor["instances"], 1);
    EXPECT_EQ(executor["memory"], "450m");
    EXPECT_EQ(executor["memoryOverhead"], "384m");
    EXPECT_FALSE(executor["labels"].contains("esi.tu-berlin.de/testbed"));
    EXPECT_FALSE(executor.contains("affinity"));
    EXPECT_THAT(got->overridden, ElementsAre("executor.instances (7)"));
}

}  // namespace
}  // namespace esi::batchjob::spark

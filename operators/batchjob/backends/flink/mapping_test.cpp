#include "batchjob/backends/flink/mapping.h"
#include "batchjob/backends/testing.h"
#include "grid/slot_room.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "batchjob/backends/flink/backend.h"

namespace esi::batchjob::flink {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::expected<built, spec_problem> map_spec(std::string spec, std::vector<int> slots = {3, 5}) {
    return map(request_for(std::move(spec), std::move(slots)), {}, {}, size_from::slot);
}
json parse(std::string_view text) { return json::parse(text); }

TEST(flink_mapping, the_originals_job_on_the_gate_path) {
    const auto got = map_spec(R"({"jarFile": "./examples/streaming/WordCount.jar",
        "className": "org.apache.flink.streaming.examples.wordcount.WordCount",
        "args": ["--input", "./README.txt"]})");
    ASSERT_TRUE(got) << got.error().text;
    EXPECT_TRUE(got->overridden.empty());
    EXPECT_TRUE(got->ignored.empty());
    EXPECT_EQ(got->object, parse(R"({
      "apiVersion": "flink.apache.org/v1beta1",
      "kind": "FlinkDeployment",
      "metadata": {
        "name": "a", "namespace": "jobs",
        "labels": {"esi.tu-berlin.de/job": "a"},
        "annotations": {"esi.tu-berlin.de/run": "s.7.1"},
        "ownerReferences": [{"apiVersion": "esi.tu-berlin.de/v1alpha1", "kind": "BatchJob",
          "name": "a", "uid": "job-uid", "controller": true, "blockOwnerDeletion": true}]
      },
      "spec": {
        "image": "flink:1.19", "flinkVersion": "v1_19", "mode": "standalone",
        "serviceAccount": "flink",
        "flinkConfiguration": {
          "taskmanager.numberOfTaskSlots": "1",
          "restart-strategy.type": "none",
          "kubernetes.operator.job.restart.failed": "false",
          "kubernetes.operator.jm-deployment-recovery.enabled": "false",
          "slot.request.timeout": "600000"
        },
        "job": {
          "jarURI": "local:///opt/flink/examples/streaming/WordCount.jar",
          "entryClass": "org.apache.flink.streaming.examples.wordcount.WordCount",
          "args": ["--input", "./README.txt"],
          "parallelism": 2, "state": "running", "upgradeMode": "stateless"
        },
        "jobManager": {
          "replicas": 1, "resource": {"cpu": 0.5, "memory": "1600m"},
          "podTemplate": {
            "metadata": {"labels": {"esi.tu-berlin.de/job": "a"},
                         "annotations": {"esi.tu-berlin.de/run": "s.7.1"}},
            "spec": {
              "containers": [{"name": "flink-main-container"}],
              "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution":
                {"nodeSelectorTerms": [{"matchExpressions":
                  [{"key": "example.com/slots", "operator": "DoesNotExist"}]}]}}}
            }
          }
        },
        "taskManager": {
          "replicas": 2, "resource": {"cpu": 0.6, "memory": "1792m"},
          "podTemplate": {
            "metadata": {
              "labels": {"esi.tu-berlin.de/job": "a", "esi.tu-berlin.de/testbed": "bed",
                         "esi.tu-berlin.de/testbed-namespace": "beds"},
              "annotations": {"esi.tu-berlin.de/run": "s.7.1", "esi.tu-berlin.de/slots": "3,5"}},
            "spec": {
              "containers": [{"name": "flink-main-container"}],
              "schedulerName": "default-scheduler", "priorityClassName": "esi-job",
              "tolerations": [{"key": "esi.tu-berlin.de/testbed", "operator": "Exists"}],
              "schedulingGates": [{"name": "esi.tu-berlin.de/slot"}]
            }
          }
        }
      }
    })"))
        << got->object.dump(2);
}

TEST(flink_mapping, the_extender_path_has_no_gate_and_its_own_scheduler_and_class) {
    placement_options options;
    options.extender = true;
    const auto got = map(request_for(R"({"jarFile":"/a.jar"})"), options, {}, size_from::slot);
    ASSERT_TRUE(got) << got.error().text;
    EXPECT_EQ(got->object["spec"]["taskManager"]["podTemplate"]["spec"], parse(R"({
      "containers": [{"name": "flink-main-container"}],
      "schedulerName": "external-scheduler", "priorityClassName": "esi-extender",
      "tolerations": [{"key": "esi.tu-berlin.de/testbed", "operator": "Exists"}],
      "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution":
        {"nodeSelectorTerms": [{"matchExpressions":
          [{"key": "example.com/slots", "operator": "Exists"}]}]}}}})"));
}

TEST(flink_mapping, a_job_manager_with_a_slot_is_as_large_as_it_and_waits_at_the_gate) {
    const auto got = map(request_with_coordinator(R"({"jarFile": "/a.jar",
        "podLabels": {"team": "x"}})"),
                         {}, {}, size_from::slot);
    ASSERT_TRUE(got) << got.error().text;
    EXPECT_TRUE(got->overridden.empty());
    const auto& spec = got->object["spec"];
    EXPECT_EQ(spec["jobManager"], parse(R"({
        "replicas": 1, "resource": {"cpu": 1.0, "memory": "2048m"},
        "podTemplate": {
          "metadata": {
            "labels": {"team": "x", "esi.tu-berlin.de/job": "a", "esi.tu-berlin.de/testbed": "bed",
                       "esi.tu-berlin.de/testbed-namespace": "beds"},
            "annotations": {"esi.tu-berlin.de/run": "s.7.1", "esi.tu-berlin.de/slots": "0"}},
          "spec": {
            "containers": [{"name": "flink-main-container"}],
            "schedulerName": "default-scheduler", "priorityClassName": "esi-job",
            "tolerations": [{"key": "esi.tu-berlin.de/testbed", "operator": "Exists"}],
            "schedulingGates": [{"name": "esi.tu-berlin.de/slot"}]
          }
        }
      })"))
        << got->object.dump(2);
    EXPECT_EQ(spec["taskManager"]["replicas"], 2);
    EXPECT_EQ(spec["taskManager"]["resource"], parse(R"({"cpu": 0.6, "memory": "1792m"})"));
    EXPECT_EQ(
        spec["taskManager"]["podTemplate"]["metadata"]["annotations"]["esi.tu-berlin.de/slots"],
        "3,5");
    EXPECT_EQ(spec["job"]["parallelism"], 2);

    placement_options options;
    options.extender = true;
    const auto extended =
        map(request_with_coordinator(R"({"jarFile": "/a.jar"})"), options, {}, size_from::slot);
    ASSERT_TRUE(extended) << extended.error().text;
    const auto& pod = extended->object["spec"]["jobManager"]["podTemplate"]["spec"];
    EXPECT_EQ(pod["schedulerName"], "external-scheduler");
    EXPECT_FALSE(pod.contains("schedulingGates"));
}

TEST(flink_mapping, what_the_user_says_of_a_job_manager_with_a_slot_is_overridden_and_named) {
    const std::string text = R"({"jarFile": "/a.jar", "resources": {"requests": {"cpu": "3"}},
        "flinkConfiguration": {"kubernetes.jobmanager.cpu.amount": "3",
          "jobmanager.memory.process.size": "9g", "jobmanager.memory.jvm-metaspace.size": "64m"}})";
    const auto got = map(request_with_coordinator(text), {}, {}, size_from::slot);
    ASSERT_TRUE(got) << got.error().text;
    EXPECT_THAT(got->overridden,
                ElementsAre("flinkConfiguration[jobmanager.memory.process.size]",
                            "flinkConfiguration[kubernetes.jobmanager.cpu.amount]", "resources"));
    EXPECT_EQ(got->object["spec"]["flinkConfiguration"]["jobmanager.memory.jvm-metaspace.size"],
              "64m");
    const auto off = map(request_for(text), {}, {}, size_from::slot);
    ASSERT_TRUE(off) << off.error().text;
    EXPECT_TRUE(off->overridden.empty()) << "one that takes no slot is the user's";

    auto small = request_with_coordinator(R"({"jarFile": "/a.jar"})");
    small.coordinator->size["memory"] = *model::quantity::parse("703Mi");
    const auto refused = map(small, {}, {}, size_from::slot);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().text,
              "a slot has 703 MiB, a JobManager needs at least 704 MiB with Flink's defaults; set "
              "jobmanager.memory.* in flinkSpec.flinkConfiguration to divide less");
}

TEST(flink_mapping, no_pod_may_take_longer_to_end_than_the_operator_allows) {
    const auto got = map_spec(R"({"jarFile": "a.jar",
        "jobManager": {"podTemplate": {"spec": {"terminationGracePeriodSeconds": 600}}},
        "taskManager": {"podTemplate": {"spec": {"terminationGracePeriodSeconds": 86400}}}})");
    ASSERT_TRUE(got) << got.error().text;
    for (const char* role : {"jobManager", "taskManager"}) {
        EXPECT_EQ(got->object["spec"][role]["podTemplate"]["spec"]["terminationGracePeriodSeconds"],
                  120)
            << role;
        EXPECT_THAT(got->overridden,
                    testing::Contains(std::string(role) +
                                      ".podTemplate.spec.terminationGracePeriodSeconds"));
    }
}

TEST(flink_mapping, a_jar_is_found_where_flink_looks_for_it) {
    const std::pair<const char*, const char*> rows[] = {
        {"./x.jar", "local:///opt/flink/x.jar"},
        {"x.jar", "local:///opt/flink/x.jar"},
        {"././lib/x.jar", "local:///opt/flink/lib/x.jar"},
        {"/jobs/x.jar", "local:///jobs/x.jar"},
        {"local:///opt/flink/usrlib/x.jar", "local:///opt/flink/usrlib/x.jar"},
        {"https://example.com/x.jar", "https://example.com/x.jar"},
    };
    for (const auto& [file, uri] : rows) EXPECT_EQ(jar_uri(file), uri) << file;
}

TEST(flink_mapping, image_version_and_job_manager_come_from_the_job_else_from_flags) {
    defaults otherwise;
    otherwise.image = "registry/flink:1.18";
    otherwise.version = "v1_18";
    otherwise.job_manager_cpu = "200m";
    otherwise.job_manager_memory = "1Gi";
    const auto plain = map(request_for(R"({"jarFile":"/a.jar"})"), {}, otherwise, size_from::slot);
    ASSERT_TRUE(plain) << plain.error().text;
    const auto& one = plain->object["spec"];
    EXPECT_EQ(one["image"], "registry/flink:1.18");
    EXPECT_EQ(one["flinkVersion"], "v1_18");
    EXPECT_EQ(one["jobManager"]["resource"], parse(R"({"cpu":0.2,"memory":"1024m"})"));
    // The key's name until 1.18.
    EXPECT_EQ(one["flinkConfiguration"]["restart-strategy"], "none");
    EXPECT_FALSE(one["flinkConfiguration"].contains("restart-strategy.type"));

    const auto own =
        map(request_for(R"({"jarFile":"/a.jar", "image": "mine:2", "serviceAccount": "me",
        "flinkVersion": "v2_0", "imagePullPolicy": "Never", "resources":
        {"requests": {"memory": "1.5Gi"}, "limits": {"cpu": 1, "memory": "2Gi"}}})"),
            {}, otherwise, size_from::slot);
    ASSERT_TRUE(own) << own.error().text;
    const auto& two = own->object["spec"];
    EXPECT_EQ(two["image"], "mine:2");
    EXPECT_EQ(two["imagePullPolicy"], "Never");
    EXPECT_EQ(two["serviceAccount"], "me");
    EXPECT_EQ(two["flinkVersion"], "v2_0");
    EXPECT_EQ(two["jobManager"]["resource"], parse(R"({"cpu":1.0,"memory":"1536m"})"));
    EXPECT_EQ(two["flinkConfiguration"]["restart-strategy.type"], "none");
}

TEST(flink_mapping, task_slots_multiply_the_parallelism) {
    const auto got = map_spec(R"({"jarFile":"/a.jar","taskSlots":3})");
    ASSERT_TRUE(got) << got.error().text;
    const auto& spec = got->object["spec"];
    EXPECT_EQ(spec["job"]["parallelism"], 6);
    EXPECT_EQ(spec["taskManager"]["replicas"], 2);
    EXPECT_EQ(spec["flinkConfiguration"]["taskmanager.numberOfTaskSlots"], "3");
    EXPECT_TRUE(map_spec(R"({"jarFile":"/a.jar","taskSlots":3,"parallelism":6})"));
    EXPECT_TRUE(map_spec(R"({"jarFile":"/a.jar","parallelism":2})"));
}

TEST(flink_mapping, savepoints_go_to_configuration_and_job) {
    const auto got = map_spec(R"({"jarFile":"/a.jar", "fromSavepoint": "s3://b/p",
        "allowNonRestoredState": true, "savepointsDir": "s3://b", "autoSavepointSeconds": 300})");
    ASSERT_TRUE(got) << got.error().text;
    const auto& spec = got->object["spec"];
    EXPECT_EQ(spec["job"]["initialSavepointPath"], "s3://b/p");
    EXPECT_EQ(spec["job"]["allowNonRestoredState"], true);
    EXPECT_EQ(spec["job"]["upgradeMode"], "stateless");
    EXPECT_EQ(spec["flinkConfiguration"]["state.savepoints.dir"], "s3://b");
    EXPECT_EQ(spec["flinkConfiguration"]["kubernetes.operator.periodic.savepoint.interval"],
              "300 s");

    const auto again = map_spec(R"({"jarFile":"/a.jar", "flinkVersion": "v2_0",
        "savepointsDir": "s3://b", "restartPolicy": "FromSavepointOnFailure"})");
    ASSERT_TRUE(again) << again.error().text;
    EXPECT_EQ(again->object["spec"]["job"]["upgradeMode"], "savepoint");
    EXPECT_EQ(again->object["spec"]["flinkConfiguration"], parse(R"({
        "execution.checkpointing.savepoint-dir": "s3://b",
        "execution.checkpointing.dir": "s3://b",
        "taskmanager.numberOfTaskSlots": "1",
        "restart-strategy.type": "none",
        "kubernetes.operator.job.restart.failed": "true",
        "kubernetes.operator.jm-deployment-recovery.enabled": "false",
        "slot.request.timeout": "600000"})"));
}

TEST(flink_mapping, python_programs_run_in_flinks_python_driver) {
    const auto file = map_spec(R"({"pyFile":"/jobs/a.py","pyFiles":"/lib.zip","args":["x"]})");
    ASSERT_TRUE(file) << file.error().text;
    EXPECT_EQ(file->object["spec"]["job"], parse(R"({
        "entryClass": "org.apache.flink.client.python.PythonDriver",
        "args": ["-py", "/jobs/a.py", "-pyfs", "/lib.zip", "x"],
        "parallelism": 2, "state": "running", "upgradeMode": "stateless"})"));
    const auto module = map_spec(R"({"pyModule":"m","className":"X","jarFile":"/dep.jar"})");
    ASSERT_TRUE(module) << module.error().text;
    EXPECT_EQ(module->object["spec"]["job"]["args"], parse(R"(["-pym", "m"])"));
    EXPECT_EQ(module->object["spec"]["job"]["jarURI"], "local:///dep.jar");
    EXPECT_THAT(module->overridden, ElementsAre("className"));
}

TEST(flink_mapping, what_describes_a_pod_describes_the_job_manager) {
    const auto got = map_spec(R"({"jarFile":"/a.jar",
      "podLabels": {"team": "x", "esi.tu-berlin.de/job": "y"}, "podAnnotations": {"note": "z"},
      "volumes": [{"name": "data", "emptyDir": {}}],
      "volumeMounts": [{"name": "data", "mountPath": "/d"}],
      "initContainers": [{"name": "fetch", "image": "busybox"}],
      "tolerations": [{"key": "infra", "operator": "Exists"}],
      "nodeSelector": {"disk": "fast"}, "securityContext": {"runAsUser": 1},
      "hostAliases": [{"ip": "10.0.0.1", "hostnames": ["h"]}],
      "jobManager": {"replicas": 3, "podTemplate": {"spec": {
        "containers": [{"name": "side"}], "volumes": [{"name": "own", "emptyDir": {}}]}}}})");
    ASSERT_TRUE(got) << got.error().text;
    EXPECT_THAT(got->overridden,
                ElementsAre("jobManager.replicas", "podLabels[esi.tu-berlin.de/job]"));
    const auto& manager = got->object["spec"]["jobManager"];
    EXPECT_EQ(manager["replicas"], 1);
    EXPECT_EQ(manager["podTemplate"]["metadata"], parse(R"({
        "labels": {"team": "x", "esi.tu-berlin.de/job": "a"},
        "annotations": {"note": "z", "esi.tu-berlin.de/run": "s.7.1"}})"));
    EXPECT_EQ(manager["podTemplate"]["spec"], parse(R"({
        "containers": [{"name": "flink-main-container",
                        "volumeMounts": [{"name": "data", "mountPath": "/d"}]}, {"name": "side"}],
        "volumes": [{"name": "own", "emptyDir": {}}, {"name": "data", "emptyDir": {}}],
        "initContainers": [{"name": "fetch", "image": "busybox"}],
        "tolerations": [{"key": "infra", "operator": "Exists"}],
        "nodeSelector": {"disk": "fast"}, "securityContext": {"runAsUser": 1},
        "hostAliases": [{"ip": "10.0.0.1", "hostnames": ["h"]}],
        "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution":
          {"nodeSelectorTerms": [{"matchExpressions":
            [{"key": "example.com/slots", "operator": "DoesNotExist"}]}]}}}})"));
    EXPECT_FALSE(got->object["spec"]["taskManager"]["podTemplate"]["spec"].contains("volumes"));
}

TEST(flink_mapping, a_job_managers_own_node_affinity_is_kept) {
    const auto got = map_spec(R"({"jarFile":"/a.jar", "affinity": {"nodeAffinity": {}}})");
    ASSERT_TRUE(got) << got.error().text;
    EXPECT_EQ(got->object["spec"]["jobManager"]["podTemplate"]["spec"]["affinity"],
              parse(R"({"nodeAffinity": {}})"));
}

TEST(flink_mapping, keys_that_the_slots_decide_are_overridden_and_named) {
    const auto got = map_spec(R"({"jarFile":"/a.jar",
      "flinkConfiguration": {"taskmanager.numberOfTaskSlots": 4, "restart-strategy.type": "fixed-delay",
        "kubernetes.taskmanager.cpu.limit-factor": "2", "state.backend": "rocksdb", "x": true},
      "jobManager": {"podTemplate": {"spec": {"nodeName": "n"}}},
      "taskManager": {"replicas": 9, "resource": {"memory": "9g"}, "podTemplate": {
        "metadata": {"labels": {"esi.tu-berlin.de/testbed": "x", "k": "v"}},
        "spec": {"nodeName": "n", "schedulerName": "s", "tolerations": [{"key": "mine"}],
          "containers": [{"name": "flink-main-container", "env": [{"name": "A", "value": "b"}]}]}}}})");
    ASSERT_TRUE(got) << got.error().text;
    EXPECT_THAT(got->overridden,
                ElementsAre("taskManager.replicas", "taskManager.resource",
                            "flinkConfiguration[kubernetes.taskmanager.cpu.limit-factor]",
                            "flinkConfiguration[restart-strategy.type]",
                            "flinkConfiguration[taskmanager.numberOfTaskSlots]",
                            "jobManager.podTemplate.spec.nodeName",
                            "taskManager.podTemplate.metadata.labels[esi.tu-berlin.de/testbed]",
                            "taskManager.podTemplate.spec.schedulerName",
                            "taskManager.podTemplate.spec.nodeName"));
    const auto& spec = got->object["spec"];
    EXPECT_EQ(spec["flinkConfiguration"]["state.backend"], "rocksdb");
    EXPECT_EQ(spec["flinkConfiguration"]["x"], "true");
    EXPECT_EQ(spec["flinkConfiguration"]["taskmanager.numberOfTaskSlots"], "1");
    const auto& workers = spec["taskManager"];
    EXPECT_EQ(workers["replicas"], 2);
    EXPECT_EQ(workers["resource"]["memory"], "1792m");
    const auto& pods = workers["podTemplate"];
    EXPECT_EQ(pods["metadata"]["labels"]["k"], "v");
    EXPECT_EQ(pods["metadata"]["labels"]["esi.tu-berlin.de/testbed"], "bed");
    EXPECT_FALSE(pods["spec"].contains("nodeName"));
    EXPECT_EQ(pods["spec"]["containers"],
              parse(R"([{"name": "flink-main-container", "env": [{"name": "A", "value": "b"}]}])"));
    EXPECT_EQ(
        pods["spec"]["tolerations"],
        parse(R"([{"key": "mine"}, {"key": "esi.tu-berlin.de/testbed", "operator": "Exists"}])"));
}

TEST(flink_mapping, keys_without_counterpart_are_named) {
    const auto got =
        map_spec(R"({"jarFile":"/a.jar", "cleanupPolicy": {"afterJobSucceeds": "KeepCluster"},
        "mode": "Detached", "noLoggingToStdout": true, "cancelRequested": false,
        "savepointGeneration": 3, "taskManager": {"sidecars": []}, "nothing": null})");
    ASSERT_TRUE(got) << got.error().text;
    EXPECT_THAT(got->ignored,
                ElementsAre("taskManager.sidecars", "cancelRequested", "cleanupPolicy", "mode",
                            "noLoggingToStdout", "savepointGeneration"));
}

TEST(flink_mapping, what_cannot_be_run_is_refused_with_the_reason) {
    const std::tuple<const char*, const char*, const char*> rows[] = {
        {R"([])", "SpecMalformed", "flinkSpec must be an object"},
        {R"({})", "SpecMalformed", "names no program"},
        {R"({"jarFile":""})", "SpecMalformed", "names no program"},
        {R"({"jarFile":1})", "SpecMalformed", "flinkSpec.jarFile must be a text"},
        {R"({"jarFile":"/a.jar","args":"x"})", "SpecMalformed", "args must be a list of texts"},
        {R"({"jarFile":"/a.jar","args":[1]})", "SpecMalformed", "args must be a list of texts"},
        {R"({"jarFile":"/a.jar","taskSlots":0})", "SpecMalformed", "taskSlots must be a whole"},
        {R"({"jarFile":"/a.jar","parallelism":99999999999})", "SpecMalformed", "1 to 1000000"},
        {R"({"jarFile":"/a.jar","parallelism":2.5})", "SpecMalformed", "parallelism must be"},
        {R"({"jarFile":"/a.jar","parallelism":5,"taskSlots":2})", "ParallelismMismatch",
         "parallelism is 5, which needs 3 slots of 2 task slots each; the job has 2 slots, which "
         "are filled by 4"},
        {R"({"jarFile":"/a.jar","parallelism":1})", "ParallelismMismatch",
         "needs 1 slots of 1 task slots each; the job has 2 slots"},
        {R"({"pyFile":"a","pyModule":"b"})", "SpecMalformed", "only one"},
        {R"({"jarFile":"/a.jar","restartPolicy":"Always"})", "SpecMalformed",
         "Never or FromSavepointOnFailure"},
        {R"({"jarFile":"/a.jar","restartPolicy":"FromSavepointOnFailure"})", "SavepointsDirMissing",
         "needs flinkSpec.savepointsDir"},
        {R"({"jarFile":"/a.jar","autoSavepointSeconds":5})", "SavepointsDirMissing",
         "needs flinkSpec.savepointsDir"},
        {R"({"jarFile":"/a.jar","allowNonRestoredState":"yes"})", "SpecMalformed", "true or false"},
        {R"({"jarFile":"/a.jar","flinkVersion":"1.18"})", "SpecMalformed", "of the form v1_20"},
        {R"({"jarFile":"/a.jar","flinkConfiguration":{"a":{"b":1}}})", "SpecMalformed",
         "flinkConfiguration.a must be a text"},
        {R"({"jarFile":"/a.jar","volumes":{}})", "SpecMalformed", "volumes must be a list"},
        {R"({"jarFile":"/a.jar","resources":{"requests":{"cpu":"x"}}})", "SpecMalformed",
         "resources.requests.cpu must be a quantity"},
        {R"({"jarFile":"/a.jar","taskManager":{"podTemplate":1}})", "SpecMalformed",
         "flinkSpec.taskManager.podTemplate must be an object"},
        {R"({"jarFile":"/a.jar","jobManager":{"podTemplate":{"spec":{"containers":1}}}})",
         "SpecMalformed", "flinkSpec.jobManager.podTemplate.spec.containers must be a list"},
        {R"({"jarFile":"/a.jar","jobManager":{"podTemplate":{"metadata":{"labels":[]}}}})",
         "SpecMalformed", "metadata.labels must be an object"},
    };
    for (const auto& [spec, reason, words] : rows) {
        const auto got = map_spec(spec);
        ASSERT_FALSE(got) << spec;
        EXPECT_EQ(got.error().reason, reason) << spec << "\n" << got.error().text;
        EXPECT_THAT(got.error().text, HasSubstr(words)) << spec;
    }
}

TEST(flink_mapping, a_slot_without_room_for_a_task_manager_is_refused_unless_the_user_divides) {
    auto request = request_for(R"({"jarFile":"/a.jar"})");
    request.slot_size["memory"] = *model::quantity::parse("981Mi");
    const auto got = map(request, {}, {}, size_from::slot);
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().reason, "SlotTooSmall");
    EXPECT_THAT(got.error().text,
                HasSubstr("a slot has 981 MiB, a TaskManager needs at least 982"));
    request.slot_size["memory"] = *model::quantity::parse("982Mi");
    EXPECT_TRUE(map(request, {}, {}, size_from::slot));
    request.slot_size["memory"] = *model::quantity::parse("700Mi");
    request.spec.text = R"({"jarFile":"/a.jar",
        "flinkConfiguration":{"taskmanager.memory.managed.fraction":"0.1"}})";
    EXPECT_TRUE(map(request, {}, {}, size_from::slot));
}

TEST(flink_mapping, a_name_longer_than_flinks_limit_is_refused) {
    auto request = request_for(R"({"jarFile":"/a.jar"})");
    request.job.name = std::string(45, 'a');
    EXPECT_TRUE(map(request, {}, {}, size_from::slot));
    request.job.name += "a";
    const auto got = map(request, {}, {}, size_from::slot);
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().reason, "NameTooLong");
    EXPECT_THAT(got.error().text, HasSubstr("has 46 characters, a Flink job may have 45"));
}

std::string why_not(const std::string& spec, bool by_slot = false) {
    const flink_backend kind({}, {});
    return grid::larger_than_slot(kind.least_size({spec}, pod_role::slot, by_slot),
                                  request_for("").slot_size);
}

TEST(flink_sizes, what_asks_for_more_than_the_slot_is_told_with_both_numbers) {
    const std::pair<const char*, const char*> rows[] = {
        {R"("taskManager":{"resource":{"cpu":2,"memory":"4g"}})",
         "it requests 2 cpu, the slot has 600m; it requests 4Gi memory, the slot has 1.75Gi"},
        {R"("taskManager":{"resources":{"limits":{"memory":"2Gi"}}})",
         "it requests 2Gi memory, the slot has 1.75Gi"},
        {R"("flinkConfiguration":{"taskmanager.memory.process.size":"2048m"})",
         "it requests 2Gi memory, the slot has 1.75Gi"},
        {R"("taskManager":{"resource":{"cpu":0.5,"memory":"1600m"}})", ""},
        {R"("taskManager":{"resource":{"cpu":0.5}, "podTemplate":{"spec":{"containers":[
            {"name":"fluentbit","resources":{"requests":{"cpu":"250m"}}}]}}})",
         "it requests 750m cpu, the slot has 600m"},
        {R"("taskManager":{"podTemplate":{"spec":{"containers":[
            {"name":"flink-main-container","resources":{"requests":{"ephemeral-storage":"1Gi"}}}]}}})",
         "it requests 1Gi ephemeral-storage, the slot has 0"},
    };
    for (const auto& [part, told] : rows) {
        EXPECT_EQ(why_not(R"({"jarFile":"/a.jar",)" + std::string(part) + "}"), told) << part;
    }
    EXPECT_EQ(why_not(R"({"jarFile":"/a.jar","taskManager":{"resource":{"cpu":2}}})", true), "");
    const auto bad =
        map_spec(R"({"jarFile":"/a.jar","taskManager":{"resource":{"memory":"much"}}})");
    ASSERT_FALSE(bad);
    EXPECT_EQ(bad.error().text,
              "flinkSpec.taskManager.resource.memory must be an amount of memory such as 1600m");
}

TEST(flink_sizes, a_sidecar_takes_its_part_of_the_slot_from_the_task_manager) {
    const auto got = map_spec(R"({"jarFile":"/a.jar","taskManager":{"podTemplate":{"spec":{
        "containers":[{"name":"fluentbit","resources":{"requests":{"cpu":"250m","memory":"128Mi"}}}]
        }}}})");
    ASSERT_TRUE(got) << got.error().text;
    EXPECT_EQ(got->object["spec"]["taskManager"]["resource"],
              parse(R"({"cpu":0.35,"memory":"1664m"})"));
}

TEST(flink_mapping, a_probe_is_one_pod_and_does_not_judge_numbers) {
    const flink_backend backend({}, {});
    model::object_meta job;
    job.name = "a";
    job.namespace_ = "jobs";
    const auto got = backend.probe(job, {R"({"jarFile":"/a.jar","parallelism":7})"}, false);
    ASSERT_TRUE(got) << got.error().text;
    EXPECT_EQ(got->object["spec"]["taskManager"]["replicas"], 1);
    EXPECT_EQ(got->object["spec"]["taskManager"]["resource"],
              parse(R"({"cpu":0.1,"memory":"982m"})"));
}

}  // namespace
}  // namespace esi::batchjob::flink

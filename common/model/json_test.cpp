#include "model/json.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "model/footprint.h"

namespace esi::model {
namespace {

TEST(json_name, is_camel_case) {
    EXPECT_EQ(json_name("slot_ids"), "slotIds");
    EXPECT_EQ(json_name("namespace_"), "namespace");
    EXPECT_EQ(json_name("pod_u_id"), "podUId");
    EXPECT_EQ(json_name("operator_"), "operator");
}

constexpr std::string_view testbed_text = R"({
  "apiVersion": "esi.tu-berlin.de/v1alpha1", "kind": "Testbed",
  "metadata": {
    "name": "grid", "namespace": "lab", "uid": "u-1", "resourceVersion": "77", "generation": 3,
    "creationTimestamp": "2026-11-21T09:34:07Z", "deletionTimestamp": null,
    "labels": {"esi.tu-berlin.de/active-scheduling-name": "s",
               "esi.tu-berlin.de/active-scheduling-namespace": "lab"},
    "annotations": {"esi.tu-berlin.de/hold": "u-9.76", "other.io/big": "xxxx"},
    "managedFields": [{"manager": "kubectl"}],
    "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u", "controller": true}],
    "finalizers": ["esi.tu-berlin.de/held"]},
  "spec": {"slotsPerNode": 2, "nodeLabel": "x/y", "resourcesPerSlot": {"cpu": 1, "memory": "1.75Gi"},
           "isolation": "Taint", "unknown": {"a": [1]}},
  "status": {"state": "SUCCESS",
             "slots": [{"position": 0, "state": "FREE", "nodeName": "a", "nodeId": 1,
                        "slotPositionOnNode": 0, "podName": "g", "podUId": "pu",
                        "reservedFor": null}],
             "nodeProblems": {"a": ["too small"]},
             "layout": {"revision": 2, "nodes": [{"name": "a", "uid": "n", "id": 1}],
                        "slotsPerNode": 2, "resourcesPerSlot": {"cpu": "1"}}}})";

TEST(json, a_testbed_is_read_and_trimmed) {
    auto read = decode<testbed>(testbed_text, "Testbed");
    ASSERT_TRUE(read) << read.error().text;
    EXPECT_EQ(read->metadata.key(), (object_key{"lab", "grid"}));
    EXPECT_EQ(read->metadata.generation, 3);
    EXPECT_FALSE(read->metadata.deleting());
    EXPECT_EQ(read->metadata.annotations.size(), 1u);
    EXPECT_EQ(read->hold(), "u-9.76");
    EXPECT_EQ(read->holder(), (object_key{"lab", "s"}));
    ASSERT_NE(read->metadata.controller_owner(), nullptr);
    EXPECT_EQ(read->spec.slots_per_node, 2);
    EXPECT_EQ(read->spec.resources_per_slot.at("cpu").milli, 1000);
    EXPECT_EQ(read->spec.resources_per_slot.at("memory").units(), 1'879'048'192);
    ASSERT_EQ(read->status.slots.size(), 1u);
    EXPECT_EQ(read->status.slots[0].pod_u_id, "pu");
    EXPECT_EQ(read->status.slots[0].reserved_for, std::nullopt);
    ASSERT_TRUE(read->status.layout);
    EXPECT_EQ(read->status.layout->nodes[0].id, 1);
    EXPECT_FALSE(read->status.counts);
}

TEST(json, what_is_encoded_is_read_back_the_same) {
    auto read = decode<testbed>(testbed_text, "Testbed");
    ASSERT_TRUE(read);
    const auto written = encode(read->status);
    EXPECT_EQ(written, json::parse(R"({"state":"SUCCESS","observedGeneration":0,
        "slots":[{"position":0,"state":"FREE","nodeName":"a","nodeId":1,"slotPositionOnNode":0,
                  "podName":"g","podUId":"pu"}],
        "nodeProblems":{"a":["too small"]},
        "layout":{"revision":2,"nodes":[{"name":"a","uid":"n","id":1}],"slotsPerNode":2,
                  "resourcesPerSlot":{"cpu":"1"}}})"));
    auto again = decode<testbed_status>(written.dump(), "status");
    ASSERT_TRUE(again);
    EXPECT_EQ(encode(*again), written);
}

std::string testbed_with_layout(std::string_view layout) {
    return fmt::format(R"({{"metadata":{{"name":"t","uid":"u"}},"status":{{"state":"SUCCESS",
                          "layout":{}}}}})",
                       layout);
}

TEST(json, a_layout_of_a_claim_has_shapes_and_places) {
    const auto text = R"({"revision":2,"nodes":[{"name":"b","uid":"u","id":0}],"slotsPerNode":0,
        "shapes":[{"name":"driver","role":"coordinator","count":1,"resources":{"cpu":"1"}},
                  {"name":"executors","role":"worker","count":2,"resources":{"cpu":"4"}}],
        "places":[0,0,0]})";
    const auto read = decode<testbed_layout>(text, "layout");
    ASSERT_TRUE(read) << read.error().text;
    EXPECT_EQ(read->shapes.at(1).count, 2);
    EXPECT_EQ(read->places, (std::vector{0, 0, 0}));
    EXPECT_EQ(encode(*read), json::parse(text));
}

TEST(json, a_claim_is_read_with_what_it_asks_of_nodes) {
    const auto read = decode<testbed>(R"({"spec":{"claim":{"shapes":[{"name":"executors",
        "count":8,"resources":{"cpu":"4"},"constraints":{"nodeSelector":{"disk":"ssd"},
        "affinity":{"nodeAffinity":{}},"tolerations":[{"key":"gpu","operator":"Exists"}]}}],
        "packing":"Spread","priority":-3,"suspend":true,"timeoutSeconds":60}}})",
                                      "Testbed");
    ASSERT_TRUE(read) << read.error().text;
    const auto& claim = *read->spec.claim;
    EXPECT_EQ(claim.packing, "Spread");
    EXPECT_EQ(claim.priority, -3);
    EXPECT_TRUE(claim.suspend);
    EXPECT_EQ(claim.timeout_seconds, 60);
    const auto& asked = claim.shapes.at(0).constraints;
    EXPECT_EQ(asked.node_selector.at("disk"), "ssd");
    EXPECT_EQ(asked.affinity.text, R"({"nodeAffinity":{}})");
    EXPECT_EQ(asked.tolerations.at(0).operator_, "Exists");
}

TEST(json, a_compact_layout_is_the_same_layout) {
    const auto read = [](std::string_view nodes) {
        auto out = decode<testbed>(
            testbed_with_layout(fmt::format(
                R"({{"revision":3,{},"slotsPerNode":2,"resourcesPerSlot":{{"cpu":"1"}}}})", nodes)),
            "Testbed");
        EXPECT_TRUE(out);
        EXPECT_EQ(out->metadata.undecodable, "");
        return out->status.layout.value();
    };
    const auto listed = read(R"("nodes":[{"name":"a","uid":"n","id":1},{"name":"b.c","uid":"m","id":
                                2147483647}])");
    auto compact = read(R"("compactNodes":["a n 1","b.c m 2147483647"])");
    EXPECT_FALSE(listed.compact);
    EXPECT_TRUE(compact.compact);
    EXPECT_EQ(encode(compact), json::parse(R"({"revision":3,"slotsPerNode":2,
        "compactNodes":["a n 1","b.c m 2147483647"],"resourcesPerSlot":{"cpu":"1"}})"));
    compact.compact = false;
    EXPECT_EQ(compact, listed);
    // Fields of later versions.
    EXPECT_EQ(read(R"("compactNodes":["a n 1 0,3","b.c m 2147483647 1,2 x "])").nodes,
              listed.nodes);
    EXPECT_EQ(read(R"("nodes":[],"compactNodes":["a n 1","b.c m 2147483647"])").nodes,
              listed.nodes);
    EXPECT_FALSE(read(R"("compactNodes":[])").compact) << "without nodes both forms are the same";
}

TEST(json, a_layout_that_cannot_be_read_names_the_line) {
    const struct {
        const char* layout;
        const char* why;
    } table[] = {
        {R"({"compactNodes":["a n 1","b m"]})",
         R"(compactNodes[1]: "b m" does not begin with NAME UID ID)"},
        {R"({"compactNodes":["a n x"]})",
         R"(compactNodes[0]: "a n x" does not begin with NAME UID ID)"},
        {R"({"compactNodes":["a n 1x"]})",
         R"(compactNodes[0]: "a n 1x" does not begin with NAME UID ID)"},
        {R"({"compactNodes":["a  1"]})",
         R"(compactNodes[0]: "a  1" does not begin with NAME UID ID)"},
        {R"({"compactNodes":[" n 1"]})",
         R"(compactNodes[0]: " n 1" does not begin with NAME UID ID)"},
        {R"({"compactNodes":["a n 99999999999999999999"]})",
         R"(compactNodes[0]: "a n 99999999999999999999" does not begin with NAME UID ID)"},
        {R"({"compactNodes":[""]})", R"(compactNodes[0]: "" does not begin with NAME UID ID)"},
        {R"({"compactNodes":[null]})", "compactNodes[0]: is not a string"},
        {R"({"compactNodes":"a n 1"})", "compactNodes: is not a list"},
    };
    for (const auto& row : table) {
        const auto read = decode<testbed>(testbed_with_layout(row.layout), "Testbed");
        ASSERT_TRUE(read) << row.layout;
        EXPECT_EQ(read->metadata.undecodable, std::string(".status.layout.") + row.why);
        EXPECT_TRUE(read->status.layout->nodes.empty()) << "half a list is another list";
        EXPECT_EQ(read->status.state, "SUCCESS");
    }
    const auto both = decode<testbed>(
        testbed_with_layout(R"({"nodes":[{"name":"a","uid":"n","id":1}],"compactNodes":["a n 1"],
                                "revision":2})"),
        "Testbed");
    ASSERT_TRUE(both);
    EXPECT_EQ(both->metadata.undecodable, ".status.layout: has both nodes and compactNodes");
    EXPECT_TRUE(both->status.layout->nodes.empty());
    EXPECT_EQ(both->status.layout->revision, 2);
}

TEST(json, the_metadata_alone_is_read_from_either_form) {
    for (const char* text :
         {R"({"kind":"PartialObjectMetadata","metadata":{"name":"t","uid":"u","generation":4}})",
          R"({"kind":"Testbed","metadata":{"name":"t","uid":"u","generation":4},"status":5})"}) {
        const auto read = decode<metadata_only>(text, "Testbed");
        ASSERT_TRUE(read) << text;
        EXPECT_EQ(read->metadata.uid, "u");
        EXPECT_EQ(read->metadata.generation, 4);
        EXPECT_EQ(read->metadata.undecodable, "") << "nothing else was to be read";
    }
    EXPECT_EQ(decode<metadata_only>("5", "Testbed").error().text, "Testbed: is not an object");
}

TEST(json, a_wrong_type_names_its_path) {
    const struct {
        const char* text;
        const char* error;
    } table[] = {
        {R"({"spec":{"slotsPerNode":"two"}})", "Testbed.spec.slotsPerNode: is not a whole number"},
        {R"({"spec":{"slotsPerNode":3000000000}})", "Testbed.spec.slotsPerNode: is out of range"},
        {R"({"spec":[]})", "Testbed.spec: is not an object"},
        {R"({"metadata":{"name":1}})", "Testbed.metadata.name: is not a string"},
        {R"({"status":{"slots":[{"position":0},{"position":{}}]}})",
         "Testbed.status.slots[1].position: is not a whole number"},
        {R"({"status":{"nodeProblems":{"a":1}}})", "Testbed.status.nodeProblems.a: is not a list"},
        {R"([])", "Testbed: is not an object"},
    };
    for (const auto& row : table) {
        auto read = decode<testbed>(row.text, "Testbed");
        ASSERT_FALSE(read) << row.text;
        EXPECT_EQ(read.error().text, row.error);
        EXPECT_EQ(read.error().code, errc::decode);
    }
    EXPECT_FALSE(decode<testbed>("{", "Testbed"));
    EXPECT_FALSE(decode<testbed>("", "Testbed"));
    EXPECT_FALSE(decode<testbed>(std::string(5000, '['), "Testbed"));
}

TEST(json, null_and_absent_leave_the_default) {
    auto read = decode<testbed>(R"({"metadata":null,"spec":null,"status":{"slots":null}})", "T");
    ASSERT_TRUE(read) << read.error().text;
    EXPECT_TRUE(read->status.slots.empty());
}

TEST(json, a_list_is_decoded_whole_or_not_at_all) {
    auto two = decode_list<testbed>(
        R"({"items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}]})", "Testbed");
    ASSERT_TRUE(two) << two.error().text;
    ASSERT_EQ(two->size(), 2u);
    EXPECT_EQ(two->back().metadata.name, "b");
    for (const char* none : {R"({"items":[]})", R"({"items":null})"}) {
        auto read = decode_list<testbed>(none, "Testbed");
        EXPECT_TRUE(read && read->empty()) << none;
    }
    const std::pair<const char*, const char*> wrong[] = {
        {R"({"items":[{},{"metadata":{"name":1}}]})",
         "list of Testbed.items[1].metadata.name: is not a string"},
        {R"({"items":{}})", "list of Testbed.items: is not a list"},
        {R"({"kind":"Status"})", "list of Testbed: no items"},
    };
    for (const auto& [text, why] : wrong) {
        auto read = decode_list<testbed>(text, "Testbed");
        ASSERT_FALSE(read) << text;
        EXPECT_EQ(read.error().text, why);
        EXPECT_EQ(read.error().code, errc::decode);
    }
    // One person's object must not make the whole list unreadable.
    auto large = decode_list<testbed>(
        R"({"items":[{"metadata":{"name":"a"},"more":123456789012345678901234567890}]})",
        "Testbed");
    EXPECT_TRUE(large && large->size() == 1);
}

TEST(json, spark_spec_is_kept_as_text_and_written_as_an_object) {
    auto read = decode<batchjob>(
        R"({"spec":{"sparkSpec":{"b": 1, "a": [1.5, null]},
            "creationRequest":{"testbedName":{"namespace":"lab","name":"grid"},
              "slotIds":[0,2],"replication":2,"run":"r"}}})",
        "BatchJob");
    ASSERT_TRUE(read) << read.error().text;
    ASSERT_TRUE(read->spec.spark_spec);
    EXPECT_EQ(read->spec.spark_spec->text, R"({"b":1,"a":[1.5,null]})");
    EXPECT_FALSE(read->spec.flink_spec);
    EXPECT_EQ(encode(read->spec), json::parse(
                                      R"({"sparkSpec":{"b":1,"a":[1.5,null]},
            "creationRequest":{"testbedName":{"namespace":"lab","name":"grid"},"slotIds":[0,2],
              "replication":2,"run":"r","submitTimeoutSeconds":0,"scheduleTimeoutSeconds":0}})"));
}

TEST(json, a_whole_number_beyond_64_bits_is_read_as_a_float) {
    auto read = decode<batchjob>(
        R"({"spec":{"sparkSpec":{"a":100000000000000000000,"b":-9223372036854775809,
            "c":18446744073709551615,"d":-9223372036854775808,"e":"100000000000000000000\"7"}}})",
        "BatchJob");
    ASSERT_TRUE(read) << read.error().text;
    EXPECT_EQ(json::parse(read->spec.spark_spec->text),
              json::parse(R"({"a":1e20,"b":-9223372036854775808.0,"c":18446744073709551615,
                  "d":-9223372036854775808,"e":"100000000000000000000\"7"})"));
    EXPECT_FALSE(decode<batchjob>(R"({"spec":{"sparkSpec":{"a":1e999}}})", "BatchJob"));
    EXPECT_FALSE(decode<batchjob>(R"({"spec":{"sparkSpec":{"a":0100000000000000000000}}})", "B"));
}

TEST(json, what_nests_too_deep_is_left_out_and_the_object_marked) {
    auto nested = [](std::size_t depth) {
        return R"({"metadata":{"name":"a","uid":"u","generation":7},)"
               R"("spec":{"activeScheduling":{"name":"s","uid":"v"},"sparkSpec":{"a":)" +
               std::string(depth, '[') + std::string(depth, ']') +
               R"(}},"status":{"state":"ReadyState"}})";
    };
    auto good = decode<batchjob>(nested(200), "BatchJob");
    ASSERT_TRUE(good) << good.error().text;
    EXPECT_EQ(good->metadata.undecodable, "");
    auto deep = decode<batchjob>(nested(9'000), "BatchJob");
    ASSERT_TRUE(deep) << deep.error().text;
    EXPECT_EQ(deep->metadata.undecodable, ".spec.sparkSpec: nests deeper than 256 levels");
    EXPECT_EQ(deep->metadata.generation, 7);
    ASSERT_TRUE(deep->spec.spark_spec) << "what kind of job it is stays known";
    EXPECT_EQ(deep->spec.spark_spec->text, "");
    EXPECT_EQ(deep->spec.active_scheduling->uid, "v");
    EXPECT_EQ(deep->status.state, "ReadyState");
    // Beyond what the API server takes.
    EXPECT_FALSE(decode<batchjob>(nested(20'000), "BatchJob"));
}

TEST(json, a_part_that_cannot_be_read_takes_nothing_else_with_it) {
    auto read = decode<batchjob>(
        R"({"metadata":{"name":"a","uid":"u"},
            "spec":{"creationRequest":{"slotIds":[1,99999999999],"run":"r.1.2"}},
            "status":{"placements":[{"slot":1,"podUid":"p"},{"slot":"x"}],"state":5,
                      "reason":"R"}})",
        "BatchJob");
    ASSERT_TRUE(read) << read.error().text;
    EXPECT_EQ(read->metadata.undecodable, ".spec.creationRequest.slotIds[1]: is out of range");
    EXPECT_TRUE(read->spec.creation_request->slot_ids.empty()) << "half a list is another list";
    EXPECT_EQ(read->spec.creation_request->run, "r.1.2");
    EXPECT_TRUE(read->status.placements.empty());
    EXPECT_EQ(read->status.reason, "R");
    EXPECT_FALSE(decode<batchjob>(R"({"metadata":{"name":"a"},"status":{"state":5}})", "BatchJob"))
        << "without a uid it is no object";

    auto pods = decode_list<pod>(R"({"items":[
        {"metadata":{"name":"p","uid":"u"},"spec":{"nodeName":"n","containers":[
            {"resources":{"requests":{"cpu":"many"}}}],"schedulingGates":[{"name":"g"}]},
         "status":{"phase":"Running"}},
        {"metadata":{"name":"q","uid":"v"}}]})",
                                 "Pod");
    ASSERT_TRUE(pods) << pods.error().text;
    ASSERT_EQ(pods->size(), 2u);
    EXPECT_NE((*pods)[0].metadata.undecodable, "");
    EXPECT_EQ((*pods)[0].phase, "Running");
    EXPECT_EQ((*pods)[0].scheduling_gates.size(), 1u);
    EXPECT_EQ((*pods)[1].metadata.undecodable, "");
}

TEST(json, an_empty_value_in_a_list_is_written_as_empty_never_as_null) {
    const std::map<std::string, std::vector<string_map>> notes{{"k", {{{"a", ""}}, {}}}, {"e", {}}};
    EXPECT_EQ(encode(notes), json::parse(R"({"k":[{"a":""},{}],"e":[]})"));
}

TEST(json, times_are_written_with_a_fraction_only_where_they_have_one) {
    scheduled_event event;
    event.start = *timestamp::parse("2026-11-21T09:34:07Z");
    event.stop = *timestamp::parse("2026-11-21T09:34:08.25Z");
    EXPECT_EQ(encode(event)["start"], "2026-11-21T09:34:07Z");
    EXPECT_EQ(encode(event)["stop"], "2026-11-21T09:34:08.250000Z");
}

TEST(json, a_pod_counts_init_containers_sidecars_and_overhead) {
    auto read = decode<pod>(R"({
      "metadata": {"name": "p", "namespace": "lab",
                   "labels": {"esi.tu-berlin.de/ghost": "true", "esi.tu-berlin.de/testbed": "grid",
                              "esi.tu-berlin.de/testbed-namespace": "lab"},
                   "annotations": {"esi.tu-berlin.de/run": "r-1"}},
      "spec": {
        "initContainers": [
          {"name": "first", "resources": {"requests": {"cpu": "3"}}},
          {"name": "side", "restartPolicy": "Always", "resources": {"requests": {"cpu": "1"}}},
          {"name": "second", "resources": {"requests": {"cpu": "2500m", "memory": "1Mi"}}}],
        "containers": [{"name": "a", "resources": {"requests": {"cpu": "500m"}}},
                       {"name": "b", "resources": {"requests": {"cpu": "500m"}}}, {"name": "c"}],
        "overhead": {"cpu": "100m"},
        "schedulingGates": [{"name": "esi.tu-berlin.de/slot"}],
        "tolerations": [{"key": "k", "operator": "Exists"}],
        "affinity": {"nodeAffinity": {}}, "nodeSelector": {"x": "y"}},
      "status": {"phase": "Pending", "nominatedNodeName": "n",
        "conditions": [{"type": "PodScheduled", "status": "False", "reason": "SchedulingGated",
                        "message": "gated", "lastTransitionTime": "2026-11-21T09:34:07Z"}]}})",
                            "Pod");
    ASSERT_TRUE(read) << read.error().text;
    // second beside the sidecar: 3.5 cores is the largest moment; plus overhead.
    EXPECT_EQ(read->requests, (amounts{{"cpu", 3600}, {"memory", 1'048'576'000}}));
    EXPECT_TRUE(read->is_ghost());
    EXPECT_EQ(read->testbed(), (object_key{"lab", "grid"}));
    EXPECT_EQ(read->run(), "r-1");
    EXPECT_EQ(read->scheduling_gates, std::vector<std::string>{"esi.tu-berlin.de/slot"});
    EXPECT_EQ(read->tolerations[0].operator_, "Exists");
    EXPECT_EQ(read->affinity.text, R"({"nodeAffinity":{}})");
    EXPECT_EQ(read->scheduled_reason, "SchedulingGated");
    EXPECT_EQ(read->nominated_node_name, "n");
    EXPECT_TRUE(read->live());
    EXPECT_FALSE(read->bound());
}

TEST(json, a_bound_pod_drops_what_only_placement_needs_and_shows_its_times) {
    auto read = decode<pod>(R"({
      "metadata": {"name": "p"},
      "spec": {"nodeName": "n", "tolerations": [{"key": "k"}], "affinity": {}},
      "status": {"phase": "Failed", "containerStatuses": [
        {"state": {"terminated": {"reason": "OOMKilled", "message": "m",
          "startedAt": "2026-11-21T09:34:08Z", "finishedAt": "2026-11-21T09:34:10Z"}}},
        {"state": {"terminated": {"reason": "Error",
          "startedAt": "2026-11-21T09:34:07Z", "finishedAt": "2026-11-21T09:34:09Z"}}}]}})",
                            "Pod");
    ASSERT_TRUE(read) << read.error().text;
    EXPECT_TRUE(read->tolerations.empty());
    EXPECT_TRUE(read->affinity.text.empty());
    EXPECT_EQ(read->started_at->whole_seconds(), "2026-11-21T09:34:07Z");
    EXPECT_EQ(read->finished_at->whole_seconds(), "2026-11-21T09:34:10Z");
    EXPECT_EQ(read->reason, "OOMKilled");
    EXPECT_TRUE(read->terminal());
}

TEST(json, a_gated_pod_shows_what_a_plan_for_it_needs) {
    const std::string_view text = R"({
      "metadata": {"name": "p", "annotations": {
        "scheduling.k8s.io/group-name": "g", "scheduling.k8s.io/group-min-member": "3",
        "scheduling.k8s.io/other": "x", "esi.tu-berlin.de/suspend": "true"}},
      "spec": {
        "schedulingGates": [{"name": "esi.tu-berlin.de/gang"}], "priority": 7,
        "resources": {"requests": {"cpu": "3"}}, "overhead": {"cpu": "100m"},
        "containers": [
          {"name": "a", "resources": {"requests": {"cpu": "1", "memory": "1Mi"}},
           "ports": [{"containerPort": 80}, {"containerPort": 81, "hostPort": 81, "protocol": "UDP"},
                     {"hostPort": 82, "hostIP": "0.0.0.0"}, {"hostPort": "x"}, 7]}],
        "initContainers": [
          {"name": "b", "ports": [{"hostPort": 1}]},
          {"name": "c", "restartPolicy": "Always", "ports": [{"hostPort": 2, "hostIP": "10.0.0.1"}]}],
        "topologySpreadConstraints": [{"maxSkew": 1}],
        "resourceClaims": [], "schedulingGroup": {"podGroupName": "x"},
        "volumes": [{"persistentVolumeClaim": {"claimName": "data"}}, {"emptyDir": {}},
                    {"ephemeral": {}}, {"ephemeral": {}}, {"iscsi": {}}]}})";
    const auto read = decode<pod>(text, "Pod");
    ASSERT_TRUE(read) << read.error().text;
    EXPECT_EQ(read->metadata.annotations, (string_map{{"esi.tu-berlin.de/suspend", "true"},
                                                      {"scheduling.k8s.io/group-min-member", "3"},
                                                      {"scheduling.k8s.io/group-name", "g"}}));
    EXPECT_EQ(read->priority, 7);
    EXPECT_EQ(read->requests, (amounts{{"cpu", 3100}, {"memory", 1'048'576'000}}))
        << "what the whole pod requests stands in place of the containers' cpu";
    EXPECT_EQ(read->host_ports,
              (std::vector<host_port>{{"UDP", "", 81}, {"TCP", "", 82}, {"TCP", "10.0.0.1", 2}}));
    EXPECT_EQ(read->topology_spread.text, R"([{"maxSkew":1}])");
    EXPECT_EQ(read->claims, std::vector<std::string>{"data"});
    EXPECT_EQ(read->unplanned,
              (std::vector<std::string>{"schedulingGroup", "volumes.ephemeral", "volumes.iscsi"}));
    EXPECT_TRUE(read->anti_affinity.text.empty());
}

TEST(json, of_a_pod_that_no_plan_is_for_stays_what_keeps_others_away) {
    const auto with = [](std::string_view more) {
        const auto read = decode<pod>(
            fmt::format(R"({{"metadata":{{"name":"p"}},"spec":{{{},"containers":[{{"ports":
                            [{{"hostPort":80}}]}}],"topologySpreadConstraints":[{{"maxSkew":1}}],
                            "volumes":[{{"ephemeral":{{}}}},
                                       {{"persistentVolumeClaim":{{"claimName":"c"}}}}]}}}})",
                        more),
            "Pod");
        EXPECT_TRUE(read);
        return read.value_or(pod());
    };
    const auto bound = with(
        R"("nodeName":"n","affinity":{"podAntiAffinity":{
           "requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"zone"}]}})");
    EXPECT_EQ(bound.anti_affinity.text, R"([{"topologyKey":"zone"}])");
    const auto preferring = with(
        R"("nodeName":"n","affinity":{"podAntiAffinity":{
           "preferredDuringSchedulingIgnoredDuringExecution":[{"weight":1}],
           "requiredDuringSchedulingIgnoredDuringExecution":[]}})");
    EXPECT_TRUE(preferring.anti_affinity.text.empty());
    const auto open = with(R"("affinity":{"podAntiAffinity":{
           "requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"zone"}]}})");
    EXPECT_FALSE(open.affinity.text.empty());
    EXPECT_TRUE(open.anti_affinity.text.empty());
    for (const auto& pod : {bound, preferring, open}) {
        EXPECT_EQ(pod.host_ports, (std::vector<host_port>{{"TCP", "", 80}}));
        EXPECT_TRUE(pod.topology_spread.text.empty());
        EXPECT_TRUE(pod.claims.empty());
        EXPECT_TRUE(pod.unplanned.empty());
    }
}

TEST(json, a_pod_shows_how_its_containers_died) {
    const std::pair<const char*, const char*> rows[] = {
        {R"({"phase":"Failed","containerStatuses":[{"state":{"terminated":
             {"reason":"OOMKilled","exitCode":137}}}]})",
         "OOMKilled (exit code 137)"},
        {R"({"phase":"Running","containerStatuses":[{"state":{"running":{}}},{"state":{"running":{}},
             "lastState":{"terminated":{"exitCode":1}}}]})",
         "Error (exit code 1)"},
        {R"({"phase":"Failed","reason":"Evicted"})", "Evicted"},
        {R"({"phase":"Succeeded","containerStatuses":[{"state":{"terminated":
             {"reason":"Completed","exitCode":0}}}]})",
         ""},
        {R"({"phase":"Running","containerStatuses":[{"state":5,"lastState":{"terminated":
             {"exitCode":"many"}}},7]})",
         ""},
        {R"({"phase":"Pending","reason":"Odd"})", ""},
    };
    for (const auto& [status, died_of] : rows) {
        const auto read =
            decode<pod>(fmt::format(R"({{"metadata":{{"name":"p"}},"status":{}}})", status), "Pod");
        ASSERT_TRUE(read) << status;
        EXPECT_EQ(read->died_of, died_of) << status;
    }
}

TEST(json, a_node_shows_room_taints_and_readiness) {
    auto read = decode<node>(R"({
      "metadata": {"name": "n"},
      "spec": {"unschedulable": true, "taints": [{"key": "a", "value": "b", "effect": "NoSchedule"}]},
      "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"},
                 "conditions": [{"type": "Ready", "status": "True"}]}})",
                             "Node");
    ASSERT_TRUE(read) << read.error().text;
    EXPECT_EQ(read->allocatable.at("pods"), 110'000);
    EXPECT_TRUE(read->unschedulable);
    EXPECT_TRUE(read->ready);
    EXPECT_EQ(read->taints, (std::vector<taint>{{"a", "b", "NoSchedule"}}));
}

TEST(json, an_application_and_a_crd_are_read) {
    auto spark = decode<spark_application>(R"({"metadata":{"name":"j"},"status":{
        "applicationState":{"state":"FAILED","errorMessage":"why"},"submissionID":"id",
        "driverInfo":{"podName":"d"},"executionAttempts":1,"submissionAttempts":2,
        "lastSubmissionAttemptTime":"2026-11-21T09:34:07Z","terminationTime":null}})",
                                           "SparkApplication");
    ASSERT_TRUE(spark) << spark.error().text;
    EXPECT_EQ(spark->state, "FAILED");
    EXPECT_EQ(spark->driver_pod_name, "d");
    EXPECT_TRUE(spark->last_submission_attempt);
    EXPECT_FALSE(spark->termination_time);

    auto crd = decode<custom_resource_definition>(R"({"metadata":{"name":"x"},
        "spec":{"group":"g","names":{"kind":"K"}},
        "status":{"conditions":[{"type":"Established","status":"True"}]}})",
                                                  "CustomResourceDefinition");
    ASSERT_TRUE(crd);
    EXPECT_EQ(crd->group, "g");
    EXPECT_TRUE(crd->established);
}

// --- members that any writer may make of any length ---

std::string repeated(std::size_t times, const std::string& item) {
    std::string out;
    for (std::size_t i = 0; i < times; ++i) {
        auto one = item;
        if (const auto at = one.find('#'); at != std::string::npos) {
            one.replace(at, 1, std::to_string(i));
        }
        out += (i == 0 ? "" : ",") + one;
    }
    return out;
}

pod pod_with(const std::string& meta, const std::string& spec) {
    const auto text = R"({"metadata":{"name":"p","uid":"u")" + meta + R"(},"spec":{)" + spec + "}}";
    return decode<pod>(text, "Pod").value();
}

TEST(bounds, a_pod_of_which_a_part_is_too_large_is_read_without_it_and_marked) {
    const std::pair<std::string, std::string> table[] = {
        {R"("affinity":{"x":")" + std::string(70'000, 'a') + "\"}",
         ".spec.affinity: has 70008 bytes, of which ESI reads 65536 at most"},
        {"\"tolerations\":[" + repeated(513, "{}") + "]",
         ".spec.tolerations: has 513 entries, of which ESI reads 512 at most"},
        {"\"nodeSelector\":{" + repeated(513, R"("k#":"v")") + "}",
         ".spec.nodeSelector: has 513 entries, of which ESI reads 512 at most"},
        {"\"schedulingGates\":[" + repeated(600, R"({"name":"g#"})") + "]",
         ".spec.schedulingGates: has 600 entries, of which ESI reads 16 at most"},
        {R"("schedulingGates":[{"name":"g"}],"topologySpreadConstraints":[")" +
             std::string(70'000, 'a') + "\"]",
         ".spec.topologySpreadConstraints: has 70004 bytes, of which ESI reads 65536 at most"},
        {R"("nodeName":"n","affinity":{"podAntiAffinity":{)"
         R"("requiredDuringSchedulingIgnoredDuringExecution":[")" +
             std::string(70'000, 'a') + "\"]}}",
         ".spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution: has 70004 "
         "bytes, of which ESI reads 65536 at most"},
        {R"("schedulingGates":[{"name":"g"}],"volumes":[)" +
             repeated(600, R"({"persistentVolumeClaim":{"claimName":"c#"}})") + "]",
         ".spec.volumes: has 600 PersistentVolumeClaims, of which ESI reads 512 at most"},
        {R"("containers":[{"resources":{"requests":{)" + repeated(600, R"("r#":"1")") + "}}}]",
         ".spec.containers: has 600 kinds of resources requested, of which ESI reads 64 at most"},
        {R"("containers":[{"ports":[)" + repeated(600, R"({"hostPort":1})") + "]}]",
         ".spec.containers: has 600 host ports, of which ESI reads 512 at most"},
    };
    for (const auto& [spec, told] : table) {
        const auto read = pod_with("", spec);
        EXPECT_EQ(read.metadata.undecodable, told);
        EXPECT_LT(held_by(read), 128U << 10) << told;
    }
}

TEST(bounds, of_too_long_terms_of_a_pod_that_stands_the_domains_are_kept_for_all_pods) {
    const auto term = [](const std::string& key) {
        return R"({"labelSelector":{"matchLabels":{"a":")" + std::string(40'000, 'x') +
               R"("}},"topologyKey":")" + key + "\"}";
    };
    const auto read = pod_with("", R"("nodeName":"n","affinity":{"podAntiAffinity":{)"
                                   R"("requiredDuringSchedulingIgnoredDuringExecution":[)" +
                                       term("zone") + "," + term("zone") + "]}}");
    EXPECT_EQ(json::parse(read.anti_affinity.text),
              json::parse(R"([{"labelSelector":{},"namespaceSelector":{},"topologyKey":"zone"}])"));
    EXPECT_NE(read.metadata.undecodable, "");
}

TEST(bounds, of_too_many_labels_those_are_kept_by_which_operators_decide) {
    const auto read = pod_with(
        R"(,"labels":{"esi.tu-berlin.de/job":"j",)" + repeated(2000, R"("k#":"v")") + "}", "");
    EXPECT_EQ(read.metadata.labels, (string_map{{"esi.tu-berlin.de/job", "j"}}));
    EXPECT_EQ(read.metadata.undecodable,
              ".metadata.labels: has 2001 entries, of which ESI reads 1024 at most");
}

TEST(bounds, of_too_many_owners_the_controller_is_kept) {
    const auto read = pod_with(R"(,"ownerReferences":[)" + repeated(100, R"({"name":"o#"})") +
                                   R"(,{"name":"c","controller":true}])",
                               "");
    ASSERT_EQ(read.metadata.owner_references.size(), 1U);
    EXPECT_EQ(read.metadata.controller_owner()->name, "c");
    EXPECT_EQ(read.metadata.undecodable,
              ".metadata.ownerReferences: has 101 entries, of which ESI reads 64 at most");
}

TEST(bounds, of_too_many_finalizers_that_of_esi_is_kept) {
    const auto read = pod_with(
        R"(,"finalizers":[)" + repeated(100, R"("a/f#")") + R"(,"esi.tu-berlin.de/release"])", "");
    EXPECT_EQ(read.metadata.finalizers, (std::vector<std::string>{"esi.tu-berlin.de/release"}));
    EXPECT_EQ(read.metadata.undecodable,
              ".metadata.finalizers: has 101 entries, of which ESI reads 64 at most");
}

TEST(bounds, of_too_many_annotations_with_the_prefix_those_that_nobody_reads_are_left_out) {
    const auto read = pod_with(R"(,"annotations":{"esi.tu-berlin.de/run":"r",)" +
                                   repeated(100, R"("esi.tu-berlin.de/x#":"v")") + "}",
                               "");
    EXPECT_EQ(read.metadata.annotations, (string_map{{"esi.tu-berlin.de/run", "r"}}));
    EXPECT_EQ(read.metadata.undecodable, "") << "nothing is missing";
}

TEST(bounds, of_many_requests_none_hides_those_of_kubernetes) {
    for (const char* amount : {"0", "1"}) {
        const auto many = repeated(600, "\"a.io/r#\":\"" + std::string(amount) + "\"");
        const auto read = pod_with("", R"("containers":[{"resources":{"requests":{)" + many +
                                           R"(,"cpu":"4","memory":"8"}}}])");
        EXPECT_EQ(read.requests.at("cpu"), 4000) << amount;
        EXPECT_EQ(read.requests.at("memory"), 8000) << amount;
        EXPECT_LE(read.requests.size(), most_requests);
        EXPECT_EQ(
            read.metadata.undecodable,
            ".spec.containers: has 602 kinds of resources requested, of which ESI reads 64 at "
            "most");
    }
}

TEST(bounds, of_many_gates_that_of_esi_is_kept) {
    const auto read = pod_with("", "\"schedulingGates\":[" + repeated(600, R"({"name":"g#"})") +
                                       R"(,{"name":"esi.tu-berlin.de/slot"}])");
    EXPECT_EQ(read.scheduling_gates.size(), most_gates);
    EXPECT_EQ(read.scheduling_gates.front(), "esi.tu-berlin.de/slot");
}

TEST(bounds, texts_that_the_api_server_takes_at_any_length_are_cut_or_left_out) {
    const std::string megabyte(1 << 20, 'x');
    const auto scheduler = pod_with("", R"("schedulerName":")" + megabyte + "\"");
    EXPECT_LE(scheduler.scheduler_name.size(), most_name_bytes);
    const auto owned = pod_with(R"(,"ownerReferences":[{"name":")" + megabyte +
                                    R"(","controller":true},{"name":"o","uid":"u"}])",
                                "");
    ASSERT_EQ(owned.metadata.owner_references.size(), 1U);
    EXPECT_EQ(owned.metadata.owner_references[0].name, "o");
    EXPECT_EQ(owned.metadata.undecodable,
              ".metadata.ownerReferences: has 1048576 bytes in one entry, of which ESI reads 1024 "
              "at most");
    const auto noted = pod_with(R"(,"annotations":{"esi.tu-berlin.de/run":"r",)"
                                R"("scheduling.k8s.io/group-name":")" +
                                    megabyte + "\"}",
                                "");
    EXPECT_EQ(noted.metadata.annotations, (string_map{{"esi.tu-berlin.de/run", "r"}}));
    EXPECT_EQ(noted.metadata.undecodable,
              ".metadata.annotations: has 1048577 bytes, of which ESI reads 32768 at most");
}

TEST(bounds, an_error_names_no_member_at_any_length) {
    const auto key = std::string(100'000, 'k');
    const auto read = decode<batchjob>(
        R"({"metadata":{"name":"j","uid":"u","labels":{")" + key + R"(":1}}})", "BatchJob");
    ASSERT_TRUE(read);
    EXPECT_EQ(read->metadata.undecodable.size(), most_told);
}

}  // namespace
}  // namespace esi::model

#include "server/validation/validation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/source_folder.h"
#include "server/kinds.h"

namespace esi::simulation {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

const validation& rules() {
    static const validation made(source_folder() + "/crds");
    return made;
}

std::vector<std::string> places(const std::vector<fault_cause>& faults) {
    std::vector<std::string> out;
    for (const auto& each : faults) out.push_back(each.field + " " + each.reason);
    return out;
}

/// The faults of a create or, with `before`, of an update; the body as it would be stored.
std::vector<std::string> put(const kube::resource_type& type, json& body,
                             const json* before = nullptr, std::string_view subresource = {}) {
    rules().prepare(type, subresource, body, before);
    return places(rules().check(type, subresource, body, before));
}

json testbed() {
    return json::parse(R"({"apiVersion": "esi.tu-berlin.de/v1alpha1", "kind": "Testbed",
        "metadata": {"name": "a", "namespace": "x"},
        "spec": {"slotsPerNode": 2, "nodeLabel": "tuberlin.de/slots",
                 "resourcesPerSlot": {"cpu": "600m", "memory": "1.75Gi"}}})");
}

json stored_testbed() {
    auto body = testbed();
    EXPECT_THAT(put(kinds::testbed, body), IsEmpty());
    return body;
}

json pod() {
    return json::parse(
        R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "x"},
        "spec": {"containers": [{"name": "c", "image": "i"}],
                 "schedulingGates": [{"name": "esi.tu-berlin.de/slot"}]}})");
}

json stored_pod() {
    auto body = pod();
    EXPECT_THAT(put(kinds::pod, body), IsEmpty());
    return body;
}

// ---- custom resources -----------------------------------------------------------------------

TEST(validation, a_create_sets_defaults_and_drops_status_and_unknown_members) {
    auto body = testbed();
    body["status"] = {{"state", "ERROR"}};
    body["extra"] = 1;
    body["spec"]["slots"] = 3;
    EXPECT_THAT(put(kinds::testbed, body), IsEmpty());
    EXPECT_EQ(body["spec"]["isolation"], "None");
    EXPECT_FALSE(body["spec"].contains("slots"));
    EXPECT_FALSE(body.contains("status"));
    EXPECT_FALSE(body.contains("extra"));
}

TEST(validation, unknown_members_are_named_with_their_paths) {
    auto body = testbed();
    body["spec"]["slots"] = 3;
    body["status"]["slots"] = json::array({{{"position", 1}, {"place", 2}}});
    EXPECT_THAT(
        rules().unknown_fields(kinds::testbed, body),
        ElementsAre("unknown field \"spec.slots\"", "unknown field \"status.slots[0].place\""));
}

TEST(validation, nulls_that_are_not_allowed_are_dropped_before_anything_is_checked) {
    auto body = testbed();
    body["spec"]["isolation"] = nullptr;
    body["spec"]["resourcesPerSlot"]["nvidia.com/gpu"] = nullptr;
    body["spec"]["slotsPerNode"] = nullptr;
    EXPECT_THAT(put(kinds::testbed, body), ElementsAre("spec.slotsPerNode FieldValueRequired"));
    EXPECT_EQ(body["spec"]["isolation"], "None");
    EXPECT_FALSE(body["spec"]["resourcesPerSlot"].contains("nvidia.com/gpu"));
}

TEST(validation, an_update_of_status_keeps_everything_else) {
    const auto before = stored_testbed();
    auto body = before;
    body["spec"]["slotsPerNode"] = 7;
    body["metadata"]["labels"] = {{"x", "y"}};
    body["status"] = {{"state", "SUCCESS"}, {"unknown", 1}};
    EXPECT_THAT(put(kinds::testbed, body, &before, "status"), IsEmpty());
    EXPECT_EQ(body["spec"], before["spec"]);
    EXPECT_EQ(body["metadata"], before["metadata"]);
    EXPECT_EQ(body["status"], json({{"state", "SUCCESS"}}));
}

TEST(validation, an_update_of_the_spec_keeps_the_status) {
    auto before = stored_testbed();
    before["status"] = {{"state", "SUCCESS"}};
    auto body = before;
    body["status"] = {{"state", "ERROR"}};
    body["spec"]["slotsPerNode"] = 3;
    EXPECT_THAT(put(kinds::testbed, body, &before), IsEmpty());
    EXPECT_EQ(body["status"]["state"], "SUCCESS");
}

TEST(validation, faults_of_a_status_are_told_all_at_once) {
    const auto before = stored_testbed();
    auto body = before;
    body["status"] = json::parse(R"({"state": "X", "layout": {"nodes": [{"name": "a"}, {}]},
        "conditions": [{"type": "a"}, {"type": "a"}], "slots": [{"position": "x"}, {"state": "Y"}]})");
    EXPECT_THAT(put(kinds::testbed, body, &before, "status"),
                testing::UnorderedElementsAre("status.slots[0].position FieldValueTypeInvalid",
                                              "status.slots[1].state FieldValueNotSupported",
                                              "status.layout.nodes[1].name FieldValueRequired",
                                              "status.conditions[0].status FieldValueRequired",
                                              "status.conditions[1].status FieldValueRequired",
                                              "status.state FieldValueNotSupported",
                                              "status.conditions[1] FieldValueDuplicate",
                                              "<nil> FieldValueInvalid"));
}

TEST(validation, what_was_wrong_and_does_not_change_is_accepted) {
    auto before = stored_testbed();
    before["spec"]["slotsPerNode"] = 0;
    before["spec"]["resourcesPerSlot"]["cpu"] = "0";
    before["metadata"]["name"] = "2-wrong";
    auto body = before;
    body["spec"]["isolation"] = "Taint";
    EXPECT_THAT(put(kinds::testbed, body, &before), IsEmpty());
    body["spec"]["slotsPerNode"] = 111;
    EXPECT_THAT(put(kinds::testbed, body, &before),
                ElementsAre("spec.slotsPerNode FieldValueInvalid"));
}

TEST(validation, entries_of_maps_are_in_brackets_only_in_faults_of_rules) {
    auto body = testbed();
    body["spec"]["resourcesPerSlot"]["cpu"] = "0m";
    EXPECT_THAT(put(kinds::testbed, body),
                ElementsAre("spec.resourcesPerSlot[cpu] FieldValueInvalid"));
    body["spec"]["resourcesPerSlot"]["cpu"] = true;
    EXPECT_THAT(
        put(kinds::testbed, body),
        ElementsAre("spec.resourcesPerSlot.cpu FieldValueTypeInvalid", "<nil> FieldValueInvalid"));
}

TEST(validation, a_member_that_may_not_change_may_not_change) {
    auto before = json::parse(R"({"apiVersion": "esi.tu-berlin.de/v1alpha1", "kind": "Scheduling",
        "metadata": {"name": "s"}, "spec": {"testbed": {"name": "x"}, "queueBased": [{"name": "a"}]}})");
    EXPECT_THAT(put(kinds::scheduling, before), IsEmpty());
    auto body = before;
    body["spec"]["testbed"]["name"] = "y";
    EXPECT_THAT(put(kinds::scheduling, body, &before),
                ElementsAre("spec.testbed FieldValueForbidden"));
}

TEST(validation, an_application_needs_a_spec) {
    json body = {{"metadata", {{"name", "a"}}}};
    EXPECT_THAT(put(kinds::spark_application, body), ElementsAre("spec FieldValueRequired"));
}

TEST(validation, a_flink_deployment_has_the_members_of_its_definition) {
    auto body = json::parse(R"({"apiVersion": "flink.apache.org/v1beta1", "kind": "FlinkDeployment",
        "metadata": {"name": "a"}, "spec": {
          "flinkVersion": "v1_20", "mode": "standalone",
          "flinkConfiguration": {"taskmanager.numberOfTaskSlots": "1"},
          "taskManager": {"replicas": 2, "resource": {"cpu": 0.6, "memory": "1024m"},
            "podTemplate": {"metadata": {"labels": {"a": "b"}},
              "spec": {"schedulingGates": [{"name": "esi.tu-berlin.de/slot"}]}}},
          "job": {"jarURI": "local:///a.jar", "args": ["x"], "parallelism": 2}}})");
    EXPECT_THAT(put(kinds::flink_deployment, body), IsEmpty());
    auto wrong = body;
    wrong["spec"]["flinkVersion"] = "v1_2";
    wrong["spec"]["flinkConfiguration"]["taskmanager.numberOfTaskSlots"] = 1;
    wrong["spec"]["job"]["args"] = "x";
    EXPECT_THAT(put(kinds::flink_deployment, wrong),
                ElementsAre("spec.flinkConfiguration.taskmanager.numberOfTaskSlots "
                            "FieldValueTypeInvalid",
                            "spec.flinkVersion FieldValueNotSupported",
                            "spec.job.args FieldValueTypeInvalid", "<nil> FieldValueInvalid"));
}

// ---- metadata -------------------------------------------------------------------------------

TEST(validation, metadata_is_judged_by_its_form) {
    auto body = testbed();
    body["metadata"]["labels"] = {{"a b", "c"}, {"x", "y z"}};
    body["metadata"]["ownerReferences"] = json::array({{{"name", "x"}}});
    EXPECT_THAT(
        put(kinds::testbed, body),
        ElementsAre("metadata.labels FieldValueInvalid", "metadata.labels FieldValueInvalid",
                    "metadata.ownerReferences.apiVersion FieldValueInvalid",
                    "metadata.ownerReferences.kind FieldValueInvalid",
                    "metadata.ownerReferences.uid FieldValueInvalid"));
}

TEST(validation, an_object_that_goes_gets_no_further_finalizer) {
    auto before = stored_testbed();
    before["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
    before["metadata"]["finalizers"] = {"a/b", "c/d"};
    auto body = before;
    body["metadata"]["finalizers"] = {"c/d"};
    EXPECT_THAT(put(kinds::testbed, body, &before), IsEmpty());
    body["metadata"]["finalizers"] = {"c/d", "e/f"};
    EXPECT_THAT(put(kinds::testbed, body, &before),
                ElementsAre("metadata.finalizers FieldValueForbidden"));
}

// ---- pods -----------------------------------------------------------------------------------

TEST(validation, a_pod_gets_the_defaults_of_a_cluster) {
    auto body =
        json::parse(R"({"metadata": {"name": "p", "namespace": "x"}, "spec": {"nodeSelector": {},
        "containers": [{"name": "c", "image": "i:1", "resources": {"limits": {"cpu": 0.5, "memory": "1.75Gi"}}}]}})");
    EXPECT_THAT(put(kinds::pod, body), IsEmpty());
    const auto& spec = body["spec"];
    EXPECT_EQ(spec["containers"][0]["resources"]["requests"],
              json({{"cpu", "500m"}, {"memory", "1792Mi"}}));
    EXPECT_EQ(spec["containers"][0]["imagePullPolicy"], "IfNotPresent");
    EXPECT_EQ(spec["terminationGracePeriodSeconds"], 30);
    EXPECT_EQ(spec["schedulerName"], "default-scheduler");
    EXPECT_EQ(body["status"], json({{"phase", "Pending"}, {"qosClass", "Guaranteed"}}));
}

TEST(validation, a_pod_needs_containers_with_names_of_their_own) {
    auto body = pod();
    body["spec"]["containers"] = json::parse(R"([{"name": "C", "image": "i"}, {"name": "d"},
                                                 {"name": "d", "image": "i"}])");
    EXPECT_THAT(put(kinds::pod, body), ElementsAre("spec.containers[0].name FieldValueInvalid",
                                                   "spec.containers[1].image FieldValueRequired",
                                                   "spec.containers[2].name FieldValueDuplicate"));
    body["spec"]["containers"] = json::array();
    EXPECT_THAT(put(kinds::pod, body), ElementsAre("spec.containers FieldValueRequired"));
}

TEST(validation, a_gated_pod_has_no_node) {
    auto body = pod();
    body["spec"]["nodeName"] = "n";
    EXPECT_THAT(put(kinds::pod, body), ElementsAre("spec.nodeName FieldValueForbidden"));
}

TEST(validation, gates_go_and_never_come) {
    const auto before = stored_pod();
    auto body = before;
    body["spec"]["schedulingGates"] = json::array();
    EXPECT_THAT(put(kinds::pod, body, &before), IsEmpty());
    EXPECT_FALSE(body["spec"].contains("schedulingGates"));
    auto again = before;
    EXPECT_THAT(put(kinds::pod, again, &body),
                ElementsAre("spec.schedulingGates[0].name FieldValueForbidden"));
}

json on_node(const char* node) {
    return json::parse(R"({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution":
        {"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [")" +
                       std::string(node) + R"("]}]}]}}})");
}

TEST(validation, a_gated_pod_may_be_pinned_together_with_its_ungating) {
    const auto before = stored_pod();
    auto body = before;
    body["spec"].erase("schedulingGates");
    body["spec"]["affinity"] = on_node("a");
    body["metadata"]["annotations"] = {{"a", "b"}};
    EXPECT_THAT(put(kinds::pod, body, &before), IsEmpty());
    auto other = body;
    other["spec"]["affinity"] = on_node("b");
    EXPECT_THAT(put(kinds::pod, other, &body), ElementsAre("spec FieldValueForbidden"));
}

TEST(validation, the_affinity_of_a_gated_pod_only_gets_narrower) {
    const std::string path =
        "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
        "nodeSelectorTerms";
    const json::json_pointer terms(
        "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/"
        "nodeSelectorTerms");
    auto before = stored_pod();
    before["spec"]["affinity"] = on_node("a");
    auto narrower = before;
    narrower[terms][0]["matchExpressions"] = json::parse(R"([{"key": "k", "operator": "Exists"}])");
    EXPECT_THAT(put(kinds::pod, narrower, &before), IsEmpty());
    auto other = before;
    other["spec"]["affinity"] = on_node("b");
    EXPECT_THAT(put(kinds::pod, other, &before), ElementsAre(path + "[0] FieldValueInvalid"));
    auto wider = before;
    wider[terms].push_back(before[terms][0]);
    EXPECT_THAT(put(kinds::pod, wider, &before), ElementsAre(path + " FieldValueInvalid"));
}

TEST(validation, the_spec_of_a_pod_does_not_change_but_for_image_and_tolerations) {
    const auto before = stored_pod();
    auto body = before;
    body["spec"]["containers"][0]["image"] = "other";
    body["spec"]["tolerations"].push_back({{"key", "k"}, {"operator", "Exists"}});
    body["spec"]["nodeSelector"] = {{"a", "b"}};
    EXPECT_THAT(put(kinds::pod, body, &before), IsEmpty());
    auto moved = body;
    moved["spec"]["schedulerName"] = "other";
    EXPECT_THAT(put(kinds::pod, moved, &body), ElementsAre("spec FieldValueForbidden"));
    auto less = body;
    less["spec"]["tolerations"] = json::array();
    EXPECT_THAT(put(kinds::pod, less, &body), ElementsAre("spec.tolerations FieldValueForbidden"));
}

TEST(validation, a_status_of_a_pod_takes_labels_and_a_nomination_along) {
    const auto before = stored_pod();
    auto body = before;
    body["status"]["nominatedNodeName"] = "n1";
    body["metadata"]["labels"] = {{"x", "y"}};
    body["spec"]["schedulerName"] = "other";
    EXPECT_THAT(put(kinds::pod, body, &before, "status"), IsEmpty());
    EXPECT_EQ(body["status"]["nominatedNodeName"], "n1");
    EXPECT_EQ(body["metadata"]["labels"]["x"], "y");
    EXPECT_EQ(body["spec"], before["spec"]);
}

TEST(validation, a_bound_pod_is_not_nominated) {
    auto before = stored_pod();
    before["spec"].erase("schedulingGates");
    before["spec"]["nodeName"] = "n1";
    auto body = before;
    body["status"]["nominatedNodeName"] = "n1";
    EXPECT_THAT(put(kinds::pod, body, &before, "status"),
                ElementsAre("status.nominatedNodeName FieldValueForbidden"));
}

// ---- other kinds ----------------------------------------------------------------------------

TEST(validation, taints_of_a_node_have_a_key_an_effect_and_no_twin) {
    auto before = json::parse(R"({"metadata": {"name": "n"}, "spec": {}})");
    EXPECT_THAT(put(kinds::node, before), IsEmpty());
    auto body = before;
    body["spec"]["taints"] = json::parse(R"([{"key": "a", "effect": "NoSchedule"},
        {"key": "a", "effect": "NoSchedule"}, {"key": "", "effect": "x"}])");
    EXPECT_THAT(put(kinds::node, body, &before),
                ElementsAre("metadata.taints[1] FieldValueDuplicate",
                            "metadata.taints[2].key FieldValueInvalid",
                            "metadata.taints[2].effect FieldValueNotSupported"));
}

TEST(validation, an_event_changes_only_its_series) {
    auto before = json::parse(R"({"metadata": {"name": "e", "namespace": "x"},
        "eventTime": "2026-01-01T00:00:00.000000Z", "type": "Normal", "reason": "R", "action": "A",
        "note": "n", "regarding": {"kind": "Pod", "namespace": "x", "name": "p"},
        "reportingController": "c", "reportingInstance": "i"})");
    EXPECT_THAT(put(kinds::event, before), IsEmpty());
    auto body = before;
    body["series"] = {{"count", 2}, {"lastObservedTime", "2026-01-01T00:00:01.000000Z"}};
    EXPECT_THAT(put(kinds::event, body, &before), IsEmpty());
    body["series"]["count"] = 1;
    body["note"] = "other";
    EXPECT_THAT(put(kinds::event, body, &before),
                ElementsAre("series.count FieldValueInvalid", "message FieldValueInvalid"));
}

TEST(validation, an_event_names_who_reports_what) {
    json body = {{"metadata", {{"name", "e"}, {"namespace", "x"}}},
                 {"eventTime", "2026-01-01T00:00:00.000000Z"},
                 {"type", "Odd"}};
    EXPECT_THAT(
        put(kinds::event, body),
        testing::IsSupersetOf({"involvedObject.namespace FieldValueInvalid",
                               "reportingController FieldValueRequired",
                               "reportingInstance FieldValueRequired", "action FieldValueRequired",
                               "reason FieldValueRequired", "type FieldValueInvalid"}));
}

TEST(validation, a_lease_lasts_longer_than_nothing) {
    auto body = json::parse(R"({"metadata": {"name": "l"}, "spec": {"leaseDurationSeconds": 0}})");
    EXPECT_THAT(put(kinds::lease, body),
                ElementsAre("spec.leaseDurationSeconds FieldValueInvalid"));
}

TEST(validation, fields_to_select_by_are_those_of_the_files) {
    EXPECT_THAT(rules().selectable_fields(kinds::testbed),
                ElementsAre(".spec.nodeLabel", ".status.state"));
    EXPECT_TRUE(rules().has_status(kinds::batchjob));
    EXPECT_FALSE(rules().has_status(kinds::lease));
}

}  // namespace
}  // namespace esi::simulation

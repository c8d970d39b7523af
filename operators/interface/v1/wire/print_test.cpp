#include "interface/v1/wire/print.h"

#include <gtest/gtest.h>

namespace esi::interface::v1 {
namespace {

TEST(printed_json, has_metadata_spec_and_status_with_times_in_milliseconds) {
    model::scheduling of;
    of.metadata.name = "s";
    of.metadata.namespace_ = "n";
    of.metadata.uid = "u";
    of.metadata.resource_version = "12";
    of.metadata.generation = 3;
    of.metadata.creation_timestamp = *model::timestamp::parse("2026-11-21T09:34:07Z");
    of.metadata.labels = {{"a", "b"}};
    of.metadata.annotations = {{"esi.tu-berlin.de/x", "y"}};
    of.spec.testbed = {"n", "t"};
    of.spec.queue_based.emplace();
    of.status.state = "SubmissionState";
    of.status.started = *model::timestamp::parse("2026-11-21T09:34:07.149960Z");
    std::string text;
    print_object(text, of);
    EXPECT_EQ(
        text,
        R"({"apiVersion":"esi.tu-berlin.de/v1alpha1","kind":"Scheduling",)"
        R"("metadata":{"name":"s","namespace":"n","uid":"u","resourceVersion":"12",)"
        R"("generation":3,"creationTimestamp":"2026-11-21T09:34:07.000Z",)"
        R"("labels":{"a":"b"},"annotations":{"esi.tu-berlin.de/x":"y"}},"spec":{"testbed":{"namespace":"n","name":"t"},)"
        R"("queueBased":[],"releaseOnCompletion":false,"cancelledJobs":[],"jobPolicies":[]},)"
        R"("status":{"state":"SubmissionState","jobStates":[],"problems":[],)"
        R"("observedGeneration":0,"assignments":[],"epoch":0,"lastRun":0,"conditions":[],)"
        R"("waitingForSchedulings":[],"started":"2026-11-21T09:34:07.149Z"}})");
}

TEST(printed_json, of_a_layout_is_the_list_in_either_form) {
    model::testbed_layout of;
    of.nodes = {{"n0", "u0", 7}};
    const auto listed = printed(of);
    of.compact = true;
    EXPECT_EQ(printed(of), listed);
    EXPECT_EQ(listed, R"({"revision":0,"nodes":[{"name":"n0","uid":"u0","id":7}],"slotsPerNode":0,)"
                      R"("resourcesPerSlot":{}})");
}

TEST(printed_json, of_a_claim_has_its_shapes_and_no_label) {
    model::testbed of;
    of.metadata.name = "t";
    auto& claim = of.spec.claim.emplace();
    claim.shapes = {{"executors", "worker", 2, {{"cpu", *model::quantity::parse("4")}}, {}}};
    claim.packing = "Pack";
    auto& layout = of.status.layout.emplace();
    layout.nodes = {{"n0", "u0", 0}};
    layout.shapes = {{"executors", "worker", 2, claim.shapes[0].resources}};
    layout.places = {0, 0};
    EXPECT_EQ(printed(of.spec),
              R"({"claim":{"shapes":[{"name":"executors","role":"worker","count":2,)"
              R"("resources":{"cpu":"4"},"constraints":{"nodeSelector":{},"affinity":{},)"
              R"("tolerations":[]}}],"packing":"Pack","priority":0,"suspend":false,)"
              R"("timeoutSeconds":30},"allowedNamespaces":[]})");
    EXPECT_EQ(printed(layout),
              R"({"revision":0,"nodes":[{"name":"n0","uid":"u0","id":0}],"slotsPerNode":0,)"
              R"("resourcesPerSlot":{},"shapes":[{"name":"executors","role":"worker","count":2,)"
              R"("resources":{"cpu":"4"}}],"places":[0,0]})");
    model::scheduling plan;
    plan.spec.claim.emplace().shapes = claim.shapes;
    EXPECT_TRUE(printed(plan.spec).starts_with(R"({"claim":{"shapes":[{"name":"executors")"))
        << printed(plan.spec);
}

TEST(printed_json, texts_are_escaped_and_always_utf8) {
    EXPECT_EQ(printed(std::string("a\"b\\c\nx\x01")), R"("a\"b\\c\nx\u0001")");
    EXPECT_EQ(printed(std::string("\xc3\xa4")), "\"\xc3\xa4\"");
    EXPECT_EQ(printed(std::string("a\xff")), "\"a\xef\xbf\xbd\"");
    EXPECT_EQ(printed(std::map<std::string, std::string>{{"\"", "x"}}), R"({"\"":"x"})");
}

TEST(printed_json, numbers_without_end_are_null) {
    EXPECT_EQ(printed(0.5), "0.5");
    EXPECT_EQ(printed(1.0 / 0.0), "null");
    EXPECT_EQ(printed(std::optional<int>()), "null");
}

}  // namespace
}  // namespace esi::interface::v1

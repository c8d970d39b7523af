#include "scheduling/interface/v1/objects.h"

#include <gtest/gtest.h>

namespace esi::scheduling::v1 {
namespace {

TEST(object_json, has_metadata_spec_and_status_with_times_in_milliseconds) {
    model::scheduling of;
    of.metadata.name = "s";
    of.metadata.namespace_ = "n";
    of.metadata.uid = "u";
    of.metadata.resource_version = "12";
    of.metadata.generation = 3;
    of.metadata.creation_timestamp = *model::timestamp::parse("2026-11-21T09:34:07Z");
    of.metadata.labels = {{"a", "b"}};
    of.spec.testbed = {"n", "t"};
    of.spec.queue_based = {{{"n", "j"}}};
    of.status.state = "SubmissionState";
    of.status.started = *model::timestamp::parse("2026-11-21T09:34:07.149960Z");
    EXPECT_EQ(text_of(object_json(of)),
              R"({"metadata":{"name":"s","namespace":"n","uid":"u","resourceVersion":"12",)"
              R"("generation":3,"creationTimestamp":"2026-11-21T09:34:07.000Z",)"
              R"("labels":{"a":"b"}},"spec":{"testbed":{"namespace":"n","name":"t"},)"
              R"("queueBased":[{"namespace":"n","name":"j"}],"releaseOnCompletion":false},)"
              R"("status":{"state":"SubmissionState","observedGeneration":0,"epoch":0,)"
              R"("lastRun":0,"started":"2026-11-21T09:34:07.149Z"}})");
}

TEST(object_json, of_a_layout_is_the_list_in_either_form) {
    model::testbed of;
    of.status.layout.emplace();
    of.status.layout->nodes = {{"n0", "u0", 7}};
    const auto listed = object_json(of);
    of.status.layout->compact = true;
    EXPECT_EQ(object_json(of), listed);
    EXPECT_EQ(listed["status"]["layout"]["nodes"][0]["name"], "n0");
}

TEST(object_json, of_a_job_shows_the_spec_that_it_has) {
    model::batchjob of;
    of.spec.spark_spec = model::raw_json{R"({"a":[1,{}]})"};
    EXPECT_EQ(object_json(of)["spec"]["sparkSpec"].dump(), R"({"a":[1,{}]})");
    of.spec.spark_spec.emplace();
    EXPECT_FALSE(object_json(of)["spec"].contains("sparkSpec"));
}

TEST(object_json, of_bytes_that_are_no_text_is_text) {
    model::testbed of;
    of.metadata.name = "a\xff";
    EXPECT_NE(text_of(object_json(of)).find("a\xEF\xBF\xBD"), std::string::npos);
}

}  // namespace
}  // namespace esi::scheduling::v1

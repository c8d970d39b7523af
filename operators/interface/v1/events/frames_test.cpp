#include "interface/v1/events/frames.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace esi::interface::v1::events {
namespace {

using nlohmann::json;

template <class T>
std::string told(form how, std::string_view id, std::string_view type, const T& of) {
    return object_begin(how, id, type) + object_text(of) + std::string(object_end(how));
}

model::testbed testbed() {
    model::testbed out;
    out.metadata.name = "t\n\n";
    return out;
}

TEST(an_event, is_one_block_of_server_sent_events) {
    const auto text = told(form::sse, "t1.j2.s3", "ADDED", testbed());
    const std::string head = "id: t1.j2.s3\nevent: ADDED\ndata: ";
    ASSERT_TRUE(text.starts_with(head)) << text;
    ASSERT_TRUE(text.ends_with("\n\n"));
    // The data is one line whatever the object contains.
    const auto data = text.substr(head.size(), text.size() - head.size() - 2);
    EXPECT_EQ(data.find('\n'), std::string::npos);
    const auto read = json::parse(data);
    EXPECT_EQ(read["type"], "ADDED");
    EXPECT_EQ(read["kind"], "Testbed");
    EXPECT_EQ(read["object"]["metadata"]["name"], "t\n\n");
    EXPECT_FALSE(read.contains("id"));
    EXPECT_TRUE(told(form::sse, "", snapshot_word, testbed()).starts_with("event: snapshot\n"));
}

TEST(an_event, is_one_line_of_json) {
    const auto text = told(form::ndjson, "t1.j2.s3", "DELETED", testbed());
    EXPECT_EQ(text.find('\n'), text.size() - 1);
    const auto read = json::parse(text);
    EXPECT_EQ(read["id"], "t1.j2.s3");
    EXPECT_EQ(read["type"], "DELETED");
    EXPECT_EQ(read["kind"], "Testbed");
    EXPECT_FALSE(json::parse(told(form::ndjson, "", snapshot_word, testbed())).contains("id"));
}

TEST(an_event, of_a_job_says_what_the_cache_has_not) {
    model::batchjob of;
    EXPECT_FALSE(json::parse("{" + object_text(of)).contains("partial"));
    of.spec.spark_spec = model::raw_json{R"({"a":1})"};
    EXPECT_FALSE(json::parse("{" + object_text(of)).contains("partial"));
    of.spec.spark_spec.emplace();
    EXPECT_EQ(json::parse("{" + object_text(of))["partial"], json({"spec.sparkSpec"}));
    of.spec.flink_spec.emplace();
    EXPECT_EQ(json::parse("{" + object_text(of))["partial"],
              json({"spec.sparkSpec", "spec.flinkSpec"}));
    of.spec.spark_spec.reset();
    EXPECT_EQ(json::parse("{" + object_text(of))["partial"], json({"spec.flinkSpec"}));
}

TEST(a_word_about_the_stream, has_both_forms) {
    EXPECT_EQ(sync(form::sse, "a"), "id: a\nevent: sync\ndata: {\"type\":\"sync\"}\n\n");
    EXPECT_EQ(sync(form::ndjson, "a"), "{\"id\":\"a\",\"type\":\"sync\"}\n");
    EXPECT_EQ(heartbeat(form::sse, "a"), ": heartbeat\nid: a\n\n");
    EXPECT_EQ(heartbeat(form::ndjson, "a"), "{\"id\":\"a\",\"type\":\"HEARTBEAT\"}\n");
    EXPECT_EQ(reset(form::sse, "TooOld", "d"),
              "id:\nevent: reset\ndata: {\"type\":\"reset\",\"reason\":\"TooOld\",\"detail\":"
              "\"d\"}\n\n");
    EXPECT_EQ(reset(form::ndjson, "TooOld", "d"),
              "{\"id\":\"\",\"type\":\"reset\",\"reason\":\"TooOld\",\"detail\":\"d\"}\n");
    EXPECT_EQ(end(form::sse, "Stopping", "d"),
              "event: end\ndata: {\"type\":\"end\",\"reason\":\"Stopping\",\"detail\":\"d\"}\n\n");
    EXPECT_EQ(end(form::ndjson, "Stopping", "d"),
              "{\"type\":\"end\",\"reason\":\"Stopping\",\"detail\":\"d\"}\n");
}

}  // namespace
}  // namespace esi::interface::v1::events

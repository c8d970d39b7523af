#include "interface/legacy/json.h"

#include <gtest/gtest.h>

#include "interface/legacy/content.h"

namespace esi::interface::legacy {
namespace {

TEST(external_json, of_a_testbed_without_nodes) {
    model::testbed of;
    of.metadata.name = "scheduler-slots";
    of.status.state = "SUCCESS";
    of.spec.slots_per_node = 2;
    EXPECT_EQ(text_of(external(of)),
              R"({"name":"scheduler-slots","state":"SUCCESS","numberOfNodes":0,)"
              R"("numberOfSlotsPerNode":2,"slotsByNode":{}})");
}

TEST(external_json, of_slots_has_the_originals_field_order) {
    model::testbed of;
    of.metadata.name = "t";
    of.status.state = "RUNNING";
    of.spec.slots_per_node = 1;
    of.status.slots = {{1, "OCCUPIED", "n1", 1, 0, "exec-1", "u1", "exec-1"},
                       {0, "FREE", "n0", 0, 0, "ghost-0", "u0", std::nullopt}};
    EXPECT_EQ(
        text_of(external(of)),
        R"({"name":"t","state":"RUNNING","numberOfNodes":2,"numberOfSlotsPerNode":1,"slotsByNode":{)"
        R"("n0":[{"reservedFor":null,"state":"FREE","podName":"ghost-0","nodeName":"n0","nodeId":0,)"
        R"("slotPositionOnNode":0,"podUId":"u0","position":0}],)"
        R"("n1":[{"reservedFor":"exec-1","state":"OCCUPIED","podName":"exec-1","nodeName":"n1",)"
        R"("nodeId":1,"slotPositionOnNode":0,"podUId":"u1","position":1}]}})");
}

TEST(external_json, of_a_job_that_ran) {
    model::batchjob of;
    of.metadata.name = "spark-job-1";
    of.status.state = "CompletedState";
    of.status.scheduled_events = {{*model::timestamp::parse("2026-11-21T09:34:07.149160Z"),
                                   *model::timestamp::parse("2026-11-21T09:34:14.761050Z"),
                                   true,
                                   {"esij", "flow-1"}}};
    EXPECT_EQ(text_of(external(of)),
              R"({"name":"spark-job-1","state":"CompletedState","externalScheduler":null,)"
              R"("scheduledEvents":[{"start":"2026-11-21T09:34:07.149160Z",)"
              R"("stop":"2026-11-21T09:34:14.761050Z","successful":true,)"
              R"("scheduling":{"namespace":"esij","name":"flow-1"}}]})");
}

TEST(external_json, of_a_run_under_way_says_nothing_of_success) {
    model::batchjob of;
    of.metadata.name = "j";
    of.status.state = "RunningState";
    of.status.scheduled_events = {
        {*model::timestamp::parse("2026-11-21T09:34:07.149160Z"), std::nullopt, false, {"n", "s"}}};
    EXPECT_EQ(text_of(external(of)),
              R"({"name":"j","state":"RunningState","externalScheduler":null,"scheduledEvents":[)"
              R"({"start":"2026-11-21T09:34:07.149160Z","stop":null,"successful":null,)"
              R"("scheduling":{"namespace":"n","name":"s"}}]})");
}

TEST(external_json, of_a_state_that_the_readers_do_not_know_is_null) {
    model::batchjob of;
    of.metadata.name = "j";
    of.status.state = "InitState";
    of.spec.external_scheduler = model::raw_json{R"x({"profiler":[{"spark-job-2":"12 (1)"}]})x"};
    EXPECT_EQ(
        text_of(external(of)),
        R"x({"name":"j","state":null,"externalScheduler":{"profiler":[{"spark-job-2":"12 (1)"}]},)x"
        R"("scheduledEvents":[]})");
}

TEST(external_json, of_a_queue_and_of_slots) {
    model::scheduling of;
    of.metadata.name = "flow-1";
    of.spec.testbed.name = "t";
    of.spec.queue_based = std::vector<model::object_key>{{"", "a"}, {"", "a"}};
    of.status.state = "CompletedState";
    of.status.job_states = {{{"ns", "a"}, "Completed"}};
    EXPECT_EQ(
        text_of(external(of)),
        R"({"name":"flow-1","state":"CompletedState","jobStatus":[{"name":"a","state":"Completed"}],)"
        R"("testBed":"t","queue":["a","a"],"slots":null})");
    of.spec.queue_based.reset();
    of.spec.slot_based = {"relaxed", {{{"", "a"}, {0, 1}}}};
    of.status = {};
    EXPECT_EQ(text_of(external(of)),
              R"({"name":"flow-1","state":null,"jobStatus":[],"testBed":"t","queue":null,)"
              R"("slots":{"mode":"RELAXED","jobs":[{"slots":[0,1],"name":"a"}]}})");
}

TEST(external_json, of_what_names_something_missing_has_no_state) {
    model::scheduling of;
    of.metadata.name = "s";
    of.spec.testbed.name = "nope";
    of.spec.queue_based = std::vector<model::object_key>{{"", "a"}};
    of.status.state = "AcquireState";
    of.status.job_states = {{{"ns", "a"}, "Acquiring"}};
    for (const char* reason : {"TestbedMissing", "TestbedHeld"}) {
        of.status.conditions = {{"Acquired", "False", 1, {}, reason, ""}};
        EXPECT_EQ(external(of)["state"].is_null(), std::string(reason) == "TestbedMissing");
        EXPECT_EQ(external(of)["jobStatus"].empty(), std::string(reason) == "TestbedMissing");
    }
}

struct body_case {
    const char* name;
    std::string body;
    /// The first fault; empty: taken.
    std::string fault;
};

class scheduling_bodies : public testing::TestWithParam<body_case> {};

TEST_P(scheduling_bodies, are_read_strictly) {
    auto read = read_scheduling(GetParam().body);
    EXPECT_EQ(read ? "" : read.error().front(), GetParam().fault);
}

const std::string queue_body = R"({"name":"x","testBed":"t","queue":["a"]})";

INSTANTIATE_TEST_SUITE_P(
    table, scheduling_bodies,
    testing::Values(
        body_case{"queue", queue_body, ""},
        body_case{
            "explicit_nulls",
            R"({"name":"x","state":null,"jobStatus":null,"testBed":"t","queue":["a"],"slots":null})",
            ""},
        body_case{
            "state_and_status_are_ignored",
            R"({"name":"x","state":"CompletedState","jobStatus":[{"name":"a","state":"Scheduled"}],"testBed":"t","queue":["a"]})",
            ""},
        body_case{"lower_case_mode",
                  R"({"name":"x","testBed":"t","slots":{"mode":"strict","jobs":[]}})", ""},
        body_case{"mixed_case_mode",
                  R"({"name":"x","testBed":"t","slots":{"mode":"Relaxed","jobs":[]}})", ""},
        body_case{"empty", "", "the body is missing"},
        body_case{"not_json", R"({"name": "x", )", "the body is not JSON in UTF-8"},
        body_case{"rest", queue_body + "x", "the body is not JSON in UTF-8"},
        body_case{"rest_behind_nul", queue_body + std::string("\0x", 2),
                  "the body is not JSON in UTF-8"},
        body_case{"array", "[]", "the body is not a JSON object"},
        body_case{"json_null", "null", "the body is not a JSON object"},
        body_case{"bad_utf8", "{\"name\":\"\xff\"}", "the body is not JSON in UTF-8"},
        body_case{"control_character", "{\"name\":\"a\x01\"}", "the body is not JSON in UTF-8"},
        body_case{"huge_number", R"({"name":1e999})", "the body is not JSON in UTF-8"},
        body_case{"deep", std::string(100000, '['), "the body nests deeper than 16 levels"},
        body_case{"twice", R"({"name":"x","name":"y","testBed":"t","queue":[]})",
                  "member given twice: name"},
        body_case{"unknown", R"({"name":"x","testBed":"t","queue":["a"],"surprise":1})",
                  "surprise is not known"},
        body_case{"no_name", R"({"testBed":"t","queue":["a"]})",
                  "name must have 1 to 63 characters out of a-z, 0-9 and '-', begin with a letter "
                  "and end "
                  "with a letter or digit"},
        body_case{
            "blank_testbed", R"({"name":"x","testBed":" ","queue":["a"]})",
            "testBed must have 1 to 63 characters out of a-z, 0-9, '-' and '.', and begin and end "
            "with a letter or digit"},
        body_case{"neither", R"({"name":"x","testBed":"t"})",
                  "exactly one of queue and slots must be given"},
        body_case{"both",
                  R"({"name":"x","testBed":"t","queue":["a"],"slots":{"mode":"STRICT","jobs":[]}})",
                  "exactly one of queue and slots must be given"},
        body_case{"queue_of_wrong_type", R"({"name":"x","testBed":"t","queue":"a"})",
                  "queue is not a list"},
        body_case{
            "slots_twice",
            R"({"name":"x","testBed":"t","slots":{"mode":"STRICT","jobs":[{"name":"a","slots":[1,1]}]}})",
            "slots.jobs[0].slots must be different whole numbers from 0 to 2147483647"},
        body_case{
            "slot_too_large",
            R"({"name":"x","testBed":"t","slots":{"mode":"STRICT","jobs":[{"name":"a","slots":[99999999999999999999]}]}})",
            "slots.jobs[0].slots must be different whole numbers from 0 to 2147483647"},
        body_case{"bad_mode", R"({"name":"x","testBed":"t","slots":{"mode":"LOOSE","jobs":[]}})",
                  "slots.mode must be STRICT or RELAXED"}),
    [](const auto& param) { return std::string(param.param.name); });

TEST(scheduling_bodies, are_read_in_a_time_that_grows_with_their_length_alone) {
    const auto time_of = [](const std::string& item, int count) {
        std::string body = R"({"name":"x","testBed":"t","queue":[)";
        for (int i = 0; i < count; ++i) body += (i == 0 ? "" : ",") + item;
        body += "]}";
        const auto begun = std::chrono::steady_clock::now();
        EXPECT_FALSE(read_scheduling(body));
        EXPECT_FALSE(read_job(body));
        return std::chrono::steady_clock::now() - begun;
    };
    for (const std::string item : {"{}", "[]", R"({"a":1})"}) {
        // 40,000 took six seconds when each was compared with all before it.
        EXPECT_LT(time_of(item, 200'000), seconds(10)) << item;
    }
}

TEST(scheduling_bodies, tell_all_faults_at_once) {
    auto read = read_scheduling(R"({"name":"Bad_Name","testBed":7,"queue":[null],"x":1})");
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().size(), 5u);
}

TEST(scheduling_bodies, become_a_spec_that_replaces_the_other_kind_of_plan) {
    EXPECT_EQ(read_scheduling(queue_body)->spec("ns").dump(),
              R"({"queueBased":[{"name":"a","namespace":"ns"}],"slotBased":null,)"
              R"("testbed":{"name":"t","namespace":"ns"}})");
}

TEST(job_bodies, are_read_strictly) {
    EXPECT_TRUE(read_job(R"({"name":"j"})"));
    EXPECT_TRUE(read_job(
        R"({"name":"j","state":null,"externalScheduler":{"p":[{"k":"v"}]},"scheduledEvents":[]})"));
    EXPECT_FALSE(read_job(R"({"name":"j","state":"Foo"})"));
    EXPECT_FALSE(read_job(R"({"name":"j","x":1})"));
    EXPECT_FALSE(read_job(R"({})"));
    EXPECT_FALSE(read_job(R"({"name":"j","externalScheduler":{"p":{"k":"v"}}})"));
    EXPECT_FALSE(read_job(R"({"name":"j","externalScheduler":{"p":[{"k":1}]}})"));
    EXPECT_FALSE(read_job(R"({"name":"../x"})"));
}

TEST(content, accept_decides_the_form) {
    struct {
        const char* accept;
        wanted_form form;
        bool json;
    } table[] = {{"", wanted_form::json, true},
                 {"*/*", wanted_form::json, true},
                 {"application/json;q=0.5", wanted_form::json, true},
                 {"text/html", wanted_form::html, false},
                 {"text/html,application/xhtml+xml,*/*;q=0.8", wanted_form::html, true},
                 {"text/html;q=0.1, application/json", wanted_form::json, true},
                 {"application/xml", wanted_form::none, false},
                 {"application/json;q=0", wanted_form::none, false},
                 {",;=;q=,", wanted_form::none, false}};
    for (const auto& row : table) {
        EXPECT_EQ(form_of(row.accept), row.form) << row.accept;
        EXPECT_EQ(accepts_json(row.accept), row.json) << row.accept;
    }
}

TEST(content, json_is_known_by_its_type) {
    for (const char* yes :
         {"application/json", "Application/JSON; charset=UTF-8", "application/x+json"}) {
        EXPECT_TRUE(is_json(yes)) << yes;
    }
    for (const char* no :
         {"", "text/plain", "application/", "application", "application/xml", ";"}) {
        EXPECT_FALSE(is_json(no)) << no;
    }
}

}  // namespace
}  // namespace esi::interface::legacy

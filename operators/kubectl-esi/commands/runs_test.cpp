#include "kubectl-esi/commands/runs.h"

#include <gtest/gtest.h>

#include "kubectl-esi/commands/matrix.h"

namespace esi::kubectl {
namespace {

using namespace std::string_literals;

using shown::look;

model::timestamp at(double time) {
    return {wall_time(std::chrono::microseconds(static_cast<std::int64_t>(time * 1e6)))};
}

std::vector<recorded_run> two_runs() {
    auto job = std::make_shared<model::batchjob>();
    job->metadata.namespace_ = "ns";
    job->metadata.name = "a";
    job->status.type = "Spark";
    job->status.run_count = 7;
    model::run_record good;
    good.run = "u.1.1";
    good.scheduling = {"ns", "s"};
    good.testbed = {"ns", "t"};
    good.slots = {0, 3};
    good.nodes = {"n0", "n1"};
    good.neighbours = {{"n0", {"ns/b"}}, {"n1", {"ns/b", "x/c"}, 2}};
    good.submitted = at(100);
    good.scheduled = at(102.5);
    good.started = at(103);
    good.stopped = at(113);
    good.outcome = "Succeeded";
    auto bad = good;
    bad.run = "u.1.2";
    bad.slots = {1};
    bad.nodes = {"n1"};
    bad.neighbours = {};
    bad.submitted = at(200);
    bad.scheduled = bad.stopped = std::nullopt;
    bad.started = at(201);
    bad.outcome = "Failed";
    bad.reason = "ApplicationFailed";
    bad.message = "out of memory, \"heap\"";
    job->status.runs = {good, bad};
    return runs_of({job});
}

TEST(runs, are_numbered_over_all_runs_of_the_job) {
    EXPECT_EQ(two_runs().at(0).number, 6);
    EXPECT_EQ(two_runs().at(1).number, 7);
}

TEST(runs, the_table) {
    EXPECT_EQ(runs_text(two_runs(), false, false, look{}, at(300).value), R"(
JOB   RUN   TESTBED   SLOTS   NODES   BESIDE     AGE     TO-PLACE   TO-START   TIME     OUTCOME
a     6     t         0,3     n0,n1   b,x/c,+2   3m20s   2.5s       0.5s       10.0s    Succeeded
a     7     t         1       n1      <none>     100s    <none>     <none>     <none>   Failed
)"s.substr(1));
}

TEST(runs, csv_quotes_what_has_commas_and_quotes) {
    const auto text = csv_text(two_runs());
    EXPECT_EQ(text,
              "namespace,job,type,number,run,scheduling_namespace,scheduling,testbed_namespace,"
              "testbed,slots,nodes,neighbours,submitted,scheduled,started,stopped,job_started,"
              "job_stopped,seconds,outcome,reason,message,other_neighbours\r\n"
              "ns,a,Spark,6,u.1.1,ns,s,ns,t,0 3,n0 n1,ns/b x/c,1970-01-01T00:01:40.000000Z,"
              "1970-01-01T00:01:42.500000Z,1970-01-01T00:01:43.000000Z,1970-01-01T00:01:53.000000Z,"
              ",,10.000000,Succeeded,,,2\r\n"
              "ns,a,Spark,7,u.1.2,ns,s,ns,t,1,n1,,1970-01-01T00:03:20.000000Z,,"
              "1970-01-01T00:03:21.000000Z,,,,,Failed,ApplicationFailed,"
              "\"out of memory, \"\"heap\"\"\",0\r\n");
}

TEST(runs, csv_has_no_formula_of_a_spreadsheet) {
    auto runs = two_runs();
    runs.resize(1);
    runs.front().run.message = "=cmd|' /C calc'!A0";
    EXPECT_TRUE(csv_text(runs).ends_with(",'=cmd|' /C calc'!A0,2\r\n")) << csv_text(runs);
}

TEST(runs, csv_has_nothing_that_a_terminal_would_act_on) {
    auto runs = two_runs();
    runs.resize(1);
    runs.front().run.message =
        "a\x1b]0;owned\x07\xc2\x9b"
        "2J\xe2\x80\xae\r\nb";
    EXPECT_TRUE(csv_text(runs).contains(",a ]0;owned  2J   b,")) << csv_text(runs);
}

TEST(runs, a_line_of_json_is_the_record_with_its_job) {
    const auto text = jsonl_text(two_runs());
    const auto first = nlohmann::json::parse(text.substr(0, text.find('\n')));
    EXPECT_EQ(first["job"], (nlohmann::json{{"namespace", "ns"}, {"name", "a"}}));
    EXPECT_EQ(first["number"], 6);
    EXPECT_EQ(first["slots"], (nlohmann::json{0, 3}));
    EXPECT_EQ(std::ranges::count(text, '\n'), 2);
}

TEST(runs, a_trace_has_a_row_for_each_slot) {
    const auto trace = nlohmann::json::parse(trace_text(two_runs(), at(211).value));
    const auto& events = trace["traceEvents"];
    std::string shown;
    for (const auto& each : events) {
        if (each["ph"] != "X") continue;
        shown += each["name"].get<std::string>() + " slot " + each["tid"].dump() + " from " +
                 each["ts"].dump() + " for " + each["dur"].dump() + "\n";
    }
    EXPECT_EQ(shown,
              "ns/a slot 0 from 103000000 for 10000000\n"
              "ns/a slot 3 from 103000000 for 10000000\n"
              "ns/a slot 1 from 201000000 for 10000000\n")
        << "one without an end lasts until now";
    EXPECT_NE(events.dump().find(R"("name":"Testbed ns/t")"), std::string::npos);
    EXPECT_NE(events.dump().find(R"("name":"slot 3")"), std::string::npos);
}

scheduling::answers::matrix matrix_of_three() {
    scheduling::answers::matrix of;
    of.testbed = {"ns", "t"};
    const model::object_key a{"ns", "a"};
    const model::object_key b{"ns", "b"};
    of.pairs = {{a, std::nullopt, 2, 2, 10, 10, 11, 1.5},
                {a, b, 1, 1, 24.14, 24.14, 24.14, {}},
                {b, a, 3, 3, 600, 590, 610, 10.0}};
    return of;
}

TEST(matrices, have_a_row_for_each_job_and_a_column_for_each_neighbour) {
    EXPECT_EQ(matrix_text(matrix_of_three(), {}),
              "JOB   ALONE       a         b\n"
              "a     10.0s (2)   -         24.1s (1)\n"
              "b     -           10m (3)   -\n");
}

TEST(matrices, wide_has_a_line_for_each_pair) {
    EXPECT_EQ(pairs_text(matrix_of_three(), {}), R"(
JOB   BESIDE   RUNS   SOLE   MEAN    P50     P95     DEVIATION
a     <none>   2      2      10.0s   10.0s   11.0s   1.5s
a     b        1      1      24.1s   24.1s   24.1s   <none>
b     a        3      3      10m     9m50s   10m     10.0s
)"s.substr(1));
}

}  // namespace
}  // namespace esi::kubectl

#include "controller/events.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <regex>

#include "base/virtual_clock.h"
#include "kube/testing/scripted_transport.h"

namespace esi::controller {
namespace {

using namespace std::chrono_literals;
using json = nlohmann::json;

kube::response reply(int code, std::string reason = {}) {
    kube::response out;
    out.status = code;
    out.body = json{{"kind", "Status"}, {"code", code}, {"reason", reason}}.dump();
    return out;
}

struct an_event_recorder : testing::Test {
    an_event_recorder() {
        testbed.namespace_ = "team-a";
        testbed.name = "tb";
        testbed.uid = "uid-1";
        wire.respond = [this](const kube::request&) -> result<kube::response> {
            if (codes.empty()) return reply(201);
            int code = codes.front();
            codes.erase(codes.begin());
            return reply(code);
        };
    }
    ~an_event_recorder() override {
        tasks.cancel();
        run_for(loop, time, 0s);
    }
    void start() { tasks.spawn("events", events.run()); }
    event_subject subject() const { return event_subject(kube::types::testbed, testbed); }
    void happen(std::string note = "made") {
        events.normal(subject(), "GhostCreated", "CreateGhost", std::move(note));
        run_for(loop, time, 50ms);
    }
    json body(std::size_t i) const { return json::parse(wire.bodies.at(i), nullptr, false); }

    asio::io_context loop;
    virtual_clock time;
    kube::scripted_transport wire{loop.get_executor(), time};
    kube::client api{wire, time};
    event_recorder events{api, time, "esi-testbed", "esi-testbed-host_1"};
    task_group tasks{loop.get_executor()};
    model::object_meta testbed;
    std::vector<int> codes;
};

TEST_F(an_event_recorder, writes_events_as_kubernetes_has_them) {
    start();
    happen("made ghost tb-ghost-1");
    ASSERT_EQ(wire.asked.size(), 1u);
    EXPECT_EQ(wire.asked[0], "POST /apis/events.k8s.io/v1/namespaces/team-a/events");
    auto sent = body(0);
    EXPECT_TRUE(std::regex_match(sent["metadata"]["name"].get<std::string>(),
                                 std::regex("tb\\.[0-9a-f]{16}")))
        << sent;
    sent["metadata"].erase("name");
    EXPECT_EQ(sent, json::parse(R"({
        "apiVersion": "events.k8s.io/v1", "kind": "Event",
        "metadata": {"namespace": "team-a"},
        "eventTime": "2026-01-02T03:04:05.000006Z",
        "type": "Normal", "reason": "GhostCreated", "action": "CreateGhost",
        "note": "made ghost tb-ghost-1",
        "regarding": {"apiVersion": "esi.tu-berlin.de/v1alpha1", "kind": "Testbed",
                      "namespace": "team-a", "name": "tb", "uid": "uid-1"},
        "reportingController": "esi-testbed", "reportingInstance": "esi-testbed-host_1"})"));
}

TEST_F(an_event_recorder, names_the_other_object_of_the_step) {
    start();
    model::object_meta job;
    job.namespace_ = "team-b";
    job.name = "wordcount";
    job.uid = "uid-2";
    events.warning(subject(), "JobEnded", "JobEnded", "BatchJob team-b/wordcount failed",
                   event_subject(kube::types::batchjob, job));
    run_for(loop, time, 50ms);
    EXPECT_EQ(body(0)["related"], json::parse(R"({
        "apiVersion": "esi.tu-berlin.de/v1alpha1", "kind": "BatchJob",
        "namespace": "team-b", "name": "wordcount", "uid": "uid-2"})"));
}

TEST_F(an_event_recorder, a_repeat_becomes_a_series) {
    start();
    happen();
    run_for(loop, time, 1s);
    for (int i = 0; i < 5; ++i) happen();
    ASSERT_EQ(wire.asked.size(), 2u);
    const auto name = body(0)["metadata"]["name"].get<std::string>();
    EXPECT_EQ(wire.asked[1], "PATCH /apis/events.k8s.io/v1/namespaces/team-a/events/" + name);
    EXPECT_EQ(
        body(1),
        json::parse(R"({"series":{"count":2,"lastObservedTime":"2026-01-02T03:04:06.050006Z"}})"));
    run_for(loop, time, 6min);
    ASSERT_EQ(wire.asked.size(), 3u);
    EXPECT_EQ(body(2)["series"]["count"], 6);
}

TEST_F(an_event_recorder, a_series_whose_event_expired_is_written_anew) {
    start();
    happen();
    codes = {404};
    happen();
    ASSERT_EQ(wire.asked.size(), 3u);
    EXPECT_TRUE(wire.asked[2].starts_with("POST "));
    EXPECT_EQ(body(2)["series"]["count"], 2);
}

TEST_F(an_event_recorder, trouble_with_the_server_is_waited_out) {
    codes = {503, 503};
    start();
    happen();
    run_for(loop, time, 25s);
    EXPECT_EQ(wire.asked.size(), 3u);
    run_for(loop, time, 1min);
    EXPECT_EQ(wire.asked.size(), 3u);
}

TEST_F(an_event_recorder, is_given_up_after_twelve_tries) {
    codes = std::vector<int>(20, 503);
    std::string dropped;
    events.on_drop([&](std::string_view why) { dropped += why; });
    start();
    happen();
    run_for(loop, time, 5min);
    EXPECT_EQ(wire.asked.size(), 12u);
    EXPECT_EQ(dropped, "refused");
}

TEST_F(an_event_recorder, a_refused_event_is_dropped) {
    for (int code : {403, 422, 409}) {
        codes = {code};
        wire.asked.clear();
        start();
        events.warning(subject(), "Reason" + std::to_string(code), "Act", "note");
        run_for(loop, time, code == 409 ? 50ms : 1min);
        EXPECT_EQ(wire.asked.size(), 1u) << code;
    }
}

TEST_F(an_event_recorder, never_holds_more_than_a_thousand) {
    int dropped = 0;
    events.on_drop([&](std::string_view why) { dropped += why == "queue" ? 1 : 0; });
    for (int i = 0; i < 1500; ++i) {
        events.normal(subject(), "Reason" + std::to_string(i), "Act", "note");
    }
    start();
    run_for(loop, time, 50ms);
    EXPECT_EQ(wire.asked.size(), 1000u);
    EXPECT_EQ(dropped, 500);
}

TEST_F(an_event_recorder, cuts_long_notes_between_characters) {
    start();
    std::string note(1023, 'x');
    happen(note + "\xc3\xa4");
    EXPECT_EQ(body(0)["note"], note);
}

TEST_F(an_event_recorder, cluster_scoped_subjects_have_their_events_in_default) {
    start();
    testbed.namespace_.clear();
    testbed.name = std::string(253, 'n');
    events.normal(event_subject(kube::types::node, testbed), "Labelled", "Label", "n");
    run_for(loop, time, 50ms);
    EXPECT_EQ(wire.asked[0], "POST /apis/events.k8s.io/v1/namespaces/default/events");
    EXPECT_EQ(body(0)["metadata"]["name"].get<std::string>().size(), 253u);
    EXPECT_FALSE(body(0)["regarding"].contains("namespace"));
}

}  // namespace
}  // namespace esi::controller

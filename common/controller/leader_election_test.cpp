#include "controller/leader_election.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>

#include "base/log.h"
#include "base/task_group.h"
#include "base/virtual_clock.h"
#include "kube/testing/scripted_transport.h"

namespace esi::controller {
namespace {

using namespace std::chrono_literals;
using json = nlohmann::json;

/// One Lease as the API server keeps it.
struct lease_server {
    json object;
    int version = 0;
    bool down = false;
    bool no_namespace = false;
    std::vector<std::string> methods;

    result<kube::response> answer(const kube::request& what) {
        methods.push_back(what.method);
        if (down) return fail(errc::transport, "connection refused");
        if (no_namespace) return status(404, "NotFound");
        if (what.method == "GET") {
            return object.is_null() ? status(404, "NotFound") : reply(200, object.dump());
        }
        auto body = json::parse(what.body, nullptr, false);
        if (what.method == "POST") {
            if (!object.is_null()) return status(409, "AlreadyExists");
        } else if (body["metadata"]["resourceVersion"] != object["metadata"]["resourceVersion"]) {
            return status(409, "Conflict");
        }
        object = std::move(body);
        object["metadata"]["resourceVersion"] = std::to_string(++version);
        return reply(200, object.dump());
    }
    static kube::response reply(int code, std::string body) {
        kube::response out;
        out.status = code;
        out.body = std::move(body);
        return out;
    }
    static kube::response status(int code, std::string reason) {
        return reply(code, json{{"kind", "Status"}, {"code", code}, {"reason", reason}}.dump());
    }
    std::string holder() const { return object["spec"]["holderIdentity"].get<std::string>(); }
};

election_options options(std::string identity) {
    election_options out;
    out.lease_namespace = "esi-system";
    out.lease_name = "esi-testbed";
    out.identity = std::move(identity);
    return out;
}

asio::awaitable<void> note_end(leader_election& election, bool& lost) {
    co_await election.run();
    lost = true;
}

struct replica {
    replica(asio::io_context& loop_, virtual_clock& time_, lease_server& server,
            std::string identity)
        : loop(loop_),
          time(time_),
          election(api, time_, numbers, options(std::move(identity)), [this] { ++led; }) {
        wire.respond = [this, &server](const kube::request& what) -> result<kube::response> {
            if (cut_off) return fail(errc::transport, "no route");
            return server.answer(what);
        };
        tasks->spawn("election", note_end(election, lost));
        run_for(loop, time, 0s);
    }
    ~replica() { stop(); }
    void stop() {
        tasks->cancel();
        run_for(loop, time, 0s);
    }

    asio::io_context& loop;
    virtual_clock& time;
    kube::scripted_transport wire{loop.get_executor(), time};
    kube::client api{wire, time};
    metrics numbers;
    bool cut_off = false;
    bool lost = false;
    int led = 0;
    leader_election election;
    std::unique_ptr<task_group> tasks = std::make_unique<task_group>(loop.get_executor());
};

struct an_election : testing::Test {
    asio::io_context loop;
    virtual_clock time;
    lease_server server;
};

TEST_F(an_election, the_first_leads_and_the_second_waits) {
    replica first(loop, time, server, "first");
    replica second(loop, time, server, "second");
    run_for(loop, time, 5min);
    EXPECT_TRUE(first.election.leading());
    EXPECT_EQ(first.led, 1);
    EXPECT_FALSE(second.election.leading());
    EXPECT_EQ(second.election.holder(), "first");
    EXPECT_EQ(second.election.may_write_until(), steady_time::min());
    EXPECT_GT(first.election.may_write_until(), time.now());
    EXPECT_NE(first.numbers.text().find("leader_election_master_status{name=\"esi-testbed\"} 1"),
              std::string::npos);
}

TEST_F(an_election, a_namespace_that_is_missing_is_told_once_with_its_remedy) {
    std::vector<std::string> lines;
    log::send_to([&](log::level at, std::string_view line) {
        if (at >= log::level::warn || line.starts_with("lease requests")) lines.emplace_back(line);
    });
    server.no_namespace = true;
    replica only(loop, time, server, "only");
    run_for(loop, time, 5min);
    ASSERT_EQ(lines.size(), 1U);
    for (const char* part : {"lease=esi-system/esi-testbed", "status=404",
                             "kubectl create namespace esi-system", "--leader-elect-namespace"}) {
        EXPECT_TRUE(lines[0].contains(part)) << lines[0];
    }
    ASSERT_TRUE(only.election.present_trouble());
    EXPECT_TRUE(only.election.present_trouble()->refused());
    EXPECT_FALSE(only.election.known());
    server.no_namespace = false;
    run_for(loop, time, 1min);
    log::send_to({});
    EXPECT_TRUE(only.election.leading());
    EXPECT_FALSE(only.election.present_trouble());
    EXPECT_TRUE(only.election.known());
    ASSERT_EQ(lines.size(), 2U);
    EXPECT_EQ(lines[1], "lease requests work lease=esi-system/esi-testbed");
}

TEST_F(an_election, writes_the_lease_as_kubernetes_has_it) {
    replica only(loop, time, server, "only");
    EXPECT_EQ(server.object["apiVersion"], "coordination.k8s.io/v1");
    EXPECT_EQ(server.object["kind"], "Lease");
    EXPECT_EQ(server.object["metadata"]["name"], "esi-testbed");
    EXPECT_EQ(server.object["metadata"]["namespace"], "esi-system");
    EXPECT_EQ(server.object["spec"], (json{{"holderIdentity", "only"},
                                           {"leaseDurationSeconds", 15},
                                           {"leaseTransitions", 0},
                                           {"acquireTime", "2026-01-02T03:04:05.000006Z"},
                                           {"renewTime", "2026-01-02T03:04:05.000006Z"}}));
    server.object["metadata"]["labels"]["team"] = "a";
    run_for(loop, time, 2s);
    EXPECT_EQ(server.object["spec"]["renewTime"], "2026-01-02T03:04:07.000006Z");
    EXPECT_EQ(server.object["spec"]["acquireTime"], "2026-01-02T03:04:05.000006Z");
}

TEST_F(an_election, renewals_need_one_request_each) {
    replica only(loop, time, server, "only");
    server.methods.clear();
    run_for(loop, time, 20s);
    EXPECT_EQ(server.methods, std::vector<std::string>(10, "PUT"));
}

TEST_F(an_election, a_release_hands_over_at_the_next_look) {
    auto first = std::make_unique<replica>(loop, time, server, "first");
    replica second(loop, time, server, "second");
    run_for(loop, time, 10s);
    first->stop();
    task_group release(loop.get_executor());
    release.spawn("release", first->election.release(time.now() + 5s));
    run_for(loop, time, 0s);
    EXPECT_EQ(server.holder(), "");
    EXPECT_EQ(server.object["spec"]["leaseDurationSeconds"], 1);
    run_for(loop, time, 4500ms);
    EXPECT_TRUE(second.election.leading());
    EXPECT_EQ(server.object["spec"]["leaseTransitions"], 1);
}

TEST_F(an_election, who_is_cut_off_has_stopped_writing_before_another_leads) {
    replica first(loop, time, server, "first");
    replica second(loop, time, server, "second");
    run_for(loop, time, 31s);
    const auto last_write = first.election.may_write_until();
    first.cut_off = true;
    ASSERT_TRUE(run_until(loop, time, [&] { return first.lost; }, 1min));
    EXPECT_FALSE(second.election.leading());
    EXPECT_GE(time.now(), last_write);
    EXPECT_LE(time.now(), last_write + 1s);
    ASSERT_TRUE(run_until(loop, time, [&] { return second.election.leading(); }, 1min));
    EXPECT_GE(time.now(), last_write + 3s);
}

TEST_F(an_election, a_stalled_request_does_not_outlive_the_lease) {
    replica first(loop, time, server, "first");
    run_for(loop, time, 1s);
    const auto end = first.election.may_write_until();
    first.wire.latency = 1h;
    ASSERT_TRUE(run_until(loop, time, [&] { return first.lost; }, 1min));
    EXPECT_EQ(time.now(), end);
}

TEST_F(an_election, a_short_outage_of_the_server_costs_nothing) {
    replica first(loop, time, server, "first");
    run_for(loop, time, 1s);
    server.down = true;
    run_for(loop, time, 8s);
    server.down = false;
    run_for(loop, time, 1min);
    EXPECT_TRUE(first.election.leading());
    EXPECT_EQ(first.led, 1);
}

TEST(lease_json, keeps_what_others_wrote) {
    auto object = json::parse(
        R"({"metadata":{"name":"x","resourceVersion":"4","labels":{"a":"b"}},"spec":{"strategy":"OldestEmulationVersion"}})");
    lease_record record;
    record.holder = "me";
    record.duration_seconds = 15;
    record.version = "5";
    write_lease(record, object);
    EXPECT_EQ(object["metadata"]["labels"]["a"], "b");
    EXPECT_EQ(object["metadata"]["resourceVersion"], "5");
    EXPECT_EQ(object["spec"]["strategy"], "OldestEmulationVersion");
    auto back = read_lease(object);
    ASSERT_TRUE(back);
    EXPECT_EQ(*back, record);
}

TEST(lease_json, survives_what_people_write) {
    for (const char* text : {"7", "[]", "{}", R"({"metadata":7})", R"({"metadata":{}})"}) {
        EXPECT_FALSE(read_lease(json::parse(text))) << text;
    }
    auto odd = read_lease(json::parse(
        R"({"metadata":{"resourceVersion":"4"},"spec":{"holderIdentity":7,"leaseDurationSeconds":"x","renewTime":"soon"}})"));
    ASSERT_TRUE(odd);
    EXPECT_EQ(odd->holder, "");
    EXPECT_EQ(odd->duration_seconds, 0);
    EXPECT_EQ(odd->renewed, std::nullopt);
}

}  // namespace
}  // namespace esi::controller

#include "interface/v1/events/stream.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <random>

#include "http/server.h"
#include "interface/v1/events/testing.h"
#include "kube/testing/scripted_transport.h"

namespace esi::interface::v1::events {
namespace {

using strings = std::vector<std::string>;

/// The real server with one hub, whose caches the test fills as a watch would.
class events_hub : public testing::Test {
protected:
    void start(std::vector<std::string> namespaces = {}) {
        for (auto& ns : namespaces.empty() ? strings{""} : namespaces) {
            list<model::testbed>(testbeds, {}, "10", ns);
            list<model::batchjob>(jobs, {}, "10", ns);
            list<model::scheduling>(schedulings, {}, "10", ns);
        }
        own = std::make_unique<hub>(
            hub_sources{loop.get_executor(), time, numbers, api, testbeds, jobs, schedulings,
                        std::move(namespaces), limits ? &*limits : nullptr},
            rights, options);
        for (const auto* path : {"/api/v1/events", "/api/v1/namespaces/{namespace}/events"}) {
            routes.add("GET", path, [this](http::server_request request) {
                return open_stream(*own, std::move(request));
            });
        }
        http::server_options where;
        where.bind_address = "127.0.0.1";
        server = std::make_unique<http::server>(loop.get_executor(), time, where, routes);
        ASSERT_TRUE(server->start());
    }
    ~events_hub() override {
        bool stopped = false;
        asio::co_spawn(loop, end(stopped), asio::detached);
        EXPECT_TRUE(until([&] { return stopped; }));
    }
    asio::awaitable<void> end(bool& stopped) {
        if (own) co_await own->stop(time.now() + seconds(3));
        if (server) co_await server->stop(time.now() + seconds(3));
        stopped = true;
    }

    template <class Condition>
    bool until(Condition holds) {
        loop.restart();
        const auto limit = std::chrono::steady_clock::now() + seconds(10);
        while (!holds() && std::chrono::steady_clock::now() < limit) {
            loop.run_one_for(milliseconds(20));
        }
        return holds();
    }
    void pass(milliseconds how_long) {
        const auto limit = std::chrono::steady_clock::now() + how_long;
        loop.restart();
        while (std::chrono::steady_clock::now() < limit) loop.run_one_for(milliseconds(5));
    }

    template <class T>
    static T made(const std::string& name, version at, const std::string& ns = "n") {
        T out;
        out.metadata.namespace_ = ns;
        out.metadata.name = name;
        out.metadata.uid = "uid-" + name;
        out.metadata.resource_version = std::to_string(at);
        return out;
    }
    template <class T>
    void list(kube::store<T>& in, std::vector<T> objects, const std::string& at,
              const std::string& ns = "") {
        in.replace(std::move(objects), ns);
        in.set_version(at, ns);
        in.mark_synced();
    }
    template <class T>
    void put(kube::store<T>& in, const std::string& name, version at, const std::string& ns = "n",
             const std::string& watch = "") {
        in.apply(made<T>(name, at, ns));
        in.set_version(std::to_string(at), watch);
    }
    template <class T>
    void remove(kube::store<T>& in, const std::string& name, version at) {
        in.erase({"n", name});
        in.set_version(std::to_string(at), "");
    }

    std::shared_ptr<stream_client> come(const std::string& query = "", const std::string& id = "",
                                        const std::string& path = "/api/v1/events",
                                        const std::string& accept = "application/x-ndjson") {
        auto out = std::make_shared<stream_client>(loop, server->port());
        auto text = "GET " + path + query + " HTTP/1.1\r\nHost: h\r\nAccept: " + accept + "\r\n";
        if (!id.empty()) text += "Last-Event-ID: " + id + "\r\n";
        asio::co_spawn(loop, out->run(text + "\r\n"),
                       [out](const std::exception_ptr&) { (void)out; });
        return out;
    }
    /// What the stream has sent, once it is `count` or more.
    strings said(const std::shared_ptr<stream_client>& by, std::size_t count) {
        EXPECT_TRUE(until([&] { return by->lines.size() >= count || by->closed; }));
        return by->said();
    }
    void go(const std::shared_ptr<stream_client>& which) {
        const auto before = own->streams();
        boost::system::error_code ignored;
        which->socket.close(ignored);
        EXPECT_TRUE(until([&] { return own->streams() < before; }));
    }
    std::string refusal(const std::shared_ptr<stream_client>& of) {
        EXPECT_TRUE(until([&] { return !of->head.empty(); }));
        return of->head.substr(9, 3);
    }
    std::string watch_line(const std::string& type, const std::string& name, version at) {
        return fmt::format(
            R"({{"type":"{}","object":{{"metadata":{{"name":"{}","namespace":"n","uid":"uid-{}",)"
            R"("resourceVersion":"{}"}}}}}})"
            "\n",
            type, name, name, at);
    }

    asio::io_context loop;
    system_clock time;
    controller::metrics numbers;
    kube::scripted_transport wire{loop.get_executor(), time};
    kube::client api{wire, time};
    kube::store<model::testbed> testbeds;
    kube::store<model::batchjob> jobs;
    kube::store<model::scheduling> schedulings;
    given_rights rights;
    hub_options options;
    std::optional<quota> limits;
    http::router routes;
    std::unique_ptr<hub> own;
    std::unique_ptr<http::server> server;
};

TEST_F(events_hub, tells_what_there_is_then_sync_then_each_change) {
    start();
    put(testbeds, "t", 11);
    put(jobs, "j", 12);
    put(schedulings, "s", 13);
    const auto by = come();
    EXPECT_EQ(said(by, 4), (strings{"snapshot t@11", "snapshot j@12", "snapshot s@13", "sync"}));
    EXPECT_NE(by->head.find("Content-Type: application/x-ndjson\r\n"), std::string::npos);
    EXPECT_NE(by->head.find("Cache-Control: no-store\r\n"), std::string::npos);
    EXPECT_EQ(by->last_id(), "t11.j12.s13");
    put(jobs, "j", 14);
    put(jobs, "k", 15);
    remove(jobs, "j", 16);
    put(testbeds, "t", 17);
    EXPECT_EQ(said(by, 8),
              (strings{"snapshot t@11", "snapshot j@12", "snapshot s@13", "sync", "MODIFIED j@14",
                       "ADDED k@15", "DELETED j@16", "MODIFIED t@17"}));
    EXPECT_EQ(by->lines[6]["id"], "t11.j16.s13");
    EXPECT_EQ(by->lines[6]["kind"], "BatchJob");
    EXPECT_EQ(by->lines[7]["id"], "t17.j16.s13");
}

TEST_F(events_hub, large_objects_are_told_whole_between_small_ones) {
    start();
    const auto put_large = [&](const std::string& name, version at) {
        auto one = made<model::batchjob>(name, at);
        one.metadata.annotations["note"] = std::string(200'000, 'x');
        jobs.apply(std::move(one));
        jobs.set_version(std::to_string(at), "");
    };
    put(jobs, "a", 11);
    put_large("b", 12);
    put(jobs, "c", 13);
    const auto by = come("?kinds=jobs");
    EXPECT_EQ(said(by, 4), (strings{"snapshot a@11", "snapshot b@12", "snapshot c@13", "sync"}));
    put(jobs, "a", 14);
    put_large("b", 15);
    put_large("c", 16);
    put(jobs, "a", 17);
    EXPECT_EQ(said(by, 8),
              (strings{"snapshot a@11", "snapshot b@12", "snapshot c@13", "sync", "MODIFIED a@14",
                       "MODIFIED b@15", "MODIFIED c@16", "MODIFIED a@17"}));
    EXPECT_EQ(by->lines[5]["object"]["metadata"]["annotations"]["note"].get<std::string>().size(),
              200'000u);
    EXPECT_EQ(by->last_id(), "j17");
}

TEST_F(events_hub, speaks_as_server_sent_events) {
    start();
    put(testbeds, "t", 11);
    const auto by = come("", "", "/api/v1/events", "text/event-stream");
    // Lines that are no JSON, as the client of this test takes them apart.
    EXPECT_TRUE(until([&] { return by->lines.size() >= 9; }));
    EXPECT_NE(by->head.find("Content-Type: text/event-stream\r\n"), std::string::npos);
}

TEST_F(events_hub, resumes_after_an_id_with_each_change_once) {
    start();
    const auto first = come();
    said(first, 1);
    put(jobs, "j", 20);
    put(testbeds, "t", 21);
    const auto heard = said(first, 3);
    EXPECT_EQ(heard, (strings{"sync", "ADDED j@20", "ADDED t@21"}));
    const std::string at_job = first->lines[1]["id"];
    const auto last = first->last_id();
    go(first);
    put(jobs, "j", 30);
    remove(jobs, "j", 31);
    EXPECT_EQ(said(come("", at_job), 4),
              (strings{"ADDED t@21", "MODIFIED j@30", "DELETED j@31", "sync"}));
    EXPECT_EQ(said(come("?lastEventId=" + last), 3),
              (strings{"MODIFIED j@30", "DELETED j@31", "sync"}));
    const auto same = come("", "t21.j31.s10");
    EXPECT_EQ(said(same, 1), (strings{"sync"}));
    EXPECT_EQ(same->last_id(), "t21.j31.s10");
    EXPECT_TRUE(wire.asked.empty());
}

TEST_F(events_hub, goes_on_behind_what_another_replica_has_told) {
    start();
    // The other replica was ahead with jobs and behind with testbeds.
    put(testbeds, "t", 11);
    const auto keeps_log = come();
    said(keeps_log, 2);
    put(testbeds, "t", 20);
    const auto by = come("", "t11.j40.s10");
    EXPECT_EQ(said(by, 2), (strings{"MODIFIED t@20", "sync"}));
    EXPECT_EQ(by->last_id(), "t20.j40.s10");
    put(jobs, "j", 35);
    put(jobs, "j", 40);
    put(jobs, "j", 41);
    EXPECT_EQ(said(by, 3), (strings{"MODIFIED t@20", "sync", "MODIFIED j@41"}));
    EXPECT_EQ(by->last_id(), "t20.j41.s10");
}

TEST_F(events_hub, an_id_that_is_newer_than_all_begins_anew) {
    options.ahead = seconds(0);
    start();
    wire.respond = [](const kube::request&) {
        kube::response out;
        out.status = 200;
        out.body = R"({"metadata":{"resourceVersion":"50"},"items":[]})";
        return out;
    };
    const auto by = come("", "t10.j60.s10");
    EXPECT_EQ(said(by, 3), (strings{"sync", "reset IdUnknown", "sync"}));
    EXPECT_EQ(by->last_id(), "t10.j10.s10");
    // A version that the API server knows will come.
    const auto known = come("", "t10.j50.s10");
    EXPECT_EQ(said(known, 1), (strings{"sync"}));
    pass(milliseconds(2500));
    EXPECT_EQ(known->said(), (strings{"sync"}));
}

TEST_F(events_hub, reads_what_was_before_by_a_watch_once_for_all) {
    start();
    list<model::batchjob>(jobs, {made<model::batchjob>("j", 100)}, "100");
    list<model::testbed>(testbeds, {}, "100");
    list<model::scheduling>(schedulings, {}, "100");
    std::vector<std::shared_ptr<stream_client>> all;
    for (int i = 0; i < 5; ++i) all.push_back(come("?kinds=jobs", "j40"));
    ASSERT_TRUE(until([&] { return !wire.streams.empty(); }));
    EXPECT_EQ(wire.asked,
              (strings{"GET /apis/esi.tu-berlin.de/v1alpha1/batchjobs?watch=true&"
                       "allowWatchBookmarks=true&timeoutSeconds=3&resourceVersion=40"}));
    // It continues meanwhile.
    put(jobs, "k", 101);
    wire.streams[0]->push(watch_line("MODIFIED", "j", 50) + watch_line("DELETED", "i", 60));
    wire.streams[0]->push(watch_line("MODIFIED", "j", 100));
    for (const auto& each : all) {
        EXPECT_EQ(said(each, 5), (strings{"MODIFIED j@50", "DELETED i@60", "MODIFIED j@100",
                                          "ADDED k@101", "sync"}));
        EXPECT_EQ(each->lines[0]["id"], "j50");
    }
    EXPECT_EQ(wire.asked.size(), 1U);
}

TEST_F(events_hub, a_watch_that_ends_before_the_present_is_followed_by_another) {
    start();
    list<model::batchjob>(jobs, {}, "100");
    const auto by = come("?kinds=jobs", "j40");
    ASSERT_TRUE(until([&] { return wire.streams.size() == 1; }));
    wire.streams[0]->push(watch_line("ADDED", "j", 50));
    wire.streams[0]->close();
    ASSERT_TRUE(until([&] { return wire.streams.size() == 2; }));
    EXPECT_TRUE(wire.asked[1].ends_with("resourceVersion=50")) << wire.asked[1];
    wire.streams[1]->push(watch_line("BOOKMARK", "", 100));
    EXPECT_EQ(said(by, 2), (strings{"ADDED j@50", "sync"}));
    EXPECT_EQ(by->last_id(), "j100");
}

TEST_F(events_hub, an_id_that_is_too_old_begins_anew) {
    start();
    list<model::batchjob>(jobs, {made<model::batchjob>("j", 100)}, "100");
    wire.next_streams.push_back([](kube::stream_feed& feed) {
        feed.status = 410;
        feed.push(R"({"kind":"Status","status":"Failure","reason":"Expired","code":410})");
        feed.close();
    });
    const auto by = come("?kinds=jobs", "j40");
    EXPECT_EQ(said(by, 3), (strings{"reset TooOld", "snapshot j@100", "sync"}));
    EXPECT_EQ(by->lines[0]["id"], "");
    // It, or an older version, is not requested again.
    EXPECT_EQ(said(come("?kinds=jobs", "j39"), 3),
              (strings{"reset TooOld", "snapshot j@100", "sync"}));
    EXPECT_EQ(wire.asked.size(), 1U);
    // The other shape of the same.
    wire.next_streams.push_back([](kube::stream_feed& feed) {
        feed.push(
            "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"reason\":\"Expired\","
            "\"code\":410}}\n");
    });
    EXPECT_EQ(said(come("?kinds=jobs", "j41"), 3),
              (strings{"reset TooOld", "snapshot j@100", "sync"}));
}

TEST_F(events_hub, ids_of_something_else_begin_anew) {
    start();
    for (const auto* id : {"t10.j10", "124", "x"}) {
        EXPECT_EQ(said(come("", id), 2), (strings{"reset IdUnknown", "sync"})) << id;
    }
}

TEST_F(events_hub, a_relist_begins_all_streams_of_the_kind_anew) {
    start();
    put(jobs, "j", 11);
    const auto of_jobs = come("?kinds=jobs");
    const auto of_testbeds = come("?kinds=testbeds");
    said(of_jobs, 2);
    said(of_testbeds, 1);
    list<model::batchjob>(jobs, {made<model::batchjob>("k", 20)}, "20");
    EXPECT_EQ(said(of_jobs, 5),
              (strings{"snapshot j@11", "sync", "reset Relisted", "snapshot k@20", "sync"}));
    put(testbeds, "t", 21);
    EXPECT_EQ(said(of_testbeds, 2), (strings{"sync", "ADDED t@21"}));
    // Also if it changed nothing: an object may have come and gone.
    list<model::batchjob>(jobs, {made<model::batchjob>("k", 20)}, "30");
    EXPECT_EQ(said(of_jobs, 8).back(), "sync");
    EXPECT_EQ(of_jobs->said()[5], "reset Relisted");
    put(jobs, "k", 31);
    EXPECT_EQ(said(of_jobs, 9).back(), "MODIFIED k@31");
}

TEST_F(events_hub, an_object_in_place_of_another_begins_anew) {
    start();
    put(jobs, "j", 11);
    const auto by = come("?kinds=jobs");
    said(by, 2);
    auto other = made<model::batchjob>("j", 12);
    other.metadata.uid = "another";
    jobs.apply(other);
    jobs.set_version("12", "");
    EXPECT_EQ(said(by, 5),
              (strings{"snapshot j@11", "sync", "reset Relisted", "snapshot j@12", "sync"}));
}

TEST_F(events_hub, a_client_that_is_too_slow_begins_anew_once_it_reads) {
    options.log_bytes = 200'000;
    start();
    const auto by = come("?kinds=jobs");
    EXPECT_EQ(said(by, 1), (strings{"sync"}));
    // More than the log and what the system takes for it.
    auto large = made<model::batchjob>("j", 0);
    large.spec.external_scheduler =
        model::raw_json{fmt::format(R"({{"a":[{{"b":"{}"}}]}})", std::string(50'000, 'x'))};
    version at = 100;
    // The loop does not run meanwhile: no client reads.
    for (int i = 0; i < 200; ++i) {
        large.metadata.resource_version = std::to_string(++at);
        jobs.apply(large);
        jobs.set_version(std::to_string(at), "");
    }
    EXPECT_LE(own->log().bytes(), 200'000U + 60'000U);
    const auto all = said(by, 4);
    EXPECT_EQ(all, (strings{"sync", "reset TooSlow", "snapshot j@300", "sync"}));
    EXPECT_GT(own->counts().dropped_bytes.Value(), 200 * 50'000);
    put(jobs, "k", 301);
    EXPECT_EQ(said(by, 5).back(), "ADDED k@301");
}

TEST_F(events_hub, tells_one_namespace_what_is_in_it) {
    start();
    put(jobs, "a", 11, "n");
    put(jobs, "b", 12, "m");
    const auto by = come("?kinds=jobs", "", "/api/v1/namespaces/m/events");
    EXPECT_EQ(said(by, 2), (strings{"snapshot b@12", "sync"}));
    put(jobs, "a", 13, "n");
    put(jobs, "b", 14, "m");
    EXPECT_EQ(said(by, 3).back(), "MODIFIED b@14");
    EXPECT_EQ(said(come("?kinds=jobs&namespace=m", by->lines[1]["id"]), 2),
              (strings{"MODIFIED b@14", "sync"}));
    // The id says nothing about another namespace.
    EXPECT_EQ(said(come("?kinds=jobs&namespace=n", by->last_id()), 3),
              (strings{"reset IdUnknown", "snapshot a@13", "sync"}));
}

TEST_F(events_hub, tells_of_objects_by_their_labels) {
    start();
    const auto put_job = [&](const std::string& name, version at, const std::string& value) {
        auto of = made<model::batchjob>(name, at);
        of.metadata.labels = {{"a", value}};
        jobs.apply(of);
        jobs.set_version(std::to_string(at), "");
    };
    put_job("in", 11, "x");
    put_job("out", 12, "y");
    const auto by = come("?kinds=jobs&labelSelector=a%3Dx");
    EXPECT_EQ(said(by, 2), (strings{"snapshot in@11", "sync"}));
    put_job("out", 13, "y");
    put_job("out", 14, "x");
    put_job("in", 15, "y");
    put_job("in", 16, "z");
    remove(jobs, "in", 17);
    put_job("out", 18, "x");
    remove(jobs, "out", 19);
    EXPECT_EQ(said(by, 6), (strings{"snapshot in@11", "sync", "ADDED out@14", "DELETED in@15",
                                    "MODIFIED out@18", "DELETED out@19"}));
    EXPECT_EQ(said(come("?kinds=jobs", by->last_id()), 2), (strings{"reset IdUnknown", "sync"}));
}

TEST_F(events_hub, follows_the_namespaces_that_are_watched) {
    start({"b", "a"});
    const auto by = come("?kinds=jobs");
    said(by, 1);
    put(jobs, "j", 21, "a", "a");
    put(jobs, "k", 15, "b", "b");
    EXPECT_EQ(said(by, 3), (strings{"sync", "ADDED j@21", "ADDED k@15"}));
    EXPECT_TRUE(by->last_id().ends_with(".j21_15")) << by->last_id();
    EXPECT_EQ(said(come("?kinds=jobs", by->lines[1]["id"]), 2), (strings{"ADDED k@15", "sync"}));
    EXPECT_EQ(refusal(come("", "", "/api/v1/namespaces/c/events")), "404");
    EXPECT_EQ(said(come("?kinds=jobs&namespace=b"), 2), (strings{"snapshot k@15", "sync"}));
}

TEST_F(events_hub, gives_the_kinds_that_the_caller_may_watch) {
    rights.missing = {"watch testbeds ", "list schedulings "};
    start();
    put(testbeds, "t", 11);
    put(jobs, "j", 12);
    const auto by = come();
    EXPECT_EQ(said(by, 2), (strings{"snapshot j@12", "sync"}));
    EXPECT_EQ(by->last_id(), "j12");
    EXPECT_EQ(refusal(come("?kinds=jobs,testbeds")), "403");
    rights.missing.insert("watch batchjobs ");
    EXPECT_EQ(refusal(come()), "403");
    EXPECT_EQ(refusal(come("?kinds=pods")), "400");
    EXPECT_EQ(refusal(come("", "", "/api/v1/events", "text/html")), "406");
    rights.unknown = 401;
    EXPECT_EQ(refusal(come()), "401");
}

TEST_F(events_hub, a_right_that_is_taken_away_ends_the_stream) {
    options.rights = seconds(1);
    start();
    const auto by = come();
    said(by, 1);
    rights.missing = {"list testbeds "};
    EXPECT_EQ(said(by, 2), (strings{"sync", "end Forbidden"}));
    EXPECT_TRUE(until([&] { return by->closed; }));
    EXPECT_TRUE(by->whole);
    EXPECT_EQ(own->streams(), 0U);
    rights.missing.clear();
    const auto other = come();
    said(other, 1);
    // No check refuses: it continues.
    rights.unknown = 503;
    pass(milliseconds(2500));
    EXPECT_FALSE(other->closed);
    rights.unknown = 401;
}

TEST_F(events_hub, a_token_that_has_expired_ends_the_stream) {
    options.rights = seconds(1);
    start();
    const auto by = come();
    said(by, 1);
    rights.unknown = 401;
    EXPECT_EQ(said(by, 2), (strings{"sync", "end Unauthorized"}));
}

TEST_F(events_hub, a_heartbeat_carries_the_newest_id) {
    options.heartbeat = seconds(1);
    start();
    const auto by = come("?kinds=jobs");
    said(by, 1);
    // A bookmark.
    jobs.set_version("77", "");
    EXPECT_EQ(said(by, 2), (strings{"sync", "HEARTBEAT"}));
    EXPECT_EQ(by->last_id(), "j77");
}

TEST_F(events_hub, ends_its_streams_and_takes_no_more_when_it_stops) {
    start();
    std::vector<std::shared_ptr<stream_client>> all;
    for (int i = 0; i < 50; ++i) all.push_back(come());
    for (const auto& each : all) said(each, 1);
    bool stopped = false;
    asio::co_spawn(loop, end(stopped), asio::detached);
    EXPECT_TRUE(until([&] { return stopped; }));
    EXPECT_TRUE(until(
        [&] { return std::ranges::all_of(all, [](const auto& each) { return each->closed; }); }));
    for (const auto& each : all) {
        EXPECT_EQ(each->said(), (strings{"sync", "end Stopping"}));
        EXPECT_TRUE(each->whole);
    }
}

TEST_F(events_hub, refuses_streams_above_its_limit_and_before_the_caches_are_full) {
    options.most_streams = 2;
    start();
    const auto a = come();
    const auto b = come();
    said(a, 1);
    said(b, 1);
    EXPECT_EQ(refusal(come()), "503");
    go(a);
    said(come(), 1);
}

TEST_F(events_hub, a_stream_of_the_tenant_with_the_most_ends_for_one_of_another) {
    quota_options few;
    few.all_streams = 3;
    limits.emplace(time, numbers, few);
    start();
    rights.caller = "system:serviceaccount:evil:a";
    const auto first = come();
    said(first, 1);
    rights.caller = "system:serviceaccount:evil:b";
    const auto second = come();
    said(second, 1);
    const auto third = come();
    said(third, 1);
    EXPECT_EQ(refusal(come()), "429");
    rights.caller = "anna";
    const auto good = come();
    EXPECT_EQ(said(good, 1), (strings{"sync"}));
    EXPECT_EQ(said(third, 2), (strings{"sync", "end Displaced"}));
    EXPECT_TRUE(until([&] { return third->closed; }));
    EXPECT_TRUE(third->whole);
    put(jobs, "j", 11);
    for (const auto& each : {first, second, good}) {
        EXPECT_EQ(said(each, 2), (strings{"sync", "ADDED j@11"}));
    }
}

TEST_F(events_hub, keeps_nothing_while_nobody_listens) {
    options.linger = seconds(0);
    start();
    put(jobs, "j", 11);
    EXPECT_EQ(own->log().size(), 0U);
    const auto by = come();
    said(by, 2);
    put(jobs, "j", 12);
    EXPECT_EQ(own->log().size(), 1U);
    go(by);
    EXPECT_TRUE(until([&] { return own->log().size() == 0; }));
    put(jobs, "j", 13);
    EXPECT_EQ(own->log().size(), 0U);
    EXPECT_EQ(own->log().floor(1), 13U);
}

/// The promise of the interface: a client that is cut off anywhere and resumed by its last id, on
/// either of two replicas whose watches are at different points, receives each change once and in
/// order, or a reset.
TEST_F(events_hub, cut_off_at_random_a_client_hears_each_change_once) {
    start();
    struct replica {
        kube::store<model::testbed> testbeds;
        kube::store<model::batchjob> jobs;
        kube::store<model::scheduling> schedulings;
    } other;
    list<model::testbed>(other.testbeds, {}, "10");
    list<model::batchjob>(other.jobs, {}, "10");
    list<model::scheduling>(other.schedulings, {}, "10");
    hub second(hub_sources{loop.get_executor(),
                           time,
                           numbers,
                           api,
                           other.testbeds,
                           other.jobs,
                           other.schedulings,
                           {},
                           nullptr},
               rights, options);
    routes.add("GET", "/second", [&](http::server_request request) {
        return open_stream(second, std::move(request));
    });
    std::mt19937 random(5);
    // The changes, in the order of each kind; and how far each replica has seen them.
    std::vector<version> of_jobs;
    std::vector<version> of_testbeds;
    std::size_t seen[2][2] = {};
    version at = 100;
    const auto happen = [&] { (random() % 2 == 0 ? of_jobs : of_testbeds).push_back(++at); };
    const auto see = [&](std::size_t which, bool all) {
        auto& j = which == 0 ? jobs : other.jobs;
        auto& t = which == 0 ? testbeds : other.testbeds;
        while (seen[which][0] < of_jobs.size() && (all || random() % 3 > 0)) {
            put(j, "j", of_jobs[seen[which][0]++]);
        }
        while (seen[which][1] < of_testbeds.size() && (all || random() % 3 > 0)) {
            put(t, "t", of_testbeds[seen[which][1]++]);
        }
    };
    // Both keep their logs all the time.
    const auto keeps = come();
    const auto keeps_too = come("", "", "/second");
    said(keeps, 1);
    said(keeps_too, 1);
    std::vector<version> heard_jobs;
    std::vector<version> heard_testbeds;
    int resets = 0;
    std::string id = keeps->last_id();
    const auto take = [&](const stream_client& from) {
        for (const auto& line : from.lines) {
            const std::string type = line["type"];
            if (type == "reset") ++resets;
            if (!line.contains("object")) continue;
            const auto v =
                version_of(line["object"]["metadata"]["resourceVersion"].get<std::string>());
            (line["kind"] == "BatchJob" ? heard_jobs : heard_testbeds).push_back(v);
        }
        if (!from.last_id().empty()) id = from.last_id();
    };
    for (int cut = 0; cut < 100; ++cut) {
        const auto by = come("", id, random() % 2 == 0 ? "/second" : "/api/v1/events");
        for (int i = 0; i < 10; ++i) {
            if (random() % 2 == 0) happen();
            see(random() % 2, false);
            pass(milliseconds(random() % 3));
        }
        boost::system::error_code ignored;
        by->socket.close(ignored);
        until([&] { return by->closed; });
        take(*by);
    }
    see(0, true);
    see(1, true);
    const auto by = come("", id);
    EXPECT_TRUE(until([&] { return !by->lines.empty() && by->last_id() == keeps->last_id(); }));
    take(*by);
    EXPECT_EQ(resets, 0);
    EXPECT_EQ(heard_jobs, of_jobs);
    EXPECT_EQ(heard_testbeds, of_testbeds);
    EXPECT_GT(of_jobs.size() + of_testbeds.size(), 200U);
    bool stopped = false;
    const auto end_second = [&]() -> asio::awaitable<void> {
        co_await second.stop(time.now() + seconds(3));
        stopped = true;
    };
    asio::co_spawn(loop, end_second(), asio::detached);
    EXPECT_TRUE(until([&] { return stopped; }));
}

}  // namespace
}  // namespace esi::interface::v1::events

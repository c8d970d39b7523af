#include "kube/watch/informer.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>

#include "base/log.h"
#include "base/virtual_clock.h"
#include "kube/testing/scripted_transport.h"
#include "model/json.h"

namespace esi::kube {
namespace {

using namespace std::chrono_literals;

std::string object_text(std::string_view name, std::string_view version) {
    return fmt::format(
        R"({{"kind":"Pod","metadata":{{"name":"{}","namespace":"default","uid":"uid-{}","resourceVersion":"{}"}},"spec":{{}}}})",
        name, name, version);
}
std::string event(std::string_view type, std::string_view name, std::string_view version) {
    return fmt::format("{{\"type\":\"{}\",\"object\":{}}}\n", type, object_text(name, version));
}
std::string end_of_list(std::string_view version) {
    return fmt::format(
        "{{\"type\":\"BOOKMARK\",\"object\":{{\"kind\":\"Pod\",\"metadata\":{{"
        "\"resourceVersion\":\"{}\",\"annotations\":{{\"k8s.io/"
        "initial-events-end\":\"true\"}}}}}}}}\n",
        version);
}
std::string bookmark(std::string_view version) {
    return fmt::format(
        "{{\"type\":\"BOOKMARK\",\"object\":{{\"metadata\":{{\"resourceVersion\":\"{}\"}}}}}}\n",
        version);
}
std::string status_text(int code, std::string_view reason) {
    return fmt::format(
        R"({{"kind":"Status","status":"Failure","reason":"{}","message":"no","code":{}}})", reason,
        code);
}
response answer(int status, std::string body) {
    response out;
    out.status = status;
    out.body = std::move(body);
    return out;
}

struct an_informer : testing::Test {
    an_informer() {
        pods.items().on_change([this](const change<model::pod>& what) {
            const auto& now = what.after ? what.after : what.before;
            changes.push_back((what.after ? what.before ? "~" : "+" : "-") + now->metadata.name);
        });
        tasks.spawn("informer", pods.run());
        run_for(loop, time, 0s);
    }
    ~an_informer() override {
        tasks.cancel();
        run_for(loop, time, 0s);
        EXPECT_EQ(tasks.size(), 0u);
    }

    stream_feed& last_stream() { return *wire.streams.back(); }
    void send(const std::string& text) {
        last_stream().push(text);
        run_for(loop, time, 0s);
    }
    std::vector<std::string> taken_changes() { return std::exchange(changes, {}); }
    std::string last_asked() const { return wire.asked.back(); }

    asio::io_context loop;
    virtual_clock time;
    scripted_transport wire{loop.get_executor(), time};
    client api{wire, time};
    informer<model::pod> pods{api, time, types::pod};
    task_group tasks{loop.get_executor()};
    std::vector<std::string> changes;
};

using strings = std::vector<std::string>;

TEST_F(an_informer, asks_for_a_streaming_list) {
    ASSERT_EQ(wire.asked.size(), 1u);
    EXPECT_TRUE(last_asked().starts_with("GET /api/v1/pods?watch=true&allowWatchBookmarks=true&"))
        << last_asked();
    EXPECT_TRUE(last_asked().ends_with("&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"))
        << last_asked();
}

TEST_F(an_informer, shows_the_list_as_a_whole_when_it_is_complete) {
    bool told = false;
    pods.on_synced([&] { told = true; });
    send(event("ADDED", "b", "9") + event("ADDED", "a", "3"));
    EXPECT_FALSE(pods.synced());
    EXPECT_EQ(taken_changes(), strings{});
    EXPECT_EQ(pods.items().version("default"), "");
    send(end_of_list("10"));
    EXPECT_TRUE(pods.synced());
    EXPECT_TRUE(told);
    EXPECT_EQ(taken_changes(), (strings{"+b", "+a"}));
    EXPECT_EQ(pods.items().version("default"), "10");
}

TEST_F(an_informer, keeps_of_listed_and_of_watched_objects_what_the_transform_leaves) {
    pods.set_transform([](model::pod& pod) { pod.metadata.labels.clear(); });
    const auto labelled = [](std::string text) {
        text.insert(text.find("\"name\""), R"("labels":{"a":"b"},)");
        return text;
    };
    send(labelled(event("ADDED", "a", "1")) + end_of_list("1") +
         labelled(event("ADDED", "b", "2")));
    ASSERT_EQ(pods.items().size(), 2U);
    pods.items().each(
        [](const auto& pod) { EXPECT_TRUE(pod->metadata.labels.empty()) << pod->metadata.name; });
}

TEST_F(an_informer, run_again_it_lists_what_is_there_then) {
    send(event("ADDED", "a", "3") + event("ADDED", "b", "4") + end_of_list("10"));
    EXPECT_TRUE(pods.current());
    taken_changes();
    tasks.cancel();
    run_for(loop, time, 0s);
    task_group again(loop.get_executor());
    again.spawn("informer", pods.run());
    run_for(loop, time, 0s);
    ASSERT_EQ(wire.streams.size(), 2u);
    EXPECT_EQ(last_asked().find("resourceVersion="), std::string::npos) << last_asked();
    EXPECT_TRUE(pods.synced());
    EXPECT_FALSE(pods.current());
    send(event("ADDED", "b", "4") + event("ADDED", "c", "12"));
    EXPECT_EQ(taken_changes(), strings{}) << "what it knew is shown until the list is complete";
    send(end_of_list("12"));
    EXPECT_TRUE(pods.current());
    EXPECT_EQ(taken_changes(), (strings{"-a", "+c"}));
    again.cancel();
    run_for(loop, time, 0s);
}

TEST_F(an_informer, changes_within_the_list_count) {
    send(event("ADDED", "a", "3") + event("ADDED", "b", "4") + event("MODIFIED", "a", "11") +
         event("DELETED", "b", "12") + end_of_list("12"));
    EXPECT_EQ(pods.items().size(), 1u);
    EXPECT_EQ(pods.items().find({"default", "a"})->metadata.resource_version, "11");
}

TEST_F(an_informer, follows_the_watch_whatever_its_chunks) {
    send(end_of_list("10"));
    for (char c : event("ADDED", "a", "11") + event("MODIFIED", "a", "12") + bookmark("15") +
                      event("DELETED", "a", "16")) {
        send(std::string(1, c));
    }
    EXPECT_EQ(taken_changes(), (strings{"+a", "~a", "-a"}));
    EXPECT_EQ(pods.items().version("default"), "16");
}

TEST_F(an_informer, goes_on_from_the_last_version_after_an_orderly_end) {
    send(end_of_list("10") + event("ADDED", "a", "11"));
    last_stream().close();
    run_for(loop, time, 0s);
    ASSERT_EQ(wire.streams.size(), 2u);
    EXPECT_NE(last_asked().find("resourceVersion=11"), std::string::npos) << last_asked();
    EXPECT_EQ(last_asked().find("sendInitialEvents"), std::string::npos) << last_asked();
    EXPECT_EQ(pods.items().size(), 1u);
}

TEST_F(an_informer, finds_deletions_in_a_relist) {
    send(event("ADDED", "a", "1") + event("ADDED", "b", "2") + end_of_list("10"));
    taken_changes();
    send(fmt::format("{{\"type\":\"ERROR\",\"object\":{}}}\n", status_text(410, "Expired")));
    run_for(loop, time, 2s);
    ASSERT_EQ(wire.streams.size(), 2u);
    EXPECT_NE(last_asked().find("resourceVersion=10"), std::string::npos) << last_asked();
    EXPECT_EQ(pods.items().size(), 2u) << "the old state stands until the list is complete";
    send(event("ADDED", "b", "2") + event("ADDED", "c", "20") + end_of_list("21"));
    EXPECT_EQ(taken_changes(), (strings{"-a", "+c"})) << "b did not change";
}

std::string added(std::string_view name, std::string_view version, std::size_t bytes) {
    auto text = event("ADDED", name, version);
    text.replace(text.find(R"("spec":{})"), 9,
                 R"("spec":{"affinity":{"x":")" + std::string(bytes, 'a') + "\"}}");
    return text;
}

TEST_F(an_informer, lists_again_when_what_was_left_out_has_room_but_not_more_than_once_a_minute) {
    pods.limit(120'000);
    const auto left_out = [&] {
        std::string out;
        for (const auto& [key, unused] : pods.shares().all_left_out()) out += key.name;
        return out;
    };
    send(added("a", "1", 40'000) + added("b", "2", 41'000) + added("c", "3", 42'000) +
         end_of_list("10"));
    EXPECT_EQ(pods.items().size(), 3U);
    EXPECT_EQ(left_out(), "c");
    send(event("DELETED", "a", "11"));
    run_for(loop, time, 2s);
    ASSERT_EQ(wire.streams.size(), 2U) << "it lists again";
    EXPECT_TRUE(last_asked().contains("sendInitialEvents=true")) << last_asked();
    send(added("b", "2", 41'000) + added("c", "3", 42'000) + end_of_list("11"));
    EXPECT_EQ(left_out(), "");
    send(added("d", "12", 45'000));
    EXPECT_EQ(left_out(), "d");
    send(event("DELETED", "b", "13"));
    run_for(loop, time, 50s);
    EXPECT_EQ(wire.streams.size(), 2U) << "the minute is not over";
    run_for(loop, time, 10s);
    send(bookmark("14"));
    run_for(loop, time, 5s);
    EXPECT_EQ(wire.streams.size(), 3U);
}

TEST_F(an_informer, lists_in_pages_where_streams_are_refused) {
    last_stream().push("ignored");  // the stream that the fixture opened
    last_stream().cut(error{errc::transport, "reset"});
    wire.next_streams.push_back([](stream_feed& s) {
        s.status = 422;
        s.pieces.push_back(status_text(422, "Invalid"));
        s.closed = true;
    });
    wire.answers.push_back(answer(
        200,
        fmt::format(R"({{"metadata":{{"continue":"go"}},"items":[{}]}})", object_text("a", "1"))));
    wire.answers.push_back(
        answer(200, fmt::format(R"({{"metadata":{{"resourceVersion":"10"}},"items":[{}]}})",
                                object_text("b", "2"))));
    run_for(loop, time, 2s);
    EXPECT_EQ(pods.items().size(), 2u);
    EXPECT_TRUE(pods.synced());
    ASSERT_EQ(wire.asked.size(), 5u);
    EXPECT_EQ(wire.asked[2], "GET /api/v1/pods?limit=500");
    EXPECT_EQ(wire.asked[3], "GET /api/v1/pods?limit=500&continue=go");
    EXPECT_NE(wire.asked[4].find("resourceVersion=10"), std::string::npos) << wire.asked[4];
    send(event("ADDED", "c", "11"));
    EXPECT_EQ(pods.items().size(), 3u);
}

TEST_F(an_informer, passes_over_what_it_does_not_understand) {
    send(end_of_list("10"));
    send("no json\n{}\n{\"type\":\"STRANGE\",\"object\":{}}\n");
    send("{\"type\":\"ADDED\",\"object\":{\"metadata\":7}}\n");
    send("{\"type\":\"DELETED\",\"object\":null}\n");
    send("\"a\\ud800\"\n\n\r\n");
    send(event("ADDED", "a", "11"));
    EXPECT_EQ(taken_changes(), strings{"+a"});
    EXPECT_EQ(wire.streams.size(), 1u) << "it never ends the watch";
}

TEST_F(an_informer, loses_no_list_to_one_object_that_nobody_expected) {
    auto stray = [](std::string_view name, const std::string& value) {
        return fmt::format(R"({{"metadata":{{"name":"{}","namespace":"default"}},"x":{}}})", name,
                           value);
    };
    wire.answers.push_back(
        answer(200, R"({"metadata":{"resourceVersion":"10"},"items":[)" +
                        stray("big", "100000000000000000000") + "," +
                        stray("deep", std::string(9'000, '[') + std::string(9'000, ']')) + "," +
                        stray("wrong", R"(1,"spec":{"affinity":)" + std::string(9'000, '[') +
                                           std::string(9'000, ']') + "}") +
                        "]}"));
    last_stream().close();
    for (int i = 0; i < 10 && !pods.synced(); ++i) run_for(loop, time, 60s);
    EXPECT_EQ(taken_changes(), (strings{"+big", "+deep"}));
}

TEST_F(an_informer, deletes_by_name_even_if_the_rest_cannot_be_decoded) {
    send(event("ADDED", "a", "1") + end_of_list("10"));
    send(
        R"({"type":"DELETED","object":{"metadata":{"name":"a","namespace":"default","resourceVersion":"11"},"spec":7}})"
        "\n");
    EXPECT_EQ(pods.items().size(), 0u);
    EXPECT_EQ(pods.items().version("default"), "11");
}

TEST_F(an_informer, notices_a_watch_that_falls_silent) {
    send(end_of_list("10"));
    const auto heard = pods.last_heard();
    run_for(loop, time, 599s + 5s + 2s);
    EXPECT_GE(wire.streams.size(), 2u);
    EXPECT_NE(last_asked().find("resourceVersion=10"), std::string::npos) << last_asked();
    EXPECT_GT(pods.last_heard(), heard) << "the answer to the new watch was heard";
}

TEST_F(an_informer, tells_when_the_kind_is_not_served) {
    last_stream().cut(error{errc::transport, "reset"});
    for (int i = 0; i < 2; ++i) {
        wire.next_streams.push_back([](stream_feed& s) {
            s.status = 404;
            s.closed = true;
        });
    }
    run_for(loop, time, 2s);
    EXPECT_FALSE(pods.served());
    EXPECT_FALSE(pods.synced());
    run_for(loop, time, 10s);
    EXPECT_TRUE(pods.served());
    send(end_of_list("10"));
    EXPECT_TRUE(pods.synced());
}

/// Log lines of a level, while it lives.
struct heard_lines {
    explicit heard_lines(log::level least = log::level::info) {
        log::send_to([this, least](log::level at, std::string_view line) {
            if (at >= least) lines.emplace_back(line);
        });
    }
    ~heard_lines() { log::send_to({}); }
    std::vector<std::string> lines;
};

TEST_F(an_informer, tells_a_kind_that_is_missing_once_and_once_that_it_came) {
    // Cuts its own streams only.
    tasks.cancel();
    run_for(loop, time, 0s);
    int counted = 0;
    api.on_list_failure([&](const resource_type& type, errc code) {
        EXPECT_EQ(type.kind, "Testbed");
        EXPECT_EQ(status_of(code), "404");
        ++counted;
    });
    bool there = false;
    for (int i = 0; i < 100; ++i) {
        wire.next_streams.push_back([&](stream_feed& feed) {
            if (there) return;
            feed.status = 404;
            feed.push("404 page not found\n");
            feed.close();
        });
    }
    heard_lines heard;
    informer<model::testbed> testbeds(api, time, types::testbed);
    task_group other(loop.get_executor());
    other.spawn("testbeds", testbeds.run());
    run_for(loop, time, 5min);
    ASSERT_EQ(heard.lines.size(), 1U);
    for (const char* part : {"kind=Testbed", "status=404", "crds/", "page not found"}) {
        EXPECT_TRUE(heard.lines[0].contains(part)) << heard.lines[0];
    }
    EXPECT_GT(counted, 5);
    ASSERT_EQ(testbeds.troubles().size(), 1U);
    EXPECT_EQ(testbeds.troubles()[0].text(),
              "watch testbeds.esi.tu-berlin.de: HTTP 404: install ESI's kinds (kubectl apply -f "
              "crds/), or the chart");
    EXPECT_TRUE(testbeds.troubles()[0].refused());
    there = true;
    run_for(loop, time, 2min);
    EXPECT_TRUE(testbeds.troubles().empty());
    ASSERT_EQ(heard.lines.size(), 2U);
    EXPECT_EQ(heard.lines[1], "list and watch work kind=Testbed");
    other.cancel();
    run_for(loop, time, 0s);
}

TEST_F(an_informer, tells_a_right_that_is_taken_away_with_its_verb_and_where) {
    send(end_of_list("10"));
    heard_lines heard;
    for (int i = 0; i < 20; ++i) {
        wire.next_streams.push_back([](stream_feed& feed) {
            feed.status = 403;
            feed.push(status_text(403, "Forbidden"));
            feed.close();
        });
    }
    last_stream().close();
    run_for(loop, time, 2min);
    ASSERT_EQ(heard.lines.size(), 1U);
    EXPECT_TRUE(heard.lines[0].contains(
        "remedy=\"grant this operator the verb watch on pods by a ClusterRole\""))
        << heard.lines[0];
}

TEST_F(an_informer, leaves_a_server_that_is_silent_to_who_watches_over_all_requests) {
    heard_lines heard;
    for (int i = 0; i < 20; ++i) {
        wire.next_streams.push_back(
            [](stream_feed& feed) { feed.cut(error{errc::transport, "connection refused"}); });
    }
    last_stream().cut();
    run_for(loop, time, 2min);
    EXPECT_TRUE(heard.lines.empty()) << heard.lines[0];
    ASSERT_EQ(pods.troubles().size(), 1U);
    EXPECT_EQ(pods.troubles()[0].text(), "watch pods: the API server does not answer");
    EXPECT_FALSE(pods.troubles()[0].refused());
}

TEST_F(an_informer, asks_only_for_its_scope) {
    watch_scope scope;
    scope.namespaces = {"team-a"};
    scope.label_selector = "a=b,c";
    scope.field_selector = "spec.nodeName=n";
    informer<model::pod> narrow(api, time, types::pod, scope);
    task_group other(loop.get_executor());
    other.spawn("narrow", narrow.run());
    run_for(loop, time, 0s);
    EXPECT_TRUE(last_asked().starts_with("GET /api/v1/namespaces/team-a/pods?")) << last_asked();
    EXPECT_TRUE(last_asked().ends_with("&labelSelector=a%3Db%2Cc&fieldSelector=spec.nodeName%3Dn"))
        << last_asked();
    other.cancel();
    run_for(loop, time, 0s);
}

struct an_informer_of_two_namespaces : testing::Test {
    an_informer_of_two_namespaces() {
        tasks.spawn("informer", pods.run());
        run_for(loop, time, 0s);
    }
    ~an_informer_of_two_namespaces() override {
        tasks.cancel();
        run_for(loop, time, 0s);
        EXPECT_EQ(tasks.size(), 0u);
    }
    static watch_scope of_two() {
        watch_scope out;
        out.namespaces = {"b", "a", "b"};
        return out;
    }
    static std::string in(std::string_view ns, std::string text) {
        const std::string old = R"("namespace":"default")";
        text.replace(text.find(old), old.size(), fmt::format(R"("namespace":"{}")", ns));
        return text;
    }
    void send(std::size_t to, const std::string& text) {
        wire.streams[to]->push(text);
        run_for(loop, time, 0s);
    }

    asio::io_context loop;
    virtual_clock time;
    scripted_transport wire{loop.get_executor(), time};
    client api{wire, time};
    informer<model::pod> pods{api, time, types::pod, of_two()};
    task_group tasks{loop.get_executor()};
};

TEST_F(an_informer_of_two_namespaces, watches_each_of_them_once_and_nothing_else) {
    ASSERT_EQ(wire.asked.size(), 2u);
    EXPECT_TRUE(wire.asked[0].starts_with("GET /api/v1/namespaces/a/pods?watch=true"));
    EXPECT_TRUE(wire.asked[1].starts_with("GET /api/v1/namespaces/b/pods?watch=true"));
}

TEST_F(an_informer_of_two_namespaces, is_full_when_both_lists_are) {
    bool told = false;
    pods.on_synced([&] { told = true; });
    send(0, in("a", event("ADDED", "x", "3")) + end_of_list("10"));
    EXPECT_FALSE(pods.synced());
    EXPECT_FALSE(pods.current());
    EXPECT_FALSE(told);
    EXPECT_EQ(pods.missing(), std::vector<std::string>{"b"});
    send(1, in("b", event("ADDED", "x", "4")) + end_of_list("12"));
    EXPECT_TRUE(pods.missing().empty());
    EXPECT_TRUE(pods.synced());
    EXPECT_TRUE(pods.current());
    EXPECT_TRUE(told);
    EXPECT_EQ(pods.items().size(), 2u);
    pods.outdate();
    EXPECT_FALSE(pods.current());
    EXPECT_EQ(pods.missing(), (std::vector<std::string>{"a", "b"}));
}

TEST_F(an_informer_of_two_namespaces, has_the_version_of_each_by_itself) {
    EXPECT_EQ(pods.items().version("a"), "");
    send(0, end_of_list("10"));
    send(1, end_of_list("12"));
    send(1, in("b", event("ADDED", "x", "20")));
    EXPECT_EQ(pods.items().version("a"), "10");
    EXPECT_EQ(pods.items().version("b"), "20");
    EXPECT_EQ(pods.items().version("c"), std::nullopt) << "nothing is watched there";
}

TEST_F(an_informer_of_two_namespaces, a_relist_of_one_deletes_nothing_of_the_other) {
    send(0, in("a", event("ADDED", "x", "3")) + end_of_list("10"));
    send(1, in("b", event("ADDED", "y", "4")) + end_of_list("12"));
    send(0, fmt::format("{{\"type\":\"ERROR\",\"object\":{}}}\n", status_text(410, "Expired")));
    run_for(loop, time, 2s);
    ASSERT_EQ(wire.streams.size(), 3u);
    send(2, in("a", event("ADDED", "z", "20")) + end_of_list("21"));
    EXPECT_EQ(pods.items().find({"a", "x"}), nullptr);
    EXPECT_NE(pods.items().find({"a", "z"}), nullptr);
    EXPECT_NE(pods.items().find({"b", "y"}), nullptr);
}

TEST_F(an_informer_of_two_namespaces, one_without_the_right_holds_up_none_of_the_others) {
    // The streams of both are cut; then the server refuses the first and shows the second.
    for (std::size_t i : {0u, 1u}) wire.streams[i]->cut(error{errc::transport, "reset"});
    bool may = false;
    auto opening = [&](stream_feed& s) {
        const bool of_a = wire.asked.back().find("/namespaces/a/") != std::string::npos;
        if (!of_a || may) return;
        s.status = 403;
        s.pieces.push_back(status_text(403, "Forbidden"));
        s.closed = true;
    };
    for (int i = 0; i < 50; ++i) wire.next_streams.emplace_back(opening);
    run_for(loop, time, 3s);
    EXPECT_FALSE(pods.synced()) << "no list of any namespace is there";
    for (auto& each : wire.streams) each->push(end_of_list("10"));
    run_for(loop, time, 0s);
    EXPECT_TRUE(pods.synced());
    EXPECT_TRUE(pods.current());
    may = true;
    run_for(loop, time, 60s);
    wire.streams.back()->push(in("a", event("ADDED", "x", "11")) + end_of_list("12"));
    run_for(loop, time, 0s);
    EXPECT_NE(pods.items().find({"a", "x"}), nullptr) << "it is asked for again";
}

}  // namespace
}  // namespace esi::kube

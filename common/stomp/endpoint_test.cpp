// The endpoint behind the real HTTP server, over loopback, with a client that writes its WebSocket
// frames by hand.
#include "stomp/endpoint.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#include "base/log.h"
#include "stomp/raw_peer.h"

namespace esi::stomp {
namespace {

using namespace std::string_literals;

class stomp_endpoint : public testing::Test {
protected:
    stomp_endpoint() {
        options.queue.messages = 20;
        options.session.heart_beat = milliseconds(400);
    }
    void start(endpoint::framing how = endpoint::framing::plain) {
        of = std::make_unique<endpoint>(loop.get_executor(), numbers, options);
        of->on_subscribe([](const std::string& destination) {
            endpoint::present out;
            if (destination == "/topic/jobs/a") out.state = make_message(destination, "[]");
            return out;
        });
        routes.on_upgrade("websocket", "/scheduler",
                          [this, how](std::shared_ptr<http::upgrade> from) {
                              return of->serve(std::move(from), how);
                          });
        http::server_options where;
        where.bind_address = "127.0.0.1";
        server = std::make_unique<http::server>(loop.get_executor(), time, where, routes);
        auto started = server->start();
        ASSERT_TRUE(started) << started.error().text;
    }
    ~stomp_endpoint() override {
        bool stopped = false;
        asio::co_spawn(loop, end(stopped), asio::detached);
        until([&] { return stopped; });
    }
    asio::awaitable<void> end(bool& stopped) {
        co_await of->stop(time, time.now() + seconds(5));
        co_await server->stop(time.now() + seconds(2));
        stopped = true;
    }

    template <class Condition>
    bool until(Condition holds) {
        loop.restart();
        const auto limit = std::chrono::steady_clock::now() + seconds(120);
        while (!holds() && std::chrono::steady_clock::now() < limit) {
            loop.run_one_for(milliseconds(20));
        }
        return holds();
    }

    std::unique_ptr<raw_peer> come(const std::string& first, bool reads = true) {
        return std::make_unique<raw_peer>(loop, server->port(), first, reads);
    }
    std::unique_ptr<raw_peer> connected(bool reads = true) {
        return come(handshake() + masked(1, "CONNECT\naccept-version:1.2\n\n\0"s) +
                        masked(2, "SUBSCRIBE\nid:0\ndestination:/topic/jobs\n\n\0"s),
                    reads);
    }
    double number(const std::string& name) {
        const auto text = "\n" + numbers.text();
        const auto at = text.find("\n" + name + " ");
        return at == std::string::npos ? -1 : std::stod(text.substr(at + name.size() + 2));
    }

    asio::io_context loop;
    system_clock time;
    http::router routes;
    controller::metrics numbers;
    endpoint_options options;
    std::unique_ptr<endpoint> of;
    std::unique_ptr<http::server> server;
};

TEST_F(stomp_endpoint, takes_frames_that_came_with_the_handshake) {
    start();
    auto one = come(handshake("Sec-WebSocket-Protocol: chat, v11.stomp, v12.stomp\r\n") +
                    masked(1, "CONNECT\naccept-version:1.2\n\n\0"s));
    ASSERT_TRUE(until([&] { return one->heard.ends_with('\0'); })) << one->heard;
    EXPECT_EQ(one->heard,
              "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: upgrade\r\n"
              "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\nServer: ESI\r\n"
              "Sec-WebSocket-Protocol: v11.stomp\r\n\r\n"
              "\x81\x27"s
              "CONNECTED\nversion:1.2\nheart-beat:0,0\n\n\0"s);
}

TEST_F(stomp_endpoint, tells_the_present_state_and_then_changes) {
    start();
    auto one = come(handshake() + masked(1, "CONNECT\naccept-version:1.2\n\n\0"s) +
                    masked(1, "SUBSCRIBE\nid:x\ndestination:/topic/jobs/a\n\n\0"s));
    ASSERT_TRUE(until([&] { return one->heard.ends_with("[]\0"s); })) << one->heard;
    of->publish("/topic/jobs/a", 1, [] { return "{\"n\":1}"s; });
    of->publish("/topic/jobs/b", 2, [] { return "never"s; });
    of->publish("/topic/jobs/a", 3, [] { return "{\"n\":2}"s; });
    ASSERT_TRUE(until([&] { return one->heard.ends_with("{\"n\":2}\0"s); })) << one->heard;
    EXPECT_LT(one->heard.find("[]"), one->heard.find("{\"n\":1}"));
    EXPECT_EQ(one->heard.find("never"), std::string::npos);
    EXPECT_EQ(number("esi_stomp_messages_total"), 3);
    EXPECT_EQ(number("esi_stomp_connections"), 1);
    EXPECT_EQ(number("esi_stomp_subscriptions"), 1);
    one->socket.close();
    EXPECT_TRUE(until([&] { return number("esi_stomp_connections") == 0; }));
    EXPECT_EQ(number("esi_stomp_subscriptions"), 0);
}

TEST_F(stomp_endpoint, who_does_not_read_is_dropped_and_delays_nobody) {
    start();
    auto dead = connected(false);
    auto live = connected();
    ASSERT_TRUE(until([&] { return number("esi_stomp_subscriptions") == 2; }));
    const std::string body(100'000, 'x');
    int count = 0;
    const auto told = [&] {
        const auto whole = static_cast<std::size_t>(count) * body.size();
        return live->heard.size() > whole;
    };
    // More than the kernel keeps for it, and the queue: one after the other, as the live one reads.
    for (; count < 200;) {
        ++count;
        of->publish("/topic/jobs", static_cast<std::uint64_t>(count), [&] { return body; });
        ASSERT_TRUE(until(told)) << "after " << count;
    }
    EXPECT_EQ(number("esi_stomp_dropped_total{reason=\"slow\"}"), 1);
    EXPECT_TRUE(until([&] { return number("esi_stomp_connections") == 1; }));
    EXPECT_FALSE(live->closed);
}

TEST_F(stomp_endpoint, clients_that_err_fill_no_log) {
    int lines = 0;
    log::send_to([&](log::level at, std::string_view) { lines += at == log::level::warn ? 1 : 0; });
    start();
    for (int i = 0; i < 30; ++i) {
        auto one = come(handshake() + masked(1, "HELLO\n\nxx\0"s));
        EXPECT_TRUE(
            until([&] { return number("esi_stomp_dropped_total{reason=\"protocol\"}") == i + 1; }));
    }
    log::send_to({});
    EXPECT_EQ(lines, 10);
}

TEST_F(stomp_endpoint, a_fault_is_told_then_closed_with_1002) {
    start();
    auto one = come(handshake() + masked(1, "HELLO\n\nxx\0"s));
    const auto end =
        "ERROR\nmessage:the command HELLO is not known\ncontent-length:0\n\n\0\x88\x02\x03\xea"s;
    EXPECT_TRUE(until([&] { return one->heard.ends_with(end); })) << one->heard;
    one->say(masked(8, "\x03\xea"s));
    EXPECT_TRUE(until([&] { return one->closed && number("esi_stomp_connections") == 0; }));
    EXPECT_EQ(number("esi_stomp_dropped_total{reason=\"protocol\"}"), 1);
}

TEST_F(stomp_endpoint, a_bad_frame_that_crosses_the_close_leaves_nobody_behind) {
    start(endpoint::framing::sockjs);
    std::vector<std::unique_ptr<raw_peer>> all;
    for (int i = 0; i < 50; ++i) {
        auto one = come(handshake());
        ASSERT_TRUE(until([&] { return one->heard.contains("\x81\x01o"s); }));
        // No frame of SockJS: the server closes. In a second segment, text that is not UTF-8.
        one->say(masked(1, "CONNECT\naccept-version:1.2\n\n\0"s));
        loop.run_for(std::chrono::microseconds(i * 20));
        one->say(masked(1, "\xff\xfe"));
        loop.run_for(milliseconds(1));
        one->socket.close();
        all.push_back(std::move(one));
    }
    EXPECT_TRUE(until([&] { return number("esi_stomp_connections") == 0; }))
        << number("esi_stomp_connections") << " are left";
}

TEST_F(stomp_endpoint, who_does_not_answer_the_close_is_cut) {
    start();
    auto one = come(handshake() + masked(1, "HELLO\n\nxx\0"s));
    EXPECT_TRUE(until([&] { return one->closed && number("esi_stomp_connections") == 0; }));
}

TEST_F(stomp_endpoint, nothing_follows_the_close_frame) {
    start();
    auto one = connected();
    ASSERT_TRUE(until([&] { return number("esi_stomp_subscriptions") == 1; }));
    one->say(masked(1, "HELLO\n\nxx\0"s) + masked(9, "ping") + masked(8, "\x03\xea"s));
    of->publish("/topic/jobs", 1, [] { return "late"s; });
    ASSERT_TRUE(until([&] { return one->closed; }));
    EXPECT_TRUE(one->heard.ends_with("\x88\x02\x03\xea"s)) << one->heard;
}

TEST_F(stomp_endpoint, all_subscriptions_together_are_bounded) {
    options.most_subscriptions = 2;
    start();
    auto one = connected();
    auto two = connected();
    ASSERT_TRUE(until([&] { return number("esi_stomp_subscriptions") == 2; }));
    auto three = connected();
    EXPECT_TRUE(until([&] { return three->heard.contains("2 subscriptions are open"); }))
        << three->heard;
    EXPECT_TRUE(three->heard.contains("\x03\xf0"s)) << "1008";
    EXPECT_EQ(number("esi_stomp_subscriptions"), 2);
    EXPECT_EQ(number("esi_stomp_dropped_total{reason=\"full\"}"), 1);
    one->say(masked(1, "SUBSCRIBE\nid:0\ndestination:/topic/testbeds\n\n\0"s));
    one->say(masked(1, "UNSUBSCRIBE\nid:0\nreceipt:1\n\n\0"s));
    EXPECT_TRUE(until([&] { return one->heard.contains("RECEIPT"); })) << "replaced, not added";
}

TEST_F(stomp_endpoint, beats_and_ends_who_is_silent) {
    start();
    auto one =
        come(handshake() + masked(1, "CONNECT\naccept-version:1.2\nheart-beat:400,400\n\n\0"s));
    const auto end = "\x88\x1a\x03\xeano heart-beat for 800 ms"s;
    EXPECT_TRUE(until([&] { return one->heard.contains(end); })) << one->heard;
    EXPECT_TRUE(one->heard.contains("heart-beat:400,400\n\n\0\x81\x01\n"s)) << one->heard;
}

TEST_F(stomp_endpoint, more_than_the_limit_are_refused_and_may_ask_again) {
    options.most_connections = 1;
    start();
    auto one = connected();
    ASSERT_TRUE(until([&] { return number("esi_stomp_subscriptions") == 1; }));
    auto two = come(handshake());
    EXPECT_TRUE(until([&] { return two->heard.contains("no more are taken"); }));
    EXPECT_TRUE(two->heard.starts_with("HTTP/1.1 503 ")) << two->heard;
    one->socket.close();
    ASSERT_TRUE(until([&] { return number("esi_stomp_connections") == 0; }));
    two->say(handshake());
    EXPECT_TRUE(until([&] { return two->heard.contains("HTTP/1.1 101 "); })) << two->heard;
}

TEST_F(stomp_endpoint, a_request_behind_a_refused_one_is_answered_too) {
    options.most_connections = 0;
    start();
    auto one = come(handshake() + "GET /nothing HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_TRUE(until([&] { return one->heard.contains("HTTP/1.1 404 "); })) << one->heard;
    EXPECT_TRUE(one->heard.starts_with("HTTP/1.1 503 ")) << one->heard;
}

TEST_F(stomp_endpoint, says_1001_at_the_end) {
    start();
    auto one = connected();
    ASSERT_TRUE(until([&] { return number("esi_stomp_subscriptions") == 1; }));
    bool stopped = false;
    asio::co_spawn(loop, end(stopped), asio::detached);
    EXPECT_TRUE(until([&] { return one->heard.ends_with("the operator is ending"); }));
    EXPECT_TRUE(one->heard.contains("\x88\x18\x03\xe9"s)) << one->heard;
    one->say(masked(8, "\x03\xe9"s));
    EXPECT_TRUE(until([&] { return stopped; }));
}

TEST_F(stomp_endpoint, speaks_in_the_frames_of_sockjs) {
    start(endpoint::framing::sockjs);
    auto one =
        come(handshake() + masked(1, R"(["CONNECT\naccept-version:1.2\nhost:h\n\n\u0000"])"));
    const auto end =
        "\x81\x01o\x81\x35"
        R"(a["CONNECTED\nversion:1.2\nheart-beat:0,0\n\n\u0000"])"s;
    EXPECT_TRUE(until([&] { return one->heard.ends_with(end); })) << one->heard;
    one->say(masked(1, "{}"));
    EXPECT_TRUE(until([&] { return one->heard.contains(R"(c[1008,""])"); })) << one->heard;
}

}  // namespace
}  // namespace esi::stomp

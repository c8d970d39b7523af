#include "http/server.h"
#include "http/problem.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <deque>
#include <regex>
#include <stdexcept>

namespace esi::http {
namespace {

using asio::ip::tcp;
using boost::system::error_code;

asio::awaitable<server_reply> show(server_request request) {
    std::string text = request.method + " " + request.raw_path;
    for (const auto& [key, value] : request.query) text += " " + key + "=" + value;
    text += " x=" + std::string(request.header("x"));
    text += " body=" + request.body;
    if (request.peer_is_loopback) text += " loopback";
    co_return server_reply(200, "text/plain", text);
}

asio::awaitable<server_reply> break_down(server_request) {
    throw std::runtime_error("broken");
    co_return server_reply();
}

asio::awaitable<server_reply> inject(server_request) {
    server_reply reply(200, "text/plain", "ok");
    reply.headers.emplace_back("X-Good", "1");
    reply.headers.emplace_back("X-Bad", "1\r\nSet-Cookie: a=b");
    co_return reply;
}

/// Whether the peer ends within a second.
asio::awaitable<server_reply> await_end(server_request request) {
    asio::steady_timer timer(co_await asio::this_coro::executor);
    for (int tries = 0; tries < 100 && !request.peer->has_ended(); ++tries) {
        timer.expires_after(std::chrono::milliseconds(10));
        co_await timer.async_wait(asio::use_awaitable);
    }
    co_return server_reply(200, "text/plain", request.peer->has_ended() ? "ended" : "there");
}

asio::awaitable<server_reply> nothing(server_request) { co_return server_reply(204, "", "x"); }

class http_server : public testing::Test {
protected:
    http_server() {
        routes.add("GET", "/show", show);
        route_rules with_body;
        with_body.body_limit = 1000;
        routes.add("POST", "/show", show, with_body);
        routes.add("GET", "/break", break_down);
        routes.add("GET", "/inject", inject);
        routes.add("DELETE", "/nothing", nothing);
        routes.add("GET", "/end", await_end);
        routes.add("GET", "/wait",
                   [this](server_request request) { return wait_for_go(std::move(request)); });
        options.bind_address = "127.0.0.1";
        options.header_limit = 1000;
    }

    asio::awaitable<server_reply> wait_for_go(server_request) {
        waiting = true;
        co_await go.wait();
        co_return server_reply(200, "text/plain", "went");
    }

    void start() {
        own = std::make_unique<server>(loop.get_executor(), time, options, routes);
        auto started = own->start();
        ASSERT_TRUE(started) << started.error().text;
    }

    ~http_server() override {
        if (!own) return;
        asio::co_spawn(loop, own->stop(time.now()), asio::detached);
        loop.restart();
        loop.run_for(std::chrono::seconds(5));
    }

    /// Sends the pieces, ends the sending side if asked, and reads until the server closes.
    asio::awaitable<void> talk(std::vector<std::string> pieces, bool end, std::string& heard,
                               bool& closed) {
        tcp::socket socket(loop);
        error_code failure;
        tcp::endpoint where(asio::ip::make_address("127.0.0.1"),
                            static_cast<std::uint16_t>(own->port()));
        co_await socket.async_connect(where, asio::redirect_error(asio::use_awaitable, failure));
        socket.set_option(tcp::no_delay(true), failure);
        for (const auto& piece : pieces) {
            co_await asio::async_write(socket, asio::buffer(piece),
                                       asio::redirect_error(asio::use_awaitable, failure));
        }
        if (end) socket.shutdown(tcp::socket::shutdown_send, failure);
        std::array<char, 4096> space;
        for (failure = {}; !failure;) {
            const auto count = co_await socket.async_read_some(
                asio::buffer(space), asio::redirect_error(asio::use_awaitable, failure));
            heard.append(space.data(), count);
        }
        closed = true;
    }

    /// The whole conversation, with a limit of five seconds.
    std::string say(std::vector<std::string> pieces, bool end = true) {
        std::string heard;
        bool closed = false;
        asio::co_spawn(loop, talk(std::move(pieces), end, heard, closed), asio::detached);
        loop.restart();
        const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(5);
        while (!closed && std::chrono::steady_clock::now() < limit) {
            loop.run_one_for(std::chrono::milliseconds(100));
        }
        EXPECT_TRUE(closed) << "the server did not close; heard: " << heard;
        return heard;
    }
    std::string say(std::string text) { return say(std::vector<std::string>{std::move(text)}); }

    asio::io_context loop;
    system_clock time;
    router routes;
    server_options options;
    notifier go{loop.get_executor()};
    bool waiting = false;
    std::unique_ptr<server> own;
    /// The text of a conversation that may last until the end of the test.
    std::string first_heard;
    bool first_closed = false;
};

/// The one header Date is made "Date: now".
std::string dated(const std::string& heard) {
    static const std::regex date(
        "\r\nDate: (Mon|Tue|Wed|Thu|Fri|Sat|Sun), [0-9]{2} [A-Z][a-z]{2} 2[0-9]{3} "
        "[0-9]{2}:[0-9]{2}:[0-9]{2} GMT\r\n");
    return std::regex_replace(heard, date, "\r\nDate: now\r\n");
}

TEST_F(http_server, answers_with_length_and_type) {
    start();
    EXPECT_EQ(dated(say("GET /show?a=b HTTP/1.1\r\nHost: h\r\nX: y\r\n\r\n")),
              "HTTP/1.1 200 OK\r\nContent-Length: 32\r\nContent-Type: text/plain\r\n"
              "X-Content-Type-Options: nosniff\r\nDate: now\r\n\r\n"
              "GET /show a=b x=y body= loopback");
}

TEST_F(http_server, says_to_old_clients_whether_the_connection_stays) {
    start();
    const struct {
        const char* text;
        const char* connection;
    } table[] = {
        {"GET /show HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", "Connection: keep-alive\r\n"},
        {"GET /show HTTP/1.0\r\n\r\n", "Connection: close\r\n"},
        {"GET /show HTTP/1.1\r\nHost: h\r\n\r\n", ""},
        {"GET /show HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", "Connection: close\r\n"},
    };
    for (const auto& row : table) {
        const auto heard = dated(say(row.text));
        EXPECT_NE(heard.find(std::string("Date: now\r\n") + row.connection + "\r\n"),
                  std::string::npos)
            << row.text << " -> " << heard;
    }
}

TEST_F(http_server, reads_a_request_cut_at_every_byte) {
    start();
    const std::string text =
        "POST /show HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
        "3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nTrailer: t\r\n\r\n";
    for (std::size_t cut = 1; cut < text.size(); ++cut) {
        const auto heard = say({text.substr(0, cut), text.substr(cut)});
        EXPECT_TRUE(heard.ends_with("POST /show x= body=abcde loopback")) << cut << ": " << heard;
    }
    std::vector<std::string> bytes;
    for (const char c : text) bytes.emplace_back(1, c);
    EXPECT_TRUE(say(bytes).ends_with("POST /show x= body=abcde loopback"));
}

TEST_F(http_server, answers_pipelined_requests_in_order) {
    start();
    const auto heard =
        say("GET /show?n=1 HTTP/1.1\r\nHost: h\r\n\r\n"
            "POST /show?n=2 HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nab"
            "GET /show?n=3 HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"
            "GET /show?n=4 HTTP/1.1\r\nHost: h\r\n\r\n");
    const auto one = heard.find("n=1");
    const auto two = heard.find("n=2 x= body=ab");
    const auto three = heard.find("n=3");
    EXPECT_LT(one, two);
    EXPECT_LT(two, three);
    EXPECT_NE(three, std::string::npos) << heard;
    EXPECT_EQ(heard.find("n=4"), std::string::npos);
}

TEST_F(http_server, a_handler_can_ask_whether_anybody_waits_for_its_answer) {
    start();
    const std::string request = "GET /end HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    EXPECT_TRUE(say({request}, true).ends_with("ended"));
    EXPECT_TRUE(say({request}, false).ends_with("there"));
    // Bytes sent ahead do not show that the client is still there.
    EXPECT_TRUE(say({request + "GET /show HTTP/1.1\r\n"}, true).ends_with("ended"));
}

TEST_F(http_server, head_has_the_length_and_no_body) {
    start();
    const auto heard = say("HEAD /show HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_TRUE(heard.starts_with("HTTP/1.1 200 OK\r\nContent-Length: 28\r\n")) << heard;
    EXPECT_TRUE(heard.ends_with("\r\n\r\n"));
    const auto empty = say("DELETE /nothing HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_EQ(dated(empty),
              "HTTP/1.1 204 No Content\r\nX-Content-Type-Options: nosniff\r\nDate: now\r\n\r\n");
}

TEST_F(http_server, refuses_what_could_be_read_in_two_ways) {
    start();
    const struct {
        const char* text;
        const char* answer;
    } table[] = {
        {"POST /show HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nTransfer-Encoding: "
         "chunked\r\n\r\n0\r\n\r\n",
         "HTTP/1.1 400 "},
        {"POST /show HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nContent-Length: "
         "1\r\n\r\n0\r\n\r\n",
         "HTTP/1.1 400 "},
        {"POST /show HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na",
         "HTTP/1.1 400 "},
        {"POST /show HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
         "HTTP/1.1 400 "},
        {"POST /show HTTP/1.1\r\nHost: h\r\nContent-Length: -1\r\n\r\n", "HTTP/1.1 400 "},
        {"POST /show HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
         "HTTP/1.1 400 "},
        {"POST /show HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "HTTP/1.1 400 "},
        {"GET /show HTTP/1.1\r\n\r\n", "HTTP/1.1 400 "},
        {"GET /show HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "HTTP/1.1 400 "},
        {"GET show HTTP/1.1\r\nHost: h\r\n\r\n", "HTTP/1.1 400 "},
        {"GET /a%2Fb HTTP/1.1\r\nHost: h\r\n\r\n", "HTTP/1.1 400 "},
        {"GET /show?a=%zz HTTP/1.1\r\nHost: h\r\n\r\n", "HTTP/1.1 400 "},
        {"GET  /show HTTP/1.1\r\nHost: h\r\n\r\n", "HTTP/1.1 400 "},
        {"GET /show\r\n\r\n", "HTTP/1.1 400 "},
        {"\x16\x03\x01\x02\r\n\r\n", "HTTP/1.1 400 "},
        {"GET /show HTTP/1.1\r\nHo st: h\r\n\r\n", "HTTP/1.1 400 "},
        {"GET /show HTTP/2.0\r\nHost: h\r\n\r\n", "HTTP/1.1 505 "},
        {"POST /show HTTP/1.1\r\nHost: h\r\nContent-Length: 1001\r\n\r\n", "HTTP/1.1 413 "},
        {"GET /nothing/here HTTP/1.1\r\nHost: h\r\n\r\n", "HTTP/1.1 404 "},
        {"PATCH /show HTTP/1.1\r\nHost: h\r\n\r\n", "HTTP/1.1 405 "},
    };
    for (const auto& row : table) {
        EXPECT_TRUE(say(row.text).starts_with(row.answer)) << row.text << " gave " << say(row.text);
    }
    const auto big_header =
        say("GET /show HTTP/1.1\r\nHost: h\r\nX: " + std::string(2000, 'x') + "\r\n\r\n");
    EXPECT_TRUE(big_header.starts_with("HTTP/1.1 431 ")) << big_header;
    const auto big_chunks =
        say("POST /show HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n7d0\r\n" +
            std::string(2000, 'x') + "\r\n0\r\n\r\n");
    EXPECT_TRUE(big_chunks.starts_with("HTTP/1.1 413 ")) << big_chunks;
}

TEST_F(http_server, a_broken_handler_is_a_500_and_the_connection_goes_on) {
    start();
    const auto heard =
        say("GET /break HTTP/1.1\r\nHost: h\r\n\r\n"
            "GET /show HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_TRUE(heard.starts_with("HTTP/1.1 500 ")) << heard;
    EXPECT_EQ(heard.find("broken"), std::string::npos);
    EXPECT_NE(heard.find("GET /show"), std::string::npos);
}

TEST_F(http_server, a_header_with_line_breaks_is_left_out) {
    start();
    const auto heard = say("GET /inject HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_NE(heard.find("X-Good: 1\r\n"), std::string::npos);
    EXPECT_EQ(heard.find("Set-Cookie"), std::string::npos);
}

TEST_F(http_server, http_1_0_closes_after_the_answer) {
    start();
    const auto heard = say({"GET /show HTTP/1.0\r\n\r\n"}, false);
    EXPECT_NE(heard.find("Connection: close\r\n"), std::string::npos) << heard;
}

TEST_F(http_server, expect_100_is_answered_before_the_body) {
    start();
    const auto heard =
        say("POST /show HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 1\r\n"
            "Connection: close\r\n\r\na");
    EXPECT_TRUE(heard.starts_with("HTTP/1.1 200 ") ||
                heard.starts_with("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 "))
        << heard;
}

TEST_F(http_server, a_slow_request_is_cut_off) {
    options.request_timeout = seconds(0);
    options.idle_timeout = seconds(5);
    start();
    EXPECT_EQ(say({"GET /show HTTP/1.1\r\nHo"}, false), "");
}

TEST_F(http_server, an_idle_connection_is_closed) {
    options.idle_timeout = seconds(0);
    start();
    EXPECT_EQ(say({}, false), "");
}

TEST_F(http_server, stop_lets_the_answer_under_way_finish_and_closes_idle_ones) {
    start();
    std::string busy, idle;
    bool busy_closed = false, idle_closed = false, stopped = false;
    asio::co_spawn(loop, talk({"GET /wait HTTP/1.1\r\nHost: h\r\n\r\n"}, false, busy, busy_closed),
                   asio::detached);
    asio::co_spawn(loop, talk({}, false, idle, idle_closed), asio::detached);
    const auto run_until = [&](const bool& reached) {
        const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(5);
        while (!reached && std::chrono::steady_clock::now() < limit) {
            loop.run_one_for(std::chrono::milliseconds(50));
        }
        return reached;
    };
    ASSERT_TRUE(run_until(waiting));
    asio::co_spawn(loop, own->stop(time.now() + seconds(5)),
                   [&](std::exception_ptr) { stopped = true; });
    ASSERT_TRUE(run_until(idle_closed));
    EXPECT_FALSE(first_closed);
    go.notify();
    ASSERT_TRUE(run_until(stopped));
    ASSERT_TRUE(run_until(busy_closed));
    EXPECT_TRUE(busy.ends_with("went")) << busy;
    EXPECT_NE(busy.find("Connection: close"), std::string::npos);
}

TEST_F(http_server, stop_ends_a_handler_that_never_answers_at_the_deadline) {
    start();
    std::string heard;
    bool closed = false;
    asio::co_spawn(loop, talk({"GET /wait HTTP/1.1\r\nHost: h\r\n\r\n"}, false, heard, closed),
                   asio::detached);
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    while (!waiting && std::chrono::steady_clock::now() < limit) {
        loop.run_one_for(std::chrono::milliseconds(50));
    }
    bool stopped = false;
    asio::co_spawn(loop, own->stop(time.now()), [&](std::exception_ptr) { stopped = true; });
    while (!(stopped && closed) && std::chrono::steady_clock::now() < limit) {
        loop.run_one_for(std::chrono::milliseconds(50));
    }
    EXPECT_TRUE(stopped);
    EXPECT_EQ(heard, "");
}

TEST_F(http_server, a_closed_listener_frees_the_address_while_open_connections_go_on) {
    start();
    std::string heard;
    bool closed = false;
    asio::co_spawn(loop, talk({"GET /wait HTTP/1.1\r\nHost: h\r\n\r\n"}, true, heard, closed),
                   asio::detached);
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    while (!waiting && std::chrono::steady_clock::now() < limit) {
        loop.run_one_for(std::chrono::milliseconds(50));
    }
    EXPECT_EQ(own->connections(), 1U);
    auto second = options;
    second.port = own->port();
    own->close_listener();
    server other(loop.get_executor(), time, second, routes);
    auto started = other.start();
    EXPECT_TRUE(started) << started.error().text;
    go.notify();
    while (!closed && std::chrono::steady_clock::now() < limit) {
        loop.run_one_for(std::chrono::milliseconds(50));
    }
    EXPECT_TRUE(heard.ends_with("went")) << heard;
}

TEST_F(http_server, an_address_in_use_is_an_error_that_names_it) {
    start();
    auto second = options;
    second.port = own->port();
    // SO_REUSEADDR does not let two servers listen on one address.
    server other(loop.get_executor(), time, second, routes);
    auto started = other.start();
    ASSERT_FALSE(started);
    EXPECT_EQ(started.error().text, "cannot listen on 127.0.0.1:" + std::to_string(second.port) +
                                        ": Address already in use");
    second.bind_address = "nowhere";
    server third(loop.get_executor(), time, second, routes);
    EXPECT_FALSE(third.start());
}

TEST_F(http_server, who_sends_no_request_makes_room_for_others_at_the_limit) {
    options.limits.connections = 2;
    start();
    std::array<std::string, 3> heard;
    std::array<bool, 3> closed{};
    const auto run_until = [this](const bool& done) {
        loop.restart();
        const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(5);
        while (!done && std::chrono::steady_clock::now() < limit) {
            loop.run_one_for(std::chrono::milliseconds(50));
        }
    };
    // One is being answered, which takes long; the next sends half a head and then nothing.
    asio::co_spawn(loop, talk({"GET /wait HTTP/1.1\r\nHost: h\r\n\r\n"}, true, heard[0], closed[0]),
                   asio::detached);
    run_until(waiting);
    asio::co_spawn(loop, talk({"GET /show HTTP/1.1\r\nX"}, false, heard[1], closed[1]),
                   asio::detached);
    loop.restart();
    loop.run_for(std::chrono::milliseconds(100));
    asio::co_spawn(loop, talk({"GET /show HTTP/1.1\r\nHost: h\r\n\r\n"}, true, heard[2], closed[2]),
                   asio::detached);
    run_until(closed[2]);
    run_until(closed[1]);
    EXPECT_TRUE(heard[2].ends_with("loopback")) << heard[2];
    EXPECT_EQ(heard[1], "");
    EXPECT_FALSE(closed[0]) << "one that is being answered stays";
    go.notify();
    run_until(closed[0]);
    EXPECT_TRUE(heard[0].ends_with("went")) << heard[0];
}

TEST_F(http_server, connections_above_the_limit_are_closed) {
    options.limits.connections = 0;
    options.limits.reserved = 0;
    start();
    EXPECT_EQ(say({"GET /show HTTP/1.1\r\nHost: h\r\n\r\n"}, false), "");
}

TEST_F(http_server, what_stands_between_and_behind_chunks_is_bounded) {
    start();
    const std::string head = "POST /show HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n";
    const std::string much(1u << 20, 'x');
    std::string many_chunks = head;
    for (int i = 0; i < 900; ++i) many_chunks += "1;" + std::string(20, 'x') + "\r\na\r\n";
    const std::string table[] = {
        head + "1;" + much,
        head + "1\r\na\r\n0\r\nTrailer: " + much,
        head + "1" + much,
        many_chunks,
    };
    for (const auto& text : table) {
        const auto heard = say(text);
        EXPECT_TRUE(heard.starts_with("HTTP/1.1 4")) << text.substr(0, 100) << " gave " << heard;
    }
}

TEST_F(http_server, a_head_of_many_small_parts_is_refused) {
    options.header_limit = 8000;
    start();
    std::string lines;
    for (int i = 0; i < 101; ++i) lines += "a:\r\n";
    EXPECT_TRUE(
        say("GET /show HTTP/1.1\r\nHost: h\r\n" + lines + "\r\n").starts_with("HTTP/1.1 431 "));
    std::string query;
    for (int i = 0; i < 65; ++i) query += "a&";
    EXPECT_TRUE(
        say("GET /show?" + query + " HTTP/1.1\r\nHost: h\r\n\r\n").starts_with("HTTP/1.1 400 "));
}

TEST_F(http_server, what_is_not_http_is_refused_at_its_first_byte) {
    options.idle_timeout = options.request_timeout = seconds(60);
    start();
    EXPECT_TRUE(say({"\x16\x03\x01"}, false).starts_with("HTTP/1.1 400 "));
}

TEST_F(http_server, who_may_not_is_told_before_a_body_comes) {
    std::vector<std::string> asked;
    routes.guard("/show", [&](const server_request& head) -> std::optional<server_reply> {
        asked.push_back(head.method + head.body);
        return problem(403, "not you");
    });
    start();
    const auto heard =
        say({"POST /show HTTP/1.1\r\nHost: h\r\nContent-Length: 900\r\n\r\n"}, false);
    EXPECT_TRUE(heard.starts_with("HTTP/1.1 403 ")) << heard;
    EXPECT_NE(heard.find("Connection: close\r\n"), std::string::npos);
    // Without a body the connection continues.
    const auto twice =
        say("HEAD /show HTTP/1.1\r\nHost: h\r\n\r\n"
            "GET /show HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_EQ(twice.find("HTTP/1.1 403 "), 0u) << twice;
    EXPECT_TRUE(
        twice.ends_with("\"detail\":\"not you\",\"code\":\"Forbidden\",\"retryable\":false}"))
        << twice;
    EXPECT_EQ(asked, (std::vector<std::string>{"POST", "HEAD", "GET"}));
}

/// Requests of a route whose admission waits for `go` and then refuses the callers that say so.
class http_admission : public http_server {
protected:
    http_admission() {
        route_rules rules;
        rules.body_limit = 1000;
        routes.add("POST", "/mine", show_caller, rules, asks());
        routes.add("GET", "/mine", show_caller, {}, asks());
    }

    static asio::awaitable<server_reply> show_caller(server_request request) {
        const auto who = request.caller ? request.caller->name : "nobody";
        co_return server_reply(200, "text/plain", who + " body=" + request.body);
    }

    admission asks() {
        return [this](server_request& head) { return ask(head); };
    }

    asio::awaitable<std::optional<server_reply>> ask(server_request& head) {
        asked.push_back(head.method + head.body);
        if (waits) co_await go.wait();
        if (head.header("x") == "throw") throw std::runtime_error("broken");
        if (head.header("x") == "no") co_return problem(401, "who are you");
        auto who = std::make_shared<identity>();
        who->name = "anna";
        head.caller = std::move(who);
        co_return std::nullopt;
    }

    /// Runs until `heard` has `text`, for at most two seconds.
    bool hears(const std::string& heard, std::string_view text) {
        loop.restart();
        const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(2);
        while (!heard.contains(text) && std::chrono::steady_clock::now() < limit) {
            loop.run_one_for(std::chrono::milliseconds(20));
        }
        return heard.contains(text);
    }

    std::vector<std::string> asked;
    bool waits = false;
};

TEST_F(http_admission, who_asks_is_known_to_the_handler) {
    start();
    EXPECT_TRUE(say("POST /mine HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nab")
                    .ends_with("anna body=ab"));
    const auto head = say("HEAD /mine HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_TRUE(head.starts_with("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n")) << head;
    EXPECT_TRUE(head.ends_with("\r\n\r\n")) << head;
    EXPECT_EQ(asked, (std::vector<std::string>{"POST", "HEAD"}));
}

TEST_F(http_admission, a_refusal_is_told_before_a_body_comes_and_ends_the_connection) {
    start();
    const auto heard =
        say({"POST /mine HTTP/1.1\r\nHost: h\r\nX: no\r\nExpect: 100-continue\r\nContent-Length: "
             "900\r\n\r\n"},
            false);
    EXPECT_TRUE(heard.starts_with("HTTP/1.1 401 ")) << heard;
    EXPECT_NE(heard.find("Connection: close\r\n"), std::string::npos);
    EXPECT_EQ(heard.find("100 Continue"), std::string::npos);
    // Without a body the connection continues, also with HEAD.
    const auto twice =
        say("HEAD /mine HTTP/1.1\r\nHost: h\r\nX: no\r\n\r\n"
            "GET /mine HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_TRUE(twice.starts_with("HTTP/1.1 401 ")) << twice;
    EXPECT_TRUE(twice.ends_with("\r\n\r\nanna body=")) << twice;
}

TEST_F(http_admission, nothing_of_a_body_is_asked_for_or_read_before_its_end) {
    waits = true;
    start();
    asio::co_spawn(loop,
                   talk({"POST /mine HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\n"
                         "Content-Length: 2\r\nConnection: close\r\n\r\n"},
                        false, first_heard, first_closed),
                   asio::detached);
    loop.run_for(std::chrono::milliseconds(100));
    EXPECT_EQ(asked, (std::vector<std::string>{"POST"}));
    EXPECT_EQ(first_heard, "");
    go.notify();
    EXPECT_TRUE(hears(first_heard, "HTTP/1.1 100 Continue\r\n\r\n")) << first_heard;
}

TEST_F(http_admission, a_body_that_is_there_early_waits_too) {
    waits = true;
    start();
    asio::co_spawn(loop,
                   talk({"POST /mine HTTP/1.1\r\nHost: h\r\nContent-Length: 5000\r\n\r\n" +
                         std::string(5000, 'x')},
                        false, first_heard, first_closed),
                   asio::detached);
    loop.run_for(std::chrono::milliseconds(100));
    EXPECT_EQ(first_heard, "") << "too long, but nobody is told before it is known who asks";
    go.notify();
    EXPECT_TRUE(hears(first_heard, "HTTP/1.1 413 ")) << first_heard;
}

TEST_F(http_admission, one_that_takes_too_long_is_a_503_and_the_server_goes_on) {
    waits = true;
    options.request_timeout = seconds(1);
    start();
    const auto heard = say({"GET /mine HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"}, false);
    EXPECT_TRUE(heard.starts_with("HTTP/1.1 503 ")) << heard;
    EXPECT_NE(heard.find("Retry-After: 2\r\n"), std::string::npos) << heard;
    waits = false;
    EXPECT_TRUE(say("GET /mine HTTP/1.1\r\nHost: h\r\n\r\n").ends_with("anna body="));
}

TEST_F(http_admission, what_it_throws_is_a_500_without_its_words) {
    start();
    const auto heard = say("GET /mine HTTP/1.1\r\nHost: h\r\nX: throw\r\n\r\n");
    EXPECT_TRUE(heard.starts_with("HTTP/1.1 500 ")) << heard;
    EXPECT_EQ(heard.find("broken"), std::string::npos);
}

TEST_F(http_admission, the_peer_may_go_and_others_are_not_cut_for_one_that_waits) {
    waits = true;
    options.limits.connections = 1;
    start();
    {
        tcp::socket impatient(loop);
        impatient.connect(
            {asio::ip::make_address("127.0.0.1"), static_cast<std::uint16_t>(own->port())});
        asio::write(impatient, asio::buffer(std::string("GET /mine HTTP/1.1\r\nHost: h\r\n\r\n")));
        loop.restart();
        loop.run_for(std::chrono::milliseconds(100));
        EXPECT_EQ(asked.size(), 1U);
        EXPECT_TRUE(say("GET /show HTTP/1.1\r\nHost: h\r\n\r\n").starts_with("HTTP/1.1 503 "))
            << "it counts as a request under work, which is not cut";
    }
    waits = false;
    go.notify();
    loop.restart();
    loop.run_for(std::chrono::milliseconds(100));
    EXPECT_TRUE(say("GET /show HTTP/1.1\r\nHost: h\r\n\r\n").starts_with("HTTP/1.1 200 "));
}

TEST_F(http_admission, is_told_of_by_the_pattern_of_its_route_and_asked_after_filters) {
    std::vector<std::string> told;
    options.on_answer = [&](const answered_request& what) {
        told.push_back(fmt::format("{} {} {}", what.route, what.method, what.status));
    };
    routes.guard("/mine", [](const server_request& head) -> std::optional<server_reply> {
        if (head.header("x") != "filter") return std::nullopt;
        return problem(403, "no");
    });
    start();
    say("GET /mine HTTP/1.1\r\nHost: h\r\nX: no\r\n\r\n"
        "GET /mine HTTP/1.1\r\nHost: h\r\nX: filter\r\n\r\n");
    EXPECT_EQ(told, (std::vector<std::string>{"/mine GET 401", " GET 403"}));
    EXPECT_EQ(asked.size(), 1U);
}

TEST_F(http_server, what_it_refuses_itself_has_a_code_and_says_whether_to_try_again) {
    options.limits.connections = 1;
    start();
    const struct {
        std::string text;
        const char* code;
        const char* retryable;
    } table[] = {
        {"GET /show HTTP/1.1\r\n\r\n", "BadRequest", "false"},
        {"GET /nowhere HTTP/1.1\r\nHost: h\r\n\r\n", "NotFound", "false"},
        {"PATCH /show HTTP/1.1\r\nHost: h\r\n\r\n", "MethodNotAllowed", "false"},
        {"POST /show HTTP/1.1\r\nHost: h\r\nContent-Length: 1001\r\n\r\n", "TooLarge", "false"},
        {"GET /show HTTP/1.1\r\nHost: h\r\nX: " + std::string(2000, 'x') + "\r\n\r\n",
         "HeadersTooLarge", "false"},
        {"GET /break HTTP/1.1\r\nHost: h\r\n\r\n", "Internal", "false"},
    };
    for (const auto& row : table) {
        const auto heard = say(row.text);
        EXPECT_TRUE(heard.contains(fmt::format(R"("type":"urn:esi:problem:{}")", row.code)))
            << heard;
        EXPECT_TRUE(heard.ends_with(
            fmt::format(R"("code":"{}","retryable":{}}})", row.code, row.retryable)))
            << heard;
    }
    asio::co_spawn(loop,
                   talk({"GET /wait HTTP/1.1\r\nHost: h\r\n\r\n"}, true, first_heard, first_closed),
                   asio::detached);
    loop.restart();
    loop.run_for(std::chrono::milliseconds(100));
    ASSERT_TRUE(waiting);
    const auto busy = say("GET /show HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_TRUE(busy.ends_with(R"("code":"Unavailable","retryable":true})")) << busy;
    go.notify();
}

TEST_F(http_server, a_body_that_no_route_takes_is_refused_before_it_comes) {
    start();
    const struct {
        const char* head;
        const char* answer;
    } table[] = {
        {"GET /show HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\n", "HTTP/1.1 413 "},
        {"DELETE /nothing HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n",
         "HTTP/1.1 413 "},
        {"POST /show HTTP/1.1\r\nHost: h\r\nContent-Length: 1001\r\n\r\n", "HTTP/1.1 413 "},
        {"POST /nowhere HTTP/1.1\r\nHost: h\r\nContent-Length: 900\r\n\r\n", "HTTP/1.1 404 "},
        {"PATCH /show HTTP/1.1\r\nHost: h\r\nContent-Length: 900\r\n\r\n", "HTTP/1.1 405 "},
    };
    for (const auto& row : table) {
        const auto heard = say({row.head}, false);
        EXPECT_TRUE(heard.starts_with(row.answer)) << row.head << " gave " << heard;
    }
}

TEST_F(http_server, bodies_of_all_connections_together_are_bounded) {
    options.limits.bytes = 500;
    options.limits.free_bytes = 100;
    start();
    const std::string head = "POST /show HTTP/1.1\r\nHost: h\r\nContent-Length: 900\r\n\r\n";
    asio::co_spawn(loop, talk({head + std::string(800, 'x')}, false, first_heard, first_closed),
                   asio::detached);
    loop.run_for(std::chrono::milliseconds(100));
    const auto second = say({head + std::string(800, 'x')}, false);
    EXPECT_TRUE(second.starts_with("HTTP/1.1 503 ")) << second;
    EXPECT_NE(second.find("Retry-After: "), std::string::npos);
    EXPECT_TRUE(say("POST /show HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\n123456789")
                    .starts_with("HTTP/1.1 200 "))
        << "a small one finds its place";
    EXPECT_FALSE(first_closed);
}

TEST_F(http_server, who_does_not_read_an_answer_makes_room_at_the_limit) {
    routes.add("GET", "/much", [](server_request) -> asio::awaitable<server_reply> {
        co_return server_reply(200, "text/plain", std::string(16u << 20, 'x'));
    });
    options.limits.connections = 1;
    start();
    tcp::socket deaf(loop);
    deaf.connect({asio::ip::make_address("127.0.0.1"), static_cast<std::uint16_t>(own->port())});
    asio::write(deaf, asio::buffer(std::string("GET /much HTTP/1.1\r\nHost: h\r\n\r\n")));
    loop.run_for(std::chrono::milliseconds(300));
    EXPECT_TRUE(say("GET /show HTTP/1.1\r\nHost: h\r\n\r\n").starts_with("HTTP/1.1 200 "));
}

TEST_F(http_server, readers_of_a_large_answer_take_turns_and_each_gets_it_whole) {
    constexpr std::size_t length = 9u << 20;
    int made = 0;
    routes.add("GET", "/large", [&](server_request) -> asio::awaitable<server_reply> {
        ++made;
        co_return server_reply(200, "text/plain", std::string(length, 'x'));
    });
    start();
    constexpr int readers = 8;
    std::array<std::string, readers> heard;
    std::array<bool, readers> closed{};
    for (std::size_t i = 0; i < readers; ++i) {
        asio::co_spawn(loop,
                       talk({"GET /large HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"}, false,
                            heard[i], closed[i]),
                       asio::detached);
    }
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (std::ranges::count(closed, true) < readers && std::chrono::steady_clock::now() < limit) {
        loop.run_one_for(std::chrono::milliseconds(100));
    }
    for (const auto& each : heard) {
        EXPECT_TRUE(each.starts_with("HTTP/1.1 200 ")) << each.substr(0, 200);
        EXPECT_GT(each.size(), length);
    }
    EXPECT_EQ(made, readers) << "none is made and thrown away";
}

TEST_F(http_server, a_reader_of_a_large_answer_waits_for_room_only_so_long) {
    int made = 0;
    routes.add("GET", "/large", [&](server_request) -> asio::awaitable<server_reply> {
        ++made;
        co_return server_reply(200, "text/plain", std::string(16u << 20, 'x'));
    });
    options.limits.bytes = 1u << 20;
    options.large_answer_patience = seconds(1);
    start();
    // It reads, so it is not cut, but not all of it.
    tcp::socket slow(loop);
    slow.connect({asio::ip::make_address("127.0.0.1"), static_cast<std::uint16_t>(own->port())});
    asio::write(slow, asio::buffer(std::string("GET /large HTTP/1.1\r\nHost: h\r\n\r\n")));
    loop.run_for(std::chrono::milliseconds(300));
    ASSERT_EQ(made, 1);
    std::string heard;
    bool closed = false;
    asio::co_spawn(
        loop,
        talk({"GET /large HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"}, false, heard, closed),
        asio::detached);
    std::array<char, 256 << 10> some;
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (!closed && std::chrono::steady_clock::now() < limit) {
        loop.run_for(std::chrono::milliseconds(100));
        error_code failure;
        slow.read_some(asio::buffer(some), failure);
        EXPECT_FALSE(failure);
    }
    EXPECT_TRUE(heard.starts_with("HTTP/1.1 503 ")) << heard.substr(0, 200);
    EXPECT_NE(heard.find("Retry-After: "), std::string::npos);
    EXPECT_EQ(made, 1) << "what nobody has room for is not made";
}

/// Handlers that take room before they have the content.
class http_rooms : public http_server {
protected:
    http_rooms() {
        routes.add("GET", "/collect/{mib}",
                   [this](server_request from) { return collect(std::move(from)); });
        options.limits.bytes = 4u << 20;
        options.large_answer_patience = seconds(1);
    }

    /// Holds one MiB more until it has the requested number, or until there is no room; answers how
    /// many.
    asio::awaitable<server_reply> collect(server_request from) {
        const auto wanted = std::stoul(from.variables["mib"]);
        std::size_t held = 0;
        const auto room = std::move(from.room);
        if (co_await room->wait_to_hold(1u << 20)) {
            held = 1;
            while (held < wanted && room->hold((held + 1) << 20)) ++held;
        }
        most = std::max(most, now += held);
        ++collecting;
        co_await go.wait();
        now -= held;
        co_return server_reply(held > 0 ? 200 : 503, "text/plain", std::to_string(held));
    }
    asio::awaitable<server_reply> collect_later(server_request from) {
        from.room->stand_aside();
        ++collecting;
        co_await go.wait();
        co_return server_reply(200, "text/plain", "later");
    }
    static asio::awaitable<server_reply> large_at_once() {
        co_return server_reply(200, "text/plain", std::string(2u << 20, 'x'));
    }
    void begin(const std::string& target, std::string& heard) {
        asio::co_spawn(loop,
                       talk({"GET " + target + " HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"},
                            false, heard, closed.emplace_back()),
                       asio::detached);
    }
    template <class Reached>
    bool wait_until(Reached reached) {
        const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(5);
        while (!reached() && std::chrono::steady_clock::now() < limit) {
            loop.run_one_for(std::chrono::milliseconds(20));
        }
        return reached();
    }
    /// The body of an answer.
    static std::string told(const std::string& heard) {
        return heard.substr(std::min(heard.size(), heard.rfind('\n') + 1));
    }

    std::size_t now = 0;   ///< MiB that handlers hold
    std::size_t most = 0;  ///< at any time
    int collecting = 0;
    std::deque<bool> closed;
};

TEST_F(http_rooms, what_handlers_collect_is_bounded_for_all_of_them_together) {
    start();
    std::array<std::string, 3> heard;
    begin("/collect/3", heard[0]);
    ASSERT_TRUE(wait_until([&] { return collecting == 1; }));
    begin("/collect/3", heard[1]);
    ASSERT_TRUE(wait_until([&] { return collecting == 2; }));
    EXPECT_EQ(most, 5u) << "who asks while there is room gets what he asks for, and no more";
    begin("/collect/1", heard[2]);
    loop.run_for(std::chrono::milliseconds(300));
    EXPECT_EQ(collecting, 2) << "the third one waits for room";
    go.notify();
    ASSERT_TRUE(wait_until([&] { return collecting == 3; }));
    go.notify();
    ASSERT_TRUE(wait_until([&] { return std::ranges::count(closed, true) == 3; }));
    EXPECT_EQ(told(heard[0]), "3");
    EXPECT_EQ(told(heard[1]), "2") << "it answers with what it has";
    EXPECT_EQ(told(heard[2]), "1");
    EXPECT_EQ(most, 5u);
}

TEST_F(http_rooms, who_waits_for_room_waits_only_so_long) {
    start();
    std::array<std::string, 2> heard;
    begin("/collect/9", heard[0]);
    ASSERT_TRUE(wait_until([&] { return collecting == 1; }));
    const auto begun = std::chrono::steady_clock::now();
    begin("/collect/1", heard[1]);
    ASSERT_TRUE(wait_until([&] { return collecting == 2; }));
    EXPECT_GE(std::chrono::steady_clock::now() - begun, std::chrono::milliseconds(900));
    go.notify();
    ASSERT_TRUE(wait_until([&] { return std::ranges::count(closed, true) == 2; }));
    EXPECT_EQ(told(heard[0]), "5") << "what passes the limit is the last";
    EXPECT_TRUE(heard[1].starts_with("HTTP/1.1 503 ")) << heard[1];
}

TEST_F(http_rooms, who_has_the_turn_for_a_large_answer_does_not_wait_behind_itself) {
    routes.add("GET", "/large", [](server_request from) -> asio::awaitable<server_reply> {
        const bool held = co_await from.room->wait_to_hold(2u << 20);
        co_return server_reply(held ? 200 : 503, "text/plain", std::string(2u << 20, 'x'));
    });
    start();
    for (int i = 0; i < 3; ++i) {
        const auto begun = std::chrono::steady_clock::now();
        EXPECT_TRUE(say({"GET /large HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"}, false)
                        .starts_with("HTTP/1.1 200 "));
        EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::milliseconds(900)) << i;
    }
}

TEST_F(http_rooms, who_waits_for_something_else_keeps_no_large_answer_from_others) {
    int asked = 0;
    routes.add("GET", "/later", [&](server_request from) {
        return ++asked == 2 ? collect_later(std::move(from)) : large_at_once();
    });
    start();
    const std::string text = "GET /later HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n";
    EXPECT_TRUE(say({text}, false).starts_with("HTTP/1.1 200 "));
    std::string later;
    begin("/later", later);
    ASSERT_TRUE(wait_until([&] { return collecting == 1; }));
    const auto begun = std::chrono::steady_clock::now();
    EXPECT_TRUE(say({text}, false).starts_with("HTTP/1.1 200 "));
    EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::milliseconds(900));
    go.notify();
    ASSERT_TRUE(wait_until([&] { return closed.back(); }));
    EXPECT_TRUE(later.starts_with("HTTP/1.1 200 ")) << later;
}

TEST_F(http_server, probes_are_answered_where_all_places_are_taken) {
    route_rules probe;
    probe.probe = true;
    routes.add("GET", "/livez", show, probe);
    options.limits.connections = 1;
    start();
    asio::co_spawn(loop,
                   talk({"GET /wait HTTP/1.1\r\nHost: h\r\n\r\n"}, true, first_heard, first_closed),
                   asio::detached);
    loop.run_for(std::chrono::milliseconds(100));
    ASSERT_TRUE(waiting);
    EXPECT_TRUE(say("GET /livez HTTP/1.1\r\nHost: h\r\n\r\n").starts_with("HTTP/1.1 200 "));
    EXPECT_TRUE(say("GET /show HTTP/1.1\r\nHost: h\r\n\r\n").starts_with("HTTP/1.1 503 "));
    EXPECT_FALSE(first_closed);
    go.notify();
}

TEST_F(http_server, the_authority_of_an_absolute_target_is_the_host) {
    routes.add("GET", "/host", [](server_request request) -> asio::awaitable<server_reply> {
        co_return server_reply(200, "text/plain", std::string(request.header("host")));
    });
    start();
    EXPECT_TRUE(say("GET http://evil.example:1/host HTTP/1.1\r\nHost: localhost\r\n\r\n")
                    .ends_with("\r\n\r\nevil.example:1"));
    EXPECT_TRUE(
        say("GET http://evil.example:1/host HTTP/1.0\r\n\r\n").ends_with("\r\n\r\nevil.example:1"))
        << "also where there is no Host";
    EXPECT_TRUE(
        say("GET http:///host HTTP/1.1\r\nHost: localhost\r\n\r\n").starts_with("HTTP/1.1 400 "));
}

TEST_F(http_server, every_answer_is_told_with_the_pattern_of_its_route) {
    std::vector<std::string> told;
    options.on_answer = [&](const answered_request& what) {
        EXPECT_GE(what.took.count(), 0);
        told.push_back(fmt::format("{} {} {}", what.route, what.method, what.status));
    };
    routes.add("GET", "/of/{name}", show);
    routes.guard("/show", [](const server_request& head) -> std::optional<server_reply> {
        if (head.method == "GET") return std::nullopt;
        return problem(403, "no");
    });
    start();
    say("GET /of/a HTTP/1.1\r\nHost: h\r\n\r\nHEAD /of/b HTTP/1.1\r\nHost: h\r\n\r\n"
        "GET /show HTTP/1.1\r\nHost: h\r\n\r\nDELETE /show HTTP/1.1\r\nHost: h\r\n\r\n"
        "BREW /of/a HTTP/1.1\r\nHost: h\r\n\r\nGET /nowhere HTTP/1.1\r\nHost: h\r\n\r\n"
        "GET /break HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_EQ(told, (std::vector<std::string>{"/of/{name} GET 200", "/of/{name} HEAD 200",
                                              "/show GET 200", " DELETE 403", " BREW 405",
                                              " GET 404", "/break GET 500"}));
    EXPECT_EQ(own->connections(), 0U);
}

TEST_F(http_server, wrong_certificate_files_are_an_error_at_start) {
    options.tls_cert_file = "/nowhere.pem";
    server half(loop.get_executor(), time, options, routes);
    EXPECT_FALSE(half.start());
    options.tls_private_key_file = "/nowhere.key";
    server both(loop.get_executor(), time, options, routes);
    auto started = both.start();
    ASSERT_FALSE(started);
    EXPECT_TRUE(started.error().text.starts_with("/nowhere.pem: ")) << started.error().text;
}

}  // namespace
}  // namespace esi::http

#include "http/stream.h"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <random>

#include "http/server.h"

namespace esi::http {
namespace {

using asio::ip::tcp;
using boost::system::error_code;

const std::string ask = "GET /stream HTTP/1.1\r\nHost: h\r\n\r\n";

/// The body of an answer in chunks; empty if it does not end as it should.
std::optional<std::string> unchunked(std::string_view heard) {
    const auto head = heard.find("\r\n\r\n");
    if (head == std::string_view::npos) return std::nullopt;
    heard.remove_prefix(head + 4);
    std::string out;
    for (;;) {
        const auto line = heard.find("\r\n");
        if (line == std::string_view::npos) return std::nullopt;
        const auto size = std::stoul(std::string(heard.substr(0, line)), nullptr, 16);
        heard.remove_prefix(line + 2);
        if (heard.size() < size + 2 || heard.substr(size, 2) != "\r\n") return std::nullopt;
        out += heard.substr(0, size);
        heard.remove_prefix(size + 2);
        if (size == 0) return heard.empty() ? std::optional(out) : std::nullopt;
    }
}

class a_stream : public testing::Test {
protected:
    a_stream() {
        options.bind_address = "127.0.0.1";
        routes.add("GET", "/stream", [this](const server_request&) { return begin(); });
        routes.add("GET", "/short", [](const server_request&) -> asio::awaitable<server_reply> {
            co_return server_reply(200, "text/plain", "short");
        });
    }
    ~a_stream() override {
        if (own) run(own->stop(time.now() + seconds(1)));
    }

    void start() {
        own = std::make_unique<server>(loop.get_executor(), time, options, routes);
        const auto started = own->start();
        ASSERT_TRUE(started) << started.error().text;
    }

    asio::awaitable<server_reply> begin() {
        server_reply out(200, "text/plain", "");
        out.stream = [this](stream_writer& to) { return body(to); };
        co_return out;
    }

    /// Runs the loop until `done`, five seconds at most.
    template <class Done>
    bool until(Done done) {
        loop.restart();
        const auto limit = std::chrono::steady_clock::now() + seconds(5);
        while (!done() && std::chrono::steady_clock::now() < limit) {
            loop.run_one_for(milliseconds(50));
        }
        return done();
    }
    void run(asio::awaitable<void> what) {
        bool over = false;
        asio::co_spawn(loop, std::move(what), [&](const std::exception_ptr&) { over = true; });
        EXPECT_TRUE(until([&] { return over; }));
    }

    struct client {
        explicit client(asio::io_context& loop) : socket(loop) {}
        tcp::socket socket;
        std::string heard;
        bool closed = false;
        /// No more is read than this.
        std::size_t most = std::string::npos;
    };
    asio::awaitable<void> talk(std::shared_ptr<client> by, std::string text) {
        error_code failure;
        const tcp::endpoint where(asio::ip::make_address("127.0.0.1"),
                                  static_cast<std::uint16_t>(own->port()));
        co_await by->socket.async_connect(where,
                                          asio::redirect_error(asio::use_awaitable, failure));
        co_await asio::async_write(by->socket, asio::buffer(text),
                                   asio::redirect_error(asio::use_awaitable, failure));
        std::array<char, 4096> space;
        while (!failure && by->heard.size() < by->most) {
            const auto count = co_await by->socket.async_read_some(
                asio::buffer(space), asio::redirect_error(asio::use_awaitable, failure));
            by->heard.append(space.data(), count);
        }
        by->closed = bool(failure);
    }
    std::shared_ptr<client> say(std::string text, std::size_t most = std::string::npos) {
        auto out = std::make_shared<client>(loop);
        out->most = most;
        asio::co_spawn(loop, talk(out, std::move(text)), asio::detached);
        return out;
    }
    std::string whole(const std::string& text) {
        const auto by = say(text);
        EXPECT_TRUE(until([&] { return by->closed; })) << by->heard;
        return by->heard;
    }

    asio::io_context loop;
    system_clock time;
    router routes;
    server_options options;
    stream_body body;
    std::unique_ptr<server> own;
    notifier go{loop.get_executor()};
    int ended = 0;
};

/// Counts the ends of streams, whatever their cause.
struct end_counter {
    int& count;
    ~end_counter() { ++count; }
};

TEST_F(a_stream, comes_in_chunks_and_ends_with_the_last_one) {
    body = [](stream_writer& to) -> asio::awaitable<void> {
        EXPECT_TRUE(co_await to.write("one"));
        // An empty chunk would be the end.
        EXPECT_TRUE(co_await to.write(""));
        const std::array<std::string_view, 3> parts{"two", "", "three"};
        EXPECT_TRUE(co_await to.write(std::span(parts)));
    };
    start();
    const auto heard = whole(ask);
    EXPECT_TRUE(heard.starts_with("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n")) << heard;
    EXPECT_NE(heard.find("\r\nConnection: close\r\n\r\n3\r\none\r\n8\r\ntwothree\r\n0\r\n\r\n"),
              std::string::npos)
        << heard;
    EXPECT_EQ(heard.find("Content-Length"), std::string::npos);
}

TEST_F(a_stream, ends_with_the_connection_for_old_clients) {
    body = [](stream_writer& to) -> asio::awaitable<void> {
        co_await to.write("one");
        co_await to.write("two");
    };
    start();
    const auto heard = whole("GET /stream HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    EXPECT_EQ(heard.find("Transfer-Encoding"), std::string::npos) << heard;
    EXPECT_TRUE(heard.ends_with("Connection: close\r\n\r\nonetwo")) << heard;
}

TEST_F(a_stream, is_not_run_for_head) {
    body = [this](stream_writer& to) -> asio::awaitable<void> {
        ++ended;
        co_await to.write("one");
    };
    start();
    const auto heard = whole(
        "HEAD /stream HTTP/1.1\r\nHost: h\r\n\r\n"
        "GET /short HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
    EXPECT_EQ(ended, 0);
    EXPECT_EQ(heard.find("one"), std::string::npos) << heard;
    // The connection stays for the next request.
    EXPECT_TRUE(heard.ends_with("\r\n\r\nshort")) << heard;
}

TEST_F(a_stream, of_any_pieces_is_what_was_written) {
    std::mt19937 random(7);
    std::vector<std::string> texts;
    std::string all;
    for (int i = 0; i < 300; ++i) {
        const std::size_t sizes[] = {0, 1, random() % 100, random() % 5000, random() % 300'000};
        texts.emplace_back(sizes[random() % (i % 10 == 0 ? 5 : 4)],
                           static_cast<char>('a' + i % 26));
        all += texts.back();
    }
    body = [&](stream_writer& to) -> asio::awaitable<void> {
        for (std::size_t at = 0; at < texts.size();) {
            std::vector<std::string_view> parts;
            for (auto count = random() % 120; count > 0 && at < texts.size(); --count) {
                parts.push_back(texts[at++]);
            }
            EXPECT_TRUE(co_await to.write(parts));
        }
    };
    start();
    const auto heard = unchunked(whole(ask));
    ASSERT_TRUE(heard);
    EXPECT_EQ(*heard == all, true);
}

TEST_F(a_stream, ends_at_once_when_its_client_goes) {
    body = [this](stream_writer& to) -> asio::awaitable<void> {
        const end_counter counter{ended};
        co_await to.write("one");
        co_await go.wait();
        ADD_FAILURE() << "it was not cancelled";
    };
    start();
    std::vector<std::shared_ptr<client>> all;
    for (int i = 0; i < 20; ++i) all.push_back(say(ask));
    ASSERT_TRUE(until([&] {
        return std::ranges::all_of(
            all, [](const auto& each) { return each->heard.ends_with("one\r\n"); });
    }));
    EXPECT_EQ(own->connections(), 20U);
    for (std::size_t i = 0; i < 20; ++i) {
        error_code failure;
        // Some end their side only, some reset.
        if (i % 2 == 0) all[i]->socket.set_option(asio::socket_base::linger(true, 0), failure);
        if (i % 3 == 0) {
            all[i]->socket.shutdown(tcp::socket::shutdown_send, failure);
        } else {
            all[i]->socket.close(failure);
        }
    }
    EXPECT_TRUE(until([&] { return ended == 20 && own->connections() == 0; }));
}

TEST_F(a_stream, whose_client_says_much_is_cut) {
    body = [this](stream_writer& to) -> asio::awaitable<void> {
        const end_counter counter{ended};
        co_await to.write("one");
        co_await go.wait();
    };
    start();
    // A few bytes are ignored.
    const auto quiet = say(ask + "GET /short HTTP/1.1\r\n");
    const auto loud = say(ask + std::string(200'000, 'x'));
    EXPECT_TRUE(until([&] { return loud->closed; }));
    EXPECT_EQ(ended, 1);
    EXPECT_FALSE(quiet->closed);
}

TEST_F(a_stream, ends_whole_when_the_server_stops) {
    bool wrote = true;
    body = [&](stream_writer& to) -> asio::awaitable<void> {
        const end_counter counter{ended};
        wrote = co_await to.write("one");
        co_await go.wait();
    };
    start();
    const auto by = say(ask);
    ASSERT_TRUE(until([&] { return by->heard.ends_with("one\r\n"); }));
    run(own->stop(time.now() + seconds(3)));
    EXPECT_TRUE(until([&] { return by->closed; }));
    EXPECT_TRUE(wrote);
    EXPECT_EQ(ended, 1);
    EXPECT_EQ(unchunked(by->heard), "one");
}

TEST_F(a_stream, that_writes_without_end_is_told_that_the_server_stops) {
    body = [&](stream_writer& to) -> asio::awaitable<void> {
        const end_counter counter{ended};
        while (co_await to.write(std::string(10'000, 'x'))) {
        }
    };
    start();
    const auto by = say(ask);
    ASSERT_TRUE(until([&] { return by->heard.size() > 1'000'000; }));
    run(own->stop(time.now() + seconds(3)));
    EXPECT_TRUE(until([&] { return by->closed; }));
    EXPECT_EQ(ended, 1);
    EXPECT_TRUE(unchunked(by->heard));
}

TEST_F(a_stream, whose_client_does_not_read_is_cut_in_time) {
    options.stream_write_time = seconds(1);
    std::uint64_t written = 0;
    body = [&](stream_writer& to) -> asio::awaitable<void> {
        const end_counter counter{ended};
        const std::string much(100'000, 'x');
        while (co_await to.write(much)) written += much.size();
    };
    start();
    const auto by = say(ask, 1);
    const auto begun = std::chrono::steady_clock::now();
    EXPECT_TRUE(until([&] { return ended == 1 && own->connections() == 0; }));
    EXPECT_GE(std::chrono::steady_clock::now() - begun, milliseconds(900));
    EXPECT_GT(written, 0U);
    // Only the system keeps bytes.
    EXPECT_LT(written, 32U << 20);
}

TEST_F(a_stream, that_fails_inside_has_no_end) {
    body = [](stream_writer& to) -> asio::awaitable<void> {
        co_await to.write("one");
        throw std::runtime_error("broken");
    };
    start();
    const auto heard = whole(ask);
    EXPECT_TRUE(heard.ends_with("one\r\n")) << heard;
    EXPECT_FALSE(unchunked(heard));
}

TEST_F(a_stream, takes_no_place_of_a_request_and_is_refused_above_their_limit) {
    options.limits.connections = 2;
    options.limits.reserved = 0;
    options.limits.streams = 3;
    body = [this](stream_writer& to) -> asio::awaitable<void> {
        co_await to.write("one");
        co_await go.wait();
    };
    start();
    std::vector<std::shared_ptr<client>> all;
    for (int i = 0; i < 3; ++i) {
        all.push_back(say(ask));
        ASSERT_TRUE(until([&] { return all.back()->heard.ends_with("one\r\n"); }));
    }
    const auto refused = whole("GET /stream HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
    EXPECT_TRUE(refused.starts_with("HTTP/1.1 503 ")) << refused;
    EXPECT_NE(refused.find("Retry-After: 2\r\n"), std::string::npos) << refused;
    EXPECT_NE(refused.find("3 streams are open"), std::string::npos) << refused;
    EXPECT_TRUE(
        whole("GET /short HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n").ends_with("short"));
    for (const auto& each : all) EXPECT_FALSE(each->closed);
}

}  // namespace
}  // namespace esi::http

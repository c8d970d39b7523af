#include "kube/server_clock.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <vector>

#include "base/log.h"
#include "base/task_group.h"
#include "base/virtual_clock.h"
#include "kube/testing/scripted_transport.h"

namespace esi::kube {
namespace {

using namespace std::chrono_literals;

/// A machine whose wall clock is wrong, beside an API server whose clock is right.
class wrong_clock final : public clock {
public:
    explicit wrong_clock(virtual_clock& right) : right_(right) {}
    steady_time now() const override { return right_.now(); }
    wall_time wall() const override { return right_.wall() + ahead; }
    asio::awaitable<void> sleep_until(steady_time when) override {
        return right_.sleep_until(when);
    }
    std::chrono::microseconds ahead{0};

private:
    virtual_clock& right_;
};

struct machine {
    virtual_clock server;
    wrong_clock own{server};

    wall_time date() const { return std::chrono::floor<seconds>(server.wall()); }
    void pass(steady_time::duration time) { server.advance_to(server.now() + time); }
    /// An answer that takes so long there and back.
    void ask(server_clock& time, steady_time::duration there = 2ms,
             steady_time::duration back = 2ms) {
        const auto sent = server.now();
        pass(there);
        const auto written = date();
        pass(back);
        time.heard(written, sent);
    }
    std::chrono::microseconds error_of(const server_clock& time) const {
        return time.wall() - server.wall();
    }
};

TEST(http_date, is_read_as_rfc_9110_has_it) {
    auto parsed = parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT");
    ASSERT_TRUE(parsed);
    EXPECT_EQ(parsed->time_since_epoch(), std::chrono::seconds(784111777));
    for (const char* wrong : {"", "Sun, 06 Nov 1994 08:49:37 CET", "Sunday, 06-Nov-94 08:49:37 GMT",
                              "Sun Nov  6 08:49:37 1994", "Sun, 31 Feb 1994 08:49:37 GMT",
                              "Sun, 06 nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:49:37 GMT",
                              "Sun, 06 Nov 1994T08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT "}) {
        EXPECT_FALSE(parse_http_date(wrong)) << wrong;
    }
}

TEST(server_time, is_this_machines_until_an_answer_says_otherwise) {
    machine at;
    server_clock time(at.own);
    EXPECT_EQ(time.wall(), at.server.wall());
    for (int i = 0; i < 100; ++i) {
        at.ask(time);
        at.pass(1700ms);
        EXPECT_EQ(at.error_of(time), 0us) << "a right clock is not touched";
    }
    EXPECT_EQ(time.skew(), 0us);
}

TEST(server_time, is_found_with_a_clock_that_is_hours_off_in_either_direction) {
    for (const auto ahead : {3600s, -3600s, 90s, -3s}) {
        machine at;
        at.own.ahead = ahead;
        server_clock time(at.own);
        at.ask(time);
        EXPECT_LE(std::chrono::abs(at.error_of(time)), 1s + 4ms) << ahead.count();
        // Answers at other parts of the second narrow it down.
        for (int i = 0; i < 20; ++i) {
            at.pass(1130ms);
            at.ask(time);
        }
        EXPECT_LE(std::chrono::abs(at.error_of(time)), 150ms) << ahead.count();
        EXPECT_LE(std::chrono::abs(time.skew() - ahead), 150ms) << ahead.count();
    }
}

TEST(server_time, is_not_moved_by_a_jump_of_this_machines_clock) {
    machine at;
    server_clock time(at.own);
    at.ask(time);
    at.own.ahead = -600s;
    EXPECT_EQ(at.error_of(time), 0us);
    EXPECT_EQ(time.skew(), -600s);
    at.pass(300s);
    EXPECT_EQ(at.error_of(time), 0us) << "without any further answer";
}

TEST(server_time, believes_a_slow_answer_as_far_as_its_round_trip_allows) {
    machine at;
    at.own.ahead = 8s;
    server_clock time(at.own);
    at.ask(time, 10s, 10ms);
    EXPECT_EQ(time.skew(), 0us) << "8 s may be the 10 s of the way there: nothing is proved";
    at.ask(time, 10ms, 10s);
    EXPECT_GE(time.skew(), 6900ms);
    EXPECT_LE(time.skew(), 8s);
}

TEST(server_time, follows_an_api_server_whose_clock_is_set) {
    machine at;
    server_clock time(at.own);
    at.ask(time);
    time.heard(at.date() + 120s, at.server.now());
    EXPECT_GE(at.error_of(time), 119s);
    time.heard(at.date(), at.server.now());
    EXPECT_LE(std::chrono::abs(at.error_of(time)), 1s);
}

TEST(server_time, follows_a_machine_whose_monotonic_clock_is_slow) {
    machine at;
    server_clock time(at.own);
    // 100 ppm: 8.6 s in a day.
    for (int minute = 0; minute < 24 * 60; ++minute) {
        at.pass(60s);
        const auto lost = std::chrono::microseconds(6000) * (minute + 1);
        time.heard(std::chrono::floor<seconds>(at.server.wall() + lost), at.server.now());
        EXPECT_LE(std::chrono::abs(at.error_of(time) - lost), 1100ms) << minute;
    }
}

TEST(server_time, that_differs_by_more_than_two_seconds_is_told_once_and_taken_back) {
    std::vector<std::string> lines;
    log::send_to([&](log::level, std::string_view line) { lines.emplace_back(line); });
    machine at;
    server_clock time(at.own);
    at.own.ahead = 1s;
    at.ask(time);
    EXPECT_EQ(lines.size(), 0u);
    at.own.ahead = 10s;
    for (int i = 0; i < 5; ++i) at.ask(time);
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_NE(lines[0].find("this machine's clock differs from the API server's"),
              std::string::npos);
    EXPECT_NE(lines[0].find("seconds_ahead=10.0"), std::string::npos) << lines[0];
    at.own.ahead = 0s;
    for (int i = 0; i < 5; ++i) at.ask(time);
    EXPECT_EQ(lines.size(), 2u);
    log::send_to(nullptr);
}

TEST(server_time, is_heard_from_answers_and_from_the_heads_of_watches) {
    asio::io_context loop;
    machine at;
    at.own.ahead = 3600s;
    server_clock time(at.own);
    scripted_transport wire(loop.get_executor(), at.own);
    dated_transport dated(wire, time);
    wire.next_streams.emplace_back([&](stream_feed& feed) { feed.date = at.date(); });
    wire.respond = [&](const request&) -> result<response> {
        response out;
        out.status = 200;
        out.date = at.date();
        return out;
    };
    task_group tasks(loop.get_executor());
    tasks.spawn("watch", [](dated_transport& over, clock& now) -> asio::awaitable<void> {
        co_await over.open(request("GET", "/watch"), now.now() + 5s);
    }(dated, time));
    loop.poll();
    EXPECT_LE(std::chrono::abs(at.error_of(time)), 1s) << "before the first event of a watch";

    server_clock other(at.own);
    dated_transport second(wire, other);
    tasks.spawn("get", [](dated_transport& over, clock& now) -> asio::awaitable<void> {
        co_await over.send(request("GET", "/api"), now.now() + 5s);
    }(second, other));
    loop.restart();
    loop.poll();
    EXPECT_LE(std::chrono::abs(at.error_of(other)), 1s);
}

}  // namespace
}  // namespace esi::kube

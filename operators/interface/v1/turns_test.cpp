#include "interface/v1/turns.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <vector>

namespace esi::interface::v1 {
namespace {

class turns_test : public testing::Test {
protected:
    asio::awaitable<void> work(std::string caller) {
        const auto turn = co_await all.take(caller);
        order.push_back(turn ? caller : caller + " refused");
    }
    void begin(const std::string& caller) { asio::co_spawn(loop, work(caller), asio::detached); }

    asio::io_context loop;
    turns all{loop.get_executor(), {3, 5}};
    std::vector<std::string> order;
};

TEST_F(turns_test, callers_take_turns_and_few_of_each_wait) {
    for (int i = 0; i < 5; ++i) begin("a");
    begin("b");
    begin("b");
    loop.run();
    EXPECT_EQ(order, (std::vector<std::string>{"a refused", "a", "b", "a", "b", "a", "a"}));
}

TEST_F(turns_test, all_that_wait_are_bounded) {
    for (const char* each : {"a", "b", "c", "d", "e", "f", "g"}) begin(each);
    loop.run();
    EXPECT_EQ(order.front(), "g refused");
    EXPECT_EQ(order.size(), 7);
}

TEST_F(turns_test, a_tenant_with_many_accounts_has_no_more_turns_than_another) {
    turns many{loop.get_executor(), {3, 50}};
    const auto ask = [&](std::string caller) -> asio::awaitable<void> {
        const auto turn = co_await many.take(caller);
        if (turn) order.push_back(caller);
    };
    for (int i = 0; i < 12; ++i) {
        asio::co_spawn(loop, ask(fmt::format("system:serviceaccount:evil:a{}", i)), asio::detached);
        asio::co_spawn(loop, ask(fmt::format("system:serviceaccount:bad:a{}", i)), asio::detached);
    }
    asio::co_spawn(loop, ask("anna"), asio::detached);
    asio::co_spawn(loop, ask("anna"), asio::detached);
    loop.run();
    ASSERT_EQ(order.size(), 26U);
    const auto place_of = [&](int which) {
        auto at = std::ranges::find(order, "anna");
        if (which == 1) at = std::ranges::find(at + 1, order.end(), "anna");
        return at - order.begin();
    };
    EXPECT_LE(place_of(0), 2) << "one turn of each of the others";
    EXPECT_LE(place_of(1), 5);
}

TEST_F(turns_test, a_tenant_with_many_accounts_leaves_others_room_to_wait) {
    turns many{loop.get_executor(), {3, 20}};
    const auto ask = [&](std::string caller) -> asio::awaitable<void> {
        const auto turn = co_await many.take(caller);
        order.push_back(turn ? "answered" : "refused");
        if (caller == "anna") order.back() += " anna";
    };
    for (int i = 0; i < 30; ++i) {
        asio::co_spawn(loop, ask(fmt::format("system:serviceaccount:evil:a{}", i)), asio::detached);
    }
    asio::co_spawn(loop, ask("anna"), asio::detached);
    loop.run();
    EXPECT_EQ(std::ranges::count(order, "answered anna"), 1);
    EXPECT_EQ(std::ranges::count(order, "refused"), 13);
}

TEST_F(turns_test, who_comes_back_goes_behind_those_that_wait) {
    // Three that ask again as soon as they are answered, and one that asks twice at once.
    const auto again = [&](std::string caller) -> asio::awaitable<void> {
        for (int i = 0; i < 20; ++i) {
            const auto turn = co_await all.take(caller);
            if (turn) order.push_back(caller);
        }
    };
    asio::co_spawn(loop, again("a"), asio::detached);
    asio::co_spawn(loop, work("w"), asio::detached);
    asio::co_spawn(loop, work("w"), asio::detached);
    asio::co_spawn(loop, again("b"), asio::detached);
    asio::co_spawn(loop, again("c"), asio::detached);
    loop.run();
    ASSERT_EQ(std::ranges::count(order, "w"), 2);
    const auto first = std::ranges::find(order, "w");
    EXPECT_LE(std::find(first + 1, order.end(), "w") - order.begin(), 8);
}

TEST_F(turns_test, what_is_ready_runs_between_two_turns) {
    for (int i = 0; i < 3; ++i) begin("a");
    loop.poll_one();
    loop.poll_one();
    loop.poll_one();
    asio::post(loop, [this] { order.emplace_back("probe"); });
    loop.run();
    ASSERT_EQ(order.size(), 4);
    EXPECT_EQ(std::ranges::count(order, "probe"), 1);
    EXPECT_NE(order.back(), "probe");
}

TEST_F(turns_test, a_wait_that_is_cancelled_is_no_turn) {
    asio::cancellation_signal stop;
    std::unique_ptr<turns::turn> held;
    asio::co_spawn(loop, all.take("a"),
                   [&](std::exception_ptr, auto turn) { held = std::move(turn); });
    loop.poll();
    ASSERT_TRUE(held);
    asio::co_spawn(loop, work("b"), asio::bind_cancellation_slot(stop.slot(), asio::detached));
    begin("c");
    loop.restart();
    loop.poll();
    stop.emit(asio::cancellation_type::terminal);
    loop.restart();
    loop.poll();
    held.reset();
    loop.restart();
    loop.run();
    EXPECT_EQ(order, std::vector<std::string>{"c"});
}

}  // namespace
}  // namespace esi::interface::v1

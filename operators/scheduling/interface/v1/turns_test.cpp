#include "scheduling/interface/v1/turns.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <vector>

namespace esi::scheduling::v1 {
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
}  // namespace esi::scheduling::v1

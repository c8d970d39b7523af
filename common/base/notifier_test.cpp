#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <string>
#include <vector>

#include "base/task_group.h"
#include "base/virtual_clock.h"
#include "base/wait.h"

namespace esi {
namespace {

using namespace std::chrono_literals;

struct a_notifier : testing::Test {
    ~a_notifier() override {
        tasks.cancel();
        run_for(loop, time, 0s);
    }
    asio::awaitable<void> wait_and_note(std::string who) {
        co_await signal.wait();
        woken.push_back(std::move(who));
    }
    asio::awaitable<void> wait_with_limit(std::string who) {
        bool in_time = co_await ends_by(time, time.now() + 10s, signal.wait());
        woken.push_back(who + (in_time ? "" : " too late"));
    }
    void settle() { run_for(loop, time, 0s); }

    asio::io_context loop;
    virtual_clock time;
    notifier signal{loop.get_executor()};
    task_group tasks{loop.get_executor()};
    std::vector<std::string> woken;
};

using strings = std::vector<std::string>;

TEST_F(a_notifier, wakes_all_who_wait) {
    for (const char* who : {"a", "b", "c"}) tasks.spawn(who, wait_and_note(who));
    settle();
    EXPECT_EQ(woken, strings{});
    signal.notify();
    settle();
    EXPECT_EQ(woken, (strings{"a", "b", "c"}));
}

TEST_F(a_notifier, remembers_one_notice_for_the_next_who_waits) {
    signal.notify();
    signal.notify();
    tasks.spawn("a", wait_and_note("a"));
    settle();
    EXPECT_EQ(woken, strings{"a"});
    tasks.spawn("b", wait_and_note("b"));
    settle();
    EXPECT_EQ(woken, strings{"a"});
}

// A wait under a limit reaches its first suspension a turn of the loop later than it is asked for.
TEST_F(a_notifier, wakes_those_whose_wait_has_only_been_asked_for) {
    auto first = signal.wait();
    auto second = signal.wait();
    signal.notify();
    tasks.spawn("a", std::move(first));
    tasks.spawn("b", std::move(second));
    settle();
    EXPECT_EQ(tasks.size(), 0u);
}

TEST_F(a_notifier, wakes_all_who_wait_with_a_limit) {
    for (const char* who : {"a", "b", "c"}) tasks.spawn(who, wait_with_limit(who));
    loop.restart();
    for (int turn = 0; turn < 3; ++turn) loop.poll_one();  // they have begun, their waits have not
    signal.notify();
    run_for(loop, time, 1s);
    EXPECT_EQ(woken, (strings{"a", "b", "c"}));
}

TEST_F(a_notifier, a_wait_that_was_dropped_leaves_nothing_behind) {
    {
        auto dropped = signal.wait();
    }
    signal.notify();
    tasks.spawn("a", wait_and_note("a"));
    settle();
    EXPECT_EQ(woken, strings{"a"});
}

}  // namespace
}  // namespace esi

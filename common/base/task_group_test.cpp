#include "base/task_group.h"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/system/system_error.hpp>
#include <string>
#include <vector>

#include "base/clock.h"

namespace esi {
namespace {

/// Records what happened to each coroutine, in order.
using journal = std::vector<std::string>;

struct noted {
    journal& lines;
    std::string name;
    bool finished = false;
    noted(journal& to, std::string who) : lines(to), name(std::move(who)) {}
    noted(const noted&) = delete;
    ~noted() { lines.push_back(name + (finished ? " finished" : " unwound")); }
};

asio::awaitable<void> wait_for_ever(journal& lines, std::string name, notifier& woken) {
    noted mark(lines, std::move(name));
    co_await woken.wait();
    mark.finished = true;
}

asio::awaitable<void> end_at_once(journal& lines, std::string name) {
    noted mark(lines, std::move(name));
    mark.finished = true;
    co_return;
}

asio::awaitable<void> note_after_stop(journal& lines, task_group& group) {
    co_await group.stop();
    lines.push_back("stopped");
}

asio::awaitable<void> note_after_join(journal& lines, task_group& group) {
    co_await group.join();
    lines.push_back("joined");
}

class task_group_test : public testing::Test {
protected:
    void start(asio::awaitable<void> task) {
        asio::co_spawn(loop, std::move(task), asio::detached);
    }
    asio::io_context loop;
    journal lines;
};

TEST_F(task_group_test, a_child_that_ends_is_forgotten) {
    task_group group(loop.get_executor());
    group.spawn("a", end_at_once(lines, "a"));
    EXPECT_EQ(group.size(), 1u);
    loop.run();
    EXPECT_EQ(group.size(), 0u);
    EXPECT_EQ(lines, journal({"a finished"}));
}

TEST_F(task_group_test, stop_cancels_all_and_waits_until_they_are_gone) {
    notifier never(loop.get_executor());
    task_group group(loop.get_executor());
    group.spawn("a", wait_for_ever(lines, "a", never));
    group.spawn("b", wait_for_ever(lines, "b", never));
    loop.poll();
    start(note_after_stop(lines, group));
    loop.restart();
    loop.run();
    EXPECT_EQ(lines, journal({"a unwound", "b unwound", "stopped"}));
}

TEST_F(task_group_test, a_child_that_has_not_begun_is_cancelled_too) {
    notifier never(loop.get_executor());
    task_group group(loop.get_executor());
    group.spawn("a", wait_for_ever(lines, "a", never));
    start(note_after_stop(lines, group));
    loop.run();
    EXPECT_EQ(lines, journal({"a unwound", "stopped"}));
}

TEST_F(task_group_test, nothing_is_started_after_cancel) {
    task_group group(loop.get_executor());
    group.cancel();
    group.spawn("late", end_at_once(lines, "late"));
    loop.run();
    EXPECT_EQ(group.size(), 0u);
    EXPECT_EQ(lines, journal());
}

TEST_F(task_group_test, join_waits_for_children_to_end_by_themselves) {
    notifier wake(loop.get_executor());
    task_group group(loop.get_executor());
    group.spawn("a", wait_for_ever(lines, "a", wake));
    start(note_after_join(lines, group));
    loop.poll();
    EXPECT_EQ(lines, journal());
    wake.notify();
    loop.restart();
    loop.run();
    EXPECT_EQ(lines, journal({"a finished", "joined"}));
}

TEST_F(task_group_test, join_of_an_empty_group_returns_at_once) {
    task_group group(loop.get_executor());
    start(note_after_join(lines, group));
    loop.run();
    EXPECT_EQ(lines, journal({"joined"}));
}

TEST_F(task_group_test, the_group_may_go_before_its_cancelled_children_have_unwound) {
    notifier never(loop.get_executor());
    {
        task_group group(loop.get_executor());
        group.spawn("a", wait_for_ever(lines, "a", never));
        loop.poll();
    }
    loop.restart();
    loop.run();
    EXPECT_EQ(lines, journal({"a unwound"}));
}

TEST_F(task_group_test, a_cancelled_sleep_unwinds) {
    system_clock time;
    task_group group(loop.get_executor());
    auto sleep = [](clock& c, journal& to) -> asio::awaitable<void> {
        noted mark(to, "sleep");
        co_await c.sleep_for(std::chrono::hours(1));
        mark.finished = true;
    };
    group.spawn("sleep", sleep(time, lines));
    loop.poll();
    start(note_after_stop(lines, group));
    loop.restart();
    loop.run();
    EXPECT_EQ(lines, journal({"sleep unwound", "stopped"}));
}

TEST_F(task_group_test, a_notification_without_waiter_is_remembered_once) {
    notifier bell(loop.get_executor());
    bell.notify();
    bell.notify();
    start(wait_for_ever(lines, "first", bell));
    start(wait_for_ever(lines, "second", bell));
    loop.poll();
    EXPECT_EQ(lines, journal({"first finished"}));
    bell.notify();
    loop.restart();
    loop.run();
    EXPECT_EQ(lines, journal({"first finished", "second finished"}));
}

TEST_F(task_group_test, a_notification_wakes_all_waiters) {
    notifier bell(loop.get_executor());
    start(wait_for_ever(lines, "first", bell));
    start(wait_for_ever(lines, "second", bell));
    loop.poll();
    bell.notify();
    loop.restart();
    loop.run();
    EXPECT_EQ(lines, journal({"first finished", "second finished"}));
}

asio::awaitable<void> wait_again_and_again(notifier& bell, journal& lines) {
    for (;;) {
        co_await bell.wait();
        lines.push_back("woken");
    }
}

TEST_F(task_group_test, notifications_before_the_waiter_runs_are_one) {
    // It reads the state when it runs, and so sees the effect of both.
    notifier bell(loop.get_executor());
    task_group group(loop.get_executor());
    group.spawn("waiter", wait_again_and_again(bell, lines));
    loop.poll();
    bell.notify();
    bell.notify();
    loop.poll();
    EXPECT_EQ(lines, journal({"woken"}));
    bell.notify();
    loop.poll();
    EXPECT_EQ(lines, journal({"woken", "woken"}));
    group.cancel();
    loop.run();
}

TEST_F(task_group_test, a_waiter_counts_from_the_call_of_wait) {
    notifier bell(loop.get_executor());
    auto not_begun = bell.wait();
    bell.notify();
    bool woken = false;
    asio::co_spawn(loop, std::move(not_begun), [&](std::exception_ptr) { woken = true; });
    loop.poll();
    EXPECT_TRUE(woken);
}

}  // namespace
}  // namespace esi

#include "base/virtual_clock.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <string>
#include <vector>

#include "base/task_group.h"
#include "base/wait.h"

namespace esi {
namespace {

using namespace std::chrono_literals;

asio::awaitable<void> sleep_then_note(clock& time, steady_time::duration wait, std::string what,
                                      std::vector<std::string>& notes) {
    co_await time.sleep_for(wait);
    notes.push_back(std::move(what));
}

asio::awaitable<void> note_whether_in_time(clock& time, steady_time::duration limit,
                                           asio::awaitable<void> task,
                                           std::vector<std::string>& notes) {
    bool in_time = co_await ends_by(time, time.now() + limit, std::move(task));
    notes.push_back(in_time ? "in time" : "too late");
}

asio::awaitable<void> throw_after(clock& time, steady_time::duration wait) {
    co_await time.sleep_for(wait);
    throw std::logic_error("broken");
}

asio::awaitable<void> note_exception(clock& time, std::vector<std::string>& notes) {
    try {
        co_await ends_by(time, time.now() + 10s, throw_after(time, 1s));
    } catch (const std::logic_error& e) {
        notes.push_back(e.what());
    }
}

struct virtual_time : testing::Test {
    asio::io_context loop;
    virtual_clock time;
    task_group tasks{loop.get_executor()};
    std::vector<std::string> notes;

    ~virtual_time() override {
        tasks.cancel();
        loop.restart();
        loop.poll();
    }
};

TEST_F(virtual_time, sleepers_wake_in_order_of_time_then_of_arrival) {
    tasks.spawn("a", sleep_then_note(time, 2h, "two hours", notes));
    tasks.spawn("b", sleep_then_note(time, 1s, "first of one second", notes));
    tasks.spawn("c", sleep_then_note(time, 1s, "second of one second", notes));
    tasks.spawn("d", sleep_then_note(time, 0s, "at once", notes));
    run_for(loop, time, 3h);
    EXPECT_EQ(notes, (std::vector<std::string>{"at once", "first of one second",
                                               "second of one second", "two hours"}));
    EXPECT_EQ(time.sleepers(), 0u);
}

TEST_F(virtual_time, nobody_wakes_early) {
    tasks.spawn("a", sleep_then_note(time, 10s, "ten", notes));
    run_for(loop, time, 9999ms);
    EXPECT_TRUE(notes.empty());
    run_for(loop, time, 1ms);
    EXPECT_EQ(notes.size(), 1u);
}

TEST_F(virtual_time, wall_time_moves_with_it) {
    auto before = time.wall();
    run_for(loop, time, 90s);
    EXPECT_EQ(time.wall() - before, 90s);
}

TEST_F(virtual_time, a_cancelled_sleeper_ends_and_is_forgotten) {
    tasks.spawn("a", sleep_then_note(time, 10s, "ten", notes));
    run_for(loop, time, 1s);
    EXPECT_EQ(time.sleepers(), 1u);
    tasks.cancel();
    run_for(loop, time, 1s);
    EXPECT_EQ(time.sleepers(), 0u);
    EXPECT_EQ(tasks.size(), 0u);
    EXPECT_TRUE(notes.empty());
}

TEST_F(virtual_time, run_until_stops_at_the_step_that_makes_it_true) {
    tasks.spawn("a", sleep_then_note(time, 10s, "ten", notes));
    tasks.spawn("b", sleep_then_note(time, 20s, "twenty", notes));
    auto begin = time.now();
    EXPECT_TRUE(run_until(loop, time, [this] { return !notes.empty(); }));
    EXPECT_EQ(time.now() - begin, 10s);
    EXPECT_FALSE(run_until(loop, time, [this] { return notes.size() == 2; }, 5s));
}

TEST_F(virtual_time, ends_by_tells_whether_the_task_was_in_time) {
    tasks.spawn("a", note_whether_in_time(time, 2s, time.sleep_for(1s), notes));
    run_for(loop, time, 3s);
    tasks.spawn("b",
                note_whether_in_time(time, 1s, sleep_then_note(time, 2s, "never", notes), notes));
    run_for(loop, time, 5s);
    EXPECT_EQ(notes, (std::vector<std::string>{"in time", "too late"}));
    EXPECT_EQ(time.sleepers(), 0u);
}

TEST_F(virtual_time, ends_by_passes_an_exception_on) {
    tasks.spawn("a", note_exception(time, notes));
    run_for(loop, time, 2s);
    EXPECT_EQ(notes, std::vector<std::string>{"broken"});
}

TEST_F(virtual_time, ends_by_is_cancelled_as_a_whole) {
    tasks.spawn("a", note_whether_in_time(time, 1h, time.sleep_for(30min), notes));
    run_for(loop, time, 1s);
    tasks.cancel();
    run_for(loop, time, 1s);
    EXPECT_EQ(tasks.size(), 0u);
    EXPECT_TRUE(notes.empty());
}

}  // namespace
}  // namespace esi

#include "controller/controller.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <map>

#include "base/virtual_clock.h"

namespace esi::controller {
namespace {

using namespace std::chrono_literals;

/// Does for each key what the test says, and records when.
struct scripted_reconciler {
    explicit scripted_reconciler(virtual_clock& time_) : time(time_), begin(time_.now()) {}

    asio::awaitable<result<outcome>> reconcile(model::object_key key) {
        ++now_running[key.name];
        EXPECT_EQ(now_running[key.name], 1) << key.name << " is worked on twice at a time";
        most_running = std::max(most_running, ++running);
        calls.push_back(fmt::format("{} at {}ms", key.name,
                                    std::chrono::floor<milliseconds>(time.now() - begin).count()));
        struct leave {
            scripted_reconciler& own;
            std::string name;
            ~leave() {
                --own.now_running[name];
                --own.running;
            }
        } at_end{*this, key.name};
        if (takes > steady_time::duration::zero()) co_await time.sleep_for(takes);
        if (throws_left > 0) {
            --throws_left;
            throw std::runtime_error("broken");
        }
        if (!failures.empty()) {
            auto why = failures.front();
            failures.erase(failures.begin());
            co_return fail(why, "no");
        }
        if (again) co_return outcome::again_in(*again);
        co_return outcome();
    }

    virtual_clock& time;
    steady_time begin;
    steady_time::duration takes{};
    std::optional<steady_time::duration> again;
    std::vector<errc> failures;
    int throws_left = 0;
    std::vector<std::string> calls;
    std::map<std::string, int> now_running;
    int running = 0;
    int most_running = 0;
};

using strings = std::vector<std::string>;

struct a_controller : testing::Test {
    ~a_controller() override { stop(0s); }
    void stop(steady_time::duration patience) {
        if (stopped) return;
        stopped = true;
        stops.spawn("stop", loops.stop(time.now() + patience));
        run_for(loop, time, patience);
        EXPECT_EQ(stops.size(), 0u);
    }
    void settle() { run_for(loop, time, 0s); }
    model::object_key key(std::string name) const { return {"default", std::move(name)}; }
    bool shows(std::string_view line) const {
        return numbers.text().find(std::string(line) + "\n") != std::string::npos;
    }

    asio::io_context loop;
    virtual_clock time;
    metrics numbers;
    scripted_reconciler work{time};
    controller loops{"testbed",
                     time,
                     loop.get_executor(),
                     numbers,
                     [this](model::object_key k) { return work.reconcile(std::move(k)); },
                     2};
    task_group stops{loop.get_executor()};
    bool stopped = false;
};

TEST_F(a_controller, gathers_keys_until_it_is_started) {
    loops.enqueue(key("a"));
    loops.enqueue(key("b"));
    loops.enqueue(key("a"));
    settle();
    EXPECT_EQ(work.calls, strings{});
    EXPECT_FALSE(loops.idle());
    loops.start();
    settle();
    EXPECT_EQ(work.calls, (strings{"a at 0ms", "b at 0ms"}));
    EXPECT_TRUE(loops.idle());
}

TEST_F(a_controller, a_key_that_changes_while_worked_on_is_worked_on_again) {
    work.takes = 10ms;
    loops.start();
    loops.enqueue(key("a"));
    run_for(loop, time, 5ms);
    loops.enqueue(key("a"));
    loops.enqueue(key("a"));
    run_for(loop, time, 50ms);
    EXPECT_EQ(work.calls, (strings{"a at 0ms", "a at 10ms"}));
}

TEST_F(a_controller, works_on_as_many_keys_as_it_has_workers) {
    work.takes = 10ms;
    loops.start();
    for (const char* name : {"a", "b", "c", "d", "e"}) loops.enqueue(key(name));
    run_for(loop, time, 1s);
    EXPECT_EQ(work.calls, (strings{"a at 0ms", "b at 0ms", "c at 10ms", "d at 10ms", "e at 20ms"}));
    EXPECT_EQ(work.most_running, 2);
}

TEST_F(a_controller, comes_again_when_a_reconcile_asks_for_it) {
    work.again = 30s;
    loops.start();
    loops.enqueue(key("a"));
    run_for(loop, time, 65s);
    EXPECT_EQ(work.calls, (strings{"a at 0ms", "a at 30000ms", "a at 60000ms"}));
    EXPECT_TRUE(shows(
        R"(controller_runtime_reconcile_total{controller="testbed",result="requeue_after"} 3)"));
}

TEST_F(a_controller, an_earlier_time_wakes_it_up) {
    loops.start();
    settle();
    loops.enqueue_after(key("late"), 1h);
    settle();
    loops.enqueue_after(key("soon"), 1s);
    run_for(loop, time, 2s);
    EXPECT_EQ(work.calls, strings{"soon at 1000ms"});
    EXPECT_TRUE(loops.idle()) << "delayed work aside";
}

TEST_F(a_controller, errors_are_tried_again_with_growing_pauses) {
    work.failures = {errc::server, errc::conflict, errc::invalid};
    loops.start();
    loops.enqueue(key("a"));
    run_for(loop, time, 10s);
    EXPECT_EQ(work.calls, (strings{"a at 0ms", "a at 5ms", "a at 15ms", "a at 35ms"}));
    EXPECT_TRUE(shows(R"(controller_runtime_reconcile_errors_total{controller="testbed"} 3)"));
    EXPECT_TRUE(
        shows(R"(controller_runtime_reconcile_total{controller="testbed",result="success"} 1)"));
    EXPECT_TRUE(shows(R"(workqueue_retries_total{controller="testbed",name="testbed"} 3)"));
}

TEST_F(a_controller, success_makes_the_next_pause_short_again) {
    loops.start();
    for (int i = 0; i < 3; ++i) {
        work.failures = {errc::server};
        loops.enqueue(key("a"));
        run_for(loop, time, 1s);
    }
    EXPECT_EQ(work.calls, (strings{"a at 0ms", "a at 5ms", "a at 1000ms", "a at 1005ms",
                                   "a at 2000ms", "a at 2005ms"}));
}

TEST_F(a_controller, an_exception_counts_as_an_error) {
    work.throws_left = 1;
    loops.start();
    loops.enqueue(key("a"));
    run_for(loop, time, 1s);
    EXPECT_EQ(work.calls, (strings{"a at 0ms", "a at 5ms"}));
    EXPECT_TRUE(shows(R"(controller_runtime_reconcile_panics_total{controller="testbed"} 1)"));
    EXPECT_TRUE(shows(R"(controller_runtime_reconcile_errors_total{controller="testbed"} 1)"));
}

TEST_F(a_controller, stop_lets_work_under_way_end) {
    work.takes = 3s;
    loops.start();
    for (const char* name : {"a", "b", "c"}) loops.enqueue(key(name));
    run_for(loop, time, 1s);
    stop(5s);
    EXPECT_EQ(work.calls, (strings{"a at 0ms", "b at 0ms"})) << "nothing new is begun";
    EXPECT_TRUE(
        shows(R"(controller_runtime_reconcile_total{controller="testbed",result="success"} 2)"));
    loops.enqueue(key("d"));
    run_for(loop, time, 1min);
    EXPECT_EQ(work.calls.size(), 2u);
}

TEST_F(a_controller, stop_cancels_what_does_not_end_in_time) {
    work.takes = 1h;
    loops.start();
    loops.enqueue(key("a"));
    run_for(loop, time, 1s);
    stop(5s);
    EXPECT_EQ(work.running, 0);
    EXPECT_TRUE(shows(R"(controller_runtime_reconcile_panics_total{controller="testbed"} 0)"));
    EXPECT_TRUE(shows(R"(controller_runtime_active_workers{controller="testbed"} 0)") ||
                work.running == 0);
}

TEST_F(a_controller, shows_all_results_from_the_start) {
    for (const char* result : {"success", "error", "requeue", "requeue_after"}) {
        EXPECT_TRUE(shows(fmt::format(
            R"(controller_runtime_reconcile_total{{controller="testbed",result="{}"}} 0)", result)))
            << result;
    }
    EXPECT_TRUE(shows(R"(controller_runtime_max_concurrent_reconciles{controller="testbed"} 2)"));
    loops.enqueue(key("a"));
    EXPECT_TRUE(shows(R"(workqueue_depth{controller="testbed",name="testbed"} 1)"));
    EXPECT_TRUE(shows(R"(workqueue_adds_total{controller="testbed",name="testbed"} 1)"));
}

}  // namespace
}  // namespace esi::controller

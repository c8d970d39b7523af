#include "kube/connection/rate_limit.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>

#include "base/virtual_clock.h"
#include "kube/testing/scripted_transport.h"

namespace esi::kube {
namespace {

using namespace std::chrono_literals;

struct a_rate_limit : testing::Test {
    a_rate_limit() {
        wire.respond = [](const request&) -> result<response> { return response(); };
    }
    ~a_rate_limit() override {
        tasks.cancel();
        run_for(loop, time, 0s);
    }
    asio::awaitable<void> ask(steady_time::duration patience) {
        auto answer = co_await limited.send(request("GET", "/"), time.now() + patience);
        if (!answer) ++refused;
    }
    void burst(int count, steady_time::duration patience = 1h) {
        for (int i = 0; i < count; ++i) tasks.spawn("ask", ask(patience));
        run_for(loop, time, 0s);
    }
    asio::io_context loop;
    virtual_clock time;
    scripted_transport wire{loop.get_executor(), time};
    rate_limited limited{wire, time, 4};
    task_group tasks{loop.get_executor()};
    int refused = 0;
};

TEST_F(a_rate_limit, lets_a_second_of_requests_out_at_once_and_the_rest_evenly) {
    burst(10);
    EXPECT_EQ(wire.asked.size(), 4u);
    run_for(loop, time, 249ms);
    EXPECT_EQ(wire.asked.size(), 4u);
    run_for(loop, time, 1ms);
    EXPECT_EQ(wire.asked.size(), 5u);
    run_for(loop, time, 1s);
    EXPECT_EQ(wire.asked.size(), 9u);
}

TEST_F(a_rate_limit, saves_no_more_than_a_second) {
    run_for(loop, time, 1h);
    burst(10);
    EXPECT_EQ(wire.asked.size(), 4u);
}

TEST_F(a_rate_limit, refuses_what_could_not_be_sent_in_time) {
    burst(6, 300ms);
    EXPECT_EQ(refused, 1);
    run_for(loop, time, 1h);
    EXPECT_EQ(wire.asked.size(), 5u);
}

}  // namespace
}  // namespace esi::kube

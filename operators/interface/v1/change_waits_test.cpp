#include "interface/v1/change_waits.h"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <optional>

#include "base/virtual_clock.h"

namespace esi::interface::v1 {
namespace {

class change_waits_test : public testing::Test {
protected:
    std::optional<change_waits::outcome> ended_after(steady_time::duration passed) {
        run_for(loop, time, passed);
        return ended;
    }
    void begin(std::function<bool()> has_left) {
        asio::co_spawn(loop,
                       waits.until(
                           {"Testbed", {}}, [] { return false; }, time.now() + seconds(60),
                           std::move(has_left)),
                       [this](std::exception_ptr, change_waits::outcome how) { ended = how; });
    }

    asio::io_context loop;
    virtual_clock time;
    change_waits waits{loop.get_executor(), time, {}};
    std::optional<change_waits::outcome> ended;
};

TEST_F(change_waits_test, ends_when_nobody_waits_any_more) {
    bool left = false;
    begin([&] { return left; });
    EXPECT_FALSE(ended_after(seconds(30)));
    EXPECT_EQ(waits.size(), 1);
    left = true;
    EXPECT_EQ(ended_after(change_waits::look_for_caller + seconds(1)), change_waits::outcome::left);
    EXPECT_EQ(waits.size(), 0);
}

TEST_F(change_waits_test, lasts_as_long_as_was_asked_for) {
    begin([] { return false; });
    EXPECT_FALSE(ended_after(seconds(59)));
    EXPECT_EQ(ended_after(seconds(2)), change_waits::outcome::time_up);
}

}  // namespace
}  // namespace esi::interface::v1

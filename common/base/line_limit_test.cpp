#include "base/line_limit.h"

#include <gtest/gtest.h>

namespace esi::log {
namespace {

using namespace std::chrono_literals;

TEST(line_limit, leaves_out_what_is_too_much_and_counts_it) {
    line_limit limit(2, 60s);
    const steady_time start{1000s};
    EXPECT_EQ(limit.take(start), 0U);
    EXPECT_EQ(limit.take(start + 1s), 0U);
    for (int i = 0; i < 5; ++i) EXPECT_EQ(limit.take(start + 59s), std::nullopt);
    EXPECT_EQ(limit.take(start + 60s), 5U);
    EXPECT_EQ(limit.take(start + 61s), 0U);
    EXPECT_EQ(limit.take(start + 62s), std::nullopt);
}

}  // namespace
}  // namespace esi::log

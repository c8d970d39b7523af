#include "kube/reach.h"

#include <gtest/gtest.h>

#include "base/log.h"

namespace esi::kube {
namespace {

using namespace std::chrono_literals;

struct a_reach : testing::Test {
    a_reach() {
        log::send_to([this](log::level at, std::string_view line) {
            if (at != log::level::debug) lines.emplace_back(line);
        });
    }
    ~a_reach() override { log::send_to({}); }
    void fail_at(steady_time when) { notes.failed({errc::transport, "refused"}, when, when); }

    std::vector<std::string> lines;
    reach notes{"https://127.0.0.1:1", "context x"};
    const steady_time start{1000s};
};

TEST_F(a_reach, tells_a_server_that_is_away_once_and_once_that_it_is_back) {
    for (int i = 0; i < 100; ++i) fail_at(start + i * 1s);
    ASSERT_EQ(lines.size(), 1U);
    EXPECT_EQ(
        lines[0],
        "API server https://127.0.0.1:1 (context x) cannot be reached: refused; trying again");
    notes.answered(start + 100s);
    notes.answered(start + 101s);
    ASSERT_EQ(lines.size(), 2U);
    EXPECT_EQ(lines[1], "API server https://127.0.0.1:1 (context x) is reached");
}

TEST_F(a_reach, says_nothing_of_one_request_that_failed_beside_others) {
    notes.answered(start + 5s);
    notes.failed({errc::timeout, "the deadline passed"}, start, start + 30s);
    EXPECT_TRUE(lines.empty());
}

TEST_F(a_reach, says_little_of_a_server_that_comes_and_goes) {
    for (int i = 0; i < 60; ++i) {
        fail_at(start + i * 1s);
        notes.answered(start + i * 1s + 500ms);
    }
    EXPECT_EQ(lines.size(), 4U);
}

}  // namespace
}  // namespace esi::kube

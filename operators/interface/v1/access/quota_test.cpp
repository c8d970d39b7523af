#include "interface/v1/access/quota.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/virtual_clock.h"
#include "http/connection_table.h"

namespace esi::interface::v1 {
namespace {

using testing::HasSubstr;
using kind = quota::kind;

const http::identity anna{"anna", "", {}, {}};
const http::identity ben{"ben", "", {}, {}};

http::identity account(const std::string& ns, int number) {
    return {fmt::format("system:serviceaccount:{}:a{}", ns, number), "", {}, {}};
}

class quota_test : public testing::Test {
protected:
    virtual_clock time;
    controller::metrics numbers;
    quota_options options;
};

TEST_F(quota_test, all_waits_leave_half_of_the_connections_to_others) {
    const http::connection_limits server;
    EXPECT_LE(options.all_waits * 2, server.connections);
    EXPECT_LE(options.all_streams, server.streams);
}

TEST_F(quota_test, streams_and_waits_of_each_caller_are_counted_apart) {
    options.streams = 2;
    options.waits = 1;
    quota own(time, numbers, options);
    std::vector<quota::lease> held;
    for (int i = 0; i < 2; ++i) held.push_back(own.take(anna, kind::stream).value());
    EXPECT_FALSE(own.take(anna, kind::stream));
    EXPECT_TRUE(own.take(anna, kind::wait));
    EXPECT_TRUE(own.take(ben, kind::stream));
    EXPECT_THAT(numbers.text(), HasSubstr("esi_api_under_way{what=\"streams\"} 2"));
    EXPECT_THAT(numbers.text(), HasSubstr("esi_api_throttled_total{what=\"streams\"} 1"));
    held.pop_back();
    EXPECT_TRUE(own.take(anna, kind::stream)) << "a place that is given back is free";
    held.clear();
    EXPECT_THAT(numbers.text(), HasSubstr("esi_api_under_way{what=\"streams\"} 0"));
    const auto refused = own.refused(kind::stream);
    EXPECT_EQ(refused.status, 429);
    EXPECT_TRUE(refused.retry_after_seconds.has_value());
    EXPECT_THAT(refused.detail, HasSubstr("--api-streams-per-caller"));
}

TEST_F(quota_test, all_callers_together_are_bounded) {
    options.all_waits = 3;
    quota own(time, numbers, options);
    std::vector<quota::lease> held;
    for (int i = 0; i < 3; ++i) {
        held.push_back(own.take({std::to_string(i), "", {}, {}}, kind::wait).value());
    }
    EXPECT_FALSE(own.take(anna, kind::wait));
    EXPECT_TRUE(own.take(anna, kind::stream));
}

TEST_F(quota_test, accounts_of_one_namespace_lose_places_to_other_tenants) {
    options.all_waits = 20;
    options.waits = 10;
    quota own(time, numbers, options);
    std::vector<quota::lease> evil;
    int woken = 0;
    for (int i = 0; i < 20; ++i) {
        evil.push_back(own.take(account("evil", i % 10), kind::wait).value());
        evil.back().when_lost([&] { ++woken; });
    }
    EXPECT_FALSE(own.take(account("evil", 10), kind::wait));
    std::vector<quota::lease> good;
    for (int i = 0; i < 10; ++i) good.push_back(own.take(anna, kind::wait).value());
    EXPECT_EQ(woken, 10);
    EXPECT_EQ(std::ranges::count_if(evil, &quota::lease::lost), 10);
    EXPECT_EQ(std::ranges::count_if(good, &quota::lease::lost), 0);
    EXPECT_THAT(numbers.text(), HasSubstr("esi_api_displaced_total{what=\"waits\"} 10"));
    EXPECT_THAT(numbers.text(), HasSubstr("esi_api_under_way{what=\"waits\"} 20"));
    evil.clear();
    EXPECT_THAT(numbers.text(), HasSubstr("esi_api_under_way{what=\"waits\"} 10"));
}

TEST_F(quota_test, requests_of_a_namespace_with_many_accounts_keep_back_no_other_tenants) {
    quota own(time, numbers, options);
    int of_evil = 0;
    std::optional<http::problem_details> refused;
    for (int i = 0; i < 1000; ++i) {
        time.advance_to(time.now() + milliseconds(10));
        for (int a = 0; a < 60; ++a) {
            auto why = own.throttled(account("evil", a));
            of_evil += why ? 0 : 1;
            if (why) refused = why;
        }
        EXPECT_FALSE(own.throttled(anna)) << i;
        EXPECT_FALSE(own.throttled(account("good", 1))) << i;
    }
    EXPECT_NEAR(of_evil, 20'000 + 3'200 - 2'000, 500) << "ten seconds and the burst";
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->status, 429);
    EXPECT_THAT(refused->detail, HasSubstr("of the namespace \"evil\" are more than their share"));
}

TEST_F(quota_test, a_lease_may_move_and_outlive_the_quota) {
    std::optional<quota::lease> kept;
    {
        quota own(time, numbers, options);
        auto first = own.take(anna, kind::stream);
        auto second = own.take(anna, kind::wait);
        first = std::move(second);
        EXPECT_THAT(numbers.text(), HasSubstr("esi_api_under_way{what=\"streams\"} 0"));
        EXPECT_THAT(numbers.text(), HasSubstr("esi_api_under_way{what=\"waits\"} 1"));
        kept = std::move(first);
    }
    kept.reset();
    EXPECT_THAT(numbers.text(), HasSubstr("esi_api_under_way{what=\"waits\"} 0"));
}

TEST_F(quota_test, requests_of_a_caller_go_by_the_second) {
    options.requests = {10, 20};
    quota own(time, numbers, options);
    int passed = 0;
    std::optional<http::problem_details> refused;
    for (int i = 0; i < 100; ++i) {
        auto why = own.throttled(anna);
        passed += why ? 0 : 1;
        if (why) refused = why;
    }
    EXPECT_EQ(passed, 20);
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->status, 429);
    EXPECT_EQ(refused->retry_after_seconds, 1);
    EXPECT_EQ(refused->detail,
              "\"anna\" sends more than 10 requests per second (--api-requests-per-second)");
    EXPECT_FALSE(own.throttled(ben));
    time.advance_to(time.now() + seconds(1));
    EXPECT_FALSE(own.throttled(anna));
}

}  // namespace
}  // namespace esi::interface::v1

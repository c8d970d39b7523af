#include "interface/v1/access/fair_share.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <deque>

namespace esi::interface::v1 {
namespace {

constexpr steady_time start{std::chrono::hours(1)};

steady_time after(double in_seconds) {
    return start + std::chrono::duration_cast<steady_time::duration>(
                       std::chrono::duration<double>(in_seconds));
}

/// How many of `count` at a time `tenant` gets.
int take(fair_bucket& from, const std::string& tenant, int count, steady_time now,
         acquaintance who = acquaintance::known) {
    int got = 0;
    for (int i = 0; i < count; ++i) got += from.take(tenant, now, who) ? 0 : 1;
    return got;
}

TEST(fair_bucket, a_tenant_alone_has_four_fifths_at_once_and_the_whole_rate) {
    fair_bucket all({200, 500});
    EXPECT_EQ(take(all, "a", 1000, start), 400);
    int got = 0;
    for (int i = 1; i <= 1000; ++i) got += take(all, "a", 10, after(i * 0.01));
    EXPECT_NEAR(got, 2000, 2) << "ten seconds";
}

TEST(fair_bucket, one_that_asks_seldom_is_never_refused_however_many_take_all_they_can) {
    for (const int greedy : {1, 2, 10}) {
        fair_bucket all({200, 500});
        int of_them = 0;
        for (int i = 0; i < 6000; ++i) {
            const auto now = after(i * 0.01);
            for (int g = 0; g < greedy; ++g) of_them += take(all, fmt::format("g{}", g), 20, now);
            // Four rights that have to be checked again, once a second.
            if (i % 100 == 50) EXPECT_EQ(take(all, "anna", 4, now), 4) << greedy << " at " << i;
        }
        EXPECT_GT(of_them, 11000) << "what is not asked for by others is not wasted: " << greedy;
    }
}

TEST(fair_bucket, those_that_take_all_they_can_get_the_same) {
    fair_bucket all({200, 500});
    std::map<std::string, int> got;
    for (int i = 0; i < 6000; ++i) {
        // One has ten times as many requests as the other.
        got["a"] += take(all, "a", 100, after(i * 0.01));
        got["b"] += take(all, "b", 10, after(i * 0.01));
    }
    EXPECT_NEAR(got["a"], got["b"], 700) << "of 12,000, the first burst aside";
}

TEST(fair_bucket, strangers_leave_a_part_to_those_who_are_known) {
    fair_bucket all({200, 500});
    int of_them = 0;
    for (int i = 0; i < 6000; ++i) {
        const auto now = after(i * 0.01);
        for (int s = 0; s < 400; ++s) {
            of_them +=
                take(all, fmt::format("10.0.{}.{}", s, i % 7), 1, now, acquaintance::stranger);
        }
        if (i % 100 == 50) EXPECT_GE(take(all, "anna", 50, now), 25) << i;
    }
    EXPECT_GT(of_them, 8000);
}

TEST(fair_bucket, one_that_is_known_and_takes_all_it_can_shuts_out_no_newcomers) {
    fair_bucket all({200, 500});
    for (int i = 0; i < 6000; ++i) {
        const auto now = after(i * 0.01);
        take(all, "greedy", 100, now);
        if (i % 10 == 0) {
            EXPECT_EQ(take(all, "peer 10.0.0.1", 1, now, acquaintance::stranger), 1) << i;
        }
    }
}

TEST(fair_bucket, remembers_few_of_many_tenants) {
    fair_bucket all({10, 20});
    for (int i = 0; i < 100'000; ++i) {
        all.take(std::to_string(i), after(i * 0.05));
        ASSERT_LE(all.size(), 4 * 20 + 65);
    }
}

TEST(fair_count, leaves_room_for_one_that_comes) {
    fair_count all(256);
    std::deque<fair_count::one> held;
    const auto take_all = [&](const std::string& tenant, acquaintance who) {
        int got = 0;
        for (; all.has_room(tenant, who); ++got) held.emplace_back(all, tenant, who);
        return got;
    };
    EXPECT_EQ(take_all("peer", acquaintance::stranger), 164);
    EXPECT_TRUE(all.has_room("anna"));
    EXPECT_GT(take_all("anna", acquaintance::known), 20);
    EXPECT_TRUE(all.has_room("ben"));
    held.clear();
    EXPECT_EQ(take_all("anna", acquaintance::known), 205);
    EXPECT_TRUE(all.has_room("peer", acquaintance::stranger)) << "one that comes anew";
}

}  // namespace
}  // namespace esi::interface::v1

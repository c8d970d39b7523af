#include "interface/v1/access/bounded_cache.h"

#include <gtest/gtest.h>

#include "interface/v1/access/token_bucket.h"

namespace esi::interface::v1 {
namespace {

const steady_time start{std::chrono::hours(1)};
steady_time after(double passed) {
    return start +
           std::chrono::duration_cast<steady_time::duration>(std::chrono::duration<double>(passed));
}

TEST(bounded_cache, a_value_is_good_until_its_time) {
    bounded_cache<int> cache(10);
    cache.put("a", 1, after(5));
    ASSERT_NE(cache.find("a", after(4.9)), nullptr);
    EXPECT_EQ(*cache.find("a", after(4.9)), 1);
    EXPECT_EQ(cache.find("a", after(5)), nullptr);
    EXPECT_EQ(cache.size(), 0U) << "what is no longer good is not kept";
    cache.put("a", 2, after(5));
    cache.put("a", 3, after(6));
    EXPECT_EQ(*cache.find("a", after(5.5)), 3);
    EXPECT_EQ(cache.size(), 1U);
}

TEST(bounded_cache, of_too_many_the_one_not_asked_for_the_longest_goes) {
    bounded_cache<int> cache(3);
    for (const char* key : {"a", "b", "c"}) cache.put(key, 0, after(5));
    cache.find("a", start);
    cache.put("d", 0, after(5));
    EXPECT_EQ(cache.find("b", start), nullptr);
    for (const char* key : {"a", "c", "d"}) EXPECT_NE(cache.find(key, start), nullptr) << key;
    for (int i = 0; i < 10'000; ++i) cache.put(std::to_string(i), i, after(5));
    EXPECT_EQ(cache.size(), 3U);
}

TEST(bounded_cache, its_bytes_are_bounded_too) {
    bounded_cache<int> cache(1000, 100);
    cache.put("a", 1, after(5), 40);
    cache.put("b", 2, after(5), 40);
    EXPECT_EQ(cache.bytes(), 82U);
    cache.put("c", 3, after(5), 40);
    EXPECT_EQ(cache.find("a", start), nullptr);
    EXPECT_EQ(cache.bytes(), 82U);
    EXPECT_EQ(cache.put("d", 4, after(5), 100), nullptr) << "larger than all of the cache";
    EXPECT_NE(cache.find("c", start), nullptr);
}

TEST(token_bucket, lets_a_burst_through_and_then_the_even_rate) {
    token_bucket bucket;
    const rate slow{10, 3};
    for (int i = 0; i < 3; ++i) EXPECT_FALSE(bucket.take(slow, start)) << i;
    const auto wait = bucket.take(slow, start);
    ASSERT_TRUE(wait);
    EXPECT_EQ(std::chrono::round<milliseconds>(*wait), milliseconds(100));
    EXPECT_TRUE(bucket.take(slow, after(0.09)));
    EXPECT_FALSE(bucket.take(slow, after(0.101)));
    EXPECT_TRUE(bucket.take(slow, after(0.101)));
    int taken = 0;
    for (int i = 0; i < 1000; ++i) taken += bucket.take(slow, after(10 + i * 0.01)) ? 0 : 1;
    EXPECT_GE(taken, 100);
    EXPECT_LE(taken, 103) << "ten seconds at ten a second, and the burst";
}

TEST(bucket_table, keys_are_apart_and_bounded) {
    bucket_table table({1, 1}, 100);
    EXPECT_FALSE(table.take("anna", start));
    EXPECT_TRUE(table.take("anna", start));
    EXPECT_FALSE(table.take("ben", start));
    for (int i = 0; i < 1000; ++i) table.take(std::to_string(i), start);
    EXPECT_EQ(table.size(), 100U);
}

}  // namespace
}  // namespace esi::interface::v1

#include "batchjob/backends/spark/memory.h"

#include <gtest/gtest.h>

namespace esi::batchjob::spark {
namespace {

constexpr std::int64_t mib = 1024 * 1024;

TEST(split_memory, heap_and_overhead_fill_the_slot) {
    struct row {
        std::int64_t bytes;
        bool outside_jvm;
        memory_split expected;
    };
    const row rows[] = {
        {834 * mib, false, {450, 384}},     {1792 * mib, false, {1408, 384}},
        {4224 * mib, false, {3840, 384}},   {8192 * mib, false, {7447, 745}},
        {834 * mib, true, {450, 384}},      {1792 * mib, true, {1280, 512}},
        {835 * mib - 1, false, {450, 384}},
    };
    for (const auto& [bytes, outside_jvm, expected] : rows) {
        const auto got = split_memory(bytes, outside_jvm ? overhead_outside_jvm : overhead_in_jvm);
        ASSERT_TRUE(got) << bytes;
        EXPECT_EQ(got->heap_mib, expected.heap_mib) << bytes;
        EXPECT_EQ(got->overhead_mib, expected.overhead_mib) << bytes;
        EXPECT_EQ(got->heap_mib + got->overhead_mib, bytes / mib);
    }
}

TEST(split_memory, a_slot_that_is_too_small_is_refused_with_the_numbers) {
    for (const auto bytes : {834 * mib - 1, std::int64_t{0}, std::int64_t{-1}}) {
        const auto got = split_memory(bytes, overhead_in_jvm);
        ASSERT_FALSE(got);
        EXPECT_EQ(got.error().reason, "SlotTooSmall");
    }
    EXPECT_EQ(split_memory(512 * mib, overhead_in_jvm).error().text,
              "a Spark executor needs a slot of at least 834 MiB of memory (450 MiB heap and 384 "
              "MiB overhead); the slot has 512 MiB");
}

}  // namespace
}  // namespace esi::batchjob::spark

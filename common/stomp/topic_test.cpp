#include "stomp/topic.h"

#include <gtest/gtest.h>

namespace esi::stomp {
namespace {

TEST(stomp_topic, patterns_mean_what_they_meant_in_the_original) {
    struct row {
        const char* pattern;
        const char* destination;
        bool expected;
    };
    const row table[] = {
        {"/topic/jobs", "/topic/jobs", true},
        {"/topic/jobs", "/topic/jobs/a", false},
        {"/topic/*", "/topic/jobs", true},
        {"/topic/*", "/topic/jobs/a", false},
        {"/topic/jobs/*", "/topic/jobs/spark-job-1", true},
        {"/topic/jobs/*", "/topic/jobs", false},
        {"/topic/**", "/topic/jobs", true},
        {"/topic/**", "/topic/jobs/spark-job-1", true},
        {"/topic/**", "/topic", true},
        {"/topic/**", "/other/jobs", false},
        {"/**", "/topic/jobs/a", true},
        {"/topic/**/a", "/topic/jobs/a", true},
        {"/topic/**/a", "/topic/a", true},
        {"/topic/**/a", "/topic/jobs/b", false},
        {"/**/jobs/**", "/topic/jobs/a", true},
        {"/topic/jobs/spark-job-?", "/topic/jobs/spark-job-1", true},
        {"/topic/jobs/spark-job-?", "/topic/jobs/spark-job-12", false},
        {"/topic/jobs/spark-*-1", "/topic/jobs/spark-job-1", true},
        {"/topic/j*b*/*a", "/topic/jobs/aba", true},
        {"/topic/j*x*/*a", "/topic/jobs/aba", false},
        {"/queue/x", "/topic/jobs", false},
        {"", "/topic/jobs", false},
    };
    for (const auto& each : table) {
        EXPECT_EQ(matches(each.pattern, each.destination), each.expected)
            << each.pattern << " " << each.destination;
    }
}

TEST(stomp_topic, a_pattern_has_a_wildcard) {
    EXPECT_TRUE(is_pattern("/topic/**"));
    EXPECT_TRUE(is_pattern("/topic/jobs/a?"));
    EXPECT_FALSE(is_pattern("/topic/jobs/a"));
}

}  // namespace
}  // namespace esi::stomp

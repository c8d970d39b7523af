#include "kubectl-esi/shown/words.h"

#include <gtest/gtest.h>

namespace esi::kubectl::shown {
namespace {

using namespace std::chrono_literals;
using scheduling::answers::estimated_time;

TEST(words, durations_are_those_of_kubectl) {
    // The steps of apimachinery's HumanDuration.
    EXPECT_EQ(duration_text(-5s), "0s");
    EXPECT_EQ(duration_text(0s), "0s");
    EXPECT_EQ(duration_text(119s), "119s");
    EXPECT_EQ(duration_text(120s), "2m");
    EXPECT_EQ(duration_text(310s), "5m10s");
    EXPECT_EQ(duration_text(10min), "10m");
    EXPECT_EQ(duration_text(179min), "179m");
    EXPECT_EQ(duration_text(200min), "3h20m");
    EXPECT_EQ(duration_text(8h), "8h");
    EXPECT_EQ(duration_text(47h), "47h");
    EXPECT_EQ(duration_text(50h), "2d2h");
    EXPECT_EQ(duration_text(24h * 8), "8d");
    EXPECT_EQ(duration_text(24h * 800), "2y70d");
    EXPECT_EQ(duration_text(24h * 3650), "10y");
}

TEST(words, an_estimate_says_on_how_many_runs_it_rests) {
    EXPECT_EQ(estimate_text(std::nullopt), "<none>");
    EXPECT_EQ(estimate_text(estimated_time{{}, 300, 3}), "in 5m (3 runs)");
    EXPECT_EQ(estimate_text(estimated_time{{}, 45, 1}), "in 45s (1 run)");
    EXPECT_EQ(estimate_text(estimated_time{{}, 0, 2}), "due (2 runs)");
    EXPECT_EQ(estimate_text(estimated_time{{}, 60, 0}), "in 60s") << "a deadline";
}

TEST(words, slots_that_follow_each_other_are_joined) {
    EXPECT_EQ(slots_text({}), "<none>");
    EXPECT_EQ(slots_text({3}), "3");
    EXPECT_EQ(slots_text({0, 1}), "0,1");
    EXPECT_EQ(slots_text({0, 2, 3, 4, 7, 9, 10, 11}), "0,2-4,7,9-11");
}

TEST(words, what_a_terminal_would_act_on_becomes_a_blank) {
    EXPECT_EQ(printable("a\x1b[31mb\nc\td"), "a [31mb c d");
    EXPECT_EQ(printable("\xc2\x9b"
                        "31m"),
              " 31m")
        << "a control sequence of one code point";
    EXPECT_EQ(printable("gr\xc3\xbc\xc3\x9f \xe2\x82\xac"), "gr\xc3\xbc\xc3\x9f \xe2\x82\xac");
    EXPECT_EQ(printable("a\xe2\x80\xae"
                        "gpj\xe2\x80\xa8"
                        "b\xe2\x81\xa6\xef\xbb\xbf\xe2\x80"),
              "a gpj b  \xe2\x80")
        << "marks of direction and separators of lines";
    EXPECT_TRUE(is_printable("gr\xc3\xbc\xc3\x9f"));
    EXPECT_FALSE(is_printable("a\rb"));
}

TEST(words, times_between) {
    const model::timestamp from{wall_time(0s)};
    EXPECT_EQ(between_text(from, model::timestamp{wall_time(1500ms)}), "1.5s");
    EXPECT_EQ(between_text(from, model::timestamp{wall_time(600s)}), "10m");
    EXPECT_EQ(between_text(model::timestamp{wall_time(1s)}, from), "0.0s");
    EXPECT_EQ(between_text(from, std::nullopt), "<none>");
    EXPECT_EQ(ago_text(from, wall_time(90s)), "90s ago");
}

}  // namespace
}  // namespace esi::kubectl::shown

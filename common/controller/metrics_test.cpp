#include "controller/metrics.h"

#include <gtest/gtest.h>

namespace esi::controller {
namespace {

TEST(metrics, the_same_labels_are_the_same_series) {
    metrics numbers;
    numbers.counter("esi_swaps_total", "Swaps", {{"testbed", "a"}}).Increment();
    numbers.counter("esi_swaps_total", "Swaps", {{"testbed", "a"}}).Increment();
    numbers.counter("esi_swaps_total", "Swaps", {{"testbed", "b"}}).Increment();
    const auto text = numbers.text();
    EXPECT_TRUE(
        text.starts_with("# HELP esi_swaps_total Swaps\n"
                         "# TYPE esi_swaps_total counter\n"))
        << text;
    EXPECT_NE(text.find("\nesi_swaps_total{testbed=\"a\"} 2\n"), std::string::npos) << text;
    EXPECT_NE(text.find("\nesi_swaps_total{testbed=\"b\"} 1\n"), std::string::npos) << text;
}

TEST(metrics, a_series_that_is_dropped_is_shown_no_more) {
    metrics numbers;
    numbers.gauge("esi_slots", "Slots", {{"testbed", "a"}}).Set(1);
    numbers.gauge("esi_slots", "Slots", {{"testbed", "b"}}).Set(2);
    numbers.drop_gauge("esi_slots", {{"testbed", "a"}});
    numbers.drop_gauge("esi_slots", {{"testbed", "c"}});
    numbers.drop_gauge("esi_nothing", {});
    EXPECT_EQ(numbers.text(),
              "# HELP esi_slots Slots\n"
              "# TYPE esi_slots gauge\n"
              "esi_slots{testbed=\"b\"} 2\n");
}

TEST(metrics, buckets_are_those_of_the_first_use) {
    metrics numbers;
    numbers.histogram("esi_gap_seconds", "Gap", {0.1, 1}).Observe(0.5);
    numbers.histogram("esi_gap_seconds", "Gap", {7}).Observe(0.05);
    EXPECT_EQ(numbers.text(),
              "# HELP esi_gap_seconds Gap\n"
              "# TYPE esi_gap_seconds histogram\n"
              "esi_gap_seconds_count 2\n"
              "esi_gap_seconds_sum 0.55\n"
              "esi_gap_seconds_bucket{le=\"0.1\"} 1\n"
              "esi_gap_seconds_bucket{le=\"1\"} 2\n"
              "esi_gap_seconds_bucket{le=\"+Inf\"} 2\n");
}

}  // namespace
}  // namespace esi::controller

#include "controller/event_series.h"

#include <gtest/gtest.h>

namespace esi::controller {
namespace {

using namespace std::chrono_literals;

const steady_time zero{1000s};
const wall_time noon{std::chrono::hours(12)};

event_note ghost_created(std::string subject = "testbed-a") {
    return {"Normal",
            "GhostCreated",
            "CreateGhost",
            "created a ghost",
            "esi.tu-berlin.de/v1alpha1",
            "Testbed",
            {"default", std::move(subject)},
            "uid-1"};
}

struct a_series : testing::Test {
    int names = 0;
    event_series series{
        [this](const std::string& subject) { return subject + "." + std::to_string(++names); }, 3};
};

TEST_F(a_series, the_first_event_is_created_at_once) {
    auto write = series.add(ghost_created(), zero, noon);
    ASSERT_TRUE(write);
    EXPECT_FALSE(write->series_only);
    EXPECT_EQ(write->name, "testbed-a.1");
    EXPECT_EQ(write->count, 0);
    EXPECT_EQ(write->first_seen, noon);
}

TEST_F(a_series, the_second_makes_it_a_series_of_two) {
    series.add(ghost_created(), zero, noon);
    auto write = series.add(ghost_created(), zero + 1s, noon + 1s);
    ASSERT_TRUE(write);
    EXPECT_TRUE(write->series_only);
    EXPECT_EQ(write->name, "testbed-a.1");
    EXPECT_EQ(write->count, 2);
    EXPECT_EQ(write->last_seen, noon + 1s);
}

TEST_F(a_series, another_note_is_another_event) {
    auto second = ghost_created();
    second.note = "created another ghost";
    series.add(ghost_created(), zero, noon);
    auto write = series.add(second, zero + 1s, noon + 1s);
    ASSERT_TRUE(write);
    EXPECT_FALSE(write->series_only);
    EXPECT_EQ(write->what.note, "created another ghost");
}

TEST_F(a_series, another_related_object_is_another_event) {
    auto second = ghost_created();
    second.related_kind = "BatchJob";
    second.related = {"default", "job-a"};
    series.add(ghost_created(), zero, noon);
    auto write = series.add(second, zero + 1s, noon + 1s);
    ASSERT_TRUE(write);
    EXPECT_FALSE(write->series_only);
    auto again = series.add(second, zero + 2s, noon + 2s);
    ASSERT_TRUE(again);
    EXPECT_EQ(again->count, 2);
    EXPECT_EQ(again->what.related.name, "job-a");
}

TEST_F(a_series, later_ones_are_only_counted_until_it_goes_quiet) {
    for (int i = 0; i < 10; ++i) {
        auto write = series.add(ghost_created(), zero + 1s * i, noon + 1s * i);
        EXPECT_EQ(write.has_value(), i < 2) << "event " << i;
    }
    EXPECT_EQ(series.next_due(), zero + 9s + 6min);
    EXPECT_TRUE(series.due(zero + 6min).empty());
    auto due = series.due(zero + 9s + 6min);
    ASSERT_EQ(due.size(), 1u);
    EXPECT_EQ(due[0].count, 10);
    EXPECT_EQ(due[0].last_seen, noon + 9s);
    EXPECT_EQ(series.size(), 0u);
}

TEST_F(a_series, one_that_runs_on_is_written_every_half_hour) {
    std::vector<std::pair<int, int>> writes;  // minute, count
    for (int minute = 0; minute <= 61; ++minute) {
        const auto now = zero + 1min * minute;
        if (auto write = series.add(ghost_created(), now, noon + 1min * minute)) {
            writes.emplace_back(minute, write->count);
        }
        for (const auto& write : series.due(now)) writes.emplace_back(minute, write.count);
    }
    EXPECT_EQ(writes, (std::vector<std::pair<int, int>>{{0, 0}, {1, 2}, {31, 32}, {61, 62}}));
}

TEST_F(a_series, a_single_event_is_forgotten_without_a_write) {
    series.add(ghost_created(), zero, noon);
    EXPECT_TRUE(series.due(zero + 6min).empty());
    EXPECT_EQ(series.next_due(), std::nullopt);
}

TEST_F(a_series, after_a_quiet_time_it_is_a_new_event) {
    series.add(ghost_created(), zero, noon);
    auto write = series.add(ghost_created(), zero + 6min, noon + 6min);
    ASSERT_TRUE(write);
    EXPECT_FALSE(write->series_only);
    EXPECT_EQ(write->name, "testbed-a.2");
}

TEST_F(a_series, another_note_another_related_object_or_subject_is_another_event) {
    series.add(ghost_created(), zero, noon);
    EXPECT_TRUE(series.add(ghost_created(), zero, noon)->series_only);
    auto other_note = ghost_created();
    other_note.note = "created another ghost";
    EXPECT_FALSE(series.add(other_note, zero, noon)->series_only);
    auto other_related = ghost_created();
    other_related.related_uid = "of another job";
    EXPECT_FALSE(series.add(other_related, zero, noon)->series_only);
    EXPECT_FALSE(series.add(ghost_created("testbed-b"), zero, noon)->series_only);
}

TEST_F(a_series, a_namespace_with_many_makes_no_other_forgotten) {
    const auto of = [](const std::string& ns, const std::string& name) {
        auto out = ghost_created(name);
        out.subject.namespace_ = ns;
        return out;
    };
    series.add(of("victim", "v"), zero, noon);
    for (int i = 0; i < 10; ++i) {
        series.add(of("busy", std::to_string(i)), zero + seconds(1 + i), noon);
    }
    const auto again = series.add(of("victim", "v"), zero + 20s, noon);
    ASSERT_TRUE(again);
    EXPECT_TRUE(again->series_only);
    EXPECT_EQ(again->name, "v.1");
}

TEST_F(a_series, the_least_recently_seen_is_forgotten_above_the_limit) {
    for (int i = 0; i < 4; ++i) series.add(ghost_created(std::to_string(i)), zero + 1s * i, noon);
    EXPECT_EQ(series.size(), 3u);
    EXPECT_FALSE(series.add(ghost_created("0"), zero + 5s, noon)->series_only);
    EXPECT_TRUE(series.add(ghost_created("3"), zero + 5s, noon)->series_only);
}

}  // namespace
}  // namespace esi::controller

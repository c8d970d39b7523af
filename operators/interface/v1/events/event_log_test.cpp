#include "interface/v1/events/event_log.h"

#include <gtest/gtest.h>

#include <random>

namespace esi::interface::v1::events {
namespace {

change made(std::size_t feed, version at, std::size_t bytes = 10) {
    change out;
    out.feed = feed;
    out.at = at;
    out.text.assign(bytes, 'x');
    out.heard.resize(2);
    return out;
}

std::vector<version> shown(const event_log& log, std::size_t feed) {
    std::vector<version> out;
    for (auto n = log.first(); n < log.end(); ++n) {
        if (log.at(n) && log.at(n)->feed == feed) out.push_back(log.at(n)->at);
    }
    return out;
}

TEST(the_event_log, drops_the_oldest_and_says_how_far_back_it_reaches) {
    event_log log(2, 1u << 20, 3);
    log.restart(0, 100);
    log.restart(1, 50);
    EXPECT_EQ(log.floor(0), 100U);
    log.append(made(0, 101));
    log.append(made(1, 60));
    log.append(made(0, 105));
    EXPECT_EQ(log.floor(0), 100U);
    log.append(made(1, 61));
    EXPECT_EQ(log.floor(0), 101U);
    EXPECT_EQ(log.floor(1), 50U);
    EXPECT_EQ(shown(log, 0), std::vector<version>{105});
    EXPECT_EQ(shown(log, 1), (std::vector<version>{60, 61}));
    EXPECT_EQ(log.heard(), (positions{105, 61}));
    log.advance(1, 70);
    EXPECT_EQ(log.position(1), 70U);
    EXPECT_EQ(log.floor(1), 50U);
}

TEST(the_event_log, keeps_the_newest_however_large) {
    event_log log(2, 1000, 100);
    for (version at = 1; at <= 3; ++at) log.append(made(0, at, 5000));
    EXPECT_EQ(shown(log, 0), std::vector<version>{3});
    EXPECT_EQ(log.floor(0), 2U);
    log.clear();
    EXPECT_EQ(log.bytes(), 0U);
    EXPECT_EQ(log.floor(0), 3U);
}

TEST(the_event_log, reaches_further_back_with_what_was_read_afterwards) {
    event_log log(2, 1u << 20, 10);
    log.restart(0, 100);
    log.append(made(0, 101));
    std::vector<change> older;
    for (const version at : {90U, 95U, 100U, 101U}) older.push_back(made(0, at));
    EXPECT_TRUE(log.prepend(0, 90, std::move(older)));
    EXPECT_EQ(shown(log, 0), (std::vector<version>{95, 100, 101}));
    EXPECT_EQ(log.floor(0), 90U);
    EXPECT_EQ(log.first(), -2);
    // An empty range serves as well.
    EXPECT_TRUE(log.prepend(0, 80, {}));
    EXPECT_EQ(log.floor(0), 80U);
}

TEST(the_event_log, takes_nothing_older_where_it_does_not_fit) {
    event_log log(2, 4000, 10);
    log.restart(0, 100);
    std::vector<change> older;
    older.push_back(made(0, 99, 2100));
    EXPECT_FALSE(log.prepend(0, 90, std::move(older)));
    EXPECT_EQ(log.floor(0), 100U);
    EXPECT_EQ(log.bytes(), 0U);
    std::vector<change> many;
    for (version at = 80; at < 91; ++at) many.push_back(made(0, at, 1));
    EXPECT_FALSE(log.prepend(0, 79, std::move(many)));
}

TEST(the_event_log, forgets_a_feed_that_was_listed_and_no_other) {
    event_log log(2, 1u << 20, 10);
    log.append(made(0, 101));
    log.append(made(1, 60));
    log.append(made(0, 103));
    log.restart(0, 90);
    EXPECT_EQ(shown(log, 0), std::vector<version>{});
    EXPECT_EQ(shown(log, 1), std::vector<version>{60});
    EXPECT_EQ(log.floor(0), 90U);
    EXPECT_EQ(log.position(0), 90U);
    EXPECT_EQ(log.end() - log.first(), 3);
}

/// The promise that streams rely on: above its floor each feed is here without a gap.
TEST(the_event_log, has_no_gap_above_its_floors_whatever_happens) {
    std::mt19937 random(11);
    event_log log(2, 30'000, 50);
    positions next{1000, 1000};
    std::vector<std::vector<version>> all(2);
    for (int step = 0; step < 20'000; ++step) {
        const auto feed = random() % 2;
        switch (random() % 12) {
            case 0:
                log.restart(feed, next[feed] += 3);
                all[feed].clear();
                break;
            case 1: {
                // Changes below the floor are read again.
                const auto from = log.floor(feed) - std::min<version>(random() % 20, 50);
                std::vector<change> older;
                for (const auto at : all[feed]) {
                    if (at > from) older.push_back(made(feed, at));
                }
                if (!all[feed].empty() && from >= all[feed].front()) {
                    log.prepend(feed, from, std::move(older));
                }
                break;
            }
            case 2:
                log.advance(feed, next[feed] += random() % 5);
                break;
            default:
                next[feed] += 1 + random() % 3;
                all[feed].push_back(next[feed]);
                log.append(made(feed, next[feed], random() % 2000));
        }
        for (const std::size_t each : {0U, 1U}) {
            std::vector<version> expected;
            for (const auto at : all[each]) {
                if (at > log.floor(each)) expected.push_back(at);
            }
            ASSERT_EQ(shown(log, each), expected) << "step " << step;
        }
        ASSERT_LE(log.size(), 50U);
    }
}

}  // namespace
}  // namespace esi::interface::v1::events

#include "controller/work_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace esi::controller {
namespace {

using namespace std::chrono_literals;

const steady_time zero{1000s};

TEST(work_queue, gives_keys_in_the_order_of_their_arrival) {
    work_queue queue;
    for (const char* key : {"c", "a", "b"}) queue.add(key, zero);
    EXPECT_EQ(queue.take(zero), "c");
    EXPECT_EQ(queue.take(zero), "a");
    EXPECT_EQ(queue.take(zero), "b");
    EXPECT_EQ(queue.take(zero), std::nullopt);
}

TEST(work_queue, a_key_that_is_queued_is_not_queued_twice) {
    work_queue queue;
    queue.add("a", zero);
    queue.add("a", zero);
    EXPECT_EQ(queue.depth(), 1u);
    EXPECT_EQ(queue.adds(), 1u);
    EXPECT_EQ(queue.take(zero), "a");
    EXPECT_EQ(queue.take(zero), std::nullopt);
}

TEST(work_queue, a_key_that_is_worked_on_comes_again_only_when_done) {
    work_queue queue;
    queue.add("a", zero);
    EXPECT_EQ(queue.take(zero), "a");
    queue.add("a", zero);
    queue.add("a", zero);
    EXPECT_EQ(queue.depth(), 0u);
    EXPECT_EQ(queue.take(zero), std::nullopt);
    queue.done("a", zero);
    EXPECT_EQ(queue.depth(), 1u);
    EXPECT_EQ(queue.take(zero), "a");
    queue.done("a", zero);
    EXPECT_EQ(queue.take(zero), std::nullopt);
}

TEST(work_queue, done_of_a_key_that_is_not_worked_on_does_nothing) {
    work_queue queue;
    queue.done("a", zero);
    queue.add("a", zero);
    queue.done("a", zero);
    EXPECT_EQ(queue.depth(), 1u);
}

TEST(work_queue, of_two_times_the_earlier_wins) {
    for (auto [first, second] : {std::pair(10s, 5s), std::pair(5s, 10s)}) {
        work_queue queue;
        queue.add_at("a", zero + first);
        queue.add_at("a", zero + second);
        EXPECT_EQ(queue.next_ready(), zero + 5s);
        EXPECT_EQ(queue.take(zero + 4999ms), std::nullopt);
        EXPECT_EQ(queue.take(zero + 5s), "a");
        queue.done("a", zero + 5s);
        EXPECT_EQ(queue.take(zero + 20s), std::nullopt) << "the later time must be gone";
        EXPECT_EQ(queue.next_ready(), std::nullopt);
    }
}

TEST(work_queue, a_time_in_the_past_is_now) {
    work_queue queue;
    queue.add_at("a", zero - 1s);
    EXPECT_EQ(queue.take(zero), "a");
}

TEST(work_queue, delayed_keys_do_not_count_as_depth) {
    work_queue queue;
    queue.add_at("a", zero + 1s);
    EXPECT_EQ(queue.depth(), 0u);
    EXPECT_EQ(queue.adds(), 0u);
}

TEST(work_queue, a_delayed_key_that_falls_due_while_worked_on_comes_again) {
    work_queue queue;
    queue.add("a", zero);
    EXPECT_EQ(queue.take(zero), "a");
    queue.add_at("a", zero + 1s);
    EXPECT_EQ(queue.take(zero + 2s), std::nullopt);
    queue.done("a", zero + 2s);
    EXPECT_EQ(queue.take(zero + 2s), "a");
}

TEST(work_queue, retries_double_up_to_five_minutes) {
    work_queue queue;
    auto now = zero;
    const std::vector<milliseconds> expected{
        5ms,    10ms,    20ms,    40ms,    80ms,    160ms,    320ms,    640ms,    1280ms,  2560ms,
        5120ms, 10240ms, 20480ms, 40960ms, 81920ms, 163840ms, 300000ms, 300000ms, 300000ms};
    for (auto delay : expected) {
        queue.retry("a", now);
        EXPECT_EQ(queue.next_ready(), now + delay);
        now += delay;
        EXPECT_EQ(queue.take(now), "a");
        queue.done("a", now);
    }
    EXPECT_EQ(queue.retries(), expected.size());
    EXPECT_EQ(queue.failures("a"), 19);
    queue.forget("a");
    EXPECT_EQ(queue.failures("a"), 0);
    queue.retry("a", now);
    EXPECT_EQ(queue.next_ready(), now + 5ms);
}

// The rules once more, written as lists that are searched from end to end.
struct model {
    struct delayed {
        steady_time when;
        int order;
        std::string key;
    };
    std::vector<std::string> queue, dirty, processing;
    std::vector<delayed> later;
    int order = 0;

    static bool has(const std::vector<std::string>& in, const std::string& key) {
        return std::find(in.begin(), in.end(), key) != in.end();
    }
    void add(const std::string& key) {
        if (has(dirty, key)) return;
        dirty.push_back(key);
        if (!has(processing, key)) queue.push_back(key);
    }
    void add_at(const std::string& key, steady_time when) {
        for (auto& entry : later) {
            if (entry.key != key) continue;
            if (entry.when > when) entry = {when, order++, key};
            return;
        }
        later.push_back({when, order++, key});
    }
    std::optional<std::string> take(steady_time now) {
        while (true) {
            auto first = std::min_element(later.begin(), later.end(), [](auto& a, auto& b) {
                return std::pair(a.when, a.order) < std::pair(b.when, b.order);
            });
            if (first == later.end() || first->when > now) break;
            auto key = first->key;
            later.erase(first);
            add(key);
        }
        if (queue.empty()) return std::nullopt;
        auto key = queue.front();
        queue.erase(queue.begin());
        std::erase(dirty, key);
        processing.push_back(key);
        return key;
    }
    void done(const std::string& key) {
        if (std::erase(processing, key) == 0) return;
        if (has(dirty, key)) queue.push_back(key);
    }
};

TEST(work_queue, behaves_like_the_model_under_random_operations) {
    for (unsigned seed = 0; seed < 200; ++seed) {
        std::mt19937 random(seed);
        work_queue queue;
        model expected;
        auto now = zero;
        std::vector<std::string> under_way;
        for (int i = 0; i < 500; ++i) {
            const std::string key(1, static_cast<char>('a' + random() % 6));
            switch (random() % 6) {
                case 0:
                case 1:
                    queue.add(key, now);
                    expected.add(key);
                    break;
                case 2: {
                    auto when = now + milliseconds(random() % 50) - 5ms;
                    queue.add_at(key, when);
                    expected.add_at(key, when);
                    break;
                }
                case 3: {
                    auto got = queue.take(now);
                    ASSERT_EQ(got, expected.take(now)) << "seed " << seed << " step " << i;
                    if (got) {
                        ASSERT_EQ(std::count(under_way.begin(), under_way.end(), *got), 0)
                            << "worked on twice: seed " << seed << " step " << i;
                        under_way.push_back(*got);
                    }
                    break;
                }
                case 4:
                    if (!under_way.empty()) {
                        auto at = under_way.begin() +
                                  static_cast<std::ptrdiff_t>(random() % under_way.size());
                        queue.done(*at, now);
                        expected.done(*at);
                        under_way.erase(at);
                    }
                    break;
                case 5:
                    now += milliseconds(random() % 20);
                    break;
            }
            ASSERT_EQ(queue.depth(), expected.queue.size()) << "seed " << seed << " step " << i;
        }
        // No key is lost: all that were added and not taken come out in the end.
        for (const auto& key : under_way) {
            queue.done(key, now);
            expected.done(key);
        }
        now += 1h;
        while (auto got = queue.take(now)) {
            ASSERT_EQ(got, expected.take(now));
            queue.done(*got, now);
            expected.done(*got);
        }
        ASSERT_EQ(expected.take(now), std::nullopt) << "seed " << seed;
    }
}

}  // namespace
}  // namespace esi::controller

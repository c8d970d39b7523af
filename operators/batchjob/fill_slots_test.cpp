#include "batchjob/fill_slots.h"

#include <gtest/gtest.h>

#include "batchjob/testing.h"

namespace esi::batchjob {
namespace {

using testing::executor;

std::string show(const std::vector<model::placement>& list) {
    std::string out;
    for (const auto& entry : list) {
        out += fmt::format("{}{}:{}", out.empty() ? "" : " ", entry.slot, entry.pod_name);
    }
    return out;
}
model::placement entry(int slot, int n) {
    return {slot, fmt::format("uid-a-exec-{}", n), fmt::format("a-exec-{}", n)};
}
pod_pointer dead(int n) {
    auto pod = executor(n);
    pod->phase = "Failed";
    return pod;
}
pod_pointer bound(int n) {
    auto pod = executor(n);
    testing::bind(*pod, "node-a", 1);
    return pod;
}
pod_pointer going(int n) {
    auto pod = executor(n);
    testing::bind(*pod, "node-a", 1);
    pod->metadata.deletion_timestamp = testing::stamp(20);
    return pod;
}

TEST(fill_slots, the_oldest_pod_takes_the_lowest_slot) {
    auto late = executor(1);
    late->metadata.creation_timestamp = testing::stamp(14);
    const std::vector<pod_pointer> pods{late, executor(10), executor(2)};
    const std::vector slots{4, 0, 2};
    EXPECT_EQ(show(fill_slots(slots, {}, pods, {}).placements),
              "0:a-exec-2 2:a-exec-10 4:a-exec-1");
}

TEST(fill_slots, what_is_recorded_stays) {
    const std::vector slots{0, 1, 2};
    const std::vector recorded{entry(2, 1)};
    const std::vector<pod_pointer> pods{executor(1), executor(2), executor(3)};
    EXPECT_EQ(show(fill_slots(slots, recorded, pods, {}).placements),
              "0:a-exec-2 1:a-exec-3 2:a-exec-1");
}

TEST(fill_slots, surplus_pods_have_no_entry) {
    const std::vector slots{0};
    const std::vector<pod_pointer> pods{executor(3), executor(2), executor(1)};
    const auto done = fill_slots(slots, {}, pods, {});
    EXPECT_EQ(show(done.placements), "0:a-exec-1");
    ASSERT_EQ(done.surplus.size(), 2u);
    EXPECT_EQ(done.surplus[0]->metadata.name, "a-exec-2");
    EXPECT_EQ(done.surplus[1]->metadata.name, "a-exec-3");
}

TEST(fill_slots, a_replacement_takes_the_slot_of_the_one_that_died_before_a_slot_never_filled) {
    const std::vector slots{0, 1, 2};
    const std::vector recorded{entry(1, 1), entry(2, 2)};
    const std::vector<pod_pointer> pods{bound(1), dead(2), executor(3)};
    EXPECT_EQ(show(fill_slots(slots, recorded, pods, {}).placements), "1:a-exec-1 2:a-exec-3");
}

TEST(fill_slots, not_being_in_the_cache_is_no_proof) {
    const std::vector slots{0, 1};
    const std::vector recorded{entry(0, 1), entry(1, 2)};
    const std::vector<pod_pointer> pods{bound(1), executor(3)};
    auto asked = fill_slots(slots, recorded, pods, {});
    EXPECT_EQ(show(asked.to_read), "1:a-exec-2");

    live_facts alive;
    alive.living_pods.insert("uid-a-exec-2");
    const auto waits = fill_slots(slots, recorded, pods, alive);
    EXPECT_EQ(show(waits.placements), "0:a-exec-1 1:a-exec-2");
    EXPECT_EQ(waits.surplus.size(), 1u);

    live_facts gone;
    gone.gone_pods.insert("uid-a-exec-2");
    EXPECT_EQ(show(fill_slots(slots, recorded, pods, gone).placements), "0:a-exec-1 1:a-exec-3");
}

TEST(fill_slots, a_replacement_waits_while_the_old_pod_is_still_going) {
    const std::vector slots{0};
    const std::vector recorded{entry(0, 1)};
    const std::vector<pod_pointer> pods{going(1), executor(2)};
    const auto done = fill_slots(slots, recorded, pods, {});
    EXPECT_EQ(show(done.placements), "0:a-exec-1");
    EXPECT_EQ(done.surplus.size(), 1u);
    EXPECT_TRUE(done.to_read.empty());
}

TEST(fill_slots, nothing_is_read_and_no_entry_dropped_while_nobody_waits) {
    const std::vector slots{0, 1};
    const std::vector recorded{entry(0, 1), entry(1, 2)};
    const std::vector<pod_pointer> pods{bound(1)};
    const auto done = fill_slots(slots, recorded, pods, {});
    EXPECT_TRUE(done.to_read.empty());
    EXPECT_EQ(show(done.placements), "0:a-exec-1 1:a-exec-2");
}

TEST(fill_slots, terminating_terminal_and_bound_pods_are_given_nothing) {
    auto ending = executor(1);
    ending->metadata.deletion_timestamp = testing::stamp(1);
    const std::vector slots{0, 1, 2};
    const std::vector<pod_pointer> pods{ending, dead(2), bound(3)};
    EXPECT_EQ(show(fill_slots(slots, {}, pods, {}).placements), "");
}

TEST(fill_slots, broken_records_are_repaired) {
    const std::vector slots{0, 1};
    const std::vector recorded{entry(7, 1), entry(0, 2), entry(0, 3), entry(1, 2)};
    const std::vector<pod_pointer> pods{executor(1), executor(2)};
    EXPECT_EQ(show(fill_slots(slots, recorded, pods, {}).placements), "0:a-exec-2 1:a-exec-1");
}

}  // namespace
}  // namespace esi::batchjob

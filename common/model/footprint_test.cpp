#include "model/footprint.h"

#include <gtest/gtest.h>

#include <memory>

#include "base/counting_new.h"
#include "model/batchjob.h"
#include "model/scheduling.h"
#include "model/testbed.h"

namespace esi::model {
namespace {

/// The estimated size, and the bytes that a copy allocated.
template <class T>
std::pair<std::int64_t, std::int64_t> both(const T& of) {
    const auto before = bytes_held();
    const T copy = of;
    const auto taken = bytes_held() - before;
    return {static_cast<std::int64_t>(held_by(copy)), taken};
}

template <class T>
void is_near(const T& of) {
    const auto [estimate, taken] = both(of);
    EXPECT_GT(taken, 0);
    EXPECT_LE(taken, estimate * 11 / 10);
    EXPECT_GE(taken, estimate * 9 / 10);
}

TEST(footprint, is_what_the_allocator_gives) {
    batchjob job;
    job.metadata.name = "a-name-that-is-longer-than-fifteen-bytes";
    for (int i = 0; i < 100; ++i) {
        job.metadata.labels["label-" + std::to_string(i)] =
            std::string(static_cast<std::size_t>(i), 'x');
        job.status.placements.push_back({i, std::string(36, 'u'), "pod"});
        job.metadata.finalizers.emplace_back("example.com/one");
    }
    job.spec.spark_spec = raw_json{std::string(1000, 's')};
    is_near(job);
    testbed bed;
    auto& layout = bed.status.layout.emplace();
    for (int i = 0; i < 50; ++i) layout.nodes.push_back({"node-of-a-long-name", "uid", i});
    layout.resources_per_slot["cpu"] = *quantity::parse("500m");
    bed.status.node_problems["n"] = {"a problem that takes more than fifteen bytes"};
    is_near(bed);
    scheduling plan;
    plan.spec.slot_based.emplace().jobs = std::vector<slot_job>(64, {{"ns", "name"}, {1, 2, 3}});
    is_near(plan);
}

TEST(footprint, of_what_owns_nothing_is_nothing) {
    EXPECT_EQ(held_by(std::string("short")), 0U);
    EXPECT_EQ(held_by(std::optional<timestamp>(timestamp())), 0U);
    EXPECT_EQ(held_by(std::vector<int>()), 0U);
    EXPECT_EQ(held_by(batchjob()), 0U);
}

}  // namespace
}  // namespace esi::model

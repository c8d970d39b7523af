#include "run/judge.h"

#include <gmock/gmock.h>

#include "plan/generate.h"

namespace esi::simulation {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

json end_with(const char* state, json slots) {
    return {{"batchjobs", {{"default/a", {{"status", {{"state", state}, {"slotIds", slots}}}}}}}};
}

plan of_one_queue() {
    plan out;
    out.workload.push_back(
        {milliseconds(0), "create", {{"object", {{"spec", {{"queueBased", json::array()}}}}}}});
    return out;
}

TEST(judge, another_end_is_seen) {
    const auto expected = end_with("ReadyState", {0, 1});
    EXPECT_THAT(other_ends(plan(), expected, expected), IsEmpty());
    EXPECT_THAT(
        other_ends(plan(), expected, end_with("FailedState", {0, 1})),
        ElementsAre("batchjobs .default/a .status .state: \"ReadyState\" is \"FailedState\""));
}

TEST(judge, which_slots_a_queue_gave_is_of_the_moment_and_how_many_is_not) {
    const auto expected = end_with("ReadyState", {0, 1});
    EXPECT_THAT(other_ends(of_one_queue(), expected, end_with("ReadyState", {1, 3})), IsEmpty());
    EXPECT_THAT(other_ends(plan(), expected, end_with("ReadyState", {1, 3})),
                testing::Not(IsEmpty()));
    EXPECT_THAT(other_ends(of_one_queue(), expected, end_with("ReadyState", {1})),
                testing::Not(IsEmpty()));
}

TEST(judge, a_world_that_does_not_come_to_rest_in_time_is_seen) {
    auto what = scenarios().front();
    what.patience = milliseconds(0);
    const auto done = run(what);
    ASSERT_FALSE(done.violations.empty());
    EXPECT_EQ(done.violations.front().rule, "not-converged");
}

TEST(judge, the_rest_of_every_tenth_seed_is_watched) {
    auto what = scenarios().front();
    what.seed = 10;
    const auto watched = run(what);
    EXPECT_THAT(watched.violations, IsEmpty());
    EXPECT_TRUE(watched.watched);
    what.seed = 11;
    const auto other = run(what);
    EXPECT_FALSE(other.watched);
    EXPECT_GE(watched.virtual_time, other.virtual_time + std::chrono::minutes(35));
}

}  // namespace
}  // namespace esi::simulation

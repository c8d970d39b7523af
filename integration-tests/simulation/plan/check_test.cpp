#include "plan/check.h"

#include <gmock/gmock.h>

#include "plan/generate.h"

namespace esi::simulation {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> faults_of(std::string what, json with, std::int64_t at = 1000) {
    plan all;
    all.faults.push_back({milliseconds(at), std::move(what), std::move(with)});
    return faults_of_plan(all);
}

TEST(checking_plans, what_is_made_is_right) {
    for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
        EXPECT_THAT(faults_of_plan(generate(seed)), IsEmpty()) << seed;
    }
    for (const auto& one : scenarios()) EXPECT_THAT(faults_of_plan(one), IsEmpty()) << one.scenario;
}

TEST(checking_plans, a_mistyped_name_is_told) {
    EXPECT_THAT(faults_of("crahs", {}), ElementsAre("faults[0] crahs: there is no such happening"));
    EXPECT_THAT(faults_of("page-expires", {{"operator", "zzz"}}),
                ElementsAre("faults[0] page-expires: operator is \"zzz\", not one of: testbed, "
                            "batchjob, scheduling"));
    EXPECT_THAT(
        faults_of("watch", {{"operator", "testbed"}, {"plural", "podz"}, {"fault", "ended"}}),
        testing::SizeIs(2));
    EXPECT_THAT(faults_of("compact", {{"opreator", "testbed"}}),
                ElementsAre("faults[0] compact: opreator is not known here"));
}

TEST(checking_plans, what_is_missing_or_of_another_type_is_told) {
    EXPECT_THAT(faults_of("pause", {{"operator", 3}, {"replica", "x"}}),
                ElementsAre("faults[0] pause: ms is missing",
                            "faults[0] pause: operator is 3, not one of: testbed, batchjob, "
                            "scheduling",
                            "faults[0] pause: replica is \"x\", not a whole number from 0 to "
                            "1000000"));
    EXPECT_THAT(faults_of("delete", {{"kind", "pods"}, {"name", "a"}, {"when", {{"at", "/a~2"}}}}),
                ElementsAre("faults[0] delete: when has no kind"));
    EXPECT_THAT(
        faults_of("delete", {{"kind", "pods"},
                             {"name", "a"},
                             {"when", {{"kind", "pods"}, {"name", "a"}, {"at", "/a~2"}}}}),
        ElementsAre("faults[0] delete: when has \"/a~2\" for at, which is no JSON pointer"));
}

TEST(checking_plans, times_are_a_week_at_most) {
    EXPECT_THAT(faults_of("extender-down", {{"for_ms", 604800000}}, 604800000), IsEmpty());
    EXPECT_THAT(faults_of("extender-down", {{"for_ms", 604800001}}), testing::SizeIs(1));
    EXPECT_THAT(faults_of("extender-down", {{"for_ms", -1}}), testing::SizeIs(1));
    EXPECT_THAT(faults_of("extender-down", {{"for_ms", 18446744073709551615ULL}}),
                testing::SizeIs(1));
    EXPECT_THAT(faults_of("extender-down", {{"for_ms", 1}}, 604800001), testing::SizeIs(1));
    EXPECT_THAT(faults_of("extender-down", {{"for_ms", 1}}, -1), testing::SizeIs(1));
}

}  // namespace
}  // namespace esi::simulation

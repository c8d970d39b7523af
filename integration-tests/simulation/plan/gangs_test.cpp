#include "plan/gangs.h"

#include <gmock/gmock.h>

#include <map>
#include <set>

#include "base/fields.h"
#include "plan/check.h"

namespace esi::simulation {
namespace {

using testing::IsEmpty;
using testing::UnorderedElementsAre;

TEST(plans_of_gangs, a_seed_is_always_the_same_plan) {
    EXPECT_EQ(to_json(generate_gangs(42)), to_json(generate_gangs(42)));
    EXPECT_NE(to_json(generate_gangs(42)), to_json(generate_gangs(43)));
}

TEST(plans_of_gangs, are_right_and_can_be_kept) {
    for (std::uint64_t seed = 1; seed <= 500; ++seed) {
        const auto made = generate_gangs(seed);
        EXPECT_THAT(faults_of_plan(made), IsEmpty()) << seed;
        const auto again = plan_from_json(to_json(made));
        ASSERT_TRUE(again) << again.error().text;
        EXPECT_EQ(*again, made) << seed;
    }
}

TEST(plans_of_gangs, have_all_that_happens_to_gangs) {
    std::set<std::string> groups;
    std::map<std::string, int> works;
    std::map<std::string, int> faults;
    int beds = 0;
    int elsewhere = 0;
    int suspended = 0;
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        const auto made = generate_gangs(seed);
        for (const auto& one : made.workload) {
            ++works[one.what];
            const auto kind = fields::text(one.with, {"object", "kind"});
            if (kind == "PodGroup") {
                groups.emplace(fields::text(one.with, {"object", "apiVersion"}));
            }
            if (kind == "Testbed") ++beds;
            if (fields::text(one.with, {"ns"}) == "elsewhere") ++elsewhere;
            if (one.with.dump().find("esi.tu-berlin.de/suspend") != std::string::npos) ++suspended;
        }
        for (const auto& one : made.faults) {
            ++faults[one.what];
            if (one.what == "neighbour-crash") {
                ++faults[std::string(fields::text(one.with, {"name"})) + " crashes"];
            }
        }
    }
    EXPECT_THAT(groups, UnorderedElementsAre("batch.scheduler.tencent.com/v1",
                                             "scheduling.incubator.k8s.io/v1alpha1",
                                             "scheduling.sigs.dev/v1alpha2",
                                             "scheduling.x-k8s.io/v1alpha1"));
    for (const char* work :
         {"create", "members", "members-gone", "patch", "delete", "node-drain"}) {
        EXPECT_GT(works[work], 20) << work;
    }
    for (const char* fault : {"crash", "pause", "lag", "stale-restart", "request", "watch",
                              "api-down", "kube-scheduler crashes"}) {
        EXPECT_GT(faults[fault], 20) << fault;
    }
    EXPECT_GT(beds, 50);
    EXPECT_GT(elsewhere, 20);
    EXPECT_GT(suspended, 20);
}

}  // namespace
}  // namespace esi::simulation

#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>

#include "plan/generate.h"
#include "run/judge.h"

namespace esi::simulation {
namespace {

plan with_two_replicas(std::vector<happening> faults) {
    auto out = scenarios().front();
    out.replicas = 2;
    out.faults = std::move(faults);
    return out;
}

outcome told(const plan& what) {
    run_options how;
    how.story = true;
    return judge(what, how);
}

/// Seconds from the start of the run to the first line after `from` with all these words.
std::optional<double> moment_of(const outcome& what, const std::vector<std::string>& words,
                                double from = 0) {
    for (const auto& line : what.story) {
        const double at = std::atof(line.c_str() + 1);
        if (at < from) continue;
        bool all = true;
        for (const auto& one : words) all = all && line.find(one) != line.npos;
        if (all) return at;
    }
    return std::nullopt;
}

std::optional<double> takeover(const outcome& what, double after) {
    return moment_of(what, {"esi-batchjob/1: PUT", "/leases/esi-batchjob", "-> 200"}, after);
}

constexpr milliseconds strike{12000};

TEST(termination, the_next_leader_takes_over_at_once) {
    const auto got = told(with_two_replicas(
        {{strike, "terminate", {{"operator", "batchjob"}, {"replica", 0}, {"down_ms", 9000}}}}));
    EXPECT_TRUE(got.violations.empty());
    const auto asked = moment_of(got, {"esi-batchjob/0: SIGTERM"});
    const auto freed = moment_of(got, {"esi-batchjob/0: PUT", R"("holderIdentity":"")"});
    ASSERT_TRUE(asked && freed);
    EXPECT_LT(*freed - *asked, 1.0);
    // As long as a standby waits between two looks.
    const auto taken = takeover(got, *freed);
    ASSERT_TRUE(taken);
    EXPECT_LT(*taken - *freed, 4.5);
}

TEST(termination, after_a_crash_the_next_leader_waits_for_the_end_of_the_lease) {
    const auto got =
        told(with_two_replicas({{strike, "crash", {{"operator", "batchjob"}, {"replica", 0}}}}));
    EXPECT_TRUE(got.violations.empty());
    const auto taken = takeover(got, 12.0);
    ASSERT_TRUE(taken);
    EXPECT_GT(*taken, 12.0 + 10.0);
}

TEST(termination, who_does_not_drain_in_time_is_killed_and_keeps_its_lease) {
    const auto got = told(with_two_replicas(
        {{strike, "terminate", {{"operator", "batchjob"}, {"replica", 0}, {"kill_ms", 0}}}}));
    EXPECT_TRUE(got.violations.empty());
    EXPECT_EQ(got.faults.at("terminate"), 1);
    EXPECT_EQ(got.faults.at("killed while it stops"), 1);
    EXPECT_FALSE(moment_of(got, {"esi-batchjob/0: PUT", R"("holderIdentity":"")"}));
}

TEST(replacement, the_old_one_goes_when_the_new_one_is_ready_and_never_comes_again) {
    const auto got = told(with_two_replicas(
        {{strike, "replace", {{"operator", "scheduling"}, {"replica", 0}}},
         {strike + seconds(20), "terminate", {{"operator", "scheduling"}, {"replica", 0}}}}));
    EXPECT_TRUE(got.violations.empty());
    EXPECT_EQ(got.faults.at("replace"), 1);
    const auto asked = moment_of(got, {"esi-scheduling/0: SIGTERM"});
    ASSERT_TRUE(asked);
    EXPECT_GE(*asked, 12.0);
    EXPECT_FALSE(moment_of(got, {"esi-scheduling/0:"}, *asked + 5));
    // Its place has the new one.
    EXPECT_TRUE(moment_of(got, {"esi-scheduling/2: SIGTERM"}));
}

TEST(outage, of_the_server_nothing_is_written_by_anybody_and_all_goes_on_afterwards) {
    auto what = scenarios().front();
    what.faults = {{strike, "api-down", {{"for_ms", 30000}, {"everybody", true}}}};
    const auto got = told(what);
    EXPECT_TRUE(got.violations.empty());
    EXPECT_EQ(got.faults.at("api-down for everybody"), 1);
    for (const char* who : {"kubelet", "kube-scheduler:", "-> 20"}) {
        const auto next = moment_of(got, {who}, 12.1);
        ASSERT_TRUE(next) << who;
        EXPECT_GE(*next, 42.0) << who;
    }
}

TEST(outage, of_the_way_of_the_operators_leaves_the_others_at_work) {
    auto what = scenarios().front();
    what.faults = {{strike, "api-down", {{"for_ms", 30000}}}};
    const auto got = told(what);
    EXPECT_TRUE(got.violations.empty());
    const auto kubelets = moment_of(got, {"kubelet"}, 12.1);
    ASSERT_TRUE(kubelets);
    EXPECT_LT(*kubelets, 42.0);
    EXPECT_GE(moment_of(got, {"-> 20"}, 12.1).value_or(0), 42.0);
}

TEST(outage, from_the_start_is_waited_for) {
    for (const bool everybody : {false, true}) {
        auto what = scenarios().front();
        what.faults = {
            {milliseconds(0), "api-down", {{"for_ms", 300000}, {"everybody", everybody}}}};
        const auto got = told(what);
        EXPECT_TRUE(got.violations.empty());
        EXPECT_GE(moment_of(got, {"-> 20"}).value_or(0), 300.0);
    }
}

}  // namespace
}  // namespace esi::simulation

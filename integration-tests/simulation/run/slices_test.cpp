// The rows of Testbeds in slices, in whole runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <fstream>
#include <map>
#include <string>

#include "base/source_folder.h"
#include "plan/generate.h"
#include "run/run.h"

namespace esi::simulation {
namespace {

/// Of the slices, by method, what was done and what was refused.
std::map<std::string, int> writes_of(const outcome& what) {
    std::map<std::string, int> out;
    for (const auto& each : what.writes) {
        if (each.kind != "testbedslotslices") continue;
        ++out[fmt::format("{} {}", each.verb, each.status)];
    }
    return out;
}

plan kept(const std::string& name) {
    std::ifstream file(source_folder() + "/integration-tests/simulation/cases/" + name + ".json");
    auto out = plan_from_json(json::parse(file));
    EXPECT_TRUE(out);
    return out.value_or(plan());
}

TEST(slices, are_written_where_they_differ_and_nowhere_else) {
    auto what = scenarios().front();
    EXPECT_THAT(writes_of(run(what)), testing::IsEmpty()) << "all rows are listed";
    what.most_listed_slots = 0;
    const auto out = run(what);
    EXPECT_TRUE(out.violations.empty());
    const auto writes = writes_of(out);
    EXPECT_EQ(writes.at("POST 201"), 2) << "four slots, two in each slice";
    EXPECT_GE(writes.at("PATCH 200"), 2);
    EXPECT_LE(writes.at("PATCH 200"), 40) << "not at each look";
    EXPECT_EQ(writes.size(), 2U) << testing::PrintToString(writes);
}

TEST(slices, of_two_leaders_are_made_once) {
    auto what = scenarios().front();
    what.most_listed_slots = 0;
    what.replicas = 2;
    what.faults = {
        {milliseconds(6000), "pause", {{"operator", "testbed"}, {"replica", 0}, {"ms", 40000}}},
        {milliseconds(70000),
         "crash",
         {{"operator", "testbed"}, {"replica", 1}, {"down_ms", 1000}}}};
    const auto out = run(what);
    EXPECT_TRUE(out.violations.empty());
    EXPECT_EQ(writes_of(out).at("POST 201"), 2);
}

TEST(slices, of_a_testbed_whose_rows_fit_are_deleted) {
    auto what = scenarios().front();
    what.most_listed_slots = 3;
    what.workload.push_back(
        {milliseconds(600000),
         "patch",
         {{"kind", "testbeds"}, {"name", "grid"}, {"patch", {{"spec", {{"slotsPerNode", 1}}}}}}});
    const auto out = run(what);
    EXPECT_TRUE(out.violations.empty());
    const auto writes = writes_of(out);
    EXPECT_EQ(writes.at("POST 201"), 2);
    EXPECT_EQ(writes.at("DELETE 200"), 2);
}

TEST(slices, keep_the_pod_of_a_deleted_job) {
    auto what = kept("row-in-a-slice-keeps-the-pod-of-a-deleted-job");
    const auto out = run(what);
    EXPECT_TRUE(out.violations.empty());
    EXPECT_EQ(out.faults.at("pod-hangs"), 1);
}

}  // namespace
}  // namespace esi::simulation

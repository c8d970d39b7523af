#include "sweep/sweep.h"
#include "base/source_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace esi::simulation {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;

const sweep_base& base(std::string_view name) {
    const auto& all = sweep_bases();
    return *std::ranges::find(all, name, &sweep_base::name);
}

json end_with(int slots, const std::string& text, int ghosts) {
    return {{"testbeds",
             {{"default/grid",
               {{"metadata", {{"generation", slots}}},
                {"spec", {{"slotsPerNode", slots}}},
                {"status", {{"observedGeneration", slots}, {"words", text}}}}}}},
            {"pods", {{"ghosts", ghosts}}}};
}

/// A change that was accepted, to the end and taken back.
sweep_case changed() {
    sweep_case out;
    out.base = &base("testbed-idle");
    out.changes = true;
    out.stays = out.back = out.base->undisturbed;
    return out;
}

outcome ended(json end) {
    outcome out;
    out.end = std::move(end);
    return out;
}

const auto good = end_with(2, "layout 1 is what nodes and spec say", 4);
const auto good_again = end_with(2, "layout 3 is what nodes and spec say", 4);
const auto other = end_with(3, "layout 2 is what nodes and spec say", 6);

TEST(sweep, is_content_when_a_change_shows_and_goes) {
    EXPECT_THAT(judge(changed(), good, ended(other), ended(good_again)), IsEmpty());
}

TEST(sweep, notices_a_change_that_nothing_tells_of) {
    const auto unseen = end_with(3, "layout 1 is what nodes and spec say", 4);
    EXPECT_THAT(judge(changed(), good, ended(unseen), ended(good)),
                ElementsAre(StartsWith("not-shown: ")));
    auto notes = changed();
    notes.unread = true;
    EXPECT_THAT(judge(notes, good, ended(unseen), ended(good)), IsEmpty());
}

TEST(sweep, notices_what_stays_behind_when_the_good_spec_is_back) {
    EXPECT_THAT(judge(changed(), good, ended(other), ended(end_with(2, "layout 3", 6))),
                ElementsAre(StartsWith("not-recovered: ")));
}

TEST(sweep, passes_on_the_rules_that_a_run_broke) {
    auto broken = ended(other);
    broken.violations.push_back({"hot-loop", "testbeds default/grid", milliseconds(5)});
    EXPECT_THAT(judge(changed(), good, broken, ended(good)),
                ElementsAre("hot-loop: testbeds default/grid"));
}

TEST(sweep, wants_4xx_for_what_the_schema_forbids) {
    auto one = changed();
    one.forbidden = true;
    EXPECT_THAT(judge(one, good, ended(other), ended(good)),
                ElementsAre(StartsWith("bad-value-accepted: ")));
    sweep_case refused;
    refused.base = one.base;
    refused.forbidden = true;
    refused.refusal = error{errc::invalid, "spec.slotsPerNode: must be at most 110"};
    EXPECT_THAT(judge(refused, good, outcome(), outcome()), IsEmpty());
    refused.refusal = error{errc::server, "panic"};
    EXPECT_THAT(judge(refused, good, outcome(), outcome()), ElementsAre("bad-answer: panic"));
}

TEST(sweep, wants_back_what_is_not_the_users) {
    auto one = changed();
    one.taken_back = true;
    one.back = plan();
    EXPECT_THAT(judge(one, good, ended(good_again), outcome()), IsEmpty());
    EXPECT_THAT(judge(one, good, ended(other), outcome()),
                ElementsAre(StartsWith("not-taken-back: ")));
}

TEST(sweep, tries_every_property_of_every_kind) {
    std::set<std::string> touched;
    std::size_t refused = 0;
    const auto all = sweep_cases(source_folder() + "/crds");
    for (const auto& one : all) {
        touched.insert(one.name.substr(0, one.name.rfind('/')));
        if (one.refusal) ++refused;
        EXPECT_EQ(one.name.find(' '), std::string::npos) << one.name;
    }
    for (const char* name :
         {"testbed-held/resourcesPerSlot.cpu", "batchjob-ready/creationRequest.testbedName.name",
          "batchjob-running/activeScheduling.uid", "queue-waiting/queueBased.0.namespace",
          "flink-ready/flinkSpec.parallelism", "flink-ready/flinkSpec.resources.requests.memory",
          "flink-running/flinkSpec", "slots-running/slotBased.jobs.0.slotIds.0"}) {
        EXPECT_TRUE(touched.contains(name)) << name;
    }
    const auto pairs = std::ranges::count_if(
        all, [](const auto& one) { return one.name.find('+') != std::string::npos; });
    EXPECT_GT(pairs, 150);
    EXPECT_GT(refused, all.size() / 4);
    EXPECT_LT(refused, all.size());
}

}  // namespace
}  // namespace esi::simulation

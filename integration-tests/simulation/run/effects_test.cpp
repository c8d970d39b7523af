#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/cast.h"
#include "plan/generate.h"
#include "run/run.h"

namespace esi::simulation {
namespace {

using ::testing::Contains;
using ::testing::Key;
using ::testing::Not;

happening at(int ms, std::string what, json with) {
    return {milliseconds(ms), std::move(what), std::move(with)};
}

plan small(const std::string& name) {
    for (auto& one : scenarios()) {
        if (one.scenario == name) return one;
    }
    ADD_FAILURE() << name;
    return {};
}

TEST(faults_of_lists, meet_the_opening_of_watches) {
    auto what = small("queue");
    what.faults = {at(5000, "crash", {{"operator", "testbed"}, {"replica", 0}, {"down_ms", 100}}),
                   at(5000, "request",
                      {{"operator", "testbed"},
                       {"nth", 0},
                       {"kind", "lists"},
                       {"fault", "503"},
                       {"times", 2}})};
    const auto out = run(what);
    EXPECT_TRUE(out.violations.empty());
    EXPECT_EQ(out.faults.at("opening 503"), 2);
    EXPECT_THAT(out.faults, Not(Contains(Key("request 503"))));
}

TEST(faults_of_lists, a_page_expires_where_lists_have_pages) {
    auto what = small("queue");
    what.faults = {at(5000, "page-expires", {{"operator", "testbed"}}),
                   at(5000, "crash", {{"operator", "testbed"}, {"replica", 0}, {"down_ms", 100}})};
    EXPECT_THAT(run(what).faults, Not(Contains(Key("page expired")))) << "these are streams";
    what.streaming_lists = false;
    EXPECT_THAT(run(what).faults, Not(Contains(Key("page expired")))) << "one page has all";
    what.page_size = 2;
    const auto out = run(what);
    EXPECT_TRUE(out.violations.empty());
    EXPECT_EQ(out.faults.at("page expired"), 1);
}

TEST(faults_of_the_extender, meet_its_calls) {
    auto what = small("extender");
    for (const char* fault : {"reset", "never-arrives", "lost-answer", "delay", "late", "500"}) {
        SCOPED_TRACE(fault);
        what.faults = {at(1000, "extender-call", {{"nth", 0}, {"fault", fault}, {"times", 2}})};
        const auto out = run(what);
        EXPECT_TRUE(out.violations.empty());
        EXPECT_EQ(out.faults.at(std::string("extender-call ") + fault), 2);
    }
}

TEST(specs, are_edited_and_taken_back) {
    auto what = small("queue");
    what.faults = {at(2000, "edit-spec",
                      {{"kind", "testbeds"},
                       {"name", "grid"},
                       {"patch", {{"slotsPerNode", 1}}},
                       {"back_ms", 500}})};
    const auto out = run(what);
    EXPECT_TRUE(out.violations.empty());
    EXPECT_EQ(out.faults.at("edit-spec"), 1);
    EXPECT_EQ(out.end, run(small("queue")).end);
}

}  // namespace
}  // namespace esi::simulation

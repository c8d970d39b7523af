#include "check/quiet.h"

#include <gmock/gmock.h>

#include "world/timeline.h"

namespace esi::simulation {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct quiet_test : testing::Test {
    timeline time;
    storage store{[this] { return time.now(); }};
    quiet_settings settings{seconds(600), 5, seconds(60), 3};
    quiet judge{store, time.now(), settings};

    void write(std::string_view state) {
        store.put(kinds::testbed,
                  {{"metadata", {{"name", "grid"}, {"namespace", "default"}, {"uid", "u"}}},
                   {"status", {{"state", state}}}});
        judge.wrote({"testbed", "PATCH", "testbeds", "default/grid", "status", 200}, time.now());
    }
    /// A ghost comes, is bound to that node unless that is empty, and is deleted by its operator.
    void make_and_delete(std::string_view node) {
        json ghost{{"metadata", {{"name", "ghost"}, {"namespace", "default"}, {"uid", "g"}}},
                   {"spec", json::object()}};
        store.put(kinds::pod, ghost);
        if (!node.empty()) {
            ghost["spec"]["nodeName"] = node;
            store.put(kinds::pod, ghost);
        }
        store.erase(kinds::pod, "default", "ghost");
        judge.wrote({"testbed", "DELETE", "pods", "default/ghost", "", 200}, time.now());
    }
    void wait(steady_time::duration passed) { time.advance_to(time.now() + passed); }
};

TEST_F(quiet_test, a_refused_write_breaks_the_silence) {
    write("SUCCESS");
    wait(seconds(700));
    judge.wrote({"testbed", "PATCH", "testbeds", "default/grid", "status", 409}, time.now());
    EXPECT_EQ(judge.last_write(), time.now());
    EXPECT_THAT(
        judge.activity(time.now() - seconds(1)),
        ElementsAre("testbed PATCH testbeds default/grid status (1 times): was answered 409"));
}

TEST_F(quiet_test, an_event_breaks_the_silence_and_a_lease_does_not) {
    wait(seconds(10));
    const auto event = time.now();
    store.put(kinds::event,
              {{"metadata", {{"name", "grid.1"}, {"namespace", "default"}, {"uid", "e"}}},
               {"reportingController", "esi-testbed"}});
    wait(seconds(10));
    store.put(kinds::lease,
              {{"metadata", {{"name", "esi-testbed"}, {"namespace", "esi-system"}, {"uid", "l"}}}});
    EXPECT_EQ(judge.last_write(), event);
    EXPECT_THAT(judge.activity(event),
                ElementsAre("esi-testbed POST events default/grid.1  (1 times): created it"));
}

TEST_F(quiet_test, the_count_of_a_closed_series_is_no_unrest) {
    const auto put = [this](int count) {
        store.put(kinds::event,
                  {{"metadata", {{"name", "grid.1"}, {"namespace", "default"}, {"uid", "e"}}},
                   {"reportingController", "esi-testbed"},
                   {"series", {{"count", count}}}});
    };
    put(1);
    wait(seconds(10));
    const auto rest = time.now();
    wait(seconds(350));
    put(2);
    EXPECT_THAT(judge.unrest(rest), IsEmpty());
    wait(seconds(30));
    put(3);
    EXPECT_EQ(judge.unrest(rest).size(), 1U);
}

TEST_F(quiet_test, who_writes_what_is_told) {
    write("SUCCESS");
    write("RUNNING");
    EXPECT_THAT(judge.activity(time.now() - seconds(1)),
                ElementsAre("testbed PATCH testbeds default/grid status (2 times): .status.state "
                            "\"SUCCESS\" -> \"RUNNING\""));
}

TEST_F(quiet_test, an_object_that_is_written_all_the_time_is_seen_once) {
    for (int i = 0; i < 9; ++i) {
        write(i % 2 == 0 ? "SUCCESS" : "RUNNING");
        wait(seconds(1));
    }
    ASSERT_EQ(judge.violations().size(), 1U);
    EXPECT_EQ(judge.violations()[0].rule, "hot-loop");
    EXPECT_EQ(judge.violations()[0].at, seconds(5));
    EXPECT_EQ(judge.violations()[0].text,
              "testbeds default/grid was written 6 times within 60 s; the last: "
              "testbed PATCH status: .status.state \"SUCCESS\" -> \"RUNNING\" | "
              "testbed PATCH status: .status.state \"RUNNING\" -> \"SUCCESS\" | "
              "testbed PATCH status: .status.state \"SUCCESS\" -> \"RUNNING\"");
}

TEST_F(quiet_test, writes_that_are_spread_out_are_no_loop) {
    for (int i = 0; i < 50; ++i) {
        write(i % 2 == 0 ? "SUCCESS" : "RUNNING");
        wait(seconds(12));
    }
    EXPECT_THAT(judge.violations(), IsEmpty());
}

TEST_F(quiet_test, a_ghost_that_is_made_and_deleted_again_and_again_unbound_is_seen_once) {
    for (int i = 0; i < 5; ++i) {
        make_and_delete("");
        wait(seconds(2));
    }
    ASSERT_EQ(judge.violations().size(), 1U);
    EXPECT_EQ(judge.violations()[0].rule, "made-in-vain");
    EXPECT_EQ(judge.violations()[0].text,
              "pods default/ghost was made, and deleted by operator testbed before it was bound, 4 "
              "times within 60 s");
}

TEST_F(quiet_test, ghosts_that_were_bound_and_those_that_are_spread_out_are_not_made_in_vain) {
    for (int i = 0; i < 5; ++i) {
        make_and_delete("node-0");
        wait(seconds(2));
    }
    wait(seconds(60));
    for (int i = 0; i < 6; ++i) {
        make_and_delete("");
        wait(seconds(25));
    }
    EXPECT_THAT(judge.violations(), IsEmpty());
}

TEST_F(quiet_test, a_write_that_changes_nothing_is_told_so) {
    write("SUCCESS");
    judge.wrote({"testbed", "PATCH", "testbeds", "default/grid", "", 200}, time.now());
    EXPECT_THAT(judge.activity(time.now() - seconds(1)),
                ElementsAre("testbed PATCH testbeds default/grid  (1 times): changed nothing",
                            "testbed PATCH testbeds default/grid status (1 times): created it"));
}

}  // namespace
}  // namespace esi::simulation

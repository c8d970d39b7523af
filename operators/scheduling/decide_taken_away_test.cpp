// Objects that a Scheduling has are deleted, taken away or damaged by hand.
#include "scheduling/decide.h"

#include <gtest/gtest.h>

#include "scheduling/testing.h"

namespace esi::scheduling {
namespace {

TEST_P(driving, a_scheduling_that_cannot_be_read_begins_nothing_and_goes_like_any_other) {
    w.add_queue("s", "t", {"a", "b"});
    w.settle();
    w.add_job("k");
    w.edit(w.schedulings, {"ns", "s"}, [](model::scheduling& s) {
        ++s.metadata.generation;
        s.metadata.undecodable = ".spec.queueBased[0]: is not an object";
        s.spec.queue_based.emplace();
    });
    w.settle();
    EXPECT_EQ(w.running("s"), "a:0 b:1") << "what runs goes on";
    const auto* current = model::find_condition(w.s("s").status.conditions, "SpecCurrent");
    ASSERT_TRUE(current);
    EXPECT_EQ(current->reason, "Undecodable");
    w.erase_scheduling("s");
    w.settle();
    w.expect_nothing_left();

    w.add_queue("z", "t", {"a"});
    w.edit(w.schedulings, {"ns", "z"}, [](model::scheduling& s) {
        s.metadata.undecodable = ".spec.queueBased[0]: is not an object";
        s.spec.queue_based.emplace();
    });
    w.settle();
    EXPECT_EQ(w.reason("z"), "Undecodable");
    w.expect_nothing_left();
}

TEST_P(driving, a_job_deleted_in_mid_run_is_counted_failed) {
    w.add_queue("s", "t", {"a", "b"});
    w.settle();
    auto run = w.job("a").spec.creation_request->run;
    w.edit(w.testbeds, {"ns", "t"}, [&](model::testbed& t) {
        t.status.slots.emplace_back().pod_u_id = w.job("a").status.placements.at(0).pod_uid;
    });
    w.jobs.erase({"ns", "a"});
    w.settle();
    EXPECT_EQ(w.running("s"), "a:0 b:1") << "its pod still stands";
    w.drop_pods(run);
    w.add_job("a");
    w.settle();
    EXPECT_EQ(w.s("s").status.assignments.at(0).outcome, "Deleted");
    EXPECT_FALSE(w.job("a").spec.active_scheduling) << "one made anew is another job";
    w.end_job("b");
    w.settle();
    EXPECT_EQ(w.s("s").status.progress->summary, "1/2 (1 failed)");
}

TEST_P(driving, a_job_taken_away_by_hand_is_counted_failed) {
    w.add_queue("s", "t", {"a", "b"});
    w.settle();
    w.edit(w.jobs, {"ns", "a"}, [](model::batchjob& j) {
        ++j.metadata.generation;
        j.spec.active_scheduling.reset();
    });
    w.settle();
    EXPECT_EQ(w.s("s").status.assignments.at(0).outcome, "ReleasedByHand");
    EXPECT_EQ(w.running("s"), "b:1");
    EXPECT_FALSE(w.job("a").spec.creation_request);
}

TEST_P(driving, a_hold_taken_away_by_hand_releases_and_is_final) {
    w.add_queue("s", "t", {"a", "b"});
    w.settle();
    w.drop_hold(w.key_of("t"));
    w.settle();
    EXPECT_EQ(w.s("s").status.state, "Error");
    EXPECT_EQ(w.reason("s"), "HoldLost");
    EXPECT_EQ(w.s("s").status.epoch, 1);
    EXPECT_TRUE(w.s("s").status.assignments.empty());
    w.expect_nothing_left();
    w.set_queue("s", {"c"});
    w.settle();
    EXPECT_EQ(w.s("s").status.state, "Error");
    w.erase_scheduling("s");
    w.settle();
    EXPECT_TRUE(w.schedulings.empty());
}

TEST_P(driving, the_testbed_deleted_under_it_is_a_lost_hold) {
    w.add_queue("s", "t", {"a"});
    w.settle();
    w.testbeds.erase({"ns", "t"});
    w.settle();
    EXPECT_EQ(w.reason("s"), "HoldLost");
    EXPECT_EQ(w.job("a").status.state, "ReadyState");
}

TEST_P(driving, a_scheduling_made_anew_under_the_same_name_waits_for_the_old_ones_orphans) {
    w.add_queue("s", "t", {"a", "b"});
    w.settle();
    w.schedulings.erase({"ns", "s"});  // the finalizer was taken off by hand
    w.add_queue("s", "t", {"b"});
    w.memory.clear();
    w.settle();
    EXPECT_EQ(w.running("s"), "b:0");
    EXPECT_EQ(grid::scheduling_uid_of_hold(w.t("t").hold()), w.s("s").metadata.uid);
    EXPECT_FALSE(w.job("a").spec.active_scheduling);
}

TEST_P(driving, an_acquired_job_that_is_being_deleted_is_named) {
    w.add_queue("s", "t", {});
    w.edit(w.schedulings, {"ns", "s"}, [&](model::scheduling& s) {
        s.spec.queue_based.reset();
        s.spec.slot_based = {"strict", {{{"", "a"}, {0}}, {{"", "b"}, {0}}, {{"", "c"}, {1}}}};
    });
    w.settle();
    w.edit(w.jobs, {"ns", "b"},
           [&](model::batchjob& j) { j.metadata.deletion_timestamp = model::timestamp{w.now}; });
    w.end_job("a");
    w.settle();
    EXPECT_EQ(w.running("s"), "");
    EXPECT_EQ(w.reason("s"), "JobDeleting");
    EXPECT_EQ(w.s("s").status.waiting_for,
              "BatchJob ns/b is being deleted; BatchJob ns/c starts after BatchJob ns/b");
    w.jobs.erase({"ns", "b"});
    w.settle();
    EXPECT_EQ(w.reason("s"), "JobMissing");
}

}  // namespace
}  // namespace esi::scheduling

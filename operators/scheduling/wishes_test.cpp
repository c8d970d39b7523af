// Requests of people that a plan takes at any time: pause, priority, cancelling, retries,
// deadlines, and what its conditions say of its end.
#include <gtest/gtest.h>

#include "scheduling/testing.h"

namespace esi::scheduling {
namespace {

class wishes : public testing::TestWithParam<bool> {
protected:
    void SetUp() override {
        w.crash = GetParam();
        w.add_testbed("t", 2, 1);
        for (const char* name : {"a", "b", "c"}) w.add_job(name);
    }
    void suspend(bool now, std::string policy = "") {
        w.change("s", [&](auto& spec) {
            spec.suspend = now;
            spec.suspend_policy = policy;
        });
    }
    void cancel(std::vector<std::string> jobs) {
        w.change("s", [&](auto& spec) {
            spec.cancelled_jobs.clear();
            for (const auto& job : jobs) spec.cancelled_jobs.push_back({"", job});
        });
    }
    void retry(const std::string& job, int limit) {
        w.change("s", [&](auto& spec) { spec.job_policies = {{{"", job}, limit, 10}}; });
    }
    std::string outcome(const std::string& job) {
        for (const auto& a : w.s("s").status.assignments) {
            if (a.job.name == job) return a.outcome;
        }
        return "none";
    }
    world w;
};

INSTANTIATE_TEST_SUITE_P(with_and_without_memory, wishes, testing::Bool(), [](const auto& p) {
    return p.param ? "crash_after_each_write" : "steady";
});

// --- pause ---

TEST_P(wishes, a_suspended_plan_takes_nothing) {
    w.add_queue("s", "t", {"a"});
    suspend(true);
    w.settle();
    EXPECT_EQ(w.s("s").status.state, "AcquireState");
    EXPECT_EQ(w.s("s").status.reason, "Suspended");
    EXPECT_EQ(w.t("t").hold(), "");
    suspend(false);
    w.settle();
    EXPECT_EQ(w.running("s"), "a:0");
    EXPECT_EQ(w.s("s").status.reason, "");
}

TEST_P(wishes, a_suspended_plan_stands_in_nobodys_way) {
    w.add_queue("s", "t", {"a"});
    suspend(true);
    w.add_queue("young", "t", {"a"});
    w.settle();
    EXPECT_EQ(w.running("young"), "a:0");
}

TEST_P(wishes, what_runs_when_it_is_suspended_goes_on_and_nothing_new_starts) {
    w.add_queue("s", "t", {"a", "b", "c"});
    w.settle();
    suspend(true);
    w.end_job("a");
    w.settle();
    EXPECT_EQ(w.running("s"), "b:1");
    EXPECT_EQ(w.s("s").status.reason, "Suspended");
    EXPECT_EQ(w.verdict("s", "Reconciling"), "True Suspended");
    w.end_job("b");
    w.settle();
    EXPECT_EQ(w.running("s"), "");
    EXPECT_NE(w.s("s").status.state, "CompletedState");
    suspend(false);
    w.settle();
    EXPECT_EQ(w.running("s"), "c:0");
}

TEST_P(wishes, suspended_with_release_its_runs_end_and_start_anew) {
    w.add_queue("s", "t", {"a", "b", "c"});
    w.settle();
    w.end_job("a");
    w.settle();
    ASSERT_EQ(w.running("s"), "b:1 c:0");
    suspend(true, "Release");
    w.settle();
    EXPECT_EQ(w.running("s"), "");
    EXPECT_EQ(outcome("a"), "Succeeded") << "what has ended stays";
    EXPECT_EQ(outcome("b"), "none");
    EXPECT_EQ(w.job("b").status.runs.back().outcome, "Released");
    EXPECT_NE(w.t("t").hold(), "") << "the Testbed stays held";
    EXPECT_EQ(w.s("s").status.progress->failed, 0);
    suspend(false);
    w.settle();
    EXPECT_EQ(w.running("s"), "b:0 c:1");
    w.end_job("b");
    w.end_job("c");
    w.settle();
    EXPECT_EQ(w.verdict("s", "Succeeded"), "True AllSucceeded");
}

TEST_P(wishes, a_run_whose_end_has_begun_ends_though_the_plan_goes_on) {
    w.add_queue("s", "t", {"a"});
    w.settle();
    w.edit(w.schedulings, {"ns", "s"},
           [](model::scheduling& s) { s.status.assignments[0].ending = "Suspended"; });
    w.settle();
    EXPECT_EQ(w.running("s"), "a:0") << "anew";
    EXPECT_TRUE(w.s("s").status.assignments[0].run.ends_with(".2"));
}

TEST_P(wishes, a_job_that_ended_well_while_it_was_taken_back_does_not_run_again) {
    w.add_queue("s", "t", {"a"});
    w.settle();
    suspend(true, "Release");
    while (w.step_of({"ns", "s"})) {
    }
    ASSERT_FALSE(w.job("a").spec.active_scheduling);
    w.drop_pods(w.job("a").status.runs.back().run);
    w.edit(w.jobs, {"ns", "a"}, [](model::batchjob& j) {
        j.status.runs.back().outcome = "Succeeded";
        j.status.application.reset();
        j.status.placements.clear();
        j.status.state = "ReadyState";
        j.status.observed_generation = j.metadata.generation;
    });
    w.settle();
    EXPECT_EQ(outcome("a"), "Succeeded");
    suspend(false);
    w.settle();
    EXPECT_EQ(w.running("s"), "");
    EXPECT_EQ(w.verdict("s", "Succeeded"), "True AllSucceeded");
}

TEST_P(wishes, a_run_that_a_pause_ends_while_the_plan_cannot_be_read_starts_again) {
    w.add_queue("s", "t", {"a"});
    w.settle();
    w.edit(w.schedulings, {"ns", "s"}, [](model::scheduling& s) {
        s.status.assignments[0].ending = "Suspended";
        s.metadata.undecodable = ".spec.queueBased: it takes 40.0 MiB of memory";
        s.spec.queue_based.reset();
    });
    w.settle();
    EXPECT_EQ(w.running("s"), "");
    w.edit(w.schedulings, {"ns", "s"}, [](model::scheduling& s) {
        s.metadata.undecodable.clear();
        s.spec.queue_based.emplace().push_back({"", "a"});
    });
    w.settle();
    EXPECT_EQ(w.running("s"), "a:0");
}

TEST_P(wishes, what_has_run_is_remembered_though_the_plan_cannot_be_read) {
    w.add_queue("s", "t", {"a"});
    w.settle();
    w.edit(w.schedulings, {"ns", "s"}, [](model::scheduling& s) {
        auto& all = s.status.assignments;
        for (int i = 0; i < 150; ++i) {
            auto ended = all.front();
            ended.job.name = "job-" + std::to_string(i);
            ended.run.resize(ended.run.rfind('.') + 1);
            ended.run += std::to_string(1000 + i);
            ended.ended = model::timestamp();
            ended.outcome = "Succeeded";
            all.push_back(std::move(ended));
        }
        s.metadata.undecodable = ".spec.queueBased: it takes 40.0 MiB of memory";
        s.spec.queue_based.reset();
    });
    w.end_job("a");
    w.settle();
    EXPECT_EQ(outcome("a"), "Succeeded");
    EXPECT_EQ(w.s("s").status.assignments.size(), 151U);
}

TEST_P(wishes, a_job_out_of_the_plan_that_a_pause_has_ended_is_not_forgotten) {
    w.add_queue("s", "t", {"a", "b"});
    w.settle();
    w.set_queue("s", {"b"});
    w.settle();
    suspend(true, "Release");
    w.settle();
    EXPECT_EQ(outcome("a"), "Suspended");
    EXPECT_EQ(outcome("b"), "none");
    EXPECT_EQ(w.s("s").status.progress->failed, 1);
}

// --- priority ---

TEST_P(wishes, the_highest_priority_goes_first_within_one_the_oldest) {
    w.add_queue("s", "t", {"a"});
    w.settle();
    w.add_queue("old", "t", {"b"});
    w.add_queue("young", "t", {"b"});
    w.add_queue("high", "t", {"b"});
    w.change("high", [](auto& spec) { spec.priority = 5; });
    w.settle();
    w.erase_scheduling("s");
    w.settle();
    EXPECT_EQ(w.running("high"), "b:0");
    w.erase_scheduling("high");
    w.settle();
    EXPECT_EQ(w.running("old"), "b:0");
    EXPECT_EQ(w.running("young"), "");
}

TEST_P(wishes, who_waits_for_a_higher_priority_is_told_for_whom) {
    w.add_queue("s", "t", {"a"});
    w.add_queue("high", "t", {"a"});
    w.change("high", [](auto& spec) { spec.priority = 5; });
    live_facts live;
    const auto d = decide(w.look({"ns", "s"}, live), w.now);
    EXPECT_EQ(d.status.reason, "PriorityFirst");
    EXPECT_EQ(d.status.waiting_for,
              "Scheduling ns/high has priority 5, this one 0, and goes first");
    EXPECT_TRUE(waits_for_rival(model::scheduling{{}, {}, d.status}, {"ns", "high"}));
}

TEST_P(wishes, nobody_passes_the_owner_of_a_testbed_by_his_priority) {
    w.add_testbed("other/t", 1, 1);
    w.add_queue("s", "other/t", {"a"});
    w.change("s", [](auto& spec) { spec.priority = 5; });
    auto guest = w.s("s");
    auto owner = guest;
    owner.metadata.namespace_ = "other";
    owner.metadata.uid = "uid-owner";
    owner.metadata.creation_timestamp->value += seconds(1);
    owner.spec.priority.reset();
    EXPECT_TRUE(goes_before(guest, owner)) << "by its age";
    EXPECT_FALSE(goes_before(owner, guest));
    owner.spec.priority = 1;
    EXPECT_TRUE(goes_before(owner, guest));
    guest.spec.priority = -1;
    owner.spec.priority.reset();
    EXPECT_TRUE(goes_before(owner, guest)) << "everybody may step back";
}

// --- cancelling ---

TEST_P(wishes, a_job_that_runs_is_ended_and_its_slot_goes_to_the_next) {
    w.add_queue("s", "t", {"a", "b", "c"});
    w.settle();
    cancel({"a"});
    w.settle();
    EXPECT_EQ(outcome("a"), "Cancelled");
    EXPECT_EQ(w.running("s"), "b:1 c:0");
    EXPECT_FALSE(w.job("a").spec.active_scheduling);
    EXPECT_EQ(w.job("a").status.runs.back().outcome, "Released");
    w.end_job("b");
    w.end_job("c");
    w.settle();
    EXPECT_EQ(w.s("s").status.progress->summary, "2/3 (1 failed)");
    EXPECT_EQ(w.s("s").status.problems.front(), "BatchJob ns/a was cancelled (spec.cancelledJobs)");
    EXPECT_EQ(w.verdict("s", "Failed"), "True SomeFailed");
}

TEST_P(wishes, a_cancelled_job_that_waits_is_let_go_and_never_started) {
    w.add_queue("s", "t", {"a", "b", "c"});
    w.settle();
    cancel({"c"});
    w.settle();
    EXPECT_FALSE(w.job("c").spec.active_scheduling);
    w.end_job("a");
    w.end_job("b");
    w.settle();
    EXPECT_EQ(w.s("s").status.state, "CompletedState");
    EXPECT_EQ(w.s("s").status.progress->summary, "2/3 (1 failed)");
}

TEST_P(wishes, a_job_cancelled_before_the_start_is_not_waited_for) {
    w.add_queue("s", "t", {"missing", "a"});
    cancel({"missing"});
    w.settle();
    EXPECT_EQ(w.running("s"), "a:0");
}

TEST_P(wishes, a_result_that_came_before_the_end_counts) {
    w.add_queue("s", "t", {"a"});
    w.settle();
    cancel({"a"});
    w.end_job("a");
    w.settle();
    EXPECT_EQ(outcome("a"), "Succeeded");
}

TEST_P(wishes, the_slots_of_a_cancelled_job_wait_for_the_end_of_its_application) {
    w.add_queue("s", "t", {"a", "b", "c"});
    w.settle();
    cancel({"a"});
    while (w.step_of({"ns", "s"})) {
    }
    EXPECT_FALSE(w.job("a").spec.active_scheduling);
    EXPECT_EQ(outcome("a"), "") << "its application still stands";
    EXPECT_NE(w.s("s").status.waiting_for.find("the end of SparkApplication ns/a"),
              std::string::npos)
        << w.s("s").status.waiting_for;
}

TEST_P(wishes, a_plan_without_jobs_holds_nothing) {
    w.add_queue("s", "t", {});
    w.settle();
    EXPECT_EQ(w.s("s").status.state, "AcquireState");
    EXPECT_EQ(w.s("s").status.reason, "PlanEmpty");
    EXPECT_EQ(w.t("t").hold(), "");
    w.set_queue("s", {"a"});
    w.settle();
    EXPECT_EQ(w.running("s"), "a:0");
}

TEST_P(wishes, a_waiting_plan_whose_jobs_are_all_cancelled_holds_nothing) {
    w.add_queue("s", "t", {"a"});
    cancel({"a"});
    w.settle();
    EXPECT_EQ(w.s("s").status.reason, "PlanEmpty");
    EXPECT_EQ(w.t("t").hold(), "");
}

TEST_P(wishes, who_names_a_job_that_is_not_in_the_plan_is_told_so) {
    w.add_queue("s", "t", {"a"});
    cancel({"z"});
    w.settle();
    EXPECT_EQ(w.running("s"), "a:0");
    EXPECT_EQ(w.verdict("s", "SpecCurrent"), "False ChangeIgnored");
}

// --- retries ---

TEST_P(wishes, a_failed_job_is_reset_and_started_again_after_the_delay) {
    w.add_queue("s", "t", {"a"});
    retry("a", 2);
    w.settle();
    w.end_job("a", "FailedState");
    w.settle();
    EXPECT_EQ(outcome("a"), "Failed");
    EXPECT_EQ(w.s("s").status.reason, "RetryDelayed");
    EXPECT_EQ(w.s("s").status.progress->failed, 0);
    ASSERT_TRUE(w.again_in);
    EXPECT_LE(*w.again_in, seconds(10));
    w.now += seconds(10);
    w.settle();
    EXPECT_EQ(w.running("s"), "a:0");
    EXPECT_EQ(w.s("s").status.assignments.size(), 1u);
    EXPECT_EQ(w.s("s").status.assignments[0].attempt, 1);
    w.end_job("a");
    w.settle();
    EXPECT_EQ(w.verdict("s", "Succeeded"), "True AllSucceeded");
}

TEST_P(wishes, a_job_without_retries_left_has_failed) {
    w.add_queue("s", "t", {"a"});
    retry("a", 1);
    w.settle();
    w.end_job("a", "FailedState");
    w.now += seconds(10);
    w.settle();
    w.now += seconds(10);
    w.settle();
    ASSERT_EQ(w.running("s"), "a:0");
    w.end_job("a", "FailedState");
    w.settle();
    EXPECT_EQ(w.s("s").status.state, "CompletedState");
    EXPECT_EQ(w.verdict("s", "Failed"), "True SomeFailed");
    EXPECT_EQ(w.verdict("s", "Stalled"), "True SomeFailed");
}

TEST_P(wishes, a_job_that_is_cancelled_is_not_started_again) {
    w.add_queue("s", "t", {"a"});
    retry("a", 2);
    w.settle();
    w.end_job("a", "FailedState");
    w.settle();
    cancel({"a"});
    w.now += seconds(10);
    w.settle();
    EXPECT_EQ(w.s("s").status.state, "CompletedState");
    EXPECT_EQ(w.s("s").status.progress->failed, 1);
}

TEST_P(wishes, a_suspended_plan_resets_no_job) {
    w.add_queue("s", "t", {"a"});
    retry("a", 2);
    w.settle();
    w.end_job("a", "FailedState");
    w.settle();
    suspend(true);
    w.now += seconds(10);
    w.settle();
    EXPECT_EQ(w.job("a").status.state, "FailedState");
    suspend(false);
    w.settle();
    EXPECT_EQ(w.running("s"), "a:0");
}

TEST_P(wishes, a_retry_that_the_plan_has_no_room_for_any_more_has_failed_and_holds_up_nobody) {
    w.add_queue("s", "t", {"a", "b"});
    retry("a", 2);
    w.settle();
    w.end_job("a", "FailedState");
    w.settle();
    w.set_queue("s", {"a", "b", "a", "a", "c"});
    w.now += seconds(10);
    w.settle();
    EXPECT_EQ(w.running("s"), "b:1 c:0");
    EXPECT_EQ(w.s("s").status.progress->failed, 1);
}

TEST_P(wishes, a_job_made_anew_is_not_the_one_that_failed) {
    w.add_queue("s", "t", {"a", "b"});
    retry("a", 2);
    w.settle();
    w.end_job("a", "FailedState");
    w.settle();
    w.jobs.erase({"ns", "a"});
    w.add_job("a");
    w.now += seconds(10);
    w.settle();
    EXPECT_EQ(w.running("s"), "b:1");
    EXPECT_EQ(w.s("s").status.progress->failed, 1);
}

TEST_P(wishes, a_reset_that_was_there_before_the_failure_is_no_reset) {
    w.add_queue("s", "t", {"a"});
    retry("a", 1);
    w.settle();
    w.edit(w.jobs, {"ns", "a"}, [](model::batchjob& j) {
        j.metadata.annotations[std::string(names_of::reset)] = j.spec.creation_request->run;
        j.status.observed_reset = j.spec.creation_request->run;
    });
    w.end_job("a", "FailedState");
    w.settle();
    w.now += seconds(10);
    w.settle();
    EXPECT_EQ(w.running("s"), "a:0");
}

TEST_P(wishes, a_job_that_nobody_has_any_more_is_reset_too) {
    w.add_queue("s", "t", {"a"});
    retry("a", 1);
    w.settle();
    w.end_job("a", "FailedState");
    w.settle();
    w.clear_job({"ns", "a"});
    w.now += seconds(10);
    w.settle();
    EXPECT_EQ(w.running("s"), "a:0");
}

// --- deadlines ---

TEST_P(wishes, a_plan_whose_time_is_over_ends_what_runs_and_starts_nothing) {
    w.add_queue("s", "t", {"a", "b", "c"});
    w.change("s", [](auto& spec) { spec.active_deadline_seconds = 60; });
    w.settle();
    ASSERT_TRUE(w.again_in);
    EXPECT_LE(*w.again_in, seconds(60));
    w.end_job("a");
    w.settle();
    w.now += seconds(60);
    w.settle();
    EXPECT_EQ(w.running("s"), "");
    EXPECT_EQ(outcome("a"), "Succeeded");
    EXPECT_EQ(outcome("b"), "DeadlineExceeded");
    EXPECT_EQ(w.s("s").status.state, "CompletedState");
    EXPECT_EQ(w.s("s").status.reason, "DeadlineExceeded");
    EXPECT_EQ(w.s("s").status.progress->failed, 2);
    EXPECT_EQ(w.verdict("s", "Failed"), "True DeadlineExceeded");
}

TEST_P(wishes, a_job_that_failed_is_not_tried_again_when_time_is_over) {
    w.add_queue("s", "t", {"a"});
    w.change("s", [](auto& spec) { spec.active_deadline_seconds = 60; });
    retry("a", 2);
    w.settle();
    w.end_job("a", "FailedState");
    w.now += seconds(60);
    w.settle();
    w.settle();
    EXPECT_EQ(w.running("s"), "");
    EXPECT_EQ(w.s("s").status.state, "CompletedState");
    EXPECT_EQ(w.s("s").status.reason, "DeadlineExceeded");
    EXPECT_EQ(w.s("s").status.progress->failed, 1);
}

TEST_P(wishes, a_job_that_had_not_started_when_time_was_over_is_let_go) {
    w.add_queue("s", "t", {"a", "b", "a", "b"});
    w.change("s", [](auto& spec) { spec.active_deadline_seconds = 60; });
    w.add_job("d");
    w.set_queue("s", {"a", "b", "c", "d"});
    w.settle();
    ASSERT_EQ(w.running("s"), "a:0 b:1");
    w.now += seconds(60);
    w.settle();
    EXPECT_FALSE(w.job("c").spec.active_scheduling);
    EXPECT_EQ(w.s("s").status.progress->failed, 4);
}

TEST_P(wishes, a_plan_that_is_over_is_deleted_when_its_time_to_live_is) {
    w.add_queue("s", "t", {"a"});
    w.change("s", [](auto& spec) { spec.ttl_seconds_after_finished = 30; });
    w.settle();
    w.end_job("a");
    w.settle();
    w.settle();
    ASSERT_TRUE(w.again_in);
    EXPECT_LE(*w.again_in, seconds(30));
    ASSERT_TRUE(w.schedulings.contains({"ns", "s"}));
    w.now += seconds(30);
    w.settle();
    EXPECT_FALSE(w.schedulings.contains({"ns", "s"}));
    w.expect_nothing_left();
}

TEST_P(wishes, a_time_to_live_counts_for_what_an_older_version_has_ended) {
    w.add_queue("s", "t", {"a"});
    w.settle();
    w.end_job("a");
    w.settle();
    w.edit(w.schedulings, {"ns", "s"}, [](model::scheduling& s) { s.status.ended.reset(); });
    w.now += seconds(30);
    w.change("s", [](auto& spec) { spec.ttl_seconds_after_finished = 30; });
    w.settle();
    EXPECT_FALSE(w.schedulings.contains({"ns", "s"}));
}

TEST_P(wishes, a_deadline_counts_from_the_first_assignment_of_an_older_version) {
    w.add_queue("s", "t", {"a"});
    w.settle();
    w.edit(w.schedulings, {"ns", "s"}, [](model::scheduling& s) { s.status.started.reset(); });
    w.change("s", [](auto& spec) { spec.active_deadline_seconds = 60; });
    w.now += seconds(60);
    w.settle();
    EXPECT_EQ(outcome("a"), "DeadlineExceeded");
}

TEST_P(wishes, that_time_was_over_is_known_after_the_release) {
    w.add_queue("s", "t", {"a", "b", "c"});
    w.change("s", [](auto& spec) {
        spec.active_deadline_seconds = 60;
        spec.release_on_completion = true;
    });
    w.settle();
    w.now += seconds(60);
    w.end_job("a");
    w.end_job("b");
    w.settle();
    EXPECT_EQ(w.s("s").status.state, "FinishedState");
    EXPECT_EQ(w.s("s").status.reason, "DeadlineExceeded");
    EXPECT_EQ(w.verdict("s", "Failed"), "True DeadlineExceeded");
}

TEST_P(wishes, a_time_that_somebody_wrote_into_the_status_makes_no_storm) {
    w.add_queue("s", "t", {"a"});
    w.change("s", [](auto& spec) { spec.active_deadline_seconds = 60; });
    w.settle();
    w.edit(w.schedulings, {"ns", "s"}, [](model::scheduling& s) {
        s.status.started = *model::timestamp::parse("9999-12-31T23:59:59Z");
    });
    w.settle();
    ASSERT_TRUE(w.again_in);
    EXPECT_GT(*w.again_in, seconds(0));
    EXPECT_LE(*w.again_in, std::chrono::hours(24));
}

// --- how it ended ---

TEST_P(wishes, kstatus_reads_in_progress_then_current) {
    w.add_queue("s", "t", {"a"});
    w.settle();
    EXPECT_EQ(w.verdict("s", "Reconciling"), "True Running");
    EXPECT_EQ(w.verdict("s", "Succeeded"), "False NotEnded");
    EXPECT_EQ(w.verdict("s", "Failed"), "False NotEnded");
    EXPECT_EQ(w.verdict("s", "Stalled"), "");
    w.end_job("a");
    w.settle();
    EXPECT_EQ(w.verdict("s", "Reconciling"), "");
    EXPECT_EQ(w.verdict("s", "Stalled"), "");
    EXPECT_EQ(w.verdict("s", "Succeeded"), "True AllSucceeded");
    EXPECT_EQ(w.s("s").status.observed_generation, w.s("s").metadata.generation);
}

TEST_P(wishes, one_that_cannot_start_has_failed) {
    w.add_queue("s", "t", {"a", "a", "a"});
    w.settle();
    EXPECT_EQ(w.s("s").status.state, "Error");
    EXPECT_EQ(w.s("s").status.reason, "TooManySlots");
    EXPECT_EQ(w.verdict("s", "Failed"), "True TooManySlots");
    EXPECT_EQ(w.verdict("s", "Stalled"), "True TooManySlots");
    EXPECT_EQ(w.verdict("s", "Reconciling"), "");
}

}  // namespace
}  // namespace esi::scheduling

#include "batchjob/event_notes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/log.h"
#include "batchjob/testing.h"

namespace esi::batchjob {
namespace {

using ::testing::ElementsAre;
using testing::world;

std::vector<std::string> reasons(const model::batchjob_status& before,
                                 const model::batchjob_status& after) {
    std::vector<std::string> out;
    for (const auto& what : event_notes(before, after)) {
        out.push_back((what.warning ? "W " : "N ") + what.reason + ": " + what.note);
    }
    return out;
}

TEST(event_notes, every_step_of_a_life_is_one_event) {
    world w;
    model::batchjob_status before;
    w.ready();
    EXPECT_THAT(reasons(before, w.job->status), ElementsAre());
    before = w.job->status;
    testing::acquire(*w.job);
    w.step(5);
    EXPECT_THAT(reasons(before, w.job->status), ElementsAre()) << "told by who acquires";
    before = w.job->status;
    testing::order(*w.job, {0, 3});
    w.step(10);
    EXPECT_THAT(reasons(before, w.job->status),
                ElementsAre("N Submitted: SparkApplication a was made for slots 0,3"));
    before = w.job->status;
    w.pods = {testing::driver(), testing::executor(1), testing::executor(2)};
    w.step(13);
    EXPECT_THAT(reasons(before, w.job->status),
                ElementsAre("N Placed: pod a-exec-1 takes slot 0, pod a-exec-2 takes slot 3"));
    EXPECT_THAT(reasons(w.job->status, w.job->status), ElementsAre());
}

TEST(event_notes, name_the_scheduling_and_the_run_that_they_belong_to) {
    world w;
    model::batchjob_status before;
    w.ready();
    before = w.job->status;
    testing::acquire(*w.job);
    testing::order(*w.job, {0, 3});
    w.step(10);
    w.pods = {testing::driver(), testing::executor(1), testing::executor(2)};
    w.step(13);
    const auto told = event_notes(before, w.job->status);
    ASSERT_EQ(told.size(), 2u) << "acquired and started in one look";
    for (const auto& what : told) {
        ASSERT_TRUE(what.scheduling) << what.reason;
        EXPECT_EQ(what.scheduling->key().text(), "jobs/s") << what.reason;
        EXPECT_EQ(what.scheduling->uid, "sched-uid") << what.reason;
    }
    EXPECT_EQ(told[0].words, "run started");
    EXPECT_EQ(told[0].run->run, testing::run_1);
    EXPECT_EQ(told[0].run->testbed.text(), "jobs/bed");
    ASSERT_EQ(told[1].pods.size(), 2u);
    EXPECT_EQ(told[1].pods[1].pod_name, "a-exec-2");
    EXPECT_EQ(told[1].pods[1].slot, 3);
}

TEST(event_notes, a_released_run_names_the_scheduling_that_has_let_it_go) {
    world w;
    w.running();
    const auto before = w.job->status;
    testing::release(*w.job);
    w.step(20);
    const auto told = event_notes(before, w.job->status);
    ASSERT_EQ(told.size(), 2u);
    EXPECT_EQ(told[0].reason, "Released");
    EXPECT_EQ(told[1].reason, "Releasing");
    for (const auto& what : told) EXPECT_EQ(what.scheduling->uid, "sched-uid") << what.reason;
}

TEST(event_notes, a_wait_that_a_person_has_to_end_is_one_warning) {
    world w;
    w.submitted();
    w.job->spec.creation_request->submit_timeout_seconds = 100;
    w.app->attempt = 0;
    auto before = w.job->status;
    w.step(75);
    EXPECT_THAT(reasons(before, w.job->status),
                ElementsAre("W OperatorSilent: SparkApplication jobs/a has no status: does the "
                            "Spark operator run and watch namespace jobs?"));
    before = w.job->status;
    w.step(85);
    EXPECT_THAT(reasons(before, w.job->status), ElementsAre());

    // The coordinator is a driver or a JobManager.
    for (const std::string reason : {"DriverUnschedulable", "JobManagerUnschedulable",
                                     "WaitsForBinding", "ApplicationStays", "SlotTooSmall"}) {
        auto after = before;
        after.reason = reason;
        after.problems = {"why"};
        EXPECT_THAT(reasons(before, after), ElementsAre("W " + reason + ": why"));
        EXPECT_THAT(reasons(after, after), ElementsAre());
    }
    world kept;
    kept.failed();
    kept.pods.clear();
    kept.app = testing::make_app("RUNNING");
    kept.app->metadata.deletion_timestamp = testing::stamp(50);
    kept.app->metadata.finalizers = {"example.com/keep"};
    kept.step(60);
    before = kept.job->status;
    kept.step(120);
    EXPECT_THAT(reasons(before, kept.job->status),
                ElementsAre(::testing::StartsWith(
                    "W ApplicationStays: SparkApplication a was deleted at")));
    EXPECT_EQ(kept.job->status.reason, "ApplicationFailed");

    auto passes = before;
    passes.state = "InQueueState";
    passes.reason = "TestbedNotReady";
    EXPECT_THAT(reasons(before, passes), ElementsAre()) << "the watch of the Testbed is behind";
}

TEST(event_notes, stand_in_the_log_with_the_same_keys) {
    std::vector<std::string> lines;
    log::send_to([&](log::level at, std::string_view line) {
        lines.push_back((at == log::level::warn ? "W " : "I ") + std::string(line));
    });
    world w;
    w.submitted();
    auto before = w.job->status;
    w.pods = {testing::driver(), testing::executor(1), testing::executor(2)};
    w.step(13);
    for (const auto& what : event_notes(before, w.job->status)) {
        log_note(w.job->metadata.key(), what);
    }
    before = w.job->status;
    w.app.reset();
    w.step(14);
    for (const auto& what : event_notes(before, w.job->status)) {
        log_note(w.job->metadata.key(), what);
    }
    log::send_to({});
    EXPECT_THAT(
        lines,
        ElementsAre("I pod placed job=jobs/a run=sched-uid.77.1 scheduling=jobs/s testbed=jobs/bed "
                    "pod=jobs/a-exec-1 note=\"takes slot 0\"",
                    "I pod placed job=jobs/a run=sched-uid.77.1 scheduling=jobs/s testbed=jobs/bed "
                    "pod=jobs/a-exec-2 note=\"takes slot 3\"",
                    "W run failed job=jobs/a run=sched-uid.77.1 scheduling=jobs/s testbed=jobs/bed "
                    "note=\"ApplicationDeleted: SparkApplication a was deleted while the job "
                    "ran\""));
}

TEST(event_notes, a_failure_is_a_warning_with_the_problem) {
    world w;
    w.running();
    const auto before = w.job->status;
    w.app.reset();
    w.step(20);
    EXPECT_THAT(
        reasons(before, w.job->status),
        ElementsAre("W Failed: ApplicationDeleted: SparkApplication a was deleted while the "
                    "job ran"));
}

TEST(event_notes, a_missing_backend_is_told_once) {
    world w;
    w.served = false;
    const model::batchjob_status before;
    w.ready();
    const auto told = event_notes(before, w.job->status);
    ASSERT_EQ(told.size(), 1u);
    EXPECT_EQ(told[0].reason, "BackendMissing");
    EXPECT_TRUE(told[0].warning);
}

}  // namespace
}  // namespace esi::batchjob

// The life of a Spark driver that exists before its BatchJob: taken over, never created, and
// returned to its author once it has ended.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "batchjob/testing.h"

namespace esi::batchjob {
namespace {

using testing::bind;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::order;
using testing::release;
using testing::stamp;
using testing::start;

using placements = std::vector<model::placement>;

std::shared_ptr<model::pod> driver_pod() {
    auto pod = testing::make_pod("a", "driver", "");
    pod->metadata.labels.erase("sparkoperator.k8s.io/app-name");
    pod->metadata.annotations.clear();
    pod->metadata.creation_timestamp = stamp(-3000);
    pod->scheduling_gates = {"esi.tu-berlin.de/slot"};
    return pod;
}

/// An executor that the driver has made: it knows nothing of runs.
std::shared_ptr<model::pod> executor_pod(int n) {
    auto pod = testing::executor(n, "");
    pod->metadata.labels.erase("sparkoperator.k8s.io/app-name");
    pod->metadata.annotations.clear();
    pod->metadata.owner_references = {{"v1", "Pod", "a", "uid-a", true}};
    return pod;
}

/// The driver's order has slots 1 and 3 for executors, and 0 for the driver.
struct driver_world : testing::world {
    driver_world() {
        bed = testing::make_claim();
        job->spec.spark_spec.reset();
        job->spec.spark_driver = model::raw_json{R"({"uid":"uid-a"})"};
        made_ = kind_of(kinds, job->spec)->make_backend({});
        kind = made_.get();
        pods = {driver_pod()};
    }
    void submit() { submitted({1, 3, 0}); }
    void show() {
        const auto shown = spark_driver::application_of(*pods[0]);
        app = shown ? std::optional(*shown) : std::nullopt;
    }
    void drive() {
        submit();
        replace(0, [](model::pod& pod) {
            bind(pod, "node-a", 12);
            start(pod, 13);
        });
        show();
        step(14);
    }
    void run() {
        drive();
        pods.push_back(executor_pod(1));
        pods.push_back(executor_pod(2));
        step(15);
        for (const auto index : {1UZ, 2UZ}) {
            replace(index, [](model::pod& pod) {
                bind(pod, "node-b", 16);
                start(pod, 17);
            });
        }
        step(18);
    }
    void end(const std::string& phase) {
        replace(0, [&](model::pod& pod) {
            pod.phase = phase;
            pod.finished_at = stamp(40);
        });
        show();
        step(41);
    }

private:
    std::unique_ptr<backend> made_;
};

TEST(driver_life, it_is_ready_without_a_dry_run) {
    driver_world w;
    w.ready();
    EXPECT_EQ(w.job->status.state, "ReadyState");
    EXPECT_EQ(w.job->status.type, "SparkDriver");
    EXPECT_EQ(w.condition("Accepted"), "True Accepted");
    EXPECT_EQ(w.condition("Startable"), "True Ready");
    EXPECT_THAT(w.take_log(), ElementsAre("status ReadyState"));
}

TEST(driver_life, its_order_takes_the_driver_over_and_gives_it_the_coordinator_place) {
    driver_world w;
    w.submit();
    EXPECT_THAT(w.log, Contains("adopt application"));
    EXPECT_THAT(w.log, Not(Contains("create application")));
    EXPECT_EQ(w.job->status.state, "SubmittedState");
    EXPECT_EQ(w.job->status.application->kind, "Pod");
    EXPECT_EQ(w.job->status.application->uid, "uid-a");
    EXPECT_EQ(w.job->status.placements, (placements{{0, "uid-a", "a"}}));
    EXPECT_EQ(w.job->status.runs.back().submitted, stamp(10))
        << "however long the driver has waited";
}

TEST(driver_life, a_pod_that_carries_the_marks_of_the_job_of_another_is_not_its_application) {
    driver_world w;
    w.job->spec.spark_driver = model::raw_json{R"({"uid":"uid-of-the-real-one"})"};
    w.replace(0, [](model::pod& pod) {
        pod.metadata.annotations = {{"esi.tu-berlin.de/run", std::string(testing::run_1)},
                                    {"esi.tu-berlin.de/job-uid", "job-uid"}};
    });
    w.show();
    w.submit();
    EXPECT_EQ(w.job->status.state, "FailedSubmissionState");
    EXPECT_EQ(w.job->status.reason, "NameTaken");
    EXPECT_THAT(w.job->status.placements, IsEmpty());
}

TEST(driver_life, executors_become_members_by_their_owner_and_take_the_workers_places) {
    driver_world w;
    w.drive();
    w.take_log();
    auto stranger = executor_pod(9);
    stranger->metadata.owner_references = {{"v1", "Pod", "a", "uid-other", true}};
    auto ungated = executor_pod(8);
    ungated->scheduling_gates.clear();
    w.pods.push_back(stranger);
    w.pods.push_back(ungated);
    w.pods.push_back(executor_pod(1));
    w.pods.push_back(executor_pod(2));
    w.step(15);
    EXPECT_THAT(w.take_log(),
                ElementsAre("mark pod a-exec-1", "mark pod a-exec-2", "status SubmittedState"));
    EXPECT_EQ(w.job->status.placements, (placements{{0, "uid-a", "a"},
                                                    {1, "uid-a-exec-1", "a-exec-1"},
                                                    {3, "uid-a-exec-2", "a-exec-2"}}));
    EXPECT_EQ(w.pods[3]->metadata.label("esi.tu-berlin.de/testbed"), "bed");
    EXPECT_THAT(w.job->status.problems,
                Contains(HasSubstr("executor a-exec-8 takes no place: it was made without")));
}

TEST(driver_life, executors_beyond_the_places_are_not_touched_until_one_of_them_has_ended) {
    driver_world w;
    w.drive();
    for (const int n : {3, 1, 2, 10}) w.pods.push_back(executor_pod(n));
    w.take_log();
    w.step(15);
    EXPECT_THAT(w.take_log(),
                ElementsAre("mark pod a-exec-1", "mark pod a-exec-2", "status SubmittedState"));
    EXPECT_THAT(w.job->status.problems,
                ElementsAre("executor a-exec-3 waits: each slot of the run has a pod already",
                            "executor a-exec-10 waits: each slot of the run has a pod already"));
    w.replace(2, [](model::pod& pod) { pod.phase = "Failed"; });
    w.step(16);
    EXPECT_THAT(w.take_log(), ElementsAre("mark pod a-exec-3", "status SubmittedState"));
    EXPECT_EQ(w.job->status.placements, (placements{{0, "uid-a", "a"},
                                                    {1, "uid-a-exec-3", "a-exec-3"},
                                                    {3, "uid-a-exec-2", "a-exec-2"}}));
}

TEST(driver_life, an_executor_that_cannot_be_marked_holds_up_neither_the_others_nor_the_time_out) {
    driver_world w;
    w.drive();
    w.take_log();
    w.pods.push_back(executor_pod(1));
    w.pods.push_back(executor_pod(2));
    w.unmarkable = {{"uid-a-exec-1", "pods \"a-exec-1\" is forbidden"}};
    w.step(15);
    EXPECT_EQ(w.job->status.placements,
              (placements{{0, "uid-a", "a"}, {1, "uid-a-exec-2", "a-exec-2"}}));
    EXPECT_THAT(w.job->status.problems,
                Contains(HasSubstr("executor a-exec-1 cannot be marked: pods \"a-exec-1\" is")));
    EXPECT_TRUE(w.again_in);
    w.step(100);
    EXPECT_EQ(w.job->status.state, "FailedState");
}

TEST(driver_life, a_mark_that_met_a_change_is_no_problem_and_comes_soon) {
    driver_world w;
    w.drive();
    w.pods.push_back(executor_pod(1));
    w.unmarkable = {{"uid-a-exec-1", ""}};
    w.step(15);
    EXPECT_THAT(w.job->status.problems, Not(Contains(HasSubstr("cannot be marked"))));
    ASSERT_TRUE(w.again_in);
    EXPECT_LE(*w.again_in, seconds(3));
    w.unmarkable.clear();
    w.step(17);
    EXPECT_EQ(w.job->status.placements,
              (placements{{0, "uid-a", "a"}, {1, "uid-a-exec-1", "a-exec-1"}}));
}

TEST(driver_life, executors_of_a_spec_that_names_no_known_kind_wait) {
    driver_world w;
    w.drive();
    w.job->spec.spark_driver.reset();
    w.pods.push_back(executor_pod(1));
    w.take_log();
    w.step(15);
    EXPECT_THAT(w.take_log(), Not(Contains("mark pod a-exec-1")));
    EXPECT_EQ(w.job->status.state, "SubmittedState");
}

TEST(driver_life, a_spec_of_another_kind_takes_no_driver_over) {
    driver_world w;
    w.job->spec.spark_spec = testing::make_job()->spec.spark_spec;
    w.job->spec.spark_driver.reset();
    w.submit();
    EXPECT_THAT(w.log, Not(Contains("adopt application")));
    EXPECT_EQ(w.job->status.state, "InQueueState");
    EXPECT_TRUE(w.again_in);
}

TEST(driver_life, an_ended_driver_stays_also_after_the_release) {
    driver_world w;
    w.run();
    EXPECT_EQ(w.job->status.state, "RunningState");
    w.take_log();
    w.end("Succeeded");
    EXPECT_EQ(w.job->status.state, "CompletedState");
    EXPECT_EQ(w.job->status.runs.back().stopped, stamp(40));
    EXPECT_THAT(w.take_log(),
                ElementsAre("status CompletedState", "delete pod a-exec-1", "delete pod a-exec-2"));
    w.pods.resize(1);
    release(*w.job);
    w.step(50);
    EXPECT_EQ(w.job->status.state, "ReadyState");
    EXPECT_FALSE(w.job->status.application);
    EXPECT_THAT(w.job->status.placements, IsEmpty());
    for (const auto& line : w.take_log()) EXPECT_THAT(line, Not(HasSubstr("delete"))) << line;

    testing::acquire(*w.job);
    order(*w.job, {1, 3, 0}, testing::run_2);
    w.step(60);
    EXPECT_EQ(w.job->status.state, "FailedSubmissionState");
    EXPECT_EQ(w.job->status.reason, "ApplicationEnded");
}

TEST(driver_life, a_failed_driver_fails_its_run) {
    driver_world w;
    w.run();
    w.end("Failed");
    EXPECT_EQ(w.job->status.state, "FailedState");
    EXPECT_EQ(w.job->status.reason, "ApplicationFailed");
}

TEST(driver_life, a_release_deletes_a_driver_that_runs) {
    driver_world w;
    w.run();
    w.take_log();
    release(*w.job);
    w.step(30);
    EXPECT_EQ(w.job->status.state, "PendingDeletion");
    EXPECT_THAT(w.take_log(), Contains("delete application uid-a"));
    w.app.reset();
    w.pods.clear();
    w.step(31);
    EXPECT_EQ(w.job->status.state, "ReadyState");
}

TEST(driver_life, one_that_is_deleted_while_it_runs_fails_its_run) {
    driver_world w;
    w.run();
    w.app.reset();
    w.pods.clear();
    w.step(20);
    EXPECT_EQ(w.job->status.state, "FailedState");
    EXPECT_EQ(w.job->status.reason, "ApplicationDeleted");
}

TEST(driver_life, one_that_cannot_be_taken_over_fails_the_submission_with_the_reason) {
    driver_world w;
    w.create_error = error{errc::invalid, "the driver jobs/a does not exist (any more)"};
    w.submit();
    EXPECT_EQ(w.job->status.state, "FailedSubmissionState");
    EXPECT_THAT(w.job->status.problems.front(), HasSubstr("does not exist"));
}

TEST(driver_life, without_the_flag_it_says_how_to_switch_it_on) {
    driver_world w;
    w.served = false;
    w.ready();
    EXPECT_EQ(w.condition("BackendAvailable"), "False DefinitionMissing");
    EXPECT_THAT(w.message("BackendAvailable"), HasSubstr("sparkDrivers.enabled=true"));
}

}  // namespace
}  // namespace esi::batchjob

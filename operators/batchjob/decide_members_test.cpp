// The pods of a run: which get its slots, and which are waited for.
#include "batchjob/decide.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "batchjob/testing.h"

namespace esi::batchjob {
namespace {

using ::testing::ElementsAre;
using testing::executor;
using ::testing::HasSubstr;
using testing::make_app;
using testing::release;
using testing::stamp;
using testing::world;

std::vector<std::string> names_of(const std::vector<model::placement>& list) {
    std::vector<std::string> out;
    for (const auto& entry : list) out.push_back(entry.pod_name);
    return out;
}

TEST(members, a_pod_that_only_carries_the_marks_of_the_run_gets_no_slot) {
    world w;
    w.submitted();
    w.app = make_app("RUNNING");
    struct row {
        const char* what;
        std::vector<model::owner_reference> owners;
        const char* submission;
        const char* told;
    };
    const std::vector<row> rows{
        {"no owner", {}, "submission-1", "its owner is nobody, not the driver a-driver"},
        {"another pod",
         {{"v1", "Pod", "a-driver", "uid-other", true}},
         "submission-1",
         "its owner is Pod a-driver (uid uid-other), not the driver a-driver"},
        {"no controller", {{"v1", "Pod", "a-driver", "uid-a-driver", false}}, "submission-1", ""},
        {"another submission",
         {{"v1", "Pod", "a-driver", "uid-a-driver", true}},
         "submission-0",
         "it is of submission submission-0, not of submission-1"},
    };
    for (const auto& row : rows) {
        auto forged = executor(0);
        forged->metadata.owner_references = row.owners;
        forged->metadata.labels["sparkoperator.k8s.io/submission-id"] = row.submission;
        w.pods = {testing::driver(), forged, executor(1), executor(2)};
        w.step(13);
        EXPECT_THAT(names_of(w.job->status.placements), ElementsAre("a-exec-1", "a-exec-2"))
            << row.what;
        EXPECT_THAT(
            w.job->status.problems,
            ::testing::Contains(HasSubstr(fmt::format("pod a-exec-0 gets no slot: {}", row.told))))
            << row.what;
    }
}

TEST(members, a_driver_is_the_one_that_the_application_names) {
    world w;
    w.submitted();
    w.app = make_app("RUNNING");
    auto other = testing::make_pod("mallory", "driver");
    auto forged = executor(0);
    forged->metadata.owner_references = {{"v1", "Pod", "mallory", "uid-mallory", true}};
    w.pods = {other, forged};
    w.step(13);
    EXPECT_TRUE(w.job->status.placements.empty());
    EXPECT_THAT(w.job->status.problems,
                ::testing::Contains("pod a-exec-0 gets no slot: its driver a-driver is not there"));
    auto driver = testing::driver();
    driver->metadata.owner_references = {{"v", "SparkApplication", "a", "another-app", true}};
    w.pods = {driver, executor(1)};
    w.step(14);
    EXPECT_TRUE(w.job->status.placements.empty()) << "it belongs to another application";
}

TEST(members, the_place_of_an_executor_that_died_goes_to_no_forged_pod) {
    world w;
    w.running();
    auto forged = executor(3);
    forged->metadata.owner_references.clear();
    w.replace(1, [](model::pod& pod) { pod.phase = "Failed"; });
    w.pods.push_back(forged);
    w.step(18);
    EXPECT_THAT(names_of(w.job->status.placements), ElementsAre("a-exec-1", "a-exec-2"));
    w.pods.push_back(executor(4));
    w.step(19);
    EXPECT_THAT(names_of(w.job->status.placements), ElementsAre("a-exec-4", "a-exec-2"));
}

TEST(members, a_forged_pod_delays_no_release) {
    world w;
    w.running();
    auto forged = executor(7);
    forged->metadata.owner_references.clear();
    forged->metadata.finalizers = {"example.com/keep"};
    release(*w.job);
    w.app.reset();
    w.pods = {forged};
    w.step(50);
    EXPECT_EQ(w.job->status.state, "ReadyState");
    EXPECT_TRUE(w.job->status.placements.empty());
}

/// An executor that was deleted at second 30 and is kept by a finalizer of its author.
std::shared_ptr<model::pod> kept_executor(const model::pod& was) {
    auto kept = std::make_shared<model::pod>(was);
    kept->metadata.deletion_timestamp = stamp(30);
    kept->metadata.finalizers = {"guest.example/stay"};
    return kept;
}

TEST(members, a_finalizer_on_an_ended_pod_holds_up_no_release) {
    world w;
    w.running();
    auto kept = kept_executor(*w.pods[1]);
    kept->phase = "Failed";
    release(*w.job);
    w.app.reset();
    w.pods = {kept};
    w.step(50);
    EXPECT_EQ(w.job->status.state, "ReadyState");
    EXPECT_TRUE(w.job->status.placements.empty());
    EXPECT_EQ(w.job->status.reason, "");
    ASSERT_TRUE(w.again_in);
    w.step(91);
    EXPECT_EQ(w.job->status.reason, "PodStays");
    EXPECT_THAT(w.job->status.problems,
                ElementsAre("pod a-exec-1 was deleted at 2026-11-21T09:00:30Z and is kept by the "
                            "finalizer guest.example/stay: nothing waits for it, and its slot is "
                            "free; its author takes the finalizer away"));
    EXPECT_EQ(w.job->status.state, "ReadyState");
    EXPECT_EQ(w.condition("Startable"), "True Ready");
}

TEST(members, a_forged_pod_that_is_kept_is_not_told_of) {
    world w;
    w.running();
    auto kept = kept_executor(*w.pods[1]);
    kept->phase = "Failed";
    kept->metadata.owner_references.clear();
    release(*w.job);
    w.app.reset();
    w.pods = {kept};
    w.step(91);
    EXPECT_EQ(w.job->status.reason, "");
}

TEST(members, a_pod_whose_node_does_not_report_its_end_keeps_its_slot_and_is_named) {
    world w;
    w.running();
    const auto silent = kept_executor(*w.pods[1]);
    release(*w.job);
    w.app.reset();
    w.pods = {silent};
    w.step(91);
    EXPECT_THAT(names_of(w.job->status.placements), ElementsAre("a-exec-1", "a-exec-2"));
    EXPECT_EQ(w.job->status.reason, "PodStays");
    EXPECT_THAT(w.job->status.problems,
                ElementsAre(HasSubstr("the kubelet of node node-a has not reported its end")));
    w.replace(0, [](model::pod& pod) { pod.phase = "Failed"; });
    w.step(92);
    EXPECT_TRUE(w.job->status.placements.empty());
}

TEST(members, a_deleted_pod_without_a_node_never_runs_whatever_finalizer_it_has) {
    world w;
    w.placed();
    w.replace(1, [](model::pod& pod) { pod = *kept_executor(pod); });
    release(*w.job);
    w.app.reset();
    w.pods = {w.pods[1]};
    w.step(50);
    EXPECT_EQ(w.job->status.state, "ReadyState");
    EXPECT_TRUE(w.job->status.placements.empty());
}

TEST(members, a_finalizer_on_a_deleted_application_holds_up_no_release_once_its_pods_have_ended) {
    world w;
    w.running();
    release(*w.job);
    w.app->metadata.deletion_timestamp = stamp(30);
    w.app->metadata.finalizers = {"guest.example/stay"};
    w.step(91);
    EXPECT_TRUE(w.job->status.application) << "its executors run";
    w.pods.clear();
    w.step(92);
    EXPECT_FALSE(w.job->status.application);
    EXPECT_EQ(w.job->status.state, "PendingDeletion") << "the next run would need its name";
    EXPECT_EQ(w.job->status.reason, "ApplicationStays");

    world early;
    early.running();
    release(*early.job);
    early.app->metadata.deletion_timestamp = stamp(30);
    early.app->metadata.finalizers = {"guest.example/stay"};
    early.pods.clear();
    early.step(60);
    EXPECT_TRUE(early.job->status.application) << "its operator has a minute";
}

TEST(members, placements_stand_until_the_last_pod_of_the_run_has_gone) {
    world w;
    w.completed();
    const auto& status = w.job->status;
    EXPECT_EQ(status.state, "CompletedState");
    EXPECT_EQ(status.placements.size(), 2u);
    w.replace(1, [](model::pod& pod) { pod.phase = "Succeeded"; });
    w.step(42);
    EXPECT_EQ(status.placements.size(), 2u);
    w.replace(2, [](model::pod& pod) { pod.metadata.deletion_timestamp = stamp(42); });
    w.step(43);
    EXPECT_EQ(status.placements.size(), 2u) << "it may take its time to end";
    w.pods.pop_back();
    w.step(44);
    EXPECT_TRUE(status.placements.empty());
}

}  // namespace
}  // namespace esi::batchjob

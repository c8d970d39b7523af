// Orders with a coordinator place: driver or JobManager take a slot of their own, like workers.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "batchjob/backends/flink/backend.h"
#include "batchjob/testing.h"

namespace esi::batchjob {
namespace {

using testing::bind;
using ::testing::Contains;
using ::testing::ElementsAre;
using testing::executor;
using testing::gated_driver;
using ::testing::HasSubstr;
using testing::make_app;
using testing::order;
using testing::stamp;
using testing::start;

using placements = std::vector<model::placement>;

/// Its order has slots 1 and 3 for executors, and 0 for the driver.
struct claim_world : testing::world {
    claim_world() { bed = testing::make_claim(); }
    void submit() {
        submitted({1, 3, 0});
        app = make_app("SUBMITTED");
        pods = {gated_driver()};
        step(12);
    }
    void drive() {
        submit();
        replace(0, [](model::pod& pod) {
            bind(pod, "node-a", 13);
            start(pod, 14);
        });
        app = make_app("RUNNING");
        pods.push_back(executor(1));
        pods.push_back(executor(2));
        step(15);
    }
    void run() {
        drive();
        for (const auto index : {1UZ, 2UZ}) {
            replace(index, [](model::pod& pod) {
                bind(pod, "node-b", 16);
                start(pod, 17);
            });
        }
        step(18);
    }
};

TEST(coordinator_place, the_application_has_as_many_workers_as_worker_slots_and_sizes_by_role) {
    claim_world w;
    w.submit();
    const auto& spec = w.created["spec"];
    EXPECT_EQ(spec["executor"]["instances"], 2);
    EXPECT_EQ(spec["executor"]["coreRequest"], "600m");
    EXPECT_EQ(spec["executor"]["annotations"]["esi.tu-berlin.de/slots"], "1,3");
    EXPECT_EQ(spec["driver"]["coreRequest"], "1");
    EXPECT_EQ(spec["driver"]["annotations"]["esi.tu-berlin.de/slots"], "0");
    EXPECT_EQ(spec["driver"]["template"]["spec"]["schedulingGates"][0]["name"],
              "esi.tu-berlin.de/slot");
    EXPECT_THAT(w.job->status.slot_ids, ElementsAre(1, 3, 0));
    EXPECT_EQ(w.job->status.replication, 2);
    EXPECT_THAT(w.job->status.runs.back().slots, ElementsAre(1, 3, 0));
}

TEST(coordinator_place, workers_of_unequal_slots_are_made_for_the_least_of_each_resource) {
    claim_world w;
    auto& shapes = w.bed->status.layout->shapes;
    shapes[1].count = 2;
    shapes.push_back({"large", "worker", 1, shapes[1].resources});
    shapes[1].resources["cpu"] = *model::quantity::parse("2");
    shapes[2].resources["memory"] = *model::quantity::parse("4Gi");
    w.submit();
    EXPECT_EQ(w.created["spec"]["executor"]["coreRequest"], "600m");
    EXPECT_EQ(w.created["spec"]["executor"]["memory"], "1408m") << "of 1.75Gi";
}

TEST(coordinator_place, the_driver_is_placed_first_and_executors_when_they_come) {
    claim_world w;
    w.submit();
    EXPECT_EQ(w.job->status.placements, (placements{{0, "uid-a-driver", "a-driver"}}));
    EXPECT_EQ(w.condition("Placed"), "False WaitingForPods");
    EXPECT_EQ(w.message("Placed"), "1 of 3 pods exist");
    EXPECT_EQ(w.condition("Running"), "False NotStarted") << "it waits at its gate";
    w.drive();
    EXPECT_EQ(w.job->status.placements, (placements{{0, "uid-a-driver", "a-driver"},
                                                    {1, "uid-a-exec-1", "a-exec-1"},
                                                    {3, "uid-a-exec-2", "a-exec-2"}}));
    EXPECT_EQ(w.condition("Placed"), "False WaitingForSlots");
    EXPECT_EQ(w.message("Placed"), "1 of 3 pods are bound");
}

TEST(coordinator_place, an_executor_never_takes_it_nor_a_driver_that_of_an_executor) {
    claim_world w;
    w.submit();
    w.pods = {executor(1), executor(2), executor(3), gated_driver()};
    w.job->status.placements.clear();
    w.step(13);
    EXPECT_EQ(w.job->status.placements, (placements{{0, "uid-a-driver", "a-driver"},
                                                    {1, "uid-a-exec-1", "a-exec-1"},
                                                    {3, "uid-a-exec-2", "a-exec-2"}}));
    EXPECT_THAT(w.job->status.problems,
                Contains("pod a-exec-3 waits: each slot of the run has a pod already"));
}

TEST(coordinator_place, all_bound_counts_the_driver_and_the_run_begins_with_its_first_executor) {
    claim_world w;
    w.run();
    EXPECT_EQ(w.job->status.state, "RunningState");
    EXPECT_EQ(w.condition("Placed"), "True AllBound");
    EXPECT_EQ(w.job->status.runs.back().started, stamp(17));

    claim_world waits;
    waits.drive();
    waits.replace(0, [](model::pod& pod) {
        pod.node_name.clear();
        pod.phase = "Pending";
        pod.scheduled_status = "False";
    });
    for (const auto index : {1UZ, 2UZ}) {
        waits.replace(index, [](model::pod& pod) { bind(pod, "node-b", 16); });
    }
    waits.step(17);
    EXPECT_EQ(waits.job->status.state, "SubmittedState");
    EXPECT_EQ(waits.message("Placed"), "2 of 3 pods are bound");
}

TEST(coordinator_place, executors_that_are_missing_are_counted_without_the_driver) {
    claim_world w;
    w.drive();
    w.pods.pop_back();
    w.job->status.placements.pop_back();
    w.step(60 + 15);
    EXPECT_THAT(w.job->status.problems,
                Contains(HasSubstr("SubmitTimeout: 2 of 3 pods exist 60 s after the submission; "
                                   "driver runs, 1 of 2 executors exist: ")));
}

TEST(coordinator_place, a_driver_that_was_let_in_and_is_rejected_is_told_as_executors_are) {
    claim_world w;
    w.submit();
    w.replace(0, [](model::pod& pod) {
        pod.scheduling_gates.clear();
        pod.metadata.annotations["esi.tu-berlin.de/slot-node"] = "node-a";
        pod.scheduled_reason = "Unschedulable";
        pod.scheduled_time = stamp(13);
        pod.scheduled_message = "0/3 nodes are available";
        pod.scheduler_name = "default-scheduler";
    });
    w.step(16);
    EXPECT_EQ(w.job->status.reason, "WaitsForBinding");
    EXPECT_THAT(w.message("Placed"), HasSubstr("pod a-driver (slot 0) waits since"));
    EXPECT_EQ(w.condition("Running"), "False NotStarted");
}

TEST(coordinator_place, passes_to_the_driver_of_the_next_attempt_once_the_first_has_ended) {
    claim_world w;
    w.run();
    auto second = gated_driver();
    second->metadata.uid = "uid-second";
    second->metadata.creation_timestamp = stamp(30);
    w.pods = {second};
    w.app = make_app("SUBMITTED");
    w.app->attempt = 2;
    w.app->attempt_since = stamp(29);
    w.take_log();
    w.step(31);
    EXPECT_THAT(w.take_log(), Contains("read pod a-driver")) << "only a live read shows its end";
    EXPECT_EQ(w.job->status.placements.front(), (model::placement{0, "uid-second", "a-driver"}));
}

TEST(coordinator_place, is_kept_after_the_end_until_the_driver_has_ended) {
    claim_world w;
    w.run();
    w.app = make_app("COMPLETED");
    w.step(45);
    EXPECT_EQ(w.job->status.state, "CompletedState");
    w.pods.resize(1);
    w.step(46);
    EXPECT_EQ(w.job->status.placements.size(), 3u) << "the driver is in its slot";
    w.replace(0, [](model::pod& pod) { pod.phase = "Succeeded"; });
    w.step(47);
    EXPECT_TRUE(w.job->status.placements.empty()) << "the driver's log stays, its slot is free";
}

TEST(coordinator_place, the_death_of_the_driver_is_not_counted_as_an_executors) {
    claim_world w;
    w.run();
    w.deaths = {{std::string(testing::run_1), stamp(12), "OOMKilled (exit code 137)", 0},
                {std::string(testing::run_1), stamp(12), "Error (exit code 1)", 3}};
    w.app = make_app("FAILED");
    w.app->message = "driver failed with exit code 137";
    w.step(45);
    EXPECT_EQ(w.job->status.runs.back().message,
              "driver failed with exit code 137; 1 executor Error (exit code 1)");
}

TEST(coordinator_place, a_driver_of_another_application_gets_none) {
    claim_world w;
    w.submit();
    w.job->status.placements.clear();
    w.replace(0, [](model::pod& pod) {
        pod.metadata.owner_references = {{"v1", "SparkApplication", "b", "other", true}};
    });
    w.step(13);
    EXPECT_TRUE(w.job->status.placements.empty());
    EXPECT_THAT(w.job->status.problems,
                Contains("pod a-driver gets no slot: its owner is SparkApplication b (uid other)"));
}

TEST(coordinator_place, is_given_once_the_application_names_its_driver) {
    claim_world w;
    w.submitted({1, 3, 0});
    w.app = make_app("");
    w.app->coordinator_pod.clear();
    w.app->attempt = 0;
    w.pods = {gated_driver()};
    w.step(12);
    EXPECT_TRUE(w.job->status.placements.empty()) << "it could be anybody's";
    EXPECT_THAT(w.job->status.problems, ElementsAre()) << "the status comes a moment later";
    w.app = make_app("SUBMITTED");
    w.step(13);
    EXPECT_EQ(w.job->status.placements, (placements{{0, "uid-a-driver", "a-driver"}}));
}

TEST(coordinator_place, is_known_by_the_driver_where_the_layout_is_gone) {
    claim_world w;
    w.submit();
    w.bed.reset();
    w.pods.push_back(executor(1));
    w.step(14);
    EXPECT_EQ(w.job->status.placements,
              (placements{{0, "uid-a-driver", "a-driver"}, {1, "uid-a-exec-1", "a-exec-1"}}));
}

TEST(coordinator_place, an_order_that_names_two_or_nothing_else_is_refused) {
    for (const auto& slots : {std::vector{0}, std::vector{2, 1, 0}}) {
        claim_world w;
        auto& shapes = w.bed->status.layout->shapes;
        shapes[0].count = 2;
        shapes[1].count = 2;
        w.queued();
        order(*w.job, slots);
        w.step(10);
        EXPECT_EQ(w.job->status.state, "FailedSubmissionState");
        EXPECT_EQ(w.job->status.reason, "SlotRolesUnsuited");
        EXPECT_THAT(w.job->status.problems,
                    Contains(HasSubstr("are coordinator places: a job takes slots of workers and "
                                       "at most one coordinator place")));
    }
}

TEST(coordinator_place, without_one_a_driver_stays_off_the_slots_of_a_claim) {
    claim_world w;
    w.submitted({1, 3});
    EXPECT_FALSE(w.created["spec"]["driver"].contains("coreRequest"));
    EXPECT_FALSE(w.created["spec"]["driver"]["template"]["spec"].contains("schedulingGates"));
    w.app = make_app("RUNNING");
    w.pods = {testing::driver(), executor(1), executor(2)};
    w.step(13);
    EXPECT_EQ(w.job->status.placements,
              (placements{{1, "uid-a-exec-1", "a-exec-1"}, {3, "uid-a-exec-2", "a-exec-2"}}));
}

TEST(coordinator_place, fits_goes_by_the_slots_of_workers_and_by_the_coordinator_places) {
    const auto fits = [](std::shared_ptr<model::testbed> bed) {
        testing::world w;
        w.bed = std::move(bed);
        w.ready();
        return w.condition("Fits") + ": " + w.message("Fits");
    };
    EXPECT_EQ(fits(testing::make_claim()), "True SlotLargeEnough: a slot can hold one executor");
    auto small = testing::make_claim();
    small->status.layout->shapes[1].resources["memory"] = *model::quantity::parse("500Mi");
    EXPECT_THAT(fits(small), HasSubstr("False SlotTooSmall: Testbed jobs/bed has the largest "
                                       "slots: a Spark executor needs"))
        << "the coordinator place is none of a worker";
    auto cramped = testing::make_claim();
    cramped->status.layout->shapes[0].resources["memory"] = *model::quantity::parse("500Mi");
    EXPECT_THAT(fits(cramped), HasSubstr("a Spark driver needs a slot of at least 834 MiB"));

    // The claim is not formed yet: the shapes of the spec count.
    auto wanted = testing::make_claim();
    auto& claim = wanted->spec.claim.emplace();
    for (const auto& shape : wanted->status.layout->shapes) {
        claim.shapes.push_back({shape.name, shape.role, shape.count, shape.resources, {}});
    }
    wanted->status.layout.reset();
    EXPECT_THAT(fits(wanted), HasSubstr("True SlotLargeEnough"));
    claim.shapes[1].resources["memory"] = *model::quantity::parse("500Mi");
    EXPECT_THAT(fits(wanted), HasSubstr("False SlotTooSmall"));
}

const backend& flink() {
    static const flink::flink_backend it{{}, {}};
    return it;
}

std::shared_ptr<model::pod> flink_pod(std::string name, std::string component) {
    auto pod = gated_driver();
    pod->metadata.name = name;
    pod->metadata.uid = "uid-" + name;
    pod->metadata.labels["app"] = "a";
    pod->metadata.labels["component"] = component;
    pod->metadata.labels["type"] = "flink-standalone-kubernetes";
    pod->metadata.labels["pod-template-hash"] = "x";
    const std::string set = component == "taskmanager" ? "a-taskmanager-x" : "a-x";
    pod->metadata.owner_references = {{"apps/v1", "ReplicaSet", set, "uid-" + set, true}};
    return pod;
}

TEST(coordinator_place, of_a_flink_job_is_its_job_managers) {
    claim_world w;
    w.kind = &flink();
    w.job->spec.spark_spec.reset();
    w.job->spec.flink_spec = model::raw_json{R"({"jarFile":"./a.jar"})"};
    w.queued();
    order(*w.job, {1, 2, 0});
    w.step(10);
    const auto& spec = w.created["spec"];
    EXPECT_EQ(spec["taskManager"]["replicas"], 2);
    EXPECT_EQ(spec["taskManager"]["resource"]["memory"], "1792m");
    EXPECT_EQ(spec["jobManager"]["resource"]["memory"], "2048m");
    w.pods = {flink_pod("a-taskmanager-x-p", "taskmanager"), flink_pod("a-x-jm", "jobmanager"),
              flink_pod("a-taskmanager-x-q", "taskmanager")};
    w.take_log();
    w.step(13);
    EXPECT_THAT(w.take_log(), ElementsAre("status SubmittedState")) << "all in one write";
    EXPECT_EQ(w.job->status.placements,
              (placements{{0, "uid-a-x-jm", "a-x-jm"},
                          {1, "uid-a-taskmanager-x-p", "a-taskmanager-x-p"},
                          {2, "uid-a-taskmanager-x-q", "a-taskmanager-x-q"}}));
    model::resource_list place;
    place["cpu"] = *model::quantity::parse("1");
    place["memory"] = *model::quantity::parse("703Mi");
    EXPECT_TRUE(flink().coordinator_too_small(*w.job->spec.flink_spec, place));
    place["memory"] = *model::quantity::parse("704Mi");
    EXPECT_FALSE(flink().coordinator_too_small(*w.job->spec.flink_spec, place));
}

}  // namespace
}  // namespace esi::batchjob

// The status of a job as people, kubectl wait and kstatus read it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "batchjob/backends/flink/backend.h"
#include "batchjob/decide.h"
#include "batchjob/testing.h"

namespace esi::batchjob {
namespace {

using ::testing::ElementsAre;
using testing::executor;
using ::testing::HasSubstr;
using testing::make_app;
using testing::order;
using testing::release;
using testing::stamp;
using testing::world;

/// The conditions Startable, Failed, Reconciling, Stalled.
std::vector<std::string> conditions(const world& w) {
    return {w.condition("Startable"), w.condition("Failed"), w.condition("Reconciling"),
            w.condition("Stalled")};
}

TEST(summary, of_each_state_of_a_life) {
    struct row {
        std::function<void(world&)> reach;
        const char* startable;
        const char* failed;
        const char* reconciling;
        const char* stalled;
    };
    const row rows[] = {
        {&world::ready, "True Ready", "False NotRunYet", "none", "none"},
        {&world::queued, "False Acquired", "False NotRunYet", "none", "none"},
        {[](world& w) { w.submitted(); }, "False RunUnderWay", "False RunUnderWay", "True Starting",
         "none"},
        {&world::scheduled, "False RunUnderWay", "False RunUnderWay", "True Starting", "none"},
        {&world::running, "False RunUnderWay", "False RunUnderWay", "none", "none"},
        {&world::completed, "False NotReleased", "False Completed", "True Ending", "none"},
        {&world::failed, "False NotReset", "True ApplicationFailed", "True Ending", "none"},
        {&world::failed_submission, "False NotReset", "True Refused", "none", "True Refused"},
    };
    for (const auto& row : rows) {
        world w;
        row.reach(w);
        EXPECT_THAT(conditions(w),
                    ElementsAre(row.startable, row.failed, row.reconciling, row.stalled))
            << w.job->status.state;
    }
}

TEST(summary, a_failed_job_says_how_to_reset_it_and_is_startable_after) {
    world w;
    w.failed();
    w.pods.resize(1);
    w.step(42);
    EXPECT_EQ(w.condition("Reconciling"), "none");
    EXPECT_EQ(w.condition("Stalled"), "True ApplicationFailed");
    EXPECT_THAT(w.message("Startable"),
                HasSubstr("or after: kubectl annotate --overwrite -n jobs batchjob a "
                          "esi.tu-berlin.de/reset=\"$(date)\""));
    release(*w.job);
    w.app.reset();
    w.pods.clear();
    w.step(50);
    EXPECT_EQ(w.condition("Failed"), "True ApplicationFailed") << "until somebody resets it";
    w.job->metadata.annotations["esi.tu-berlin.de/reset"] = "1";
    w.step(51);
    EXPECT_THAT(conditions(w), ElementsAre("True Ready", "False Reset", "none", "none"));
    EXPECT_EQ(w.condition("Succeeded"), "False ApplicationFailed") << "of the last run";
    for (const auto& each : w.job->status.conditions) {
        EXPECT_EQ(each.observed_generation, w.job->metadata.generation) << each.type;
    }
}

TEST(summary, a_refused_spec_is_not_ready_and_has_failed_for_good) {
    world w;
    w.check = check_answer{false, false, "dry run of SparkApplication jobs/a: HTTP 422"};
    w.ready();
    EXPECT_EQ(w.job->status.state, "ReadyState");
    EXPECT_THAT(conditions(w),
                ElementsAre("False SpecRefused", "True SpecRefused", "none", "True SpecRefused"));
    EXPECT_EQ(w.job->status.reason, "SpecRefused");
    EXPECT_THAT(w.job->status.problems,
                ElementsAre("sparkSpec was refused: dry run of SparkApplication jobs/a: HTTP 422"));
    w.job->spec.spark_spec->text = R"({"type":"Python"})";
    ++w.job->metadata.generation;
    w.check = check_answer{true, false, {}};
    w.step(5);
    EXPECT_THAT(conditions(w), ElementsAre("True Ready", "False NotRunYet", "none", "none"));
}

TEST(summary, what_cannot_be_read_or_has_no_operator_stalls) {
    world unread;
    unread.job->spec.spark_spec->text.clear();
    unread.job->metadata.undecodable = ".spec.sparkSpec: nests deeper than 256 levels";
    unread.ready();
    EXPECT_THAT(conditions(unread),
                ElementsAre("False Undecodable", "True Undecodable", "none", "True Undecodable"));
    EXPECT_EQ(unread.job->status.reason, "Undecodable");
    world missing;
    missing.served = false;
    missing.ready();
    EXPECT_THAT(conditions(missing), ElementsAre("False BackendMissing", "False NotRunYet", "none",
                                                 "True BackendMissing"))
        << "it may be installed later";
    EXPECT_EQ(missing.job->status.reason, "BackendMissing");
}

TEST(summary, a_spec_that_was_not_judged_yet_is_unknown) {
    world w;
    w.check = check_answer{false, true, "the webhook is silent"};
    w.ready();
    EXPECT_THAT(conditions(w),
                ElementsAre("Unknown CheckFailed", "False NotRunYet", "True CheckFailed", "none"));
    EXPECT_EQ(w.job->status.reason, "CheckFailed");
    EXPECT_THAT(w.job->status.problems, ElementsAre("the webhook is silent"));
}

TEST(summary, a_release_is_work_under_way_until_all_is_gone) {
    world w;
    w.running();
    release(*w.job);
    w.step(20);
    EXPECT_THAT(conditions(w),
                ElementsAre("False Releasing", "False Released", "True Ending", "none"));
    w.app.reset();
    w.pods.clear();
    w.step(21);
    EXPECT_THAT(conditions(w), ElementsAre("True Ready", "False Released", "none", "none"));
}

TEST(fits, is_told_before_the_start_by_the_largest_slots) {
    const auto size = [](world& w, const char* memory) {
        w.bed->status.layout->resources_per_slot["memory"] = *model::quantity::parse(memory);
    };
    world w;
    size(w, "833Mi");
    w.ready();
    EXPECT_EQ(w.condition("Fits"), "False SlotTooSmall");
    EXPECT_EQ(w.message("Fits"),
              "Testbed jobs/bed has the largest slots: a Spark executor needs a slot of at least "
              "834 MiB of memory (450 MiB heap and 384 MiB overhead); the slot has 833 MiB");
    EXPECT_THAT(conditions(w),
                ElementsAre("False SlotTooSmall", "False NotRunYet", "none", "True SlotTooSmall"));
    EXPECT_EQ(w.job->status.reason, "SlotTooSmall");
    EXPECT_THAT(w.job->status.problems, ElementsAre(w.message("Fits")));
    size(w, "834Mi");
    w.step(5);
    EXPECT_EQ(w.condition("Fits"), "True SlotLargeEnough");
    EXPECT_THAT(conditions(w), ElementsAre("True Ready", "False NotRunYet", "none", "none"));
    EXPECT_TRUE(w.job->status.problems.empty());

    world none;
    none.bed.reset();
    none.ready();
    EXPECT_EQ(none.condition("Fits"), "Unknown NoTestbed");
    EXPECT_EQ(none.condition("Startable"), "True Ready") << "nothing is known against it";
}

TEST(fits, the_size_of_the_spec_counts_before_there_is_a_layout_and_one_large_testbed_is_enough) {
    world w;
    auto small = std::make_shared<model::testbed>(*testing::make_testbed());
    small->metadata.name = "small";
    small->status.layout.reset();
    small->spec.resources_per_slot["cpu"] = *model::quantity::parse("1");
    small->spec.resources_per_slot["memory"] = *model::quantity::parse("512Mi");
    auto seen = w.look();
    seen.usable.insert(seen.usable.begin(), small);
    const auto both = decide(seen, testing::at(0)).status;
    EXPECT_EQ(model::find_condition(both.conditions, "Fits")->status, "True");
    seen.usable = {small};
    const auto one = decide(seen, testing::at(0)).status;
    EXPECT_EQ(model::find_condition(one.conditions, "Fits")->reason, "SlotTooSmall");
}

TEST(fits, a_spec_that_asks_for_more_than_each_slot_is_told_before_the_start) {
    world w;
    w.bed->status.layout->resources_per_slot["memory"] = *model::quantity::parse("1Gi");
    w.job->spec.spark_spec->text =
        R"({"driver":{},"executor":{"cores":2,"memory":"4g","memoryOverhead":"1g"}})";
    w.ready();
    EXPECT_EQ(w.condition("Fits"), "False LargerThanSlot");
    EXPECT_EQ(w.condition("Startable"), "False LargerThanSlot");
    EXPECT_EQ(
        w.message("Fits"),
        "Testbed jobs/bed has the largest slots: one executor is larger than the slot: it "
        "requests 2 cpu, the slot has 600m; it requests 5Gi memory, the slot has 1Gi; ask for "
        "less, or take larger slots, or set spec.sizing to Slot, which gives each pod the "
        "numbers of its slot");
    EXPECT_EQ(w.job->status.reason, "LargerThanSlot");
    w.job->spec.sizing = "Slot";
    w.step(5);
    EXPECT_EQ(w.condition("Fits"), "True SlotLargeEnough");
    EXPECT_THAT(w.message("Accepted"), ::testing::HasSubstr("executor.memory (4g)"))
        << "what the slot decides is named";
}

TEST(fits, a_claim_without_places_is_judged_by_the_shapes_of_its_spec) {
    world w;
    w.bed->spec.claim.emplace().shapes = {
        {"executors", "worker", 2, w.bed->status.layout->resources_per_slot, {}}};
    // This is the layout of a claim that has given its places back.
    auto& layout = w.bed->status.layout.emplace();
    layout.revision = 2;
    w.ready();
    EXPECT_EQ(w.condition("Fits"), "True SlotLargeEnough");
    EXPECT_EQ(w.condition("Startable"), "True Ready");
    w.bed->spec.claim->shapes[0].resources["memory"] = *model::quantity::parse("512Mi");
    w.step(5);
    EXPECT_EQ(w.condition("Fits"), "False SlotTooSmall");
}

TEST(fits, a_flink_job_that_divides_its_memory_itself_fits_everywhere) {
    const flink::flink_backend kind{{}, {}};
    model::resource_list slot;
    slot["cpu"] = *model::quantity::parse("1");
    slot["memory"] = *model::quantity::parse("600Mi");
    EXPECT_TRUE(kind.too_small({R"({"jarFile":"a.jar"})"}, slot));
    EXPECT_FALSE(kind.too_small(
        {R"({"jarFile":"a.jar","flinkConfiguration":{"taskmanager.memory.jvm-metaspace.size":"64m"}})"},
        slot));
    slot["memory"] = *model::quantity::parse("982Mi");
    EXPECT_FALSE(kind.too_small({R"({"jarFile":"a.jar"})"}, slot));
}

// Runs that wait for their pods.

TEST(missing_pods, an_operator_that_writes_no_status_is_told_after_a_minute) {
    const std::string told =
        "SparkApplication jobs/a has no status: does the Spark operator run and watch namespace "
        "jobs?";
    world w;
    w.submitted();
    w.job->spec.creation_request->submit_timeout_seconds = 100;
    w.app->attempt = 0;
    w.step(69);
    EXPECT_EQ(w.job->status.reason, "");
    ASSERT_TRUE(w.again_in);
    EXPECT_LE(*w.again_in, std::chrono::microseconds(1100000));
    w.step(70);
    EXPECT_EQ(w.job->status.reason, "OperatorSilent");
    EXPECT_THAT(w.job->status.problems, ElementsAre(told));
    EXPECT_EQ(w.condition("Reconciling"), "True OperatorSilent");
    w.take_log();
    w.step(85);
    EXPECT_THAT(w.take_log(), ElementsAre()) << "the same is not written again";
    w.step(110);
    EXPECT_EQ(w.job->status.reason, "SubmitTimeout");
    EXPECT_THAT(
        w.job->status.problems,
        ElementsAre("SubmitTimeout: 0 of 2 pods exist 100 s after the submission; " + told));
}

TEST(missing_pods, a_short_timeout_says_the_same) {
    world w;
    w.queued();
    order(*w.job, {0});
    w.job->spec.creation_request->submit_timeout_seconds = 8;
    w.step(10);
    w.app->attempt = 0;
    w.step(18);
    EXPECT_THAT(w.job->status.problems, ElementsAre(HasSubstr("does the Spark operator run")));
}

TEST(missing_pods, a_driver_that_runs_alone_is_where_to_look) {
    world w;
    w.submitted();
    w.job->spec.creation_request->submit_timeout_seconds = 100;
    w.app = make_app("RUNNING");
    w.pods = {testing::driver()};
    w.step(72);
    EXPECT_EQ(w.job->status.reason, "");
    w.step(73);
    EXPECT_EQ(w.job->status.reason, "PodsMissing");
    EXPECT_THAT(w.job->status.problems,
                ElementsAre("driver runs, 0 of 2 executors exist: kubectl logs -n jobs a-driver; "
                            "is there PriorityClass esi-job?"));
    // The clock of its node may be wrong by any time.
    world ahead;
    ahead.submitted();
    ahead.job->spec.creation_request->submit_timeout_seconds = 100;
    ahead.app = make_app("RUNNING");
    ahead.pods = {testing::driver()};
    ahead.replace(0, [](model::pod& pod) { pod.started_at = stamp(86400); });
    ahead.step(73);
    EXPECT_EQ(ahead.job->status.reason, "PodsMissing");
    w.pods.push_back(executor(1));
    w.pods.push_back(executor(2));
    for (const std::size_t n : {1u, 2u}) {
        w.replace(n, [](model::pod& pod) { pod.metadata.creation_timestamp = stamp(80); });
    }
    w.step(80);
    EXPECT_EQ(w.job->status.reason, "");
}

// The longest time of a run.

TEST(deadline, a_run_that_lasts_too_long_fails_and_its_application_goes) {
    world w;
    w.job->spec.active_deadline_seconds = 20;
    w.running();
    ASSERT_TRUE(w.again_in);
    EXPECT_EQ(std::chrono::floor<seconds>(*w.again_in), seconds(19))
        << "from the start of its first executor, second 16";
    w.step(35);
    EXPECT_EQ(w.job->status.state, "RunningState");
    w.take_log();
    w.step(36);
    EXPECT_EQ(w.job->status.state, "FailedState");
    EXPECT_EQ(w.job->status.reason, "DeadlineExceeded");
    EXPECT_EQ(w.job->status.runs.back().outcome, "Failed");
    EXPECT_THAT(w.job->status.problems,
                ElementsAre("DeadlineExceeded: it had not ended 20 s after the start of its first "
                            "executor (spec.activeDeadlineSeconds)"));
    EXPECT_EQ(w.condition("Failed"), "True DeadlineExceeded");
    EXPECT_THAT(w.take_log(),
                ElementsAre("read application", "status FailedState",
                            "delete application app-sched-uid.77.1", "delete pod a-driver",
                            "delete pod a-exec-1", "delete pod a-exec-2"));
}

TEST(deadline, is_that_of_the_spec_at_that_moment) {
    world w;
    w.running();
    w.step(100);
    EXPECT_EQ(w.job->status.state, "RunningState");
    w.job->spec.active_deadline_seconds = 200;
    ++w.job->metadata.generation;
    w.step(101);
    EXPECT_EQ(w.job->status.state, "RunningState");
    w.job->spec.active_deadline_seconds = 50;
    ++w.job->metadata.generation;
    w.step(102);
    EXPECT_EQ(w.job->status.reason, "DeadlineExceeded");
}

TEST(deadline, counts_before_all_pods_run_but_not_before_the_first) {
    world w;
    w.job->spec.active_deadline_seconds = 5;
    w.placed();
    w.step(30);
    EXPECT_EQ(w.job->status.state, "SubmittedState") << "it waits for its slots";
    w.replace(1, [](model::pod& pod) {
        testing::bind(pod, "node-a", 30);
        testing::start(pod, 31);
    });
    w.step(35);
    EXPECT_EQ(w.job->status.state, "SubmittedState");
    w.step(36);
    EXPECT_EQ(w.job->status.reason, "DeadlineExceeded");
}

TEST(deadline, a_kubelet_with_another_clock_ends_nothing_early_and_holds_nothing_up) {
    for (const int clock : {-86400, 86400}) {
        world w;
        w.job->spec.active_deadline_seconds = 20;
        w.scheduled();
        for (const std::size_t n : {1u, 2u}) {
            w.replace(n, [&](model::pod& pod) { testing::start(pod, 16 + clock); });
        }
        w.step(17);
        EXPECT_EQ(w.job->status.state, "RunningState") << clock;
        w.step(40);
        EXPECT_EQ(w.job->status.reason, "DeadlineExceeded") << clock;
    }
}

TEST(deadline, a_result_that_is_there_counts) {
    world w;
    w.job->spec.active_deadline_seconds = 20;
    w.running();
    w.app = make_app("COMPLETED");
    w.app->ended = stamp(35);
    w.step(60);
    EXPECT_EQ(w.job->status.state, "CompletedState");
}

// The causes of its pods' deaths.

TEST(deaths, are_told_with_the_failure_by_number_and_reason) {
    world w;
    w.running();
    const std::string run(testing::run_1);
    w.deaths = {{run, stamp(12), "Error (exit code 1)"},
                {run, stamp(14), "OOMKilled (exit code 137)"},
                {run, stamp(15), "OOMKilled (exit code 137)"},
                {"another.1.1", stamp(15), "Evicted"},
                {run, stamp(5), "Evicted"}};
    w.app = make_app("FAILED");
    w.app->message = "driver failed with exit code 11";
    w.app->ended = stamp(31);
    w.step(60);
    EXPECT_EQ(w.job->status.runs.back().message,
              "driver failed with exit code 11; 2 executors OOMKilled (exit code 137), 1 executor "
              "Error (exit code 1)")
        << "those of this run and attempt";
    EXPECT_EQ(w.message("Failed"), w.job->status.runs.back().message);
}

TEST(deaths, are_bounded_and_nothing_to_a_run_that_ended_well) {
    for (const char* end : {"FAILED", "COMPLETED"}) {
        world w;
        w.running();
        for (int i = 0; i < 100; ++i) {
            w.deaths.push_back({std::string(testing::run_1), stamp(12), fmt::format("Odd{}", i)});
        }
        w.app = make_app(end);
        w.step(60);
        EXPECT_EQ(w.job->status.runs.back().message,
                  end == std::string_view("FAILED")
                      ? "the application failed without a message; 1 executor Odd0, 1 executor "
                        "Odd1, 1 executor Odd10, 1 executor Odd11, 1 executor Odd12"
                      : "");
    }
}

}  // namespace
}  // namespace esi::batchjob

#include "kubectl-esi/commands/steer.h"

#include <gtest/gtest.h>

#include "model/json.h"

namespace esi::kubectl {
namespace {

model::scheduling plan() {
    model::scheduling out;
    out.metadata.namespace_ = "ns";
    out.metadata.name = "s";
    out.spec.testbed = {"", "t"};
    out.spec.queue_based = std::vector<model::object_key>{{"", "a"}, {"", "b"}, {"", "a"}};
    return out;
}

std::string patch_of(const result<change>& of) {
    return of ? of->patch.dump() + " " + of->text : of.error().text;
}

TEST(steering, a_suspension_names_its_policy) {
    EXPECT_EQ(patch_of(suspension(plan(), false)),
              R"({"spec":{"suspend":true,"suspendPolicy":"Keep"}} suspended: runs go on to their )"
              "end, no other job starts");
    EXPECT_EQ(suspension(plan(), true)->patch["spec"]["suspendPolicy"], "Release");
}

TEST(steering, a_suspension_that_is_there_is_no_write) {
    auto of = plan();
    of.spec.suspend = true;
    EXPECT_EQ(patch_of(suspension(of, false)), "null is suspended already");
    EXPECT_EQ(suspension(of, true)->patch["spec"]["suspendPolicy"], "Release")
        << "the runs go on until then";
    EXPECT_EQ(patch_of(resumption(of)), R"({"spec":{"suspend":false}} resumed)");
    EXPECT_EQ(patch_of(resumption(plan())), "null is not suspended");
}

TEST(steering, a_plan_that_is_over_cannot_be_steered) {
    auto of = plan();
    of.status.state = "FinishedState";
    EXPECT_EQ(patch_of(suspension(of, false)),
              "Scheduling ns/s is over (FinishedState): nothing of it starts any more");
    EXPECT_FALSE(resumption(of));
    EXPECT_FALSE(cancellation(of, {"a"}));
}

TEST(steering, a_cancellation_keeps_those_that_are_there) {
    auto of = plan();
    EXPECT_EQ(patch_of(cancellation(of, {"a"})),
              R"({"spec":{"cancelledJobs":[{"name":"a"}]}} cancels a)");
    of.spec.cancelled_jobs = {{"", "a"}};
    EXPECT_EQ(patch_of(cancellation(of, {"ns/b"})),
              R"({"spec":{"cancelledJobs":[{"name":"a"},{"name":"b"}]}} cancels ns/b)");
    EXPECT_EQ(patch_of(cancellation(of, {"a"})), "null has cancelled that already");
    EXPECT_EQ(patch_of(cancellation(of, {"x"})),
              "Scheduling ns/s names no BatchJob x; it names a,b");
}

TEST(steering, only_a_job_that_has_failed_is_reset) {
    model::batchjob job;
    job.metadata.namespace_ = "ns";
    job.metadata.name = "a";
    job.status.state = "RunningState";
    const wall_time now{seconds(1'700'000'000)};
    EXPECT_EQ(patch_of(resetting(job, now)),
              "BatchJob ns/a has not failed: it is in RunningState, so there is nothing to reset");
    job.status.state = "FailedState";
    EXPECT_EQ(
        patch_of(resetting(job, now)),
        R"({"metadata":{"annotations":{"esi.tu-berlin.de/reset":"2023-11-14T22:13:20.000000Z"}}} )"
        "reset");
}

}  // namespace
}  // namespace esi::kubectl

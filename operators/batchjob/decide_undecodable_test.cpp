// A job that cannot be read.
#include "batchjob/decide.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "batchjob/testing.h"

namespace esi::batchjob {
namespace {

using testing::acquire;
using ::testing::HasSubstr;
using testing::order;
using testing::release;
using testing::world;

TEST(undecodable, a_job_is_refused_in_words_and_starts_nothing) {
    world w;
    w.job->spec.spark_spec->text.clear();
    w.job->metadata.undecodable = ".spec.sparkSpec: nests deeper than 256 levels";
    w.step(0);
    EXPECT_EQ(w.condition("Accepted"), "False Undecodable");
    EXPECT_THAT(w.message("Accepted"), HasSubstr("nests deeper than 256 levels"));
    EXPECT_EQ(w.job->status.observed_generation, w.job->metadata.generation);
    acquire(*w.job);
    order(*w.job, {0, 3});
    w.take_log();
    w.step(10);
    EXPECT_THAT(w.take_log(), ::testing::Not(::testing::Contains("create application")));
    EXPECT_EQ(w.job->status.state, "FailedSubmissionState");
    release(*w.job);
    w.step(20);
    EXPECT_EQ(w.job->status.observed_generation, w.job->metadata.generation);
    EXPECT_FALSE(w.job->status.active_scheduling);
}

TEST(undecodable, a_run_goes_on_and_is_released_like_any_other) {
    world w;
    w.running();
    w.job->spec.spark_spec->text.clear();
    w.job->metadata.undecodable = ".spec.sparkSpec: nests deeper than 256 levels";
    ++w.job->metadata.generation;
    w.step(20);
    EXPECT_EQ(w.job->status.state, "RunningState");
    release(*w.job);
    w.step(30);
    EXPECT_EQ(w.job->status.state, "PendingDeletion");
    w.app.reset();
    w.pods.clear();
    w.step(31);
    EXPECT_EQ(w.job->status.state, "ReadyState");
    EXPECT_EQ(w.condition("Accepted"), "False Undecodable");
}

TEST(undecodable, a_failed_job_is_not_reset_by_it_and_is_judged_again_after_it) {
    world w;
    w.failed_and_released();
    const auto text = w.job->spec.spark_spec->text;
    w.job->spec.spark_spec->text.clear();
    w.job->metadata.undecodable = ".spec.sparkSpec: it takes 40.0 MiB of memory";
    w.step(51);
    EXPECT_EQ(w.job->status.state, "FailedState");
    EXPECT_EQ(w.condition("Accepted"), "False Undecodable");
    w.job->spec.spark_spec->text = text;
    w.job->metadata.undecodable.clear();
    w.step(52);
    EXPECT_EQ(w.job->status.state, "FailedState");
    EXPECT_NE(w.condition("Accepted"), "False Undecodable");
}

TEST(undecodable, metadata_that_is_mended_makes_the_job_startable_again) {
    world w;
    w.step(0);
    w.job->metadata.undecodable = ".metadata.labels: has 2001 entries";
    w.step(1);
    EXPECT_EQ(w.condition("Accepted"), "False Undecodable");
    w.job->metadata.undecodable.clear();
    w.step(2);
    EXPECT_THAT(w.condition("Accepted"), HasSubstr("True"));
    acquire(*w.job);
    order(*w.job, {0, 3});
    w.step(10);
    EXPECT_NE(w.job->status.state, "FailedSubmissionState");
}

}  // namespace
}  // namespace esi::batchjob

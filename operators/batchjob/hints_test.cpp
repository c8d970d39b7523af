#include "batchjob/hints.h"

#include <gtest/gtest.h>

#include "base/virtual_clock.h"
#include "batchjob/testing.h"

namespace esi::batchjob {
namespace {

using testing::acquire;
using testing::executor;
using testing::make_app;
using testing::make_job;
using testing::release;

const model::object_key key{"jobs", "a"};

std::shared_ptr<const application> shown(std::string_view word) {
    return std::make_shared<application>(make_app(word));
}

TEST(hints, the_time_of_an_acquisition_is_kept_until_the_release) {
    hints known;
    const auto before = make_job();
    const auto after = make_job();
    acquire(*after);
    known.job_changed({nullptr, after}, steady_time(seconds(7)));
    EXPECT_FALSE(known.acquired_at.contains(key)) << "acquired before this process saw the job";
    known.job_changed({before, after}, steady_time(seconds(8)));
    known.job_changed({after, after}, steady_time(seconds(9)));
    EXPECT_EQ(known.acquired_at.at(key), steady_time(seconds(8)));
    const auto released = std::make_shared<model::batchjob>(*after);
    release(*released);
    known.job_changed({after, released}, steady_time(seconds(10)));
    EXPECT_TRUE(known.acquired_at.empty());
}

TEST(hints, a_deleted_job_is_forgotten) {
    hints known;
    const auto job = make_job();
    known.checks[key].hash = "x";
    known.application_changed(key, shown("COMPLETED"), job.get());
    known.job_changed({job, nullptr}, {});
    EXPECT_TRUE(known.checks.empty());
    EXPECT_TRUE(known.last_final.empty());
}

TEST(hints, the_last_final_state_outlives_the_application_and_no_new_attempt) {
    hints known;
    const auto job = make_job();
    known.application_changed(key, shown("RUNNING"), job.get());
    EXPECT_TRUE(known.last_final.empty());
    known.application_changed(key, shown("COMPLETED"), job.get());
    known.application_changed(key, nullptr, job.get());
    ASSERT_TRUE(known.last_final.contains(key));
    EXPECT_EQ(known.last_final[key]->phase, phase::succeeded);
    known.application_changed(key, shown("RUNNING"), job.get());
    EXPECT_TRUE(known.last_final.empty());

    auto foreign = std::make_shared<application>(make_app("COMPLETED", testing::run_1, "x"));
    known.application_changed(key, foreign, job.get());
    EXPECT_TRUE(known.last_final.empty()) << "another owner's";
}

TEST(hints, an_accepted_deletion_is_kept_as_long_as_the_object_is_shown) {
    hints known;
    const auto job = make_job();
    const auto app = shown("RUNNING");
    known.deletion_answered[app->metadata.uid] = key;
    known.application_changed(key, app, job.get());
    EXPECT_EQ(known.deletion_answered.size(), 1u);
    known.application_changed(key, nullptr, job.get());
    EXPECT_TRUE(known.deletion_answered.empty());

    virtual_clock time;
    known.deletion_answered["uid-a-exec-1"] = key;
    known.pod_changed({executor(1), executor(1)}, job.get(), time);
    EXPECT_EQ(known.deletion_answered.size(), 1u);
    known.pod_changed({executor(1), nullptr}, job.get(), time);
    EXPECT_TRUE(known.deletion_answered.empty());
}

TEST(hints, a_refused_mark_is_forgotten_with_its_pod) {
    hints known;
    virtual_clock time;
    const auto pod = executor(1);
    known.refused_marks[pod->metadata.uid] = {"forbidden", {}};
    known.pod_changed({pod, pod}, nullptr, time);
    EXPECT_EQ(known.refused_marks.size(), 1u);
    known.pod_changed({pod, nullptr}, nullptr, time);
    EXPECT_TRUE(known.refused_marks.empty());
}

TEST(hints, a_pod_waits_for_its_scheduler_from_the_first_sight_without_a_gate) {
    hints known;
    virtual_clock time;
    const auto gated = executor(1);
    known.pod_changed({nullptr, gated}, nullptr, time);
    EXPECT_TRUE(known.ungated_since.empty());
    EXPECT_EQ(known.seen_at.at("uid-a-exec-1"), time.now());
    const auto open = executor(1);
    open->scheduling_gates.clear();
    known.pod_changed({gated, open}, nullptr, time);
    EXPECT_EQ(known.ungated_since.at("uid-a-exec-1"), time.wall());
    const auto bound = executor(1);
    testing::bind(*bound, "node-a", 14);
    known.pod_changed({open, bound}, nullptr, time);
    EXPECT_TRUE(known.ungated_since.empty());
    EXPECT_TRUE(known.seen_at.empty());
}

}  // namespace
}  // namespace esi::batchjob

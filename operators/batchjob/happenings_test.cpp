#include "batchjob/happenings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "batchjob/testing.h"

namespace esi::batchjob {
namespace {

using ::testing::ElementsAre;
using testing::world;

std::vector<std::string> reasons(const model::batchjob_status& before,
                                 const model::batchjob_status& after) {
    std::vector<std::string> out;
    for (const auto& what : happenings(before, after)) {
        out.push_back((what.warning ? "W " : "N ") + what.reason + ": " + what.note);
    }
    return out;
}

TEST(happenings, every_step_of_a_life_is_one_event) {
    world w;
    model::batchjob_status before;
    w.ready();
    EXPECT_THAT(reasons(before, w.job->status), ElementsAre());
    before = w.job->status;
    testing::acquire(*w.job);
    w.step(5);
    EXPECT_THAT(reasons(before, w.job->status),
                ElementsAre("N Acquired: acquired by Scheduling jobs/s"));
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

TEST(happenings, a_failure_is_a_warning_with_the_problem) {
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

TEST(happenings, a_missing_backend_is_told_once) {
    world w;
    w.served = false;
    const model::batchjob_status before;
    w.ready();
    const auto told = happenings(before, w.job->status);
    ASSERT_EQ(told.size(), 1u);
    EXPECT_EQ(told[0].reason, "BackendMissing");
    EXPECT_TRUE(told[0].warning);
}

}  // namespace
}  // namespace esi::batchjob

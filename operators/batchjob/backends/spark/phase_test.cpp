#include "batchjob/backends/spark/phase.h"

#include <gtest/gtest.h>

#include "batchjob/testing.h"

namespace esi::batchjob::spark {
namespace {

TEST(phase_of, only_completed_and_failed_are_final) {
    const std::pair<std::string_view, phase> rows[] = {
        {"", phase::underway},
        {"SUBMITTED", phase::underway},
        {"RUNNING", phase::running},
        {"COMPLETED", phase::succeeded},
        {"FAILED", phase::failed},
        {"SUBMISSION_FAILED", phase::underway},
        {"PENDING_RERUN", phase::underway},
        {"INVALIDATING", phase::underway},
        {"SUCCEEDING", phase::underway},
        {"FAILING", phase::underway},
        {"RESUMING", phase::underway},
        {"SUSPENDING", phase::paused},
        {"SUSPENDED", phase::paused},
        {"UNKNOWN", phase::unknown},
        {"NEVER_HEARD_OF", phase::unknown},
    };
    for (const auto& [word, expected] : rows) EXPECT_EQ(phase_of(word), expected) << word;
}

TEST(role_of, goes_by_the_labels_of_spark_and_its_operator) {
    const auto executor = testing::executor(1);
    EXPECT_EQ(role_of(*executor, "a"), pod_role::slot);
    EXPECT_EQ(role_of(*testing::driver(), "a"), pod_role::coordinator);
    EXPECT_EQ(role_of(*executor, "b"), pod_role::none);
    EXPECT_EQ(role_of(model::pod{}, "a"), pod_role::none);
}

}  // namespace
}  // namespace esi::batchjob::spark

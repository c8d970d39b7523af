#include "scheduling/fit_status.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "model/json_size.h"

namespace esi::scheduling {
namespace {

using model::json_size;

model::scheduling_status full() {
    model::scheduling_status out;
    out.state = "AcquireState";
    out.releasing = "Deleted";
    out.epoch = 7;
    out.waiting_for = std::string(5000, 'w');
    out.problems.assign(100, std::string(9000, 'p'));
    model::set_condition(out.conditions, "Acquired", "False", "JobHeld", std::string(3000, 'c'), 1,
                         wall_time{});
    out.plan.emplace().testbed = {"ns", "t"};
    for (int i = 0; i < 100; ++i) {
        const auto name = fmt::format("job-{}", i);
        out.assignments.push_back({{"ns", name, "uid"}, {i}, "run", {}, {}, "", "", {}});
        out.job_states.push_back({{"ns", name}, "InQueue"});
    }
    return out;
}

TEST(fit_status, of_a_scheduling_shortens_texts_and_keeps_what_others_decide_by) {
    const auto status = full();
    const auto whole = fit_status(status, 1 << 30);
    EXPECT_EQ(whole.problems.size(), 100u);
    EXPECT_EQ(whole.problems[0].size(), 4096u) << "the API bounds texts";
    EXPECT_EQ(whole.waiting_for.size(), 4096u);
    EXPECT_EQ(whole.job_states, status.job_states);
    EXPECT_EQ(model::encode(fit_status(whole, json_size(whole))), model::encode(whole));

    const auto tight = fit_status(status, json_size(whole) - 1);
    EXPECT_EQ(tight.problems, std::vector<std::string>(16, std::string(512, 'p')));
    EXPECT_EQ(tight.conditions[0].message.size(), 512u);
    EXPECT_EQ(tight.job_states, status.job_states);

    for (const std::size_t room : {json_size(tight) - 1, std::size_t{0}}) {
        const auto least = fit_status(status, room);
        EXPECT_EQ(least.problems, std::vector<std::string>{std::string(128, 'p')});
        EXPECT_TRUE(least.job_states.empty());
        EXPECT_EQ(least.assignments, status.assignments);
        EXPECT_EQ(model::encode(*least.plan), model::encode(*status.plan));
        EXPECT_EQ(least.epoch, 7);
        EXPECT_EQ(least.releasing, "Deleted");
        EXPECT_EQ(least.conditions[0].reason, "JobHeld");
    }
}

TEST(fit_status, has_no_row_for_a_job_that_comes_after_as_many_as_can_start) {
    model::scheduling_status status;
    for (int i = 0; i < 1026; ++i) {
        status.job_states.push_back({{"ns", fmt::format("job-{}", i)}, "Acquiring"});
    }
    status.job_states[1025].state = "Submitted";  // it started, and was taken out of the plan
    const auto fitted = fit_status(status, 1 << 30).job_states;
    ASSERT_EQ(fitted.size(), 1025u);
    EXPECT_EQ(fitted[1023].name.name, "job-1023");
    EXPECT_EQ(fitted[1024].name.name, "job-1025");
}

}  // namespace
}  // namespace esi::scheduling

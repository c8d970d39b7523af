#include "batchjob/fit_status.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "batchjob/testing.h"
#include "model/json_size.h"

namespace esi::batchjob {
namespace {

using model::json_size;
using ::testing::Each;
using ::testing::Field;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// A job that has run twenty times and runs again, with every field that a status may have.
model::batchjob_status full() {
    model::batchjob_status out;
    out.state = "RunningState";
    out.application =
        model::application_ref{"sparkoperator.k8s.io/v1beta2", "SparkApplication", "a", "u", "r20"};
    for (int i = 0; i < 1000; ++i) {
        auto& event = out.scheduled_events.emplace_back();
        event.start = testing::stamp(i);
        event.scheduling = {"jobs", "s"};
    }
    for (int i = 0; i <= 20; ++i) {
        auto& line = out.runs.emplace_back();
        line.run = fmt::format("r{}", i);
        line.slots = {0, 1};
        line.nodes = {"node-a", "node-b"};
        line.submitted = line.scheduled = line.started = testing::stamp(i);
        line.message = std::string(2000, 'm');
        line.outcome = i == 20 ? "Running" : "Failed";
        line.neighbours = {{"node-a", std::vector<std::string>(30, "jobs/neighbour"), {}}};
    }
    for (int i = 0; i < 100; ++i) {
        out.placements.push_back({i, fmt::format("uid-{}", i), fmt::format("a-exec-{}", i)});
    }
    for (const char* type : {"Placed", "Running", "Succeeded"}) {
        model::set_condition(out.conditions, type, "True", "Why", std::string(1000, 'c'), 1,
                             testing::at(1));
    }
    out.problems.assign(20, std::string(1000, 'p'));
    return out;
}

std::vector<std::string> runs_of(const model::batchjob_status& status) {
    std::vector<std::string> out;
    for (const auto& line : status.runs) out.push_back(line.run);
    return out;
}

TEST(fit_status, one_that_fits_is_left_alone_to_the_byte) {
    const auto status = full();
    EXPECT_EQ(model::encode(fit_status(status, json_size(status))), model::encode(status));
    EXPECT_LT(fit_status(status, json_size(status) - 1).scheduled_events.size(),
              status.scheduled_events.size());
}

TEST(fit_status,
     a_status_that_is_too_large_loses_its_oldest_runs_first_then_neighbours_then_texts) {
    const auto status = full();
    auto without_old_events = status;
    without_old_events.scheduled_events.erase(without_old_events.scheduled_events.begin(),
                                              without_old_events.scheduled_events.end() - 20);
    // If there is room for all but the oldest events, the lines stay.
    auto made = fit_status(status, json_size(without_old_events));
    EXPECT_THAT(made.scheduled_events, SizeIs(20));
    EXPECT_EQ(runs_of(made), runs_of(status));
    // If there is less, the oldest lines go, one after another.
    made = fit_status(status, json_size(without_old_events) - 6000);
    EXPECT_LT(made.runs.size(), status.runs.size());
    EXPECT_GT(made.runs.size(), 15u);
    EXPECT_EQ(made.runs.back().run, "r20");
    EXPECT_THAT(made.runs, Each(Field(&model::run_record::neighbours, SizeIs(1))));
    EXPECT_EQ(made.problems, status.problems);

    auto one_line = without_old_events;
    one_line.runs = {status.runs.back()};
    one_line.scheduled_events.resize(1);
    made = fit_status(status, json_size(one_line) - 1);
    EXPECT_EQ(runs_of(made), std::vector<std::string>{"r20"});
    EXPECT_THAT(made.runs[0].neighbours, IsEmpty());
    EXPECT_EQ(made.problems, status.problems);

    made = fit_status(status, 20'000);
    EXPECT_THAT(made.problems, SizeIs(8));
    EXPECT_THAT(made.problems, Each(SizeIs(256)));
    EXPECT_EQ(made.conditions[0].message.size(), 256u);
    EXPECT_EQ(made.runs[0].nodes, status.runs[0].nodes);
    EXPECT_LE(json_size(made), 20'000u);
}

TEST(fit_status, what_others_decide_by_stays_in_the_smallest_form) {
    const auto status = full();
    for (const auto room : {std::size_t{0}, std::size_t{1}}) {
        const auto made = fit_status(status, room);
        EXPECT_EQ(made.state, status.state);
        EXPECT_EQ(made.placements, status.placements);
        EXPECT_EQ(made.application, status.application);
        ASSERT_EQ(runs_of(made), std::vector<std::string>{"r20"});
        EXPECT_EQ(made.runs[0].started, status.runs.back().started);
        ASSERT_THAT(made.conditions, SizeIs(3));
        EXPECT_EQ(made.conditions[0].reason, "Why");
        EXPECT_EQ(made.conditions[0].message.size(), 128u);
    }
}

TEST(fit_status, stays_below_half_a_mebibyte_whatever_room_there_is) {
    auto status = full();
    for (auto& line : status.runs) {
        line.nodes.clear();
        for (int i = 0; i < 1024; ++i) line.nodes.push_back(fmt::format("node-{:060}", i));
    }
    ASSERT_GT(json_size(status), most_status_bytes);
    const auto made = fit_status(status, std::size_t{1} << 30);
    EXPECT_LE(json_size(made), most_status_bytes);
    EXPECT_EQ(made.runs.back().nodes.size(), 1024u);
}

TEST(fit_status, the_end_of_a_run_is_never_larger_than_the_run_was_in_its_smallest_form) {
    testing::world w;
    w.running();
    const auto before = fit_status(w.job->status, 0);
    const auto ends = [&](auto change) {
        testing::world other = w;
        other.job = std::make_shared<model::batchjob>(*w.job);
        // This is the stored form.
        other.job->status = before;
        change(other);
        other.step(50);
        const auto after = fit_status(other.job->status, 0);
        EXPECT_NE(after.runs.back().outcome, "Running");
        EXPECT_LT(model::encode(after).dump().size(), model::encode(before).dump().size())
            << model::encode(after).dump(1);
    };
    ends([](testing::world& of) {
        of.app = testing::make_app("COMPLETED");
        of.app->ended = testing::stamp(41);
    });
    ends([](testing::world& of) {
        of.app = testing::make_app("FAILED");
        of.app->message = std::string(4000, 'x');
        of.app->ended = testing::stamp(41);
    });
    ends([](testing::world& of) { testing::release(*of.job); });
    ends([](testing::world& of) { of.app.reset(); });
}

}  // namespace
}  // namespace esi::batchjob

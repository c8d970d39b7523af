#include "scheduling/answers/run_times.h"

#include <gtest/gtest.h>

#include "scheduling/answers/matrix.h"
#include "scheduling/answers/testing.h"

namespace esi::scheduling::answers {
namespace {

std::shared_ptr<const model::batchjob> job_of(std::string name,
                                              std::vector<model::run_record> lines) {
    model::batchjob out;
    out.metadata.namespace_ = "ns";
    out.metadata.name = std::move(name);
    out.status.runs = std::move(lines);
    return std::make_shared<const model::batchjob>(std::move(out));
}

TEST(quantile, is_linear_between_the_two_nearest) {
    EXPECT_DOUBLE_EQ(quantile({7}, 0.95), 7);
    EXPECT_DOUBLE_EQ(quantile({10, 20, 30, 40}, 0.5), 25);
    EXPECT_DOUBLE_EQ(quantile({10, 20, 30, 40}, 0.95), 38.5);
    EXPECT_DOUBLE_EQ(quantile({10, 20, 30}, 0), 10);
    EXPECT_DOUBLE_EQ(quantile({10, 20, 30}, 1), 30);
}

TEST(run_times, count_only_runs_that_ended_well_with_both_times) {
    EXPECT_EQ(seconds_of(line(12)), 12);
    auto failed = line(12);
    failed.outcome = "Failed";
    EXPECT_EQ(seconds_of(failed), std::nullopt);
    auto never_bound = line(12);
    never_bound.started.reset();
    EXPECT_EQ(seconds_of(never_bound), std::nullopt);
    EXPECT_EQ(usual_time_of(*job_of("a", {failed})), std::nullopt);
}

TEST(run_times, the_end_of_a_run_is_the_median_without_what_has_passed) {
    model::run_record running;
    running.run = "now";
    running.outcome = "Running";
    running.started = model::timestamp{start_of_time - seconds(40)};
    const auto job = job_of("a", {line(90), line(400), line(100), running});
    EXPECT_EQ(end_of_run(*job, "now", start_of_time),
              (estimated_time{model::timestamp{start_of_time + seconds(60)}, 60, 3}));
    EXPECT_EQ(end_of_run(*job, "now", start_of_time + seconds(70))->in_seconds, 0)
        << "it lasts longer than usual";
    EXPECT_EQ(end_of_run(*job, "now", start_of_time - seconds(100))->in_seconds, 100)
        << "the clock of its node is ahead";
    EXPECT_EQ(end_of_run(*job, "not begun", start_of_time)->in_seconds, 100);
    EXPECT_EQ(end_of_run(*job_of("b", {running}), "now", start_of_time), std::nullopt);
}

TEST(matrix, has_run_times_by_neighbour) {
    auto failed = line(1, {"b"});
    failed.outcome = "Failed";
    const auto seen =
        matrix_of({job_of("a", {line(10), line(20), line(30), line(40), line(50, {"b"}),
                                line(70, {"b", "c"}), failed, line(5, {"b"}, "u")}),
                   job_of("b", {line(8, {"a", "a"})})},
                  {"ns", "t"});
    EXPECT_EQ(seen.runs, 7);
    EXPECT_EQ(seen.runs_not_counted, 1);
    ASSERT_EQ(seen.pairs.size(), 4u);

    const auto& alone = seen.pairs[0];
    EXPECT_EQ(alone.job, (object_key{"ns", "a"}));
    EXPECT_EQ(alone.neighbour, std::nullopt);
    EXPECT_EQ(alone.n, 4);
    EXPECT_EQ(alone.sole, 4);
    EXPECT_DOUBLE_EQ(alone.mean_seconds, 25);
    EXPECT_DOUBLE_EQ(alone.p50_seconds, 25);
    EXPECT_DOUBLE_EQ(alone.p95_seconds, 38.5);
    EXPECT_NEAR(*alone.standard_deviation_seconds, 12.9099444874, 1e-9);

    const auto& beside_b = seen.pairs[1];
    EXPECT_EQ(beside_b.neighbour, (object_key{"ns", "b"}));
    EXPECT_EQ(beside_b.n, 2);
    EXPECT_EQ(beside_b.sole, 1) << "c was there, too, in one of them";
    EXPECT_DOUBLE_EQ(beside_b.mean_seconds, 60);
    EXPECT_NEAR(*beside_b.standard_deviation_seconds, 14.1421356237, 1e-9);

    EXPECT_EQ(seen.pairs[2].neighbour, (object_key{"ns", "c"}));
    EXPECT_EQ(seen.pairs[2].sole, 0);
    EXPECT_EQ(seen.pairs[3].job, (object_key{"ns", "b"}));
    EXPECT_EQ(seen.pairs[3].n, 1) << "one neighbour on two nodes is one";
    EXPECT_EQ(seen.pairs[3].standard_deviation_seconds, std::nullopt);
}

TEST(matrix, a_run_beside_jobs_that_are_not_named_was_not_alone) {
    auto named = line(30, {"b"});
    named.neighbours[0].others = 1;
    auto unnamed = line(40);
    unnamed.neighbours = {{"n", {}, 2}};
    const auto seen = matrix_of({job_of("a", {line(10), named, unnamed})}, {"ns", "t"});
    EXPECT_EQ(seen.runs, 3);
    EXPECT_EQ(seen.runs_beside_others, 1);
    ASSERT_EQ(seen.pairs.size(), 2u);
    EXPECT_EQ(seen.pairs[0].neighbour, std::nullopt);
    EXPECT_EQ(seen.pairs[0].n, 1);
    EXPECT_EQ(seen.pairs[1].n, 1) << "beside b";
    EXPECT_EQ(seen.pairs[1].sole, 0);
}

TEST(matrix, is_bounded) {
    std::vector<std::shared_ptr<const model::batchjob>> jobs;
    for (int i = 0; i < 1010; ++i) jobs.push_back(job_of("job-" + std::to_string(i), {line(5)}));
    const auto seen = matrix_of(jobs, {"ns", "t"});
    EXPECT_EQ(seen.pairs.size(), 1000u);
    EXPECT_EQ(seen.pairs_left_out, 10);
    EXPECT_EQ(seen.runs, 1010);
}

TEST(matrix, has_stable_names_in_json) {
    const auto seen = matrix_of({job_of("a", {line(10, {"b"}), line(20, {"b"})})}, {"ns", "t"});
    EXPECT_EQ(model::encode(seen).dump(),
              R"({"pairs":[{"job":{"name":"a","namespace":"ns"},"meanSeconds":15.0,"n":2,)"
              R"("neighbour":{"name":"b","namespace":"ns"},"p50Seconds":15.0,"p95Seconds":19.5,)"
              R"("sole":2,"standardDeviationSeconds":7.0710678118654755}],"pairsLeftOut":0,)"
              R"("runs":2,"runsBesideOthers":0,"runsNotCounted":0,)"
              R"("testbed":{"name":"t","namespace":"ns"}})");
}

}  // namespace
}  // namespace esi::scheduling::answers

#include "batchjob/neighbours.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/json.h"
#include "model/json_size.h"

namespace esi::batchjob {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

const neighbour_names own{"jobs", false};
const neighbour_names every{"jobs", true};

std::set<model::object_key> jobs(int count, const std::string& ns = "jobs") {
    std::set<model::object_key> out;
    for (int i = 0; i < count; ++i) out.insert({ns, fmt::format("job-{:04}", i)});
    return out;
}

std::size_t bytes_of(const std::vector<model::run_record>& runs) {
    std::size_t out = 0;
    for (const auto& line : runs) {
        for (const auto& at : line.neighbours) out += model::encode(at).dump().size();
    }
    return out;
}

TEST(neighbours, of_other_namespaces_are_counted_and_not_named) {
    const jobs_by_node now{{"a", {{"jobs", "b"}, {"jobs-of-others", "c"}, {"x", "d"}}}};
    model::run_record line;
    note_neighbours(line, {"a"}, now, own);
    EXPECT_EQ(line.neighbours, (std::vector<model::neighbour>{{"a", {"jobs/b"}, 2}}));
    model::run_record open;
    note_neighbours(open, {"a"}, now, every);
    EXPECT_EQ(open.neighbours,
              (std::vector<model::neighbour>{{"a", {"jobs-of-others/c", "jobs/b", "x/d"}, {}}}));
}

TEST(neighbours, stay_when_they_are_gone_and_are_of_the_nodes_of_the_run_only) {
    model::run_record line;
    note_neighbours(line, {"a"}, {{"a", {{"jobs", "b"}}}, {"z", {{"jobs", "y"}}}}, own);
    note_neighbours(line, {"a"}, {{"a", {{"jobs", "c"}}}}, own);
    note_neighbours(line, {}, {}, own);
    EXPECT_EQ(line.neighbours, (std::vector<model::neighbour>{{"a", {"jobs/b", "jobs/c"}, {}}}));
}

TEST(neighbours, beyond_32_of_a_node_are_counted_at_one_time) {
    model::run_record line;
    for (int round = 0; round < 3; ++round) note_neighbours(line, {"a"}, {{"a", jobs(40)}}, own);
    ASSERT_THAT(line.neighbours, SizeIs(1));
    EXPECT_THAT(line.neighbours[0].jobs, SizeIs(32));
    EXPECT_EQ(line.neighbours[0].others, 8);
    // Eight others, later: they may or may not have been counted before.
    note_neighbours(line, {"a"}, {{"a", jobs(8, "x")}}, own);
    EXPECT_EQ(line.neighbours[0].others, 8);
    EXPECT_EQ(line.neighbours[0].jobs.back(), "jobs/job-0031");
}

TEST(neighbours, of_all_runs_stay_below_64_kib_and_the_newest_keep_their_names_longest) {
    std::vector<model::run_record> runs(20);
    std::set<std::string> nodes;
    jobs_by_node now;
    for (int i = 0; i < 40; ++i) {
        const auto node = fmt::format("node-{:03}.example.com", i);
        nodes.insert(node);
        now[node] = jobs(20);
    }
    for (auto& line : runs) note_neighbours(line, nodes, now, own);
    EXPECT_GT(bytes_of(runs), 4 * most_neighbour_bytes);
    bound_neighbours(runs, own);
    EXPECT_LE(bytes_of(runs), most_neighbour_bytes);
    EXPECT_THAT(runs.back().neighbours, SizeIs(40));
    EXPECT_THAT(runs.back().neighbours[39].jobs, SizeIs(20));
    EXPECT_TRUE(runs.front().neighbours.empty());
    const auto once = runs;
    note_neighbours(runs.back(), nodes, now, own);
    bound_neighbours(runs, own);
    EXPECT_EQ(runs, once) << "the same facts change nothing";
}

TEST(neighbours, of_one_run_on_many_nodes_become_numbers) {
    std::vector<model::run_record> runs(1);
    std::set<std::string> nodes;
    jobs_by_node now;
    for (int i = 0; i < 400; ++i) {
        const auto node = fmt::format("node-{:03}", i);
        nodes.insert(node);
        now[node] = jobs(32);
    }
    note_neighbours(runs[0], nodes, now, own);
    bound_neighbours(runs, own);
    EXPECT_LE(bytes_of(runs), most_neighbour_bytes);
    EXPECT_THAT(runs[0].neighbours, SizeIs(400));
    EXPECT_THAT(runs[0].neighbours.front().jobs, SizeIs(32));
    EXPECT_EQ(runs[0].neighbours.back(), (model::neighbour{"node-399", {}, 32}));
    const auto once = runs;
    note_neighbours(runs[0], nodes, now, own);
    bound_neighbours(runs, own);
    EXPECT_EQ(runs, once);
}

TEST(neighbours, that_an_older_version_wrote_shrink) {
    std::vector<model::run_record> runs(2);
    for (auto& line : runs) {
        auto& at = line.neighbours.emplace_back();
        at.node = "a";
        for (int i = 0; i < 4096; ++i) at.jobs.push_back(fmt::format("evil/n{:05}", i));
        at.jobs.emplace_back("jobs/b");
    }
    bound_neighbours(runs, own);
    const std::vector<model::neighbour> small{{"a", {"jobs/b"}, 4096}};
    EXPECT_EQ(runs[0].neighbours, small);
    EXPECT_EQ(runs[1].neighbours, small);
    note_neighbours(runs[1], {"a"}, {{"a", {{"jobs", "c"}}}}, own);
    EXPECT_THAT(runs[1].neighbours[0].jobs, ElementsAre("jobs/b", "jobs/c"));
}

}  // namespace
}  // namespace esi::batchjob

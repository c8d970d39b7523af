#include "model/json_size.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace esi::model {
namespace {

/// As the API server stores it: Go's encoder escapes <, > and &.
template <class T>
std::size_t stored(const T& value) {
    std::size_t out = 0;
    for (const char c : encode(value).dump()) out += c == '<' || c == '>' || c == '&' ? 6 : 1;
    return out;
}

template <class T>
void expect_a_close_bound(const T& value) {
    const auto is = stored(value);
    EXPECT_GE(json_size(value), is);
    EXPECT_LE(json_size(value), is + is / 3 + 64) << encode(value).dump(1).substr(0, 2000);
}

batchjob_status full_status() {
    batchjob_status out;
    out.state = "RunningState";
    out.slots = object_key{"ns", "bed"};
    out.replication = 7;
    out.application = application_ref{"sparkoperator.k8s.io/v1beta2", "SparkApplication", "a",
                                      "11111111-2222-3333-4444-555555555555", "u.7.1"};
    out.problems = {"a \"quoted\" word", "tags <b>&</b>", std::string(50, '\n')};
    out.conditions.push_back({"Running", "True", 3, timestamp{}, "Running", ""});
    for (int i = 0; i < 50; ++i) {
        out.slot_ids.push_back(1'000'000'000 + i);
        out.placements.push_back(
            {1'000'000'000 + i, "11111111-2222-3333-4444-555555555555", "a-exec-1"});
        auto& line = out.runs.emplace_back();
        line.run = "11111111-2222-3333-4444-555555555555.77.1";
        line.nodes = {"node-a", "node-b"};
        line.neighbours = {{"node-a", {"ns/b", "ns/c"}, 1'000'000'000}, {"node-b", {"ns/d"}, {}}};
        line.started = timestamp{wall_time(std::chrono::microseconds(1'700'000'000'123'456))};
        line.message = "it failed";
    }
    return out;
}

TEST(json_size, is_never_less_than_what_is_stored_and_close_to_it) {
    EXPECT_EQ(json_size(std::string_view("ab\"\\\n<")), 2 + 2 + 2 + 2 + 6 + 6u);
    expect_a_close_bound(full_status());
    EXPECT_GE(json_size(batchjob_status{}), stored(batchjob_status{}));

    testbed_status bed;
    auto& layout = bed.layout.emplace();
    layout.resources_per_slot["cpu"] = *quantity::parse("600m");
    layout.places = {0, 1};
    layout.shapes = {{"executors", "worker", 2, layout.resources_per_slot}};
    for (int i = 0; i < 100; ++i) {
        const auto name = fmt::format("ip-10-0-{}.eu-central-1.compute.internal", i);
        layout.nodes.push_back({name, "11111111-2222-3333-4444-555555555555", i});
        bed.node_problems[name] = {"the node is cordoned: kubectl uncordon " + name};
        bed.slots.push_back({i, "FREE", name, i, 0, "a-long-enough-pod-name", "uid", "ns/job"});
    }
    for (const bool compact : {false, true}) {
        layout.compact = compact;
        EXPECT_GE(json_size(bed), stored(bed));
    }
}

}  // namespace
}  // namespace esi::model

#include "testbed/fit_status.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "model/json_size.h"

namespace esi::testbed {
namespace {

using model::json_size;

model::testbed_status full() {
    model::testbed_status out;
    out.layout.emplace().slots_per_node = 1;
    for (int i = 0; i < 100; ++i) {
        const auto name = fmt::format("node-{:03}", i);
        out.layout->nodes.push_back({name, "uid", i});
        out.node_problems[name].assign(20, std::string(1000, 'n'));
    }
    out.nodes_out_of_use = {1, {"node-000"}};
    out.problems.assign(60, std::string(1000, 'p'));
    model::set_condition(out.conditions, "Ready", "False", "NoUsableSlot", std::string(3000, 'c'),
                         1, wall_time{});
    return out;
}

TEST(fit_status, of_a_testbed_shortens_texts_then_problems_of_the_last_nodes) {
    const auto status = full();
    EXPECT_EQ(model::encode(fit_status(status, json_size(status))), model::encode(status));

    const auto shorter = fit_status(status, json_size(status) - 1);
    EXPECT_EQ(shorter.node_problems.size(), 100u);
    EXPECT_EQ(shorter.node_problems.at("node-099"),
              std::vector<std::string>(2, std::string(256, 'n')));
    EXPECT_EQ(shorter.problems.size(), 8u);

    const auto room = json_size(shorter) - 10'000;
    const auto tight = fit_status(status, room);
    EXPECT_LE(json_size(tight), room);
    EXPECT_GT(tight.node_problems.size(), 70u);
    EXPECT_LT(tight.node_problems.size(), 100u);
    EXPECT_TRUE(tight.node_problems.contains("node-000"));

    const auto least = fit_status(status, 0);
    EXPECT_TRUE(least.node_problems.empty());
    EXPECT_EQ(least.layout, status.layout);
    EXPECT_EQ(least.nodes_out_of_use, status.nodes_out_of_use);
    EXPECT_EQ(least.conditions[0].reason, "NoUsableSlot");
    EXPECT_EQ(least.conditions[0].message.size(), 128u);
}

}  // namespace
}  // namespace esi::testbed

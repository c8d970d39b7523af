#include "plan/plan.h"

#include <gtest/gtest.h>

#include "plan/shrink.h"

namespace esi::simulation {
namespace {

happening fault(int at, std::string what, json with = json::object()) {
    return {milliseconds(at), std::move(what), std::move(with)};
}

plan sample() {
    plan out;
    out.seed = 0xffffffffffffffffULL;
    out.scenario = "queue";
    out.placement = "extender";
    out.replicas = 2;
    out.layouts = "alternating";
    out.most_listed_slots = 3;
    out.workload = {fault(0, "create", {{"object", {{"kind", "Node"}}}}),
                    fault(700, "delete", {{"kind", "pods"}, {"name", "a"}})};
    out.faults = {fault(4321, "compact")};
    out.scripts = {{"job-a", {{"seconds", 5}}}};
    out.patience = milliseconds(1000);
    return out;
}

TEST(plan_file, what_is_written_is_read_again) {
    const auto text = to_json(sample()).dump();
    const auto read = plan_from_json(json::parse(text));
    ASSERT_TRUE(read) << read.error().text;
    EXPECT_EQ(*read, sample());
    EXPECT_EQ(read->last(), milliseconds(4321));
}

TEST(plan_file, has_each_happening_and_each_script_in_a_line) {
    auto least = sample();
    least.faults.clear();
    auto text = to_text(to_json(least));
    EXPECT_EQ(json::parse(text), to_json(least));
    EXPECT_NE(text.find(" \"faults\": [],\n"), std::string::npos) << text;
    EXPECT_NE(text.find(R"( "scripts": {
  "job-a": {"seconds":5}
 },
)"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find(R"( "workload": [
  {"at_ms":0,"what":"create","with":{"object":{"kind":"Node"}}},
  {"at_ms":700,"what":"delete","with":{"kind":"pods","name":"a"}}
 ]
}
)"),
              std::string::npos)
        << text;
}

TEST(plan_file, a_wrong_one_is_refused_with_the_place) {
    for (const auto& [text, place] :
         {std::pair{R"([])", "not an object"}, std::pair{R"({"seed": "x"})", "seed"},
          std::pair{R"({"placement": "other"})", "placement"},
          std::pair{R"({"replicas": 0})", "replicas"},
          std::pair{R"({"layouts": "short"})", "layouts"},
          std::pair{R"({"most_listed_slots": 4001})", "most_listed_slots"},
          std::pair{R"({"faults": [{"what": "crash"}]})", "faults"},
          std::pair{R"({"workload": [{"at_ms": 1, "what": "x", "with": 3}]})", "workload"},
          std::pair{R"({"faults": [{"at_ms": 1, "what": "crahs"}]})", "faults[0] crahs"},
          std::pair{R"({"patience_ms": 9223372036854775807})", "patience_ms"},
          std::pair{R"({"scripts": []})", "scripts"}}) {
        const auto read = plan_from_json(json::parse(text));
        ASSERT_FALSE(read) << text;
        EXPECT_NE(read.error().text.find(place), std::string::npos) << read.error().text;
    }
}

bool has(const std::vector<happening>& all, std::string_view what) {
    return std::ranges::find(all, what, &happening::what) != all.end();
}

TEST(shrinking, keeps_what_the_failure_needs_and_nothing_else) {
    plan big;
    big.seed = 77;
    big.replicas = 2;
    big.scripts = {{"job-a", {{"seconds", 5}}}, {"job-b", {{"seconds", 6}}}};
    for (int i = 0; i < 9; ++i)
        big.workload.push_back(fault(i * 111, "create " + std::to_string(i)));
    for (int i = 0; i < 12; ++i) {
        big.faults.push_back(fault(4321 + i,
                                   i == 3   ? "crash"
                                   : i == 8 ? "pause"
                                            : "compact",
                                   {{"ms", 1234}}));
    }
    int asked = 0;
    const auto small = shrink(big, [&](const plan& what) {
        ++asked;
        return has(what.faults, "crash") && has(what.faults, "pause") &&
               has(what.workload, "create 4") && what.scripts.contains("job-b");
    });
    EXPECT_LE(asked, 400);
    ASSERT_EQ(small.faults.size(), 2u);
    EXPECT_EQ(small.faults[0], fault(4000, "crash", {{"ms", 0}}));
    EXPECT_EQ(small.faults[1], fault(4000, "pause", {{"ms", 0}}));
    EXPECT_EQ(small.workload, std::vector<happening>{fault(0, "create 4")});
    EXPECT_EQ(small.scripts, json::parse(R"({"job-b": {"seconds": 6}})"));
    EXPECT_EQ(small.replicas, 1);
    EXPECT_EQ(small.seed, 1u);
}

TEST(shrinking, keeps_what_every_installation_has) {
    plan big;
    const auto made = [](std::string_view kind) {
        return fault(0, "create", {{"object", {{"kind", kind}}}});
    };
    big.workload = {made("Namespace"), made("Pod"), made("PriorityClass"), made("BatchJob")};
    const auto small = shrink(big, [](const plan&) { return true; });
    EXPECT_EQ(small.workload, (std::vector<happening>{made("Namespace"), made("PriorityClass")}));
}

TEST(shrinking, stops_after_so_many_questions) {
    plan big;
    for (int i = 0; i < 50; ++i) big.faults.push_back(fault(i, "compact"));
    int asked = 0;
    const auto small = shrink(
        big,
        [&](const plan& what) {
            ++asked;
            return what.faults.size() >= 40;
        },
        10);
    EXPECT_EQ(asked, 10);
    EXPECT_GE(small.faults.size(), 40u);
}

}  // namespace
}  // namespace esi::simulation

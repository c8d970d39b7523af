#include "check/end_state.h"

#include <gmock/gmock.h>

#include "check/forged_world.h"

namespace esi::simulation {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// The same objects with other uids, tokens, times and names.
json elsewhere(const storage& objects) {
    timeline time;
    storage other([&] { return time.now(); });
    const auto renamed = [](std::string text) {
        for (auto [from, to] :
             {std::pair<std::string, std::string>{"0000-4000-8000", "1111-4000-8000"},
              {"exec-1", "exec-7"},
              {"2026-01-02T03:04:05Z", "2026-02-03T00:00:00.123456Z"}}) {
            for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + 1)) {
                text.replace(at, from.size(), to);
            }
        }
        return text;
    };
    for (const auto* type : all_kinds()) {
        for (const auto& each : objects.all(*type)) {
            other.put(kinds::name_space, {{"metadata", {{"name", "later"}, {"uid", "n"}}}});
            other.put(*type, json::parse(renamed(each->body().dump())));
        }
    }
    return end_state(other);
}

TEST(end_state, names_tokens_and_times_make_no_difference) {
    forged_world world;
    world.until_placed();
    world.change("exec-1", [&](json&) {});
    EXPECT_THAT(differences(end_state(world.store), elsewhere(world.store)), IsEmpty());
}

TEST(end_state, which_pod_of_a_run_took_which_slot_makes_no_difference) {
    const auto with = [](const char* one, const char* two) {
        forged_world world;
        world.until_placed();
        for (auto [name, slot] : {std::pair{"exec-8", one}, {"exec-9", two}}) {
            auto pod = world.executor(name, name);
            pod["metadata"]["annotations"]["esi.tu-berlin.de/slot"] = slot;
            world.put(kinds::pod, pod);
        }
        return end_state(world.store);
    };
    EXPECT_THAT(differences(with("0", "1"), with("1", "0")), IsEmpty());
    EXPECT_THAT(differences(with("0", "1"), with("0", "0")), testing::SizeIs(1));
}

TEST(end_state, a_job_manager_is_told_by_its_cluster) {
    const auto with = [](const char* name, const char* phase) {
        forged_world world;
        world.until_placed();
        world.put(kinds::pod, {{"metadata",
                                {{"name", name},
                                 {"namespace", "default"},
                                 {"uid", "00000000-0000-4000-8000-00000000000f"},
                                 {"labels", {{"app", "words"}, {"component", "jobmanager"}}}}},
                               {"spec", json::object()},
                               {"status", {{"phase", phase}}}});
        return end_state(world.store);
    };
    EXPECT_THAT(
        differences(with("words-5d4c-b2k7x", "Running"), with("words-5d4c-zz9pq", "Running")),
        IsEmpty());
    EXPECT_THAT(
        differences(with("words-5d4c-b2k7x", "Running"), with("words-5d4c-b2k7x", "Failed")),
        testing::SizeIs(1));
}

TEST(end_state, a_token_is_told_by_whom_it_is_of) {
    forged_world world;
    world.until_placed();
    const auto state = end_state(world.store);
    EXPECT_EQ(state["testbeds"]["default/grid"]["metadata"]["annotations"]["esi.tu-berlin.de/hold"],
              "<Scheduling queue hold>");
    EXPECT_EQ(state["batchjobs"]["default/a"]["spec"]["creationRequest"]["run"],
              "<Scheduling queue run>");
    EXPECT_EQ(state["schedulings"]["default/queue"]["status"]["assignments"][0]["slotIds"],
              json::array({0}));
    EXPECT_EQ(state["pods"]["ghosts"]["default/grid node-0/0"].size(), 1U);
}

TEST(end_state, a_state_a_slot_and_a_ghost_make_a_difference) {
    forged_world world;
    world.until_placed();
    const auto before = end_state(world.store);
    world.job["status"]["state"] = "FailedState";
    world.put(kinds::batchjob, world.job);
    world.queue["status"]["assignments"][0]["slotIds"] = {1};
    world.put(kinds::scheduling, world.queue);
    world.remove_pod("grid-ghost-1");
    EXPECT_THAT(
        differences(before, end_state(world.store)),
        ElementsAre(
            R"(batchjobs .default/a .status .state: "SubmittedState" is "FailedState")",
            R"(pods .ghosts .default/grid node-1/0: [{"deleting":false,"node":"node-1","phase":"Running"}] is missing)",
            R"(schedulings .default/queue .status .assignments[0] .slotIds[0]: 0 is 1)"));
}

TEST(end_state, a_condition_differs_by_status_and_reason_only) {
    const auto with = [](const char* reason, const char* time) {
        forged_world world;
        world.job["status"]["conditions"] = {{{"type", "Running"},
                                              {"status", "False"},
                                              {"reason", reason},
                                              {"message", time},
                                              {"lastTransitionTime", time}}};
        world.put(kinds::batchjob, world.job);
        return end_state(world.store);
    };
    EXPECT_THAT(differences(with("Ended", "2026-01-02T03:04:05Z"), with("Ended", "later")),
                IsEmpty());
    EXPECT_THAT(
        differences(with("Ended", ""), with("NotStarted", "")),
        ElementsAre(
            R"(batchjobs .default/a .status .conditions .Running: "False/Ended" is "False/NotStarted")"));
}

TEST(end_state, many_differences_are_counted) {
    json a = json::object();
    json b = json::object();
    for (int i = 0; i < 60; ++i) {
        a[std::to_string(i)] = 1;
        b[std::to_string(i)] = 2;
    }
    const auto out = differences(a, b);
    ASSERT_EQ(out.size(), 51U);
    EXPECT_EQ(out.back(), "and 10 more");
}

}  // namespace
}  // namespace esi::simulation

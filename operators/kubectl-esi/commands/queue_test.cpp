#include "kubectl-esi/commands/queue.h"

#include <gtest/gtest.h>

#include "scheduling/answers/testing.h"

namespace esi::kubectl {
namespace {

using namespace std::string_literals;

using scheduling::world;
using scheduling::answers::snapshot_of;

class queues : public testing::Test {
protected:
    void SetUp() override {
        w.add_testbed("t", 2, 1);
        for (const char* name : {"a", "b", "c"}) w.add_job(name);
    }
    std::vector<queued> ask(bool finished = false, const std::string& ns = "ns") {
        return queue_of(snapshot_of(w), ns, finished, w.now);
    }
    /// "first second": the names in their order.
    std::string names(bool finished = false) {
        std::string out;
        for (const auto& each : ask(finished)) out += (out.empty() ? "" : " ") + each.name;
        return out;
    }
    world w;
};

TEST_F(queues, the_holder_is_before_those_that_wait_and_these_are_by_priority_and_age) {
    w.add_queue("holder", "t", {"a"});
    w.settle();
    w.add_queue("old", "t", {"b"});
    w.add_queue("young", "t", {"b"});
    w.add_queue("urgent", "t", {"b"});
    w.change("urgent", [](auto& of) { of.priority = 5; });
    w.settle();
    EXPECT_EQ(names(), "holder urgent old young");
    const auto seen = ask();
    EXPECT_EQ(seen.at(0).place, 1);
    EXPECT_EQ(seen.at(3).place, 4);
    EXPECT_EQ(seen.at(1).reason, "TestbedHeld");
    EXPECT_FALSE(seen.at(1).waits_for.empty());
}

TEST_F(queues, an_end_and_a_start_are_estimated_by_recorded_runs) {
    scheduling::answers::record(w, "a", {100, 100});
    w.add_queue("holder", "t", {"a"});
    w.change("holder", [](auto& of) { of.release_on_completion = true; });
    w.settle();
    scheduling::answers::began(w, "a", 30);
    w.add_queue("next", "t", {"b"});
    w.settle();
    const auto seen = ask();
    ASSERT_EQ(seen.size(), 2);
    EXPECT_EQ(seen[0].end->in_seconds, 69) << "a second went by with the next object";
    EXPECT_EQ(seen[1].start->in_seconds, 69) << "then the Testbed is released";
    EXPECT_EQ(seen[1].start->runs, 2);
}

TEST_F(queues, the_table) {
    w.add_queue("holder", "t", {"a"});
    w.settle();
    w.add_queue("next", "t", {"b"});
    w.settle();
    auto seen = ask();
    for (auto& each : seen) {
        each.created = model::timestamp{w.now - seconds(300)};
        if (each.started) each.started = model::timestamp{w.now - seconds(200)};
        each.waits_for = each.place == 1 ? "" : "the release";
    }
    EXPECT_EQ(queue_text(seen, false, false, {}, w.now), R"(
TESTBED   PLACE   NAME     MODE    STATE                     REASON        PROGRESS   AGE   START       END      WAITS-FOR
ns/t      1       holder   queue   AwaitingCompletionState   <none>        0/1        5m    3m20s ago   <none>   <none>
ns/t      2       next     queue   AcquireState              TestbedHeld   0/1        5m    <none>      <none>   the release
)"s.substr(1));
}

TEST_F(queues, those_of_other_namespaces_are_not_shown_but_count) {
    w.add_queue("holder", "t", {"a"});
    w.settle();
    EXPECT_TRUE(ask(false, "other").empty());
    EXPECT_EQ(ask(false, "").size(), 1);
}

}  // namespace
}  // namespace esi::kubectl

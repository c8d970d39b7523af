#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>

#include "check/forged_world.h"
#include "check/invariants.h"

namespace esi::simulation {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

/// Two nodes of one CPU, a third that is a labelled Testbed's, and a claim of two places.
struct claim_rules_test : testing::Test {
    void SetUp() override {
        for (const auto* name : {"n1", "n2", "n3"}) node(name);
        put(kinds::priority_class, {{"metadata", {{"name", "esi-claim-0"}}}, {"value", 0}});
        put(kinds::testbed, {{"metadata", meta("grid")},
                             {"spec",
                              {{"slotsPerNode", 1},
                               {"nodeLabel", "slots"},
                               {"isolation", "None"},
                               {"resourcesPerSlot", {{"cpu", "100m"}, {"memory", "100Mi"}}}}}});
        judge = std::make_unique<invariants>(store, time);
        judge->all_disturbances_are_told();
        judge->leads("testbed");
        wait(60s);
    }

    void wait(steady_time::duration passed) { time.advance_to(time.now() + passed); }
    void beat(seconds passed) {
        for (auto left = passed; left > 0s; left -= 2s) {
            wait(2s);
            put(kinds::lease, {{"metadata", {{"name", "l"}, {"namespace", "default"}}}});
        }
    }
    json put(const kube::resource_type& type, json body) { return store.put(type, body)->body(); }
    static json meta(const std::string& name) {
        return {{"name", name},
                {"namespace", "default"},
                {"uid", name},
                {"generation", 1},
                {"creationTimestamp", "2026-01-02T03:04:05Z"},
                {"finalizers", {"esi.tu-berlin.de/held"}}};
    }
    void node(const std::string& name, const std::string& number = {}) {
        json labels = json::object();
        if (name == "n3") labels["slots"] = "0";
        if (!number.empty()) labels["slots"] = number;
        put(kinds::node, {{"metadata", {{"name", name}, {"uid", name}, {"labels", labels}}},
                          {"status",
                           {{"allocatable", {{"cpu", "1"}, {"memory", "2Gi"}, {"pods", "10"}}},
                            {"conditions", {{{"type", "Ready"}, {"status", "True"}}}}}}});
    }
    static json size() { return {{"cpu", "600m"}, {"memory", "100Mi"}}; }
    /// The Scheduling whose claim it is; it waits for that or for `reason`.
    void plan_of(const std::string& name, std::string_view state, std::string_view reason,
                 int places = 2) {
        owned = true;
        json shape{
            {"name", "workers"}, {"role", "worker"}, {"count", places}, {"resources", size()}};
        auto metadata = meta(name);
        metadata["uid"] = "plan-" + name;
        put(kinds::scheduling,
            {{"metadata", std::move(metadata)},
             {"spec",
              {{"queueBased", {{{"name", "a"}}}},
               {"claim",
                {{"shapes", json::array({shape})}, {"packing", "Pack"}, {"timeoutSeconds", 30}}}}},
             {"status",
              {{"state", state},
               {"conditions",
                {{{"type", "Acquired"},
                  {"status", state == "AcquireState" ? "False" : "True"},
                  {"reason", reason}}}}}}});
    }
    void claim(const std::string& name, json layout = nullptr, bool suspend = false) {
        json shape{{"name", "workers"}, {"role", "worker"}, {"count", 2}, {"resources", size()}};
        json body{{"metadata", meta(name)},
                  {"spec",
                   {{"isolation", "None"},
                    {"claim",
                     {{"shapes", json::array({shape})},
                      {"packing", "Pack"},
                      {"suspend", suspend},
                      {"timeoutSeconds", 30}}}}}};
        if (owned) {
            body["metadata"]["ownerReferences"] = {{{"kind", "Scheduling"},
                                                    {"name", name},
                                                    {"uid", "plan-" + name},
                                                    {"controller", true}}};
        }
        if (!layout.is_null()) {
            if (!layout["places"].empty()) layout["shapes"] = json::array({shape});
            body["status"] = {{"layout", std::move(layout)}};
        }
        put(kinds::testbed, std::move(body));
    }
    void form() {
        claim("c");
        claim("c", on({"n1", "n2"}, {0, 1}));
    }
    static json on(std::vector<std::string> nodes, std::vector<int> places, int revision = 1) {
        json list = json::array();
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            list.push_back({{"name", nodes[i]}, {"uid", nodes[i]}, {"id", i}});
        }
        return {{"revision", revision},
                {"slotsPerNode", 0},
                {"nodes", std::move(list)},
                {"places", std::move(places)}};
    }
    /// Bound by the scheduler.
    void stranger(const std::string& name, const std::string& to) {
        json body{{"metadata", {{"name", name}, {"namespace", "default"}, {"uid", name}}},
                  {"status", {{"phase", "Pending"}}}};
        body["spec"] = {{"schedulerName", "default-scheduler"}};
        body["spec"]["containers"] =
            json::array({{{"name", "main"}, {"resources", {{"requests", size()}}}}});
        body = put(kinds::pod, body);
        body["spec"]["nodeName"] = to;
        put(kinds::pod, body);
    }
    std::vector<std::string> rules() const {
        std::vector<std::string> out;
        for (const auto& one : judge->violations()) {
            if (one.rule.starts_with("claim-")) out.push_back(one.rule);
        }
        return out;
    }

    bool owned = false;
    timeline time;
    storage store{[this] { return time.now(); }};
    /// When all know the nodes.
    void form_on(const char* one, const char* other) {
        wait(60s);
        claim("c");
        claim("c", on({one, other}, {0, 1}));
    }

    std::unique_ptr<invariants> judge;
};

TEST_F(claim_rules_test, all_places_on_free_nodes_are_well) {
    form();
    EXPECT_THAT(rules(), IsEmpty());
}

TEST_F(claim_rules_test, a_place_less_is_a_claim_in_part) {
    claim("c");
    claim("c", on({"n1"}, {0}));
    EXPECT_THAT(rules(), ElementsAre("claim-in-part"));
}

TEST_F(claim_rules_test, a_labelled_node_is_not_the_claims) {
    claim("c");
    claim("c", on({"n1", "n3"}, {0, 1}));
    EXPECT_THAT(rules(), ElementsAre("claim-on-labelled-node"));
}

TEST_F(claim_rules_test, nodes_that_have_the_same_number_are_the_claims) {
    node("n4", "0");
    form_on("n3", "n4");
    EXPECT_THAT(rules(), IsEmpty());
}

TEST_F(claim_rules_test, a_node_without_a_number_is_the_claims) {
    node("n4", "zone-a");
    form_on("n1", "n4");
    EXPECT_THAT(rules(), IsEmpty());
}

TEST_F(claim_rules_test, of_nodes_with_the_same_number_that_of_a_layout_is_not_the_claims) {
    node("n4", "0");
    auto grid = store.find(kinds::testbed, "default", "grid")->body();
    grid["status"] = {{"layout",
                       {{"revision", 1},
                        {"nodes", {{{"name", "n3"}, {"uid", "n3"}, {"id", 0}}}},
                        {"slotsPerNode", 1},
                        {"resourcesPerSlot", {{"cpu", "100m"}, {"memory", "100Mi"}}}}}};
    put(kinds::testbed, grid);
    wait(60s);
    claim("c");
    claim("c", on({"n1", "n4"}, {0, 1}));
    EXPECT_THAT(rules(), IsEmpty());
    claim("c", on({}, {}, 2));
    claim("c", on({"n1", "n3"}, {0, 1}, 3));
    EXPECT_THAT(rules(), Contains("claim-on-labelled-node"));
}

TEST_F(claim_rules_test, places_need_room_beside_pods_and_places_of_others) {
    claim("c");
    claim("c", on({"n1"}, {0, 0}));
    EXPECT_THAT(rules(), ElementsAre("claim-without-room"));
}

TEST_F(claim_rules_test, a_pod_that_is_known_takes_its_room) {
    stranger("s", "n1");
    wait(10s);
    form();
    EXPECT_THAT(rules(), ElementsAre("claim-without-room"));
}

TEST_F(claim_rules_test, what_another_claim_waits_for_is_not_free) {
    claim("b");
    claim("b", on({"n1", "n2"}, {0, 1}));
    form();
    EXPECT_THAT(rules(), ElementsAre("claim-without-room", "claim-without-room"));
}

TEST_F(claim_rules_test, a_suspended_one_gets_nothing) {
    claim("c", nullptr, true);
    claim("c", on({"n1", "n2"}, {0, 1}), true);
    EXPECT_THAT(rules(), ElementsAre("claim-while-suspended"));
}

TEST_F(claim_rules_test, places_are_given_back_only_after_the_time_that_was_asked_for) {
    form();
    beat(10s);
    claim("c", on({}, {}, 2));
    EXPECT_THAT(rules(), ElementsAre("claim-given-back-early"));
}

TEST_F(claim_rules_test, an_operator_that_cannot_know_that_all_are_free_may_give_them_back) {
    form();
    beat(10s);
    judge->disturbed("testbed", time.now());
    claim("c", on({}, {}, 2));
    EXPECT_THAT(rules(), IsEmpty());
}

TEST_F(claim_rules_test, after_that_time_they_may_be) {
    form();
    beat(32s);
    claim("c", on({}, {}, 2));
    EXPECT_THAT(rules(), IsEmpty());
}

TEST_F(claim_rules_test, one_that_fits_does_not_wait_for_ever) {
    claim("c");
    wait(60s);
    judge->at_end();
    EXPECT_THAT(rules(), ElementsAre("claim-waits"));
}

TEST_F(claim_rules_test, one_whose_class_nobody_has_made_waits) {
    store.erase(kinds::priority_class, "", "esi-claim-0");
    claim("c");
    wait(60s);
    judge->at_end();
    EXPECT_THAT(rules(), IsEmpty());
}

TEST_F(claim_rules_test, one_that_does_not_fit_may) {
    stranger("s", "n1");
    claim("c");
    wait(60s);
    judge->at_end();
    EXPECT_THAT(rules(), IsEmpty());
}

TEST_F(claim_rules_test, one_that_gave_back_is_under_way_until_it_may_have_its_nodes_again) {
    claim("c");
    EXPECT_FALSE(judge->claims_under_way());
    claim("c", on({"n1", "n2"}, {0, 1}));
    beat(32s);
    claim("c", on({}, {}, 2));
    EXPECT_TRUE(judge->claims_under_way());
    judge->at_end();
    EXPECT_THAT(rules(), IsEmpty());
    wait(11min);
    EXPECT_FALSE(judge->claims_under_way());
    judge->at_end();
    EXPECT_THAT(rules(), ElementsAre("claim-waits"));
}

// --- of Schedulings ---

TEST_F(claim_rules_test, one_that_its_plan_waits_for_is_well) {
    plan_of("c", "AcquireState", "ClaimWaiting");
    form();
    judge->at_end();
    EXPECT_THAT(rules(), IsEmpty());
}

TEST_F(claim_rules_test, another_than_its_plan_asks_for_is_seen) {
    plan_of("c", "AcquireState", "ClaimWaiting", 3);
    claim("c");
    EXPECT_THAT(rules(), ElementsAre("claim-unlike-its-plan"));
}

TEST_F(claim_rules_test, one_of_a_plan_that_is_over_is_seen) {
    plan_of("c", "FinishedState", "Acquired");
    form();
    judge->at_end();
    EXPECT_THAT(rules(), ElementsAre("claim-left"));
}

TEST_F(claim_rules_test, one_of_a_plan_that_is_gone_is_seen) {
    owned = true;
    form();
    judge->at_end();
    EXPECT_THAT(rules(), ElementsAre("claim-left"));
}

TEST_F(claim_rules_test, places_that_its_plan_cannot_use_are_seen) {
    plan_of("c", "AcquireState", "JobHeld");
    form();
    judge->at_end();
    EXPECT_THAT(rules(), ElementsAre("claim-unused"));
}

/// A claim of a worker and a coordinator, and a job that takes both.
struct claim_in_use_test : testing::Test {
    forged_world world;

    void SetUp() override {
        world.make_claim();
        world.begin();
    }
    void make_one_ghost() {
        world.put(kinds::pod, world.ghost(0, "ghost-0", false));
        world.bind("grid-ghost-0", "node-0");
    }
};

TEST_F(claim_in_use_test, both_places_in_one_assignment_are_well) {
    world.until_placed();
    world.swap_in();
    EXPECT_THAT(world.broken(), IsEmpty());
}

TEST_F(claim_in_use_test, a_hold_before_the_last_ghost_is_seen) {
    make_one_ghost();
    world.set_finalizer();
    world.hold();
    EXPECT_THAT(world.broken(), ElementsAre("claim-held-in-part"));
}

TEST_F(claim_in_use_test, a_pod_before_the_last_ghost_is_seen) {
    make_one_ghost();
    world.set_finalizer();
    world.hold();
    world.acquire();
    world.assign();
    world.make_executor();
    EXPECT_THAT(world.broken(), ElementsAre("claim-held-in-part", "claim-used-in-part"));
}

TEST_F(claim_in_use_test, a_ghost_that_went_again_was_there) {
    world.make_ghosts();
    world.remove_pod("grid-ghost-1");
    world.set_finalizer();
    world.hold();
    EXPECT_THAT(world.broken(), IsEmpty());
}

TEST_F(claim_in_use_test, an_assignment_without_its_coordinator_is_seen) {
    world.slots = {0};
    world.make_ghosts();
    world.set_finalizer();
    world.hold();
    world.acquire();
    world.assign();
    EXPECT_THAT(world.broken(), ElementsAre("assignment-without-coordinator"));
}

TEST_F(claim_in_use_test, a_driver_in_the_place_of_a_worker_is_seen) {
    world.until_placed();
    world.change("exec-1", [](json& body) { body["metadata"]["labels"]["spark-role"] = "driver"; });
    world.swap_in();
    EXPECT_THAT(world.broken(), ElementsAre("pod-of-another-role"));
}

TEST_F(claim_in_use_test, a_worker_in_the_place_of_a_coordinator_is_seen) {
    world.until_placed();
    world.place_as("exec-1", "exec-uid-1");
    world.job["status"]["placements"][0]["slot"] = 1;
    world.job = world.put(kinds::batchjob, world.job);
    world.remove_pod("grid-ghost-1");
    world.let_in("exec-1", "1", "node-1");
    EXPECT_THAT(world.broken(), ElementsAre("pod-of-another-role"));
}

TEST_F(claim_in_use_test, at_the_end_a_plan_that_waits_for_a_claim_with_all_its_ghosts_is_seen) {
    world.make_ghosts();
    world.queue["status"]["state"] = "AcquireState";
    world.queue["status"]["observedGeneration"] = 1;
    world.queue["status"]["conditions"] = {
        {{"type", "Acquired"}, {"status", "False"}, {"reason", "ClaimWaiting"}}};
    world.queue = world.put(kinds::scheduling, world.queue);
    world.judge->at_end();
    EXPECT_THAT(world.broken(), Contains("untrue-reason"));
}

TEST_F(claim_in_use_test, at_the_end_a_job_may_wait_for_the_place_of_its_coordinator) {
    world.until_it_waits(world.queue["spec"]["queueBased"], "a place for its driver");
    world.remove_pod("grid-ghost-1");
    world.judge->at_end();
    EXPECT_THAT(world.broken(), Not(Contains("start-withheld")));
}

}  // namespace
}  // namespace esi::simulation

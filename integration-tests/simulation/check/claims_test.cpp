#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>

#include "check/invariants.h"

namespace esi::simulation {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

/// Two nodes of one CPU, a third that is a labelled Testbed's, and a claim of two places.
struct claim_rules_test : testing::Test {
    void SetUp() override {
        for (const auto* name : {"n1", "n2", "n3"}) node(name);
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
    void node(const std::string& name) {
        json labels = json::object();
        if (name == "n3") labels["slots"] = "0";
        put(kinds::node, {{"metadata", {{"name", name}, {"uid", name}, {"labels", labels}}},
                          {"status",
                           {{"allocatable", {{"cpu", "1"}, {"memory", "2Gi"}, {"pods", "10"}}},
                            {"conditions", {{{"type", "Ready"}, {"status", "True"}}}}}}});
    }
    static json size() { return {{"cpu", "600m"}, {"memory", "100Mi"}}; }
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
        if (!layout.is_null()) {
            if (!layout["places"].empty()) layout["shapes"] = json::array({shape});
            body["status"] = {{"layout", std::move(layout)}};
        }
        put(kinds::testbed, std::move(body));
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

    timeline time;
    storage store{[this] { return time.now(); }};
    std::unique_ptr<invariants> judge;
};

TEST_F(claim_rules_test, all_places_on_free_nodes_are_well) {
    claim("c");
    claim("c", on({"n1", "n2"}, {0, 1}));
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

TEST_F(claim_rules_test, places_need_room_beside_pods_and_places_of_others) {
    claim("c");
    claim("c", on({"n1"}, {0, 0}));
    EXPECT_THAT(rules(), ElementsAre("claim-without-room"));
}

TEST_F(claim_rules_test, a_pod_that_is_known_takes_its_room) {
    stranger("s", "n1");
    wait(10s);
    claim("c");
    claim("c", on({"n1", "n2"}, {0, 1}));
    EXPECT_THAT(rules(), ElementsAre("claim-without-room"));
}

TEST_F(claim_rules_test, what_another_claim_waits_for_is_not_free) {
    claim("b");
    claim("b", on({"n1", "n2"}, {0, 1}));
    claim("c");
    claim("c", on({"n1", "n2"}, {0, 1}));
    EXPECT_THAT(rules(), ElementsAre("claim-without-room", "claim-without-room"));
}

TEST_F(claim_rules_test, a_suspended_one_gets_nothing) {
    claim("c", nullptr, true);
    claim("c", on({"n1", "n2"}, {0, 1}), true);
    EXPECT_THAT(rules(), ElementsAre("claim-while-suspended"));
}

TEST_F(claim_rules_test, places_are_given_back_only_after_the_time_that_was_asked_for) {
    claim("c");
    claim("c", on({"n1", "n2"}, {0, 1}));
    beat(10s);
    claim("c", on({}, {}, 2));
    EXPECT_THAT(rules(), ElementsAre("claim-given-back-early"));
}

TEST_F(claim_rules_test, an_operator_that_cannot_know_that_all_are_free_may_give_them_back) {
    claim("c");
    claim("c", on({"n1", "n2"}, {0, 1}));
    beat(10s);
    judge->disturbed("testbed", time.now());
    claim("c", on({}, {}, 2));
    EXPECT_THAT(rules(), IsEmpty());
}

TEST_F(claim_rules_test, after_that_time_they_may_be) {
    claim("c");
    claim("c", on({"n1", "n2"}, {0, 1}));
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

}  // namespace
}  // namespace esi::simulation

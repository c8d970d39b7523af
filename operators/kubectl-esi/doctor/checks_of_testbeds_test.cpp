#include <gtest/gtest.h>

#include "kubectl-esi/doctor/quotas.h"
#include "kubectl-esi/doctor/testing.h"

namespace esi::kubectl::doctor {
namespace {

constexpr const char* refused =
    R"(ghost g fails: create Pod lab/g: HTTP 403 Forbidden: pods "g" is forbidden: )"
    "exceeded quota: small, requested: limits.cpu=1500m,pods=1, used: limits.cpu=4,pods=2, "
    "limited: "
    "limits.cpu=4,pods=2";

TEST(quotas, are_read_from_the_words_of_the_api_server) {
    const auto found = quota_refusal_in(refused);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->quota, "small");
    EXPECT_EQ(found->requested.at("limits.cpu").milli, 1500);
    EXPECT_EQ(found->requested.at("pods").milli, 1000);
    EXPECT_EQ(found->limited.at("limits.cpu").milli, 4000);
    EXPECT_EQ(found->limited.size(), 2U);
    EXPECT_FALSE(quota_refusal_in("the node is cordoned"));
    const auto cut = quota_refusal_in("exceeded quota: q, requested: limits.cpu=1, used: lim");
    ASSERT_TRUE(cut);
    EXPECT_TRUE(cut->limited.empty());
}

TEST(doctor_of_testbeds, a_quota_gets_the_room_of_all_slots_that_it_refuses) {
    cluster at;
    at.testbed->status.state = "ERROR";
    at.testbed->status.node_problems = {{"n0", {refused}}, {"n1", {refused}}};
    at.testbed->status.counts.emplace().error = 3;
    EXPECT_EQ(at.report(),
              "testbeds error: ResourceQuota lab/small: it refuses 3 ghosts of Testbed slots: the "
              "slots are in ERROR -> kubectl patch resourcequota small -n lab --type=merge -p "
              R"('{"spec":{"hard":{"limits.cpu":"8500m","pods":"5"}}}')"
              "\n");
}

TEST(doctor_of_testbeds, two_of_one_label_are_an_error_of_the_younger_one) {
    cluster at;
    const auto second = object<model::testbed>("second");
    second->spec.node_label = "lab/slots";
    second->status.observed_generation = 1;
    second->metadata.creation_timestamp = ago(60);
    at.more_testbeds = {second};
    EXPECT_EQ(at.report(),
              "testbeds error: Testbed lab/second: its label lab/slots is also that of the older "
              "Testbed lab/slots, whose slots have the room of the nodes first -> kubectl patch "
              R"(testbed second -n lab --type=merge -p '{"spec":{"nodeLabel":"lab/lab-second"}}')"
              " && kubectl esi nodes second --count 1 -n lab\n");
    second->spec.node_label = "lab/other";
    at.slots_node->metadata.labels["lab/other"] = "0";
    EXPECT_EQ(at.report(),
              "testbeds error: Testbed lab/second: nodes n0 have the label of the older Testbed "
              "lab/slots, too, whose slots have their room first -> kubectl label nodes "
              "-l lab/other,lab/slots lab/other-\n");
}

TEST(doctor_of_testbeds, slots_in_error_are_reported_by_their_cause) {
    cluster at;
    at.testbed->status.state = "ERROR";
    at.testbed->status.node_problems = {{"n0", {"slot 0 has two pods: a and b"}},
                                        {"n1", {"slot 0 has two pods: a and b"}}};
    EXPECT_EQ(at.report(),
              "testbeds error: Testbed lab/slots: slots on n0, n1 are in ERROR: slot 0 has two "
              "pods: a and b -> kubectl events -n lab --for testbed/slots --types=Warning\n");
    at.testbed->status.node_problems.clear();
    at.testbed->status.reason = "OrdersDisputed";
    at.testbed->status.message = "a slot is given twice";
    EXPECT_EQ(at.report(),
              "testbeds error: Testbed lab/slots: OrdersDisputed: a slot is given twice -> kubectl "
              "describe testbed slots -n lab\n");
}

TEST(doctor_of_testbeds, nodes_with_one_number_get_another) {
    cluster at;
    at.driver_node->metadata.labels["lab/slots"] = "0";
    const auto found = at.look();
    ASSERT_EQ(found.size(), 2U) << at.report();
    EXPECT_EQ(found[0].text, "nodes n0, n1 have the label lab/slots=0: none of them gives slots");
    EXPECT_EQ(found[0].remedy, "kubectl label node n1 lab/slots=1 --overwrite");
}

TEST(doctor_of_testbeds, many_nodes_with_one_fault_are_reported_some_at_a_time) {
    cluster at;
    at.testbed->status.nodes_out_of_use.emplace();
    for (int i = 0; i < 20; ++i) {
        at.testbed->status.nodes_out_of_use->names.push_back("gone-" + std::to_string(i));
    }
    EXPECT_EQ(at.look().size(), 5U) << at.report();
}

TEST(driver_nodes, are_those_without_the_label_of_the_testbed_of_the_job) {
    cluster at;
    const auto second = object<model::testbed>("second");
    second->spec.node_label = "lab/second";
    second->status.observed_generation = 1;
    at.more_testbeds = {second};
    at.driver_node->metadata.labels["lab/second"] = "0";
    EXPECT_EQ(at.report(), "") << "drivers of each run on the nodes of the other";
    at.slots_node->taints = {{std::string(model::names::taint), "uid", "NoSchedule"}};
    EXPECT_TRUE(at.report().starts_with("driver nodes warning: Testbed lab/second: "))
        << at.report();
    EXPECT_TRUE(
        at.report().ends_with("-> kubectl label node n1 lab/second-   # it is then left for "
                              "them\n"))
        << at.report();
    at.job->metadata.namespace_ = "elsewhere";
    at.all.accounts.clear();
    EXPECT_EQ(at.report(), "") << "no job may use the Testbed";
}

TEST(unseen, what_a_check_may_not_read_is_unknown) {
    cluster at;
    at.all.hidden = {"testbeds", "batchjobs", "schedulings", "pods"};
    at.all.nodes_seen = at.all.namespaces_seen = presence::hidden;
    for (auto& each : at.all.operators) each.deployment = presence::hidden;
    at.all.accounts["lab/spark"] = presence::hidden;
    std::set<std::string> checks;
    for (const auto& each : at.look()) {
        EXPECT_EQ(each.severity, "unknown") << each.check << ": " << each.text;
        checks.insert(each.check);
    }
    EXPECT_EQ(checks, (std::set<std::string>{"deployments", "testbeds", "driver nodes", "jobs",
                                             "accounts", "plans", "scheduler", "namespaces"}));
}

TEST(plans, get_commands_that_name_their_objects) {
    cluster at;
    at.plan->spec.testbed = {"owner", "shared"};
    at.plan->spec.queue_based = {{{"", "a"}, {"", "gone"}}};
    const auto shared = object<model::testbed>("shared");
    shared->metadata.namespace_ = "owner";
    shared->spec.claim.emplace();
    shared->status.observed_generation = 1;
    shared->spec.allowed_namespaces = {"first"};
    at.more_testbeds = {shared};
    const std::pair<const char*, const char*> rows[] = {
        {"NotAllowed",
         "kubectl patch testbed shared -n owner --type=merge -p "
         R"('{"spec":{"allowedNamespaces":["first","lab"]}}')"},
        {"JobMissing", "kubectl esi cancel plan gone -n lab   # or create them"},
        {"JobFailed", "kubectl esi reset --all -n lab"},
    };
    for (const auto& [reason, remedy] : rows) {
        at.plan->status.reason = reason;
        const auto found = at.look();
        ASSERT_EQ(found.size(), 1U) << at.report();
        EXPECT_EQ(found[0].remedy, remedy);
    }
}

}  // namespace
}  // namespace esi::kubectl::doctor

#include "kubectl-esi/doctor/claims.h"

#include <gtest/gtest.h>

#include "kubectl-esi/doctor/testing.h"

namespace esi::kubectl::doctor {
namespace {

/// The cluster, whose Testbed "slots" has a claim.
struct with_claim : cluster {
    with_claim() {
        testbed->spec = {};
        testbed->spec.claim.emplace().shapes = {{"executors", "worker", 9, {}, {}}};
        slots_node->metadata.labels.clear();
    }
    void say(const char* status, const char* reason, const char* message, int since = 5) {
        model::condition formed;
        formed.type = "Formed";
        formed.status = status;
        formed.reason = reason;
        formed.message = message;
        formed.last_transition_time = ago(since);
        testbed->status.conditions = {formed};
        if (formed.status == "False") testbed->status.state = "ERROR";
    }
};

TEST(doctor_of_claims, finds_nothing_where_all_places_are_there) {
    with_claim at;
    at.say("True", "Placed", "layout 1: 9 places on 3 nodes");
    EXPECT_EQ(at.report(), "");
}

TEST(doctor_of_claims, says_what_the_condition_says_and_what_mends_it) {
    struct row {
        const char* reason;
        const char* remedy;
    };
    const row rows[] = {
        {"NeverFits",
         "kubectl delete testbed slots -n lab   # then create it again with fewer or smaller "
         "places, or add nodes"},
        {"Disabled",
         "kubectl apply --server-side --force-conflicts -f helm/manifests/claims && kubectl -n "
         "esi-system patch deploy/esi-testbed --type=json -p "
         R"('[{"op":"add","path":"/spec/template/spec/containers/0/args/-","value":"--claims"}]')"},
        {"PriorityClassMissing",
         "kubectl create priorityclass esi-claim-7 --value=7 --preemption-policy=Never"},
    };
    for (const auto& row : rows) {
        with_claim at;
        at.testbed->spec.claim->priority = 7;
        at.say("False", row.reason, "so it is");
        EXPECT_EQ(at.report(), "testbeds error: Testbed lab/slots: its claim has no places (" +
                                   std::string(row.reason) + "): so it is -> " + row.remedy + "\n");
    }
}

TEST(doctor_of_claims, a_claim_that_waits_for_room_is_reported_after_a_minute) {
    with_claim at;
    at.testbed->status.state = "IN_PROGRESS";
    at.say("False", "NoRoom", "5 of 9 places fit", 50);
    at.testbed->status.state = "IN_PROGRESS";
    EXPECT_EQ(at.report(), "");
    at.say("False", "NoRoom", "5 of 9 places fit", 90);
    EXPECT_TRUE(at.report().starts_with(
        "testbeds warning: Testbed lab/slots: its claim has no places (NoRoom): 5 of 9 places fit "
        "-> kubectl get pods -A "))
        << at.report();
    at.say("False", "Suspended", "by spec.claim.suspend", 90);
    at.testbed->status.state = "IN_PROGRESS";
    EXPECT_EQ(at.report(), "") << "it is as its author wants it";
}

TEST(doctor_of_claims, of_a_plan_that_never_fits_the_plan_is_released) {
    with_claim at;
    at.testbed->metadata.owner_references = {{"v1", "Scheduling", "plan", "u", true}};
    at.say("False", "NeverFits", "so it is");
    EXPECT_TRUE(
        at.report().ends_with("-> kubectl esi release plan -n lab   # then create it again "
                              "with fewer or smaller places, or add nodes\n"))
        << at.report();
}

TEST(doctor_of_claims, helm_keeps_the_priorities_that_there_are) {
    with_claim at;
    at.install_with_helm();
    at.testbed->spec.claim->priority = 7;
    at.all.classes.push_back({"esi-claim-0", 0, "Never", "esi"});
    at.all.classes.push_back({"esi-claim-minus-5", -5, "Never", "esi"});
    at.say("False", "PriorityClassMissing", "so it is");
    const std::string upgrade =
        "helm upgrade blue helm/esi -n blue-system --reset-then-reuse-values --set "
        "claims.enabled=true --set 'claims.priorities={-5,0,7}'\n";
    EXPECT_TRUE(at.report().ends_with("-> " + upgrade)) << at.report();
    at.all.classes.push_back({"esi-claim-7", 8, "Never", "esi"});
    EXPECT_TRUE(at.report().ends_with("-> kubectl delete priorityclass esi-claim-7 && " + upgrade))
        << at.report();
}

TEST(doctor_of_claims, a_refused_claim_without_a_testbed_is_named_with_its_cause) {
    cluster at;
    at.plan->metadata.name = "c1";
    at.plan->spec.testbed = {};
    at.plan->spec.claim.emplace();
    at.plan->status.reason = "ClaimRefused";
    at.plan->status.waiting_for = "Testbed lab/c1 cannot be made for the claim";
    const std::string found =
        "plans error: Scheduling lab/c1: ClaimRefused: Testbed lab/c1 cannot be made for the claim";
    EXPECT_TRUE(at.report().starts_with(
        found + "; claims are switched off: esi-testbed runs without --claims -> kubectl apply"))
        << at.report();
    at.all.operators.front().arguments = {"--claims"};
    EXPECT_EQ(at.report(),
              found + " -> kubectl -n esi-system logs deploy/esi-scheduling | grep c1\n");
    at.run_as_demo();
    EXPECT_TRUE(at.report().contains(
        found +
        "; are claims switched on (claims.enabled=true of the chart)? -> kubectl apply -f "
        "helm/manifests -f helm/manifests/nodes -f helm/manifests/isolation -f "
        "helm/manifests/debug -f helm/manifests/extender -f helm/manifests/claims   # and "
        "start esi-testbed with --claims\n"))
        << at.report();
}

TEST(doctor_of_claims, a_refused_claim_with_a_testbed_is_reported_once) {
    with_claim at;
    at.say("False", "NeverFits", "so it is");
    at.plan->metadata.name = "slots";
    at.plan->spec.testbed = {};
    at.plan->spec.claim.emplace();
    at.plan->status.reason = "ClaimRefused";
    EXPECT_EQ(at.look().size(), 1U) << at.report();
}

}  // namespace
}  // namespace esi::kubectl::doctor

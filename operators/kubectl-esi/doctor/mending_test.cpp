#include "kubectl-esi/doctor/mending.h"

#include <gtest/gtest.h>

#include "kubectl-esi/doctor/testing.h"

namespace esi::kubectl::doctor {
namespace {

constexpr const char* upgrade =
    "helm upgrade blue helm/esi -n blue-system --reset-then-reuse-values";

/// The remedy of the only finding.
std::string remedy_of(cluster& at) {
    const auto found = at.look();
    EXPECT_EQ(found.size(), 1U) << at.report();
    return found.empty() ? std::string() : found.front().remedy;
}

TEST(mending, what_helm_has_installed_is_upgraded) {
    struct row {
        void (*plant)(cluster& at);
        std::string remedy;
    };
    const std::string up = upgrade;
    const row rows[] = {
        {[](cluster& at) { at.all.policies[0].bound = false; }, up},
        {[](cluster& at) {
             at.all.policies[0].there = false;
             at.all.policies.push_back({"esi-keys", true, true, true});
         },
         up},
        {[](cluster& at) { at.all.policies[0].denies = false; },
         "kubectl delete validatingadmissionpolicybinding esi-orders && " + up +
             " --set policies.mode=Enforce"},
        {[](cluster& at) { at.all.classes.pop_back(); }, up},
        {[](cluster& at) { at.all.classes[1].preemption = "PreemptLowerPriority"; },
         "kubectl delete priorityclass esi-job && " + up},
        {[](cluster& at) { at.all.definitions[0].is = presence::absent; }, up},
        {[](cluster& at) { at.all.definitions[0].missing = {"spec.a"}; },
         up + " --force-conflicts   # Helm 3 does not have this flag or need it"},
        {[](cluster& at) {
             at.all.extender = service_fact{"esi-testbed", presence::absent, 0};
             at.all.classes.push_back({"esi-extender", 1000300, "", "esi"});
         },
         up + " --set extender.enabled=true"},
        {[](cluster& at) {
             at.testbed->status.conditions.emplace_back();
             at.testbed->status.conditions[0].type = "Isolated";
             at.testbed->status.conditions[0].status = "False";
             at.testbed->status.conditions[0].reason = "NotTainted";
         },
         up + " --set isolation.enabled=true"},
    };
    for (const auto& row : rows) {
        cluster at;
        at.install_with_helm();
        row.plant(at);
        EXPECT_EQ(remedy_of(at), row.remedy) << at.report();
    }
}

TEST(mending, a_definition_of_its_own_is_applied_beside_a_release) {
    cluster at;
    at.install_with_helm();
    at.all.definitions[0].from = {};
    at.all.definitions[0].missing = {"spec.a"};
    EXPECT_EQ(remedy_of(at), "kubectl apply --server-side --force-conflicts -f crds/testbed.yaml");
}

TEST(mending, what_another_tool_has_rendered_is_rendered_again) {
    cluster at;
    at.install_with_helm();
    at.all.policies[0].from = {true, "", ""};
    at.all.policies[0].bound = false;
    EXPECT_EQ(remedy_of(at),
              "helm template esi helm/esi -n esi-system --values VALUES | kubectl apply "
              "--server-side --force-conflicts -f -   # VALUES: those of this installation; Argo "
              "CD, Flux: sync it");
}

TEST(mending, the_demo_applies_what_it_is_made_of) {
    cluster at;
    at.run_as_demo();
    at.all.policies[0].bound = false;
    EXPECT_EQ(at.look().back().remedy,
              "kubectl apply -f helm/manifests -f helm/manifests/nodes -f helm/manifests/isolation "
              "-f helm/manifests/debug -f helm/manifests/extender");
}

TEST(mending, a_policy_is_in_the_file_of_its_operator_or_subject) {
    EXPECT_EQ(file_of_policy("esi-holds"), "helm/manifests/policies-orders.yaml");
    EXPECT_EQ(file_of_policy("esi-claim-classes"), "helm/manifests/policies-priority-classes.yaml");
    EXPECT_EQ(file_of_policy("esi-testbed-nodes"), "helm/manifests/policies-nodes.yaml");
    EXPECT_EQ(file_of_policy("esi-testbed-pod-status"), "helm/manifests/policies-testbed.yaml");
    EXPECT_EQ(file_of_policy("esi-batchjob-pods"), "helm/manifests/policies-batchjob.yaml");
}

TEST(leases, operators_without_leader_election_need_none) {
    cluster at;
    at.batchjob().lease = presence::absent;
    at.batchjob().arguments = {"--leader-elect=false"};
    EXPECT_EQ(at.report(), "");
}

TEST(leases, operators_that_are_not_seen_are_no_fault_and_are_never_installed_again) {
    cluster at;
    at.run_as_demo();
    EXPECT_EQ(at.report(),
              "leases unknown: operators in esi-system: it has no Lease and no Deployment of "
              "esi-testbed, esi-batchjob, esi-scheduling that you may read: they run without "
              "leader election (--leader-elect=false), or in another namespace, or not at all -> "
              "kubectl get deployments -A -l app.kubernetes.io/part-of=esi   # the namespace for "
              "--operators-namespace\n");
    at.all.other_operators_namespace = "blue-system";
    EXPECT_EQ(at.report(),
              "leases warning: operators in esi-system: it has no Lease and no Deployment of "
              "esi-testbed, esi-batchjob, esi-scheduling; namespace blue-system has -> kubectl esi "
              "doctor --operators-namespace blue-system\n");
}

}  // namespace
}  // namespace esi::kubectl::doctor

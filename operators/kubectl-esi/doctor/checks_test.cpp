#include "kubectl-esi/doctor/checks.h"

#include <gtest/gtest.h>

#include <functional>

#include "kubectl-esi/doctor/definitions.h"
#include "kubectl-esi/doctor/doctor.h"
#include "kubectl-esi/doctor/testing.h"
#include "model/crd_files.h"
#include "model/names.h"

namespace esi::kubectl::doctor {
namespace {

TEST(doctor, finds_nothing_where_all_is_well) { EXPECT_EQ(cluster().report(), ""); }

TEST(doctor, finds_nothing_where_tokens_are_encrypted) {
    cluster at;
    at.all.operators.at(2).arguments = {"--api-plain-tokens",
                                        "--tls-cert-file=/etc/esi/tls/tls.crt"};
    EXPECT_EQ(at.report(), "");
}

struct fault {
    const char* name;
    std::function<void(cluster&)> plant;
    const char* report;
};

class doctor_finds : public testing::TestWithParam<fault> {};

TEST_P(doctor_finds, what_is_wrong_and_what_mends_it) {
    cluster at;
    GetParam().plant(at);
    EXPECT_EQ(at.report(), std::string(GetParam().report) + "\n");
}

const std::vector<fault> faults{
    {"an_old_server",
     [](cluster& at) {
         at.all.server->minor = 29;
         at.all.server->text = "v1.29.1";
     },
     "server error: API server: Kubernetes v1.29.1 is too old: ESI needs 1.31 or newer -> upgrade "
     "the "
     "cluster to Kubernetes 1.31 or later"},
    {"a_definition_that_is_missing",
     [](cluster& at) { at.all.definitions[0].is = presence::absent; },
     "definitions error: CustomResourceDefinition testbeds.esi.tu-berlin.de: it does not exist -> "
     "kubectl apply --server-side --force-conflicts -f crds/testbed.yaml"},
    {"a_definition_that_is_not_established",
     [](cluster& at) { at.all.definitions[0].established = false; },
     "definitions error: CustomResourceDefinition testbeds.esi.tu-berlin.de: the API server does "
     "not "
     "serve it yet -> kubectl describe crd testbeds.esi.tu-berlin.de"},
    {"an_older_definition",
     [](cluster& at) { at.all.definitions[0].missing = {"spec.a", "spec.b"}; },
     "definitions error: CustomResourceDefinition testbeds.esi.tu-berlin.de: it is of an older "
     "release "
     "than 0.2.0: it lacks spec.a, spec.b -> kubectl apply --server-side --force-conflicts -f "
     "crds/testbed.yaml"},
    {"a_right_that_is_missing", [](cluster& at) { at.all.rights[0].allowed = false; },
     "rights warning: you: may not list testbeds.esi.tu-berlin.de in namespace lab: top does not "
     "work "
     "-> kubectl create rolebinding esi-view --clusterrole=view --user=YOU -n lab   # check: "
     "kubectl "
     "auth can-i list testbeds.esi.tu-berlin.de -n lab"},
    {"a_lease_that_is_missing", [](cluster& at) { at.batchjob().lease = presence::absent; },
     "leases error: Lease esi-system/esi-batchjob: it does not exist: no pod of esi-batchjob has "
     "ever led in this namespace -> kubectl -n esi-system get pods; kubectl -n esi-system logs "
     "deploy/esi-batchjob"},
    {"a_lease_that_nobody_holds", [](cluster& at) { at.batchjob().holder = ""; },
     "leases error: Lease esi-system/esi-batchjob: no replica of esi-batchjob leads -> kubectl -n "
     "esi-system get pods; kubectl -n esi-system logs deploy/esi-batchjob"},
    {"a_lease_that_is_not_renewed", [](cluster& at) { at.batchjob().renewed = ago(60); },
     "leases error: Lease esi-system/esi-batchjob: pod-1 has not renewed it for 60s -> kubectl -n "
     "esi-system get pods; kubectl -n esi-system logs deploy/esi-batchjob"},
    {"an_operator_without_pods", [](cluster& at) { at.batchjob().ready = 0; },
     "deployments error: Deployment esi-system/esi-batchjob: none of its 2 pods is ready -> "
     "kubectl -n "
     "esi-system describe deploy/esi-batchjob"},
    {"an_operator_of_another_version",
     [](cluster& at) { at.batchjob().image = "esi-batchjob:0.1.0"; },
     "deployments error: Deployment esi-system/esi-batchjob: it runs version 0.1.0, another "
     "operator runs 0.2.0 -> kubectl apply --server-side --force-conflicts -f "
     "helm/manifests/install/install.yaml"},
    {"tokens_that_cross_the_network",
     [](cluster& at) { at.all.operators.at(2).arguments = {"--api-plain-tokens"}; },
     "deployments warning: Deployment esi-system/esi-scheduling: it takes bearer tokens over plain "
     "HTTP: who reads the network can use them -> kubectl -n esi-system edit deploy/esi-scheduling "
     "  # --tls-cert-file and --tls-private-key-file in place of --api-plain-tokens"},
    {"a_priority_class_that_is_missing", [](cluster& at) { at.all.classes.pop_back(); },
     "priority classes error: PriorityClass esi-job: it does not exist: the API server refuses "
     "pods of this class -> kubectl apply --server-side --force-conflicts -f "
     "helm/manifests/priority-classes.yaml"},
    {"a_priority_class_that_preempts",
     [](cluster& at) { at.all.classes[0].preemption = "PreemptLowerPriority"; },
     "priority classes error: PriorityClass esi-ghost: its preemptionPolicy is not Never: its pods "
     "may evict others -> kubectl delete priorityclass esi-ghost && kubectl apply --server-side "
     "--force-conflicts -f helm/manifests/priority-classes.yaml"},
    {"job_pods_below_ghosts", [](cluster& at) { at.all.classes[1].value = 5; },
     "priority classes error: PriorityClass esi-job: its value 5 is not above that of esi-ghost, "
     "1000000: nominations of job pods do not count against ghosts -> kubectl delete priorityclass "
     "esi-job && kubectl apply --server-side --force-conflicts -f "
     "helm/manifests/priority-classes.yaml"},
    {"a_foreign_class_above_ghosts",
     [](cluster& at) { at.all.classes.push_back({"vip", 2000000, "PreemptLowerPriority"}); },
     "priority classes warning: PriorityClass vip: its value 2000000 is not below that of "
     "esi-ghost, 1000000: its pods may evict ghosts and take the room of free slots -> kubectl "
     "patch testbed slots -n lab --type=merge -p '{\"spec\":{\"isolation\":\"Taint\"}}'"},
    {"a_policy_without_a_binding", [](cluster& at) { at.all.policies[0].bound = false; },
     "policies error: ValidatingAdmissionPolicy esi-orders: it has no binding, so that it is not "
     "asked -> kubectl apply --server-side --force-conflicts -f "
     "helm/manifests/policies-orders.yaml"},
    {"a_policy_that_only_warns", [](cluster& at) { at.all.policies[0].denies = false; },
     "policies warning: ValidatingAdmissionPolicy esi-orders: its binding does not deny: what it "
     "forbids is done all the same -> kubectl delete validatingadmissionpolicybinding esi-orders "
     "&& kubectl apply --server-side --force-conflicts -f helm/manifests/policies-orders.yaml"},
    {"a_backend_that_is_missing",
     [](cluster& at) {
         at.all.backends[0].kind = at.all.backends[0].deployments = presence::absent;
     },
     "backends error: CustomResourceDefinition sparkapplications.sparkoperator.k8s.io: it does not "
     "exist, and there are BatchJobs that are Spark jobs -> install Kubeflow's Spark operator 2.4 "
     "or "
     "later"},
    {"a_backend_without_pods", [](cluster& at) { at.all.backends[0].ready = 0; },
     "backends error: Deployment spark/spark-operator: the operator of Spark jobs has no pod that "
     "is "
     "ready -> kubectl -n spark describe deploy/spark-operator"},
    {"an_extender_that_cannot_be_reached",
     [](cluster& at) {
         at.all.extender = service_fact{"esi-testbed", presence::there, 0};
         at.all.classes.push_back({"esi-extender", 1000100, "PreemptLowerPriority", "esi"});
     },
     "extender error: Service esi-system/esi-testbed: it has no endpoint that is ready: the second "
     "scheduler cannot ask the extender -> kubectl -n esi-system get pods,endpointslices"},
    {"a_testbed_without_nodes", [](cluster& at) { at.slots_node->metadata.labels.clear(); },
     "testbeds error: Testbed lab/slots: no node has its label lab/slots -> kubectl esi nodes "
     "slots --count 1 -n lab   # or more"},
    {"a_label_that_is_no_number",
     [](cluster& at) { at.slots_node->metadata.labels["lab/slots"] = "first"; },
     "testbeds error: Testbed lab/slots: node n0 has the label lab/slots=first, which is no whole "
     "number: it gives no slots -> kubectl label node n0 lab/slots=0 --overwrite"},
    {"a_node_that_is_cordoned",
     [](cluster& at) {
         at.slots_node->unschedulable = true;
         at.testbed->status.nodes_out_of_use = model::nodes_out_of_use{1, {"n0"}};
     },
     "testbeds error: Testbed lab/slots: no slot on node n0 can be used: it is cordoned -> kubectl "
     "uncordon n0"},
    {"a_hold_of_nobody",
     [](cluster& at) {
         at.testbed->metadata.labels[std::string(model::names::active_scheduling_name)] = "gone";
         at.testbed->metadata.labels[std::string(model::names::active_scheduling_namespace)] =
             "lab";
     },
     "testbeds error: Testbed lab/slots: Scheduling lab/gone holds it and does not exist -> "
     "kubectl "
     "annotate testbed slots esi.tu-berlin.de/hold- -n lab"},
    {"a_testbed_that_nobody_looks_at",
     [](cluster& at) { at.testbed->status.observed_generation = 0; },
     "testbeds error: Testbed lab/slots: esi-testbed has not looked at it, or not at its change -> "
     "kubectl -n esi-system logs deploy/esi-testbed   # does it run, and does watchNamespaces name "
     "lab?"},
    {"no_node_for_drivers", [](cluster& at) { at.driver_node->unschedulable = true; },
     "driver nodes warning: Testbed lab/slots: each node that is ready has slots of it, or the "
     "taint of another Testbed: drivers and JobManagers of its jobs stay Pending, as they are kept "
     "off these nodes -> kubectl label node n0 lab/slots-   # it is then left for them"},
    {"a_job_that_has_failed",
     [](cluster& at) {
         at.job->status.state = "FailedState";
         at.job->status.problems = {"OOMKilled"};
     },
     "jobs warning: BatchJob lab/a: it has failed and is not started again: OOMKilled -> kubectl "
     "esi "
     "reset a -n lab"},
    {"a_spec_that_is_refused",
     [](cluster& at) {
         at.job->status.reason = "Refused";
         at.job->status.problems = {"unknown field"};
     },
     "jobs error: BatchJob lab/a: Refused: unknown field -> kubectl edit batchjob a -n lab"},
    {"an_account_that_is_missing",
     [](cluster& at) { at.all.accounts["lab/spark"] = presence::absent; },
     "accounts error: ServiceAccount lab/spark: it does not exist; the pods of these BatchJobs run "
     "with it: a -> kubectl apply -f examples/spark-account.yaml -n lab"},
    {"a_plan_whose_testbed_is_missing",
     [](cluster& at) {
         at.plan->status.reason = "TestbedMissing";
         at.plan->status.waiting_for = "Testbed lab/none does not exist";
     },
     "plans error: Scheduling lab/plan: TestbedMissing: Testbed lab/none does not exist -> kubectl "
     "esi release plan -n lab   # then create it again with one of: kubectl get testbeds -n lab; "
     "or create the Testbed"},
    {"a_plan_that_holds_for_nothing", [](cluster& at) { at.plan->status.state = "CompletedState"; },
     "plans warning: Scheduling lab/plan: all its jobs have ended, and it still holds Testbed "
     "lab/slots (no releaseOnCompletion) -> kubectl esi release plan -n lab"},
    {"a_scheduler_that_does_not_run", [](cluster& at) { at.pod->scheduled_status = ""; },
     "scheduler error: scheduler default-scheduler: it has not looked at 1 pod of ESI for 60s, "
     "such as "
     "lab/a-exec-1 -> kubectl -n kube-system get pods,leases   # does a scheduler with the profile "
     "default-scheduler run? else set jobs.schedulerName of the chart"},
    {"a_namespace_that_cannot_end", [](cluster& at) { at.all.ending_namespaces = {"lab"}; },
     "namespaces error: Namespace lab: it is being deleted, and Testbed lab/slots still has a "
     "finalizer that an operator of ESI takes away -> kubectl -n esi-system get pods   # the "
     "operators "
     "have to run; kubectl get schedulings,testbeds -n lab"},
};

INSTANTIATE_TEST_SUITE_P(doctor, doctor_finds, testing::ValuesIn(faults),
                         [](const auto& of) { return of.param.name; });

TEST(doctor, tells_what_it_could_not_look_at) {
    cluster at;
    at.all.classes_seen = at.all.policies_seen = presence::hidden;
    at.all.definitions[0].is = at.batchjob().lease = presence::hidden;
    const auto found = at.look();
    ASSERT_EQ(found.size(), 4);
    for (const auto& each : found) EXPECT_EQ(each.severity, "unknown") << each.check;
}

TEST(doctor, the_report_has_a_line_for_each_check_and_the_remedies) {
    const std::vector<finding> found{
        {"leases", "error", "Lease a/b", "nobody leads", "kubectl logs"}};
    const auto text = report_text(found, {});
    EXPECT_TRUE(
        text.starts_with("CHECK              RESULT   OBJECT      MESSAGE\n"
                         "server             ok\n"
                         "definitions        ok\n"
                         "rights             ok\n"
                         "leases             error    Lease a/b   nobody leads\n"))
        << text;
    EXPECT_TRUE(text.ends_with("\nWhat mends it:\n  Lease a/b\n      kubectl logs\n")) << text;
}

TEST(definitions_of_this_release, lack_nothing_of_themselves_and_an_older_one_lacks_its_fields) {
    const auto of = [](const char* fields) {
        return nlohmann::json::parse(
            std::string(R"({"spec":{"versions":[{"name":"v1","schema":{"openAPIV3Schema":)") +
            fields + "}}]}}");
    };
    const auto own = of(R"({"properties":{"spec":{"properties":{"a":{},"b":{"items":{"properties":
        {"c":{},"d":{}}}},"e":{"properties":{"f":{}}}}}}})");
    EXPECT_EQ(missing_fields(own, own), std::vector<std::string>());
    const auto old = of(R"({"properties":{"spec":{"properties":{"a":{},"b":{"items":{"properties":
        {"d":{}}}}}}}})");
    EXPECT_EQ(missing_fields(own, old), (std::vector<std::string>{"spec.b[].c", "spec.e"}));
    EXPECT_EQ(missing_fields(old, own), std::vector<std::string>()) << "a newer one lacks nothing";
    EXPECT_EQ(model::crds::files().size(), 4);
}

}  // namespace
}  // namespace esi::kubectl::doctor

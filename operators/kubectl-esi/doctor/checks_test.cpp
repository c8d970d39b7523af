#include "kubectl-esi/doctor/checks.h"

#include <gtest/gtest.h>

#include <functional>

#include "base/version.h"
#include "kubectl-esi/doctor/definitions.h"
#include "kubectl-esi/doctor/doctor.h"
#include "model/crd_files.h"
#include "model/names.h"

namespace esi::kubectl::doctor {
namespace {

constexpr wall_time now{seconds(1'700'000'000)};

model::timestamp ago(int time) { return {now - seconds(time)}; }

template <class T>
std::shared_ptr<T> object(const char* name) {
    auto out = std::make_shared<T>();
    out->metadata.namespace_ = "lab";
    out->metadata.name = name;
    out->metadata.generation = 1;
    out->metadata.creation_timestamp = ago(600);
    return out;
}

/// A cluster without problems: a Testbed with a node, a job, a plan that runs.
struct cluster {
    cluster() {
        all.now = now;
        all.operators_namespace = "esi-system";
        all.server = kube::server_version{1, 36, "v1.36.3"};
        all.definitions = {
            {"testbeds.esi.tu-berlin.de", "crds/testbed.yaml", presence::there, true}};
        all.rights = {{"list", "testbeds.esi.tu-berlin.de", "lab", "top", true}};
        for (const char* name : {"esi-testbed", "esi-batchjob", "esi-scheduling"}) {
            operator_fact one{name};
            one.lease = one.deployment = presence::there;
            one.holder = "pod-1";
            one.renewed = ago(5);
            one.lease_seconds = 15;
            one.wanted = one.ready = 2;
            one.image = std::string("registry:5000/") + name + ":" + version();
            all.operators.push_back(one);
        }
        all.classes_seen = all.policies_seen = presence::there;
        all.classes = {{"esi-ghost", 1000000, "Never", "esi"},
                       {"esi-job", 1000200, "Never", "esi"}};
        all.policies = {{"esi-orders", true, true, true}};
        all.backends = {{&model::application_kinds.front(), presence::there, true, presence::there,
                         1, "spark/spark-operator"}};
        testbed = object<model::testbed>("slots");
        testbed->spec.node_label = "lab/slots";
        testbed->status.observed_generation = 1;
        job = object<model::batchjob>("a");
        job->status.state = "ReadyState";
        job->spec.spark_spec = model::raw_json{R"({"driver":{"serviceAccount":"spark"}})"};
        plan = object<model::scheduling>("plan");
        plan->spec.testbed = {"", "slots"};
        plan->status.state = "ConfirmationState";
        pod = object<model::pod>("a-exec-1");
        pod->scheduler_name = "default-scheduler";
        pod->scheduled_status = "False";
        slots_node = node("n0");
        slots_node->metadata.labels["lab/slots"] = "0";
        driver_node = node("n1");
        all.accounts = {{"lab/spark", presence::there}};
        all.nodes_seen = all.namespaces_seen = presence::there;
    }
    static std::shared_ptr<model::node> node(const char* name) {
        auto out = std::make_shared<model::node>();
        out->metadata.name = name;
        out->ready = true;
        return out;
    }
    operator_fact& batchjob() { return all.operators.at(1); }
    std::vector<finding> look() {
        all.testbeds = {testbed};
        all.jobs = {job};
        all.schedulings = {plan};
        all.pods = {pod};
        all.nodes = {slots_node, driver_node};
        return findings_of(all);
    }
    /// "check error: object: text -> remedy", a line each.
    std::string report() {
        std::string out;
        for (const auto& each : look()) {
            out += each.check + " " + each.severity + ": " + each.object + ": " + each.text +
                   " -> " + each.remedy + "\n";
        }
        return out;
    }
    facts all;
    std::shared_ptr<model::testbed> testbed;
    std::shared_ptr<model::batchjob> job;
    std::shared_ptr<model::scheduling> plan;
    std::shared_ptr<model::pod> pod;
    std::shared_ptr<model::node> slots_node;
    std::shared_ptr<model::node> driver_node;
};

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
     "kubectl apply --server-side -f crds/testbed.yaml"},
    {"a_definition_that_is_not_established",
     [](cluster& at) { at.all.definitions[0].established = false; },
     "definitions error: CustomResourceDefinition testbeds.esi.tu-berlin.de: the API server does "
     "not "
     "serve it yet -> kubectl describe crd testbeds.esi.tu-berlin.de"},
    {"an_older_definition",
     [](cluster& at) { at.all.definitions[0].missing = {"spec.a", "spec.b"}; },
     "definitions error: CustomResourceDefinition testbeds.esi.tu-berlin.de: it is of an older "
     "release "
     "than 0.2.0: it lacks spec.a, spec.b -> kubectl apply --server-side -f crds/testbed.yaml"},
    {"a_right_that_is_missing", [](cluster& at) { at.all.rights[0].allowed = false; },
     "rights warning: you: may not list testbeds.esi.tu-berlin.de in namespace lab: top does not "
     "work "
     "-> kubectl create rolebinding esi-view --clusterrole=view --user=YOU -n lab   # check: "
     "kubectl "
     "auth can-i list testbeds.esi.tu-berlin.de -n lab"},
    {"a_lease_that_is_missing", [](cluster& at) { at.batchjob().lease = presence::absent; },
     "leases error: Lease esi-system/esi-batchjob: it does not exist: no esi-batchjob has ever led "
     "in "
     "this namespace -> helm install esi helm/esi -n esi-system --create-namespace, or name the "
     "right "
     "namespace with --operators-namespace"},
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
     "operator "
     "runs 0.2.0 -> helm upgrade esi helm/esi -n esi-system --reset-then-reuse-values"},
    {"tokens_that_cross_the_network",
     [](cluster& at) { at.all.operators.at(2).arguments = {"--api-plain-tokens"}; },
     "deployments warning: Deployment esi-system/esi-scheduling: it takes bearer tokens over plain "
     "HTTP: who reads the network can use them -> helm upgrade esi helm/esi -n esi-system "
     "--reset-then-reuse-values --set tls.mode=generate,interface.api.plainTokens=false"},
    {"a_priority_class_that_is_missing", [](cluster& at) { at.all.classes.pop_back(); },
     "priority classes error: PriorityClass esi-job: it does not exist: the API server refuses "
     "pods of "
     "this class -> kubectl apply -f helm/manifests/priority-classes.yaml"},
    {"a_priority_class_that_preempts",
     [](cluster& at) { at.all.classes[0].preemption = "PreemptLowerPriority"; },
     "priority classes error: PriorityClass esi-ghost: its preemptionPolicy is not Never: its pods "
     "may "
     "evict others -> kubectl delete priorityclass esi-ghost && kubectl apply -f "
     "helm/manifests/priority-classes.yaml"},
    {"job_pods_below_ghosts", [](cluster& at) { at.all.classes[1].value = 5; },
     "priority classes error: PriorityClass esi-job: its value 5 is not above that of esi-ghost, "
     "1000000: nominations of job pods do not count against ghosts -> kubectl delete priorityclass "
     "esi-job && kubectl apply -f helm/manifests/priority-classes.yaml"},
    {"a_foreign_class_above_ghosts",
     [](cluster& at) { at.all.classes.push_back({"vip", 2000000, "PreemptLowerPriority"}); },
     "priority classes warning: PriorityClass vip: its value 2000000 is not below that of "
     "esi-ghost, "
     "1000000: its pods may evict ghosts and take the room of free slots -> isolation: Taint in "
     "the "
     "Testbeds, or higher priorityClasses.*.value of the chart"},
    {"a_policy_without_a_binding", [](cluster& at) { at.all.policies[0].bound = false; },
     "policies error: ValidatingAdmissionPolicy esi-orders: it has no binding, so that it is not "
     "asked "
     "-> kubectl apply -f helm/manifests"},
    {"a_policy_that_only_warns", [](cluster& at) { at.all.policies[0].denies = false; },
     "policies warning: ValidatingAdmissionPolicy esi-orders: its binding does not deny: what it "
     "forbids is done all the same -> kubectl apply -f helm/manifests, or policies.mode=Enforce of "
     "the "
     "chart"},
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
     "slots "
     "--count 3 -n lab"},
    {"a_label_that_is_no_number",
     [](cluster& at) { at.slots_node->metadata.labels["lab/slots"] = "first"; },
     "testbeds error: Testbed lab/slots: node n0 has the label lab/slots=first, which is no whole "
     "number: it gives no slots -> kubectl label node n0 lab/slots=0 --overwrite   # a number that "
     "no "
     "other node has"},
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
     "driver nodes warning: nodes: every node that is ready has slots of a Testbed: drivers and "
     "JobManagers stay Pending -> kubectl label node NODE lab/slots-   # keep a node that is in no "
     "Testbed"},
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
     "plans error: Scheduling lab/plan: TestbedMissing: Testbed lab/none does not exist -> create "
     "the "
     "Testbed, or: kubectl edit scheduling plan -n lab"},
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

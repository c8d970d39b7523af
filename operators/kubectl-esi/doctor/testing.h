// A cluster without problems, for the tests of doctor's checks.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/version.h"
#include "kubectl-esi/doctor/checks.h"
#include "model/names.h"

namespace esi::kubectl::doctor {

inline constexpr wall_time now{seconds(1'700'000'000)};

inline model::timestamp ago(int time) { return {now - seconds(time)}; }

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
            all.operators.push_back(std::move(one));
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
    /// As `helm install blue helm/esi -n blue-system` installs it.
    void install_with_helm() {
        const origin chart{true, "blue", "blue-system"};
        for (auto& each : all.operators) each.from = chart;
        for (auto& each : all.classes) each.from = chart;
        for (auto& each : all.policies) each.from = chart;
        for (auto& each : all.definitions) each.from = chart;
    }
    /// As the demo runs: processes without leader election.
    void run_as_demo() {
        for (auto& each : all.operators) each.lease = each.deployment = presence::absent;
    }
    operator_fact& batchjob() { return all.operators.at(1); }
    std::vector<finding> look() {
        all.testbeds = {testbed};
        all.testbeds.insert(all.testbeds.end(), more_testbeds.begin(), more_testbeds.end());
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
    std::vector<std::shared_ptr<const model::testbed>> more_testbeds;
    std::shared_ptr<model::batchjob> job;
    std::shared_ptr<model::scheduling> plan;
    std::shared_ptr<model::pod> pod;
    std::shared_ptr<model::node> slots_node;
    std::shared_ptr<model::node> driver_node;
};

}  // namespace esi::kubectl::doctor

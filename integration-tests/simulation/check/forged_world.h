// A small world for tests, written straight into the storage: one Testbed of two nodes with a slot
// each, one queue of one job. Each step is what an operator or a neighbour would write; a test does
// the legal steps up to where it wants to do something else.
#pragma once

#include <fmt/format.h>

#include "check/invariants.h"
#include "model/meta.h"
#include "model/names.h"

namespace esi::simulation {

class forged_world {
public:
    static constexpr const char* bed_uid = "00000000-0000-4000-8000-00000000000b";
    static constexpr const char* job_uid = "00000000-0000-4000-8000-00000000000c";
    static constexpr const char* queue_uid = "00000000-0000-4000-8000-00000000000d";
    static constexpr const char* app_uid = "00000000-0000-4000-8000-00000000000e";

    forged_world() {
        for (int id = 0; id < 2; ++id) {
            put(kinds::node, {{"metadata",
                               {{"name", fmt::format("node-{}", id)},
                                {"uid", fmt::format("00000000-0000-4000-8000-0000000000a{}", id)},
                                {"labels", {{"slots", std::to_string(id)}}}}},
                              {"status",
                               {{"allocatable", {{"cpu", "1"}, {"memory", "2Gi"}, {"pods", "10"}}},
                                {"conditions", {{{"type", "Ready"}, {"status", "True"}}}}}}});
        }
        bed = put(
            kinds::testbed,
            {{"metadata",
              {{"name", "grid"},
               {"namespace", "default"},
               {"uid", bed_uid},
               {"generation", 1},
               {"finalizers", {"esi.tu-berlin.de/held"}}}},
             {"spec",
              {{"slotsPerNode", 1},
               {"nodeLabel", "slots"},
               {"isolation", "None"},
               {"resourcesPerSlot", {{"cpu", "1"}, {"memory", "1Gi"}}}}},
             {"status",
              {{"state", "SUCCESS"},
               {"observedGeneration", 1},
               {"counts", {{"nodes", 2}, {"total", 2}, {"free", 2}}},
               {"slots", {row(0, "FREE"), row(1, "FREE")}},
               {"nodesOutOfUse", {{"count", 0}}},
               {"layout",
                {{"revision", 1},
                 {"slotsPerNode", 1},
                 {"resourcesPerSlot", {{"cpu", "1"}, {"memory", "1Gi"}}},
                 {"nodes",
                  {{{"name", "node-0"}, {"uid", "00000000-0000-4000-8000-0000000000a0"}, {"id", 0}},
                   {{"name", "node-1"},
                    {"uid", "00000000-0000-4000-8000-0000000000a1"},
                    {"id", 1}}}}}}}}});
        job = put(kinds::batchjob,
                  {{"metadata",
                    {{"name", "a"}, {"namespace", "default"}, {"uid", job_uid}, {"generation", 1}}},
                   {"spec", {{"sparkSpec", json::object()}}},
                   {"status", {{"state", "ReadyState"}, {"observedGeneration", 1}}}});
        queue = put(
            kinds::scheduling,
            {{"metadata",
              {{"name", "queue"}, {"namespace", "default"}, {"uid", queue_uid}, {"generation", 1}}},
             {"spec", {{"testbed", {{"name", "grid"}}}, {"queueBased", {{{"name", "a"}}}}}},
             {"status", {{"state", "AcquireState"}, {"epoch", 0}}}});
    }

    /// The Testbed is a claim: a place for a worker on node-0, one for a coordinator on node-1.
    void make_claim() {
        const auto shape = [](const char* name, const char* role) {
            return json{{"name", name},
                        {"role", role},
                        {"count", 1},
                        {"resources", {{"cpu", "1"}, {"memory", "1Gi"}}}};
        };
        const auto shapes =
            json::array({shape("executors", "worker"), shape("drivers", "coordinator")});
        bed["spec"] = {
            {"isolation", "None"},
            {"claim", {{"shapes", shapes}, {"packing", "Pack"}, {"timeoutSeconds", 30}}}};
        auto& layout = bed["status"]["layout"];
        layout.erase("resourcesPerSlot");
        layout["slotsPerNode"] = 0;
        layout["shapes"] = shapes;
        layout["places"] = {0, 1};
        bed = put(kinds::testbed, bed);
        slots = {0, 1};
    }

    /// From here on the rules look.
    void begin() { judge = std::make_unique<invariants>(store, time); }
    void wait(steady_time::duration passed) { time.advance_to(time.now() + passed); }

    static json row(int position, std::string_view state) {
        return {{"position", position},
                {"state", state},
                {"nodeName", fmt::format("node-{}", position)},
                {"nodeId", position},
                {"slotPositionOnNode", 0}};
    }
    json ghost(int node, std::string_view uid, bool bound) {
        json out{
            {"metadata",
             {{"name", fmt::format("grid-ghost-{}", node)},
              {"namespace", "default"},
              {"uid", uid},
              {"labels",
               {{model::names::testbed, "grid"},
                {model::names::testbed_namespace, "default"},
                {model::names::ghost, "true"}}},
              {"annotations",
               {{model::names::node, fmt::format("node-{}", node)}, {model::names::index, "0"}}},
              {"ownerReferences",
               {{{"kind", "Testbed"}, {"name", "grid"}, {"uid", bed_uid}, {"controller", true}}}}}},
            {"spec",
             {{"schedulerName", "default-scheduler"},
              {"priority", 100},
              {"preemptionPolicy", "Never"},
              {"containers", {requests("1", "1Gi")}}}},
            {"status", {{"phase", bound ? "Running" : "Pending"}}}};
        if (bound) out["spec"]["nodeName"] = fmt::format("node-{}", node);
        return out;
    }
    json executor(std::string_view name, std::string_view uid) {
        return {{"metadata",
                 {{"name", name},
                  {"namespace", "default"},
                  {"uid", uid},
                  {"labels",
                   {{model::names::testbed, "grid"},
                    {model::names::testbed_namespace, "default"},
                    {model::names::job, "a"}}},
                  {"annotations", {{model::names::run, run()}, {model::names::slots, "0"}}}}},
                {"spec",
                 {{"schedulerName", "default-scheduler"},
                  {"priority", 200},
                  {"schedulingGates", {{{"name", model::names::gate}}}},
                  {"containers", {requests("1", "1Gi")}}}},
                {"status", {{"phase", "Pending"}}}};
    }
    /// Marks the pod as one of a forger, who gave it more labels than ESI reads.
    static void forge_with_many_labels(json& pod) {
        auto& labels = pod["metadata"]["labels"];
        labels["example.com/forged"] = "true";
        for (std::size_t i = 0; i < model::most_labels; ++i) {
            labels[fmt::format("example.com/l{}", i)] = "";
        }
    }
    json stranger(std::string_view name, std::string_view cpu) {
        return {{"metadata", {{"name", name}, {"namespace", "default"}, {"uid", name}}},
                {"spec",
                 {{"schedulerName", "default-scheduler"},
                  {"priority", 0},
                  {"containers", {requests(cpu, "1Mi")}}}},
                {"status", {{"phase", "Pending"}}}};
    }

    // --- the legal steps, in their order ---

    void make_ghosts() {
        for (int node = 0; node < 2; ++node) {
            const auto uid = fmt::format("ghost-{}", node);
            put(kinds::pod, ghost(node, uid, false));
            bind("grid-ghost-" + std::to_string(node), fmt::format("node-{}", node));
        }
    }
    void set_finalizer() {
        queue["metadata"]["finalizers"] = {"esi.tu-berlin.de/release"};
        queue = put(kinds::scheduling, queue);
    }
    void hold() { hold_as(fmt::format("{}.{}", queue_uid, version_of(bed))); }
    void hold_as(const std::string& token) {
        hold_token = token;
        bed["metadata"]["labels"] = {{model::names::active_scheduling_name, "queue"},
                                     {model::names::active_scheduling_namespace, "default"}};
        bed["metadata"]["annotations"] = {{model::names::hold, token}};
        bed["status"]["heldBy"] = {{"namespace", "default"}, {"name", "queue"}};
        bed = put(kinds::testbed, bed);
    }
    void acquire() {
        job["spec"]["activeScheduling"] = {
            {"namespace", "default"}, {"name", "queue"}, {"uid", queue_uid}};
        job["metadata"]["generation"] = 2;
        job = put(kinds::batchjob, job);
    }
    void assign() {
        queue["status"]["state"] = "SubmissionState";
        queue["status"]["lastRun"] = 1;
        queue["status"]["observedGeneration"] = 1;
        queue["status"]["assignments"] = {
            {{"job", {{"namespace", "default"}, {"name", "a"}, {"uid", job_uid}}},
             {"slotIds", slots},
             {"run", run()},
             {"since", "2026-01-02T03:04:05Z"}}};
        queue = put(kinds::scheduling, queue);
    }
    void order() {
        job["spec"]["creationRequest"] = {
            {"testbedName", {{"namespace", "default"}, {"name", "grid"}}},
            {"slotIds", slots},
            {"replication", 1},
            {"run", run()}};
        job["metadata"]["generation"] = 3;
        job = put(kinds::batchjob, job);
    }
    void make_application() { make_application_as(run(), job_uid); }
    void make_application_as(const std::string& of, std::string_view owner) {
        put(kinds::spark_application,
            {{"metadata",
              {{"name", "a"},
               {"namespace", "default"},
               {"uid", app_uid},
               {"annotations", {{model::names::run, of}}},
               {"ownerReferences",
                {{{"kind", "BatchJob"}, {"name", "a"}, {"uid", owner}, {"controller", true}}}}}}});
    }
    void submit() {
        job["status"]["state"] = "SubmittedState";
        job["status"]["observedGeneration"] = 3;
        job["status"]["slotIds"] = slots;
        job["status"]["application"] = {
            {"kind", "SparkApplication"}, {"name", "a"}, {"uid", app_uid}, {"run", run()}};
        job = put(kinds::batchjob, job);
    }
    void make_executor() { put(kinds::pod, executor("exec-1", "exec-uid-1")); }
    void place() { place_as("exec-1", "exec-uid-1"); }
    void place_as(std::string_view name, std::string_view uid) {
        job["status"]["placements"] = {{{"slot", 0}, {"podUid", uid}, {"podName", name}}};
        job = put(kinds::batchjob, job);
    }
    void nominate(std::string_view pod, std::string_view node) {
        change(pod, [&](json& body) { body["status"]["nominatedNodeName"] = node; });
    }
    void let_in(std::string_view pod, std::string_view slot, std::string_view node) {
        change(pod, [&](json& body) {
            body["metadata"]["annotations"][model::names::slot] = slot;
            body["metadata"]["annotations"][model::names::slot_node] = node;
            body["spec"].erase("schedulingGates");
            body["spec"]["affinity"]["nodeAffinity"]
                ["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"] = {
                    {{"matchFields",
                      {{{"key", "metadata.name"}, {"operator", "In"}, {"values", {node}}}}}}};
        });
    }
    void bind(std::string_view pod, std::string_view node) {
        change(pod, [&](json& body) {
            body["spec"]["nodeName"] = node;
            body["status"]["phase"] = "Running";
        });
    }
    void remove_pod(std::string_view name) { store.erase(kinds::pod, "default", name); }

    /// The Scheduling holds Testbed and job, starts nothing, and says what it waits for.
    void until_it_waits(const json& plan, const char* for_what) {
        make_ghosts();
        set_finalizer();
        hold();
        acquire();
        job["status"]["state"] = "InQueueState";
        job["status"]["observedGeneration"] = 2;
        job = put(kinds::batchjob, job);
        queue["spec"]["queueBased"] = plan;
        queue["status"]["state"] = "ConfirmationState";
        queue["status"]["observedGeneration"] = 1;
        queue["status"]["waitingFor"] = for_what;
        queue = put(kinds::scheduling, queue);
    }
    /// Up to an executor that waits at its gate with a recorded placement.
    void until_placed() {
        make_ghosts();
        set_finalizer();
        hold();
        acquire();
        assign();
        order();
        make_application();
        submit();
        make_executor();
        place();
    }
    void swap_in() {
        nominate("exec-1", "node-0");
        remove_pod("grid-ghost-0");
        let_in("exec-1", "0", "node-0");
        bind("exec-1", "node-0");
    }
    /// The job has ended well, the executor is gone, the ghost is back.
    void finish() {
        job["status"]["state"] = "CompletedState";
        job["status"].erase("placements");
        job = put(kinds::batchjob, job);
        change("exec-1",
               [](json& body) { body["metadata"]["deletionTimestamp"] = "2026-01-02T03:05:05Z"; });
        put(kinds::pod, ghost(0, "ghost-0b", false));
        nominate("grid-ghost-0", "node-0");
        remove_pod("exec-1");
        bind("grid-ghost-0", "node-0");
        auto& given = queue["status"]["assignments"][0];
        given["ended"] = "2026-01-02T03:05:06Z";
        given["outcome"] = "Succeeded";
        queue["status"]["state"] = "CompletedState";
        queue["status"]["progress"] = {{"done", 1}, {"failed", 0}, {"total", 1}};
        queue = put(kinds::scheduling, queue);
    }
    /// Its slot is assigned to it once more, and it is ready for another run.
    void until_next_run() {
        auto second = queue["status"]["assignments"][0];
        second.erase("ended");
        second.erase("outcome");
        second["run"] = hold_token + ".2";
        queue["status"]["assignments"].push_back(second);
        queue["status"]["lastRun"] = 2;
        queue["status"]["progress"] = {{"done", 1}, {"failed", 0}, {"total", 2}};
        queue = put(kinds::scheduling, queue);
        job["status"]["state"] = "InQueueState";
        job = put(kinds::batchjob, job);
    }
    void release() {
        queue["status"]["epoch"] = 1;
        queue["status"]["releasing"] = "Completed";
        queue = put(kinds::scheduling, queue);
        job["spec"].erase("activeScheduling");
        job["spec"].erase("creationRequest");
        job["metadata"]["generation"] = 4;
        job = put(kinds::batchjob, job);
        store.erase(kinds::spark_application, "default", "a");
        job["status"] = {{"state", "ReadyState"}, {"observedGeneration", 4}};
        job = put(kinds::batchjob, job);
        queue["status"].erase("assignments");
        queue = put(kinds::scheduling, queue);
        unhold();
        queue["status"].erase("releasing");
        queue["status"]["state"] = "FinishedState";
        queue = put(kinds::scheduling, queue);
    }
    void unhold() {
        bed["metadata"].erase("labels");
        bed["metadata"].erase("annotations");
        bed["status"].erase("heldBy");
        bed = put(kinds::testbed, bed);
    }

    // --- pieces ---

    std::string run() const { return hold_token + ".1"; }
    json put(const kube::resource_type& type, json body) { return store.put(type, body)->body(); }
    template <class Change>
    void change(std::string_view pod, Change how) {
        auto body = store.find(kinds::pod, "default", pod)->body();
        how(body);
        put(kinds::pod, body);
    }
    static std::uint64_t version_of(const json& body) {
        return std::stoull(body.at("metadata").at("resourceVersion").get<std::string>());
    }
    /// The rules that did not hold, each once, and in this order.
    std::vector<std::string> broken() const {
        std::vector<std::string> out;
        for (const auto& each : judge->violations()) {
            if (std::ranges::find(out, each.rule) == out.end()) out.push_back(each.rule);
        }
        return out;
    }

    timeline time;
    storage store{[this] { return time.now(); }};
    std::unique_ptr<invariants> judge;
    json bed, job, queue;
    /// Those that the job is given.
    json slots = json::array({0});
    std::string hold_token;

private:
    static json requests(std::string_view cpu, std::string_view memory) {
        return {{"name", "main"},
                {"resources", {{"requests", {{"cpu", cpu}, {"memory", memory}}}}}};
    }
};

}  // namespace esi::simulation

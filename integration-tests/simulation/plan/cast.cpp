#include "plan/cast.h"

#include <fmt/format.h>

#include <utility>

#include "base/fields.h"

namespace esi::simulation {

namespace {

constexpr const char* esi_version = "esi.tu-berlin.de/v1alpha1";
constexpr const char* taint_key = "esi.tu-berlin.de/testbed";
constexpr int slot_cpu = 600;
constexpr int slot_mib = 1024;

json metadata(std::string_view name, std::string_view ns = {}) {
    json out{{"name", name}};
    if (!ns.empty()) out["namespace"] = ns;
    return out;
}

json container(std::string_view cpu, std::string_view memory) {
    return {{"name", "main"},
            {"image", "example/other:1"},
            {"resources", {{"requests", {{"cpu", cpu}, {"memory", memory}}}}}};
}

}  // namespace

json priority_class(std::string_view name, int value, std::string_view policy) {
    return {{"apiVersion", "scheduling.k8s.io/v1"}, {"kind", "PriorityClass"},
            {"metadata", metadata(name)},           {"value", value},
            {"preemptionPolicy", policy},           {"globalDefault", false}};
}

cast::cast(plan& to) : to_(to) {
    for (const char* name : {"default", "team-a"}) {
        create({{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", metadata(name)}});
    }
    create(priority_class("esi-ghost", 1000000, "Never"));
    create(priority_class("esi-extender", 1000100, "PreemptLowerPriority"));
    create(priority_class("esi-job", 1000200, "Never"));
    node("plain-0", {}, 16);
}

void cast::add(std::string what, json with) {
    to_.workload.push_back({now_, std::move(what), std::move(with)});
}

void cast::create(json object) { add("create", {{"object", std::move(object)}}); }

void cast::node(const std::string& name, const std::vector<std::pair<std::string, int>>& labels,
                int slots) {
    json all{{"kubernetes.io/hostname", name}};
    for (const auto& [label, id] : labels) all[label] = std::to_string(id);
    // Less than a slot to spare, so that no pod of a slot's size fits beside the ghosts.
    const json room{{"cpu", fmt::format("{}m", slots * slot_cpu + 400)},
                    {"memory", fmt::format("{}Mi", slots * slot_mib + 1024)},
                    {"pods", "110"}};
    create(
        {{"apiVersion", "v1"},
         {"kind", "Node"},
         {"metadata", {{"name", name}, {"labels", std::move(all)}}},
         {"status",
          {{"capacity", room},
           {"allocatable", room},
           {"conditions",
            json::array({{{"type", "Ready"}, {"status", "True"}, {"reason", "KubeletReady"}}})}}}});
}

void cast::workers(const bed& of) {
    for (int i = 0; i < of.nodes; ++i) {
        node(fmt::format("worker-{}", i), {{of.label, i}}, of.slots_per_node);
    }
}

void cast::testbed(const bed& what) {
    create({{"apiVersion", esi_version},
            {"kind", "Testbed"},
            {"metadata", metadata(what.name, "default")},
            {"spec",
             {{"slotsPerNode", what.slots_per_node},
              {"nodeLabel", what.label},
              {"resourcesPerSlot",
               {{"cpu", fmt::format("{}m", slot_cpu)}, {"memory", fmt::format("{}Mi", slot_mib)}}},
              {"isolation", what.taint ? "Taint" : "None"}}}});
}

void cast::job(const job_name& name, int seconds, std::string_view end,
               const application_kind& kind) {
    create({{"apiVersion", esi_version},
            {"kind", "BatchJob"},
            {"metadata", metadata(name.name, name.ns)},
            {"spec", {{kind.spec, kind.spec_of(name.name)}}}});
    to_.scripts[name.ns + "/" + name.name] = {{"seconds", seconds}, {"end", end}};
}

void cast::scheduling(const std::string& name, const std::string& testbed, const char* member,
                      json jobs, bool release) {
    create({{"apiVersion", esi_version},
            {"kind", "Scheduling"},
            {"metadata", metadata(name, "default")},
            {"spec",
             {{"testbed", {{"namespace", "default"}, {"name", testbed}}},
              {member, std::move(jobs)},
              {"releaseOnCompletion", release}}}});
}

void cast::queue(const std::string& name, const std::string& testbed,
                 const std::vector<job_name>& entries, bool release) {
    json list = json::array();
    for (const auto& one : entries) list.push_back(one.reference());
    scheduling(name, testbed, "queueBased", std::move(list), release);
}

void cast::pool(const std::string& name, const std::string& testbed,
                const std::vector<pooled>& jobs, bool release) {
    json list = json::array();
    for (const auto& one : jobs) list.push_back(one.entry());
    scheduling(name, testbed, "poolBased", {{"jobs", std::move(list)}}, release);
}

void cast::slots(const std::string& name, const std::string& testbed, std::string_view mode,
                 const std::vector<placing>& jobs, bool release) {
    json list = json::array();
    for (const auto& one : jobs) list.push_back(one.entry());
    scheduling(name, testbed, "slotBased", {{"mode", mode}, {"jobs", std::move(list)}}, release);
}

std::optional<json::json_pointer> list_of_jobs(const json& spec) {
    for (const char* way : {"/queueBased", "/slotBased/jobs", "/poolBased/jobs"}) {
        json::json_pointer at(way);
        if (spec.contains(at) && spec.at(at).is_array()) return at;
    }
    return std::nullopt;
}

json cast::when(const std::string& kind, const std::string& name, json states) {
    return {{"kind", kind},
            {"name", name},
            {"at", "/status/state"},
            {"is", std::move(states)},
            {"for_ms", 1200000}};
}

void cast::strangers(const bed& near, int count, bool tolerate) {
    for (int i = 0; i < count; ++i) {
        json spec{{"terminationGracePeriodSeconds", 1},
                  {"nodeSelector", {{near.label, std::to_string(i % near.nodes)}}},
                  {"containers", json::array({container(fmt::format("{}m", slot_cpu),
                                                        fmt::format("{}Mi", slot_mib))})}};
        if (tolerate) {
            spec["tolerations"] = json::array({{{"key", taint_key}, {"operator", "Exists"}}});
        }
        const auto name = fmt::format("{}-{}-{}", tolerate ? "guest" : "stranger", near.name, i);
        add("create", {{"object",
                        {{"apiVersion", "v1"},
                         {"kind", "Pod"},
                         {"metadata", metadata(name, "default")},
                         {"spec", std::move(spec)}}},
                       {"when", when("testbeds", near.name, {"SUCCESS"})}});
    }
}

void cast::giant(const bed& near) {
    create({{"apiVersion", "v1"},
            {"kind", "Pod"},
            {"metadata", metadata("giant-" + near.name, "default")},
            {"spec",
             {{"tolerations", json::array({{{"key", taint_key}, {"operator", "Exists"}}})},
              {"containers", json::array({container("64", "1Gi")})}}}});
}

void cast::remove_when(const std::string& kind, const std::string& name,
                       const std::string& watched_kind, const std::string& watched, json states,
                       const std::string& ns) {
    add("delete", {{"kind", kind},
                   {"ns", ns},
                   {"name", name},
                   {"when", when(watched_kind, watched, std::move(states))}});
}

bool has_strangers_that_may_enter(const plan& what) {
    bool untainted = false;
    bool tolerant = false;
    bool any = false;
    for (const auto& one : what.workload) {
        const auto* object = fields::find(one.with, {"object"});
        if (!object) continue;
        const auto kind = fields::text(*object, {"kind"});
        if (kind == "Testbed" && fields::text(*object, {"spec", "isolation"}) != "Taint") {
            untainted = true;
        }
        if (kind != "Pod" || fields::text(*object, {"metadata", "name"}).starts_with("giant-")) {
            continue;
        }
        any = true;
        tolerant = tolerant || fields::find(*object, {"spec", "tolerations"});
    }
    return tolerant || (any && untainted);
}

}  // namespace esi::simulation

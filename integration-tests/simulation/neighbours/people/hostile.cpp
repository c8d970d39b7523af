// Authors who want what belongs to others, each with the rights of one role: pods, BatchJobs,
// Schedulings, or Testbeds. What they do to the objects of others excuses no rule.
#include "neighbours/people/state.h"

namespace esi::simulation {

using namespace deeds;

namespace {

/// The rules know forged pods by this label; no operator reads it.
constexpr const char* forged = "example.com/forged";

json nested(std::int64_t depth) {
    json out = "end";
    for (std::int64_t i = 0; i < depth; ++i) out = json{{"a", std::move(out)}};
    return out;
}

}  // namespace

bool people::state::own_namespace(const std::string& name) {
    if (objects().find(kinds::name_space, {}, name)) return true;
    return own
        .create(kinds::name_space, {},
                {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", name}}}})
        .has_value();
}

/// A small pod with everything that a pod of a run carries. It is bound by a scheduler, as
/// any other pod is.
bool people::state::forge_pod(const json& with) {
    const auto source = job_pod_of(with);
    if (!source) return false;
    const auto ns = text_of(with, "in", source->ns());
    if (!own_namespace(ns)) return false;
    const auto& from = source->body();
    json metadata{{"name", text_of(with, "pod", "forged")}, {"namespace", ns}};
    for (const char* key : {"labels", "annotations"}) {
        if (const auto* map = fields::find(from, {"metadata", key}); map && map->is_object()) {
            metadata[key] = *map;
        }
    }
    metadata["labels"][forged] = "true";
    const auto node = text_of(with, "node");
    metadata["annotations"][std::string(names::slot)] =
        std::to_string(fields::number(with, {"slot"}));
    metadata["annotations"][std::string(names::slot_node)] = node;
    const auto* owners = fields::find(from, {"metadata", "ownerReferences"});
    if (text_of(with, "owner") == "same" && owners) metadata["ownerReferences"] = *owners;
    if (fields::find(with, {"keep"})) metadata["finalizers"] = json::array({"example.com/keep"});
    json spec{{"restartPolicy", "Never"},
              {"terminationGracePeriodSeconds", 1},
              {"nodeSelector", {{"kubernetes.io/hostname", node}}},
              {"tolerations", json::array({{{"key", names::taint}, {"operator", "Exists"}}})},
              {"containers",
               json::array({{{"name", "main"},
                             {"image", "example/other:1"},
                             {"resources", {{"requests", {{"cpu", "1m"}, {"memory", "1Mi"}}}}}}})}};
    if (fields::find(with, {"bulk"})) {
        // More than ESI reads of a pod.
        spec["affinity"] = {{"note", std::string(100'000, 'x')}};
        for (int i = 0; i < 600; ++i) {
            spec["tolerations"].push_back({{"key", fmt::format("k{}", i)}});
            metadata["labels"][fmt::format("example.com/l{}", i)] = "";
            metadata["labels"][fmt::format("example.com/m{}", i)] = "";
        }
    }
    if (fields::find(with, {"gated"})) {
        spec["schedulingGates"] = json::array({{{"name", names::gate}}});
    }
    return own
        .create(kinds::pod, ns,
                {{"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", metadata}, {"spec", spec}})
        .has_value();
}

bool people::state::keep_job_pod(const json& with) {
    const auto pod = job_pod_of(with);
    return pod && merge(kinds::pod, pod->ns(), pod->name(),
                        {{"metadata", {{"finalizers", json::array({"example.com/keep"})}}}});
}

/// A job of their own, and an order for it under the hold that the Testbed shows.
bool people::state::forge_order(const json& with) {
    const auto bed =
        objects().find(kinds::testbed, text_of(with, "ns", "default"), text_of(with, "name"));
    if (!bed) return false;
    const auto hold = std::string(fields::annotation(bed->body(), names::hold));
    if (hold.empty()) return false;
    const auto ns = text_of(with, "in", hostile_namespace);
    if (!own_namespace(ns)) return false;
    const auto job = text_of(with, "job", "a-forger");
    if (!objects().find(kinds::batchjob, ns, job)) {
        json spec{{"type", "Scala"},
                  {"sparkVersion", "4.0.1"},
                  {"mainApplicationFile", "local:///a.jar"},
                  {"driver", {{"memory", "512m"}}},
                  {"executor", json::object()}};
        (void)own.create(kinds::batchjob, ns,
                         {{"apiVersion", "esi.tu-berlin.de/v1alpha1"},
                          {"kind", "BatchJob"},
                          {"metadata", {{"name", job}, {"namespace", ns}}},
                          {"spec", {{"sparkSpec", std::move(spec)}}}});
    }
    const auto* slots = fields::find(with, {"slots"});
    if (!slots) return false;
    meddled(fmt::format("edited batchjobs {}/{} spec: a forged order", ns, job));
    json order{{"testbedName", {{"namespace", bed->ns()}, {"name", bed->name()}}},
               {"slotIds", *slots},
               {"replication", slots->size()},
               {"run", hold + ".999"}};
    return merge(kinds::batchjob, ns, job,
                 {{"spec",
                   {{"activeScheduling",
                     {{"namespace", fields::label(bed->body(), names::active_scheduling_namespace)},
                      {"name", fields::label(bed->body(), names::active_scheduling_name)},
                      {"uid", hold.substr(0, hold.rfind('.'))}}},
                    {"creationRequest", std::move(order)}}}});
}

/// A Scheduling that wants the job of others, in their Testbed or in one of its author.
bool people::state::forge_scheduling(const json& with) {
    if (!own_namespace(hostile_namespace)) return false;
    json bed{{"namespace", text_of(with, "ns", "default")}, {"name", text_of(with, "name")}};
    if (fields::find(with, {"label"})) {
        (void)forge_testbed(with);
        bed = {{"namespace", hostile_namespace}, {"name", "a-grabber"}};
    }
    json spec{{"testbed", std::move(bed)}};
    const json job{{"namespace", text_of(with, "ns", "default")}, {"name", text_of(with, "job")}};
    if (const auto* slots = fields::find(with, {"slots"})) {
        json entry = job;
        entry["slotIds"] = *slots;
        spec["slotBased"] = {{"mode", "relaxed"}, {"jobs", json::array({entry})}};
    } else {
        spec["queueBased"] = json::array({job});
    }
    return own
        .create(
            kinds::scheduling, hostile_namespace,
            {{"apiVersion", "esi.tu-berlin.de/v1alpha1"},
             {"kind", "Scheduling"},
             {"metadata",
              {{"name", text_of(with, "scheduling", "a-taker")}, {"namespace", hostile_namespace}}},
             {"spec", std::move(spec)}})
        .has_value();
}

/// A Testbed of small slots on the nodes of another, which it wants to close to everybody else.
bool people::state::forge_testbed(const json& with) {
    if (!own_namespace(hostile_namespace)) return false;
    return own
        .create(kinds::testbed, hostile_namespace,
                {{"apiVersion", "esi.tu-berlin.de/v1alpha1"},
                 {"kind", "Testbed"},
                 {"metadata", {{"name", "a-grabber"}, {"namespace", hostile_namespace}}},
                 {"spec",
                  {{"slotsPerNode", 1},
                   {"nodeLabel", text_of(with, "label")},
                   {"resourcesPerSlot", {{"cpu", "1m"}, {"memory", "1Mi"}}},
                   {"isolation", "Taint"}}}})
        .has_value();
}

/// What the API server takes and ESI does not read: too deep, or more than its caches keep.
bool people::state::deep_spec(const json& with) {
    const auto ns = text_of(with, "ns", "default");
    const auto name = text_of(with, "name");
    const auto job = objects().find(kinds::batchjob, ns, name);
    if (!job) return false;
    std::string part(application_kinds().back().spec);
    for (const auto& kind : application_kinds()) {
        if (!fields::find(job->body(), {"spec", kind.spec})) continue;
        part = kind.spec;
        break;
    }
    meddled(fmt::format("edited batchjobs {}/{} spec: too deep", ns, name));
    if (fields::find(with, {"back_ms"})) {
        later(ms_of(with, "back_ms", 0), [ns, name, part](state& self) {
            self.meddled(fmt::format("edited batchjobs {}/{} spec: no longer too deep", ns, name));
            (void)self.merge(kinds::batchjob, ns, name, {{"spec", {{part, {{"deep", nullptr}}}}}});
        });
    }
    const auto kib = fields::number(with, {"kib"}, 0);
    auto bulk = kib > 0 ? json(std::string(static_cast<std::size_t>(kib) << 10, 'x'))
                        : nested(fields::number(with, {"depth"}, 300));
    return merge(kinds::batchjob, ns, name, {{"spec", {{part, {{"deep", std::move(bulk)}}}}}});
}

}  // namespace esi::simulation

// What the server does with pods beyond the generic: priorities, default tolerations, the status of
// a new pod, binding.
#include <fmt/format.h>

#include <algorithm>

#include "base/fields.h"
#include "base/group_kinds.h"
#include "server/api/state.h"

namespace esi::simulation {

namespace {

constexpr std::int64_t eviction_seconds = 300;

json& spec_of(json& body) {
    auto& spec = body["spec"];
    if (!spec.is_object()) spec = json::object();
    return spec;
}

bool tolerates(const json& tolerations, std::string_view key) {
    return std::ranges::any_of(tolerations, [&](const json& one) {
        const auto effect = text_in(one, "effect");
        const auto own = text_in(one, "key");
        return one.is_object() && (own == key || own.empty()) &&
               (effect.empty() || effect == "NoExecute");
    });
}

/// The DefaultTolerationSeconds plugin.
void add_tolerations(json& spec) {
    auto& list = spec["tolerations"];
    if (!list.is_array()) list = json::array();
    for (const char* key : {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}) {
        if (tolerates(list, key)) continue;
        list.push_back({{"key", key},
                        {"operator", "Exists"},
                        {"effect", "NoExecute"},
                        {"tolerationSeconds", eviction_seconds}});
    }
}

/// Sets one condition of a pod in its place, as podutil.UpdatePodCondition.
void set_condition(json& status, json wanted, const std::string& now) {
    auto& list = status["conditions"];
    if (!list.is_array()) list = json::array();
    wanted["lastProbeTime"] = nullptr;
    wanted["lastTransitionTime"] = now;
    for (auto& each : list) {
        if (text_in(each, "type") != text_in(wanted, "type")) continue;
        if (text_in(each, "status") == text_in(wanted, "status")) {
            const auto since = std::string(text_in(each, "lastTransitionTime"));
            if (!since.empty()) wanted["lastTransitionTime"] = since;
        }
        each = std::move(wanted);
        return;
    }
    list.push_back(std::move(wanted));
}

void copy_texts(json& metadata, const json& from, const char* key) {
    const auto* values = object_in(from, key);
    if (values == nullptr) return;
    for (const auto& [name, value] : values->items()) metadata[key][name] = value;
}

bool has_gates(const json& spec) {
    const auto gates = spec.find("schedulingGates");
    return gates != spec.end() && !gates->empty();
}

}  // namespace

void api_server::state::gate_gang_pod(std::string_view ns, json& body) const {
    const auto home = store.find(kinds::name_space, {}, ns);
    if (!home || fields::label(home->body(), "esi.tu-berlin.de/gangs") != "enabled") return;
    const auto group = group_of(body);
    auto& spec = spec_of(body);
    if (group.name.empty() || !text_in(spec, "nodeName").empty()) return;
    auto& gates = spec["schedulingGates"];
    if (!gates.is_array()) gates = json::array();
    const json gate{{"name", "esi.tu-berlin.de/gang"}};
    if (std::ranges::find(gates, gate) == gates.end()) gates.push_back(gate);
    metadata_of(body)["labels"]["esi.tu-berlin.de/gang"] = "true";
    if (!group.scheduler.empty() && text_in(spec, "schedulerName") == group.scheduler) {
        spec["schedulerName"] = "default-scheduler";
    }
}

or_refused<void> api_server::state::admit_pod(json& body) const {
    const auto name = std::string(metadata_text(body, "name"));
    auto& spec = spec_of(body);
    const auto class_name = std::string(text_in(spec, "priorityClassName"));
    std::int64_t priority = 0;
    std::string policy = "PreemptLowerPriority";
    object_pointer found;
    if (class_name.empty()) {
        for (const auto& each : store.all(kinds::priority_class)) {
            const auto preset = each->body().find("globalDefault");
            if (preset != each->body().end() && *preset == true) found = each;
        }
        if (found) spec["priorityClassName"] = found->name();
    } else {
        found = store.find(kinds::priority_class, {}, class_name);
        if (!found) {
            return refused(
                forbidden(kinds::pod, name,
                          fmt::format("no PriorityClass with name {} was found", class_name)));
        }
    }
    if (found) {
        const auto value = found->body().find("value");
        if (value != found->body().end() && value->is_number_integer()) {
            priority = value->get<std::int64_t>();
        }
        const auto own = text_in(found->body(), "preemptionPolicy");
        if (!own.empty()) policy = own;
    }
    if (const auto given = spec.find("priority");
        given != spec.end() && given->is_number_integer() && *given != priority) {
        return refused(forbidden(
            kinds::pod, name,
            fmt::format("the integer value of priority ({}) must not be provided in pod spec; "
                        "priority admission controller computed {} from the given PriorityClass "
                        "name",
                        given->dump(), priority)));
    }
    if (const auto given = text_in(spec, "preemptionPolicy"); !given.empty() && given != policy) {
        return refused(forbidden(
            kinds::pod, name,
            fmt::format("the string value of PreemptionPolicy ({}) must not be provided in pod "
                        "spec; priority admission controller computed {} from the given "
                        "PriorityClass name",
                        given, policy)));
    }
    spec["priority"] = priority;
    spec["preemptionPolicy"] = std::move(policy);
    add_tolerations(spec);
    return {};
}

void api_server::state::admit_pod_update(json& body) const {
    auto& spec = spec_of(body);
    const auto present = spec.find("tolerations");
    // What is no list is for the validation to refuse.
    if (present == spec.end() || present->is_null() || present->is_array()) add_tolerations(spec);
}

void api_server::state::begin_pod(json& body) const {
    auto& status = body["status"];
    if (!status.is_object()) status = json::object();
    status["phase"] = "Pending";
    if (!has_gates(spec_of(body))) return;
    set_condition(status,
                  {{"type", "PodScheduled"},
                   {"status", "False"},
                   {"reason", "SchedulingGated"},
                   {"message", "Scheduling is blocked due to non-empty scheduling gates"}},
                  now_text());
}

kube::response api_server::state::bind(const call& in) {
    const auto request = json::parse(in.request->body, nullptr, false);
    if (!request.is_object()) return bad_request("the body is not a Binding");
    const auto* target = object_in(request, "target");
    const auto node = target == nullptr ? std::string() : std::string(text_in(*target, "name"));
    if (node.empty()) {
        return invalid("", "Binding", in.name,
                       {{"target.name", "FieldValueRequired", "Required value"}});
    }
    const json nothing = json::object();
    const auto* given = object_in(request, "metadata");
    const auto& metadata = given == nullptr ? nothing : *given;
    if (const auto name = text_in(metadata, "name"); !name.empty() && name != in.name) {
        return bad_request("name in URL does not match name in Binding object");
    }
    const auto before = store.find(kinds::pod, in.ns, in.name);
    if (!before) return not_found(kinds::pod, in.name);
    const auto uid = text_in(metadata, "uid");
    if (!uid.empty() && uid != before->uid()) {
        return wrong_uid(kinds::pod, in.ns, in.name, uid, before->uid());
    }
    const auto refuse = [&](std::string_view why) {
        return conflict("", "pods/binding", in.name, why);
    };
    auto body = before->body();
    auto& spec = spec_of(body);
    if (is_deleting(body)) {
        return refuse(
            fmt::format("pod {} is being deleted, cannot be assigned to a host", in.name));
    }
    if (const auto present = text_in(spec, "nodeName"); !present.empty()) {
        return refuse(fmt::format("pod {} is already assigned to node \"{}\"", in.name, present));
    }
    if (has_gates(spec)) {
        return refuse(fmt::format("pod {} has non-empty .spec.schedulingGates", in.name));
    }
    spec["nodeName"] = node;
    copy_texts(metadata_of(body), metadata, "labels");
    copy_texts(metadata_of(body), metadata, "annotations");
    auto& status = body["status"];
    set_condition(status, {{"type", "PodScheduled"}, {"status", "True"}}, now_text());
    // Since 1.35 a binding is the end of a nomination.
    status.erase("nominatedNodeName");
    if (!in.dry_run()) store.put(kinds::pod, std::move(body));
    return success(201);
}

}  // namespace esi::simulation

#include "server/validation/built_in.h"

#include <algorithm>
#include <map>
#include <set>

#include "server/validation/metadata_rules.h"
#include "server/validation/pod_rules.h"
#include "server/validation/quantity_text.h"

namespace esi::simulation {

namespace {

// Limits of events.k8s.io/v1 (pkg/apis/core/validation/events.go).
constexpr std::size_t note_limit = 1024;
constexpr std::size_t word_limit = 128;
constexpr std::int64_t highest_user_priority = 1000000000;

void prepare_node(json& body) {
    if (auto spec = body.find("spec"); spec != body.end() && spec->is_object()) {
        // omitempty
        if (auto taints = spec->find("taints"); taints != spec->end() && taints->empty()) {
            spec->erase(taints);
        }
    }
    auto status = body.find("status");
    if (status == body.end() || !status->is_object()) return;
    if (status->contains("capacity") && !status->contains("allocatable")) {
        const json capacity = (*status)["capacity"];
        (*status)["allocatable"] = capacity;
    }
    for (const char* name : {"capacity", "allocatable"}) {
        if (auto at = status->find(name); at != status->end()) canonicalize_quantities(*at);
    }
}

void check_node(const json& body, const json* before, faults& out) {
    const auto* spec = find_member(body, "spec");
    if (!spec) return;
    const auto* old = before ? find_member(*before, "spec") : nullptr;
    if (old && *old == *spec) return;
    const auto* taints = list_member(*spec, "taints");
    std::set<std::pair<std::string, std::string>> seen;
    for (std::size_t i = 0; taints && i < taints->size(); ++i) {
        const auto& each = (*taints)[i];
        // The API server names the place so.
        const auto path = "metadata.taints[" + std::to_string(i) + "]";
        const std::string key(text_member(each, "key"));
        const std::string value(text_member(each, "value"));
        if (auto why = wrong_qualified_name(key); !why.empty())
            out.push_back(invalid(path + ".key", key, why));
        if (auto why = wrong_label_value(value); !why.empty())
            out.push_back(invalid(path + ".value", value, why));
        check_taint_effect(each, path, false, out);
        if (!seen.emplace(key, std::string(text_member(each, "effect"))).second) {
            out.push_back(duplicate(path, each));
        }
    }
    if (!old) return;
    const std::string provider(text_member(*old, "providerID"));
    if (!provider.empty() && text_member(*spec, "providerID") != provider) {
        out.push_back(forbidden(
            "spec.providerID", "node updates may not change providerID except from \"\" to valid"));
    }
}

void check_lease(const json& body, faults& out) {
    const auto* spec = find_member(body, "spec");
    if (!spec) return;
    const auto number = [&](const char* name, std::int64_t least, const char* why) {
        const auto* at = find_member(*spec, name);
        if (at && at->is_number_integer() && at->get<std::int64_t>() < least) {
            out.push_back(invalid(std::string("spec.") + name, *at, why));
        }
    };
    number("leaseDurationSeconds", 1, "must be greater than 0");
    number("leaseTransitions", 0, "must be greater than or equal to 0");
    if (!text_member(*spec, "preferredHolder").empty() && text_member(*spec, "strategy").empty()) {
        out.push_back(
            forbidden("spec.preferredHolder", "may only be specified if `strategy` is defined"));
    }
}

void check_event_series(const json& body, faults& out) {
    const auto* series = find_member(body, "series");
    if (!series) return;
    const auto* count = find_member(*series, "count");
    if (!count || !count->is_number_integer() || count->get<std::int64_t>() < 2) {
        out.push_back(invalid("series.count", "", "should be at least 2"));
    }
    if (text_member(*series, "lastObservedTime").empty()) {
        out.push_back(required("series.lastObservedTime"));
    }
}

/// Members carry the names that core/v1 has for them, as the API server's answers do.
void check_event_form(const json& body, faults& out) {
    static const json none = json::object();
    const auto* metadata = find_member(body, "metadata");
    const std::string ns(metadata ? text_member(*metadata, "namespace") : std::string_view());
    const auto* regarding = find_member(body, "regarding");
    const std::string subject(text_member(regarding ? *regarding : none, "namespace"));
    const auto misplaced = [&] {
        out.push_back(
            invalid("involvedObject.namespace", subject, "does not match event.namespace"));
    };
    if (text_member(body, "eventTime").empty()) {
        if (subject.empty() ? ns != "default" : ns != subject) misplaced();
        return;
    }
    if (subject.empty() && ns != "default" && ns != "kube-system") misplaced();
    const std::string controller(text_member(body, "reportingController"));
    if (controller.empty()) out.push_back(required("reportingController"));
    if (auto why = wrong_qualified_name(controller); !why.empty()) {
        out.push_back(invalid("reportingController", controller, why));
    }
    for (const char* name : {"reportingInstance", "action", "reason"}) {
        const auto text = text_member(body, name);
        if (text.empty()) out.push_back(required(name));
        if (text.size() > word_limit) {
            out.push_back(invalid(name, "", "can have at most 128 characters"));
        }
    }
    if (text_member(body, "note").size() > note_limit) {
        out.push_back(invalid("message", "", "can have at most 1024 characters"));
    }
}

void check_event(const json& body, const json* before, faults& out) {
    check_event_form(body, out);
    if (!before) {
        check_event_series(body, out);
        if (text_member(body, "eventTime").empty()) out.push_back(required("eventTime"));
        const auto type = text_member(body, "type");
        if (type != "Normal" && type != "Warning") {
            out.push_back(invalid("type", "", "has invalid value: " + std::string(type)));
        }
        return;
    }
    const auto same = [&](const char* name) {
        const auto* now = find_member(body, name);
        const auto* old = find_member(*before, name);
        return now && old ? *now == *old : now == old;
    };
    if (!same("series")) check_event_series(body, out);
    static constexpr std::pair<const char*, const char*> fixed[] = {
        {"regarding", "involvedObject"},
        {"reason", "reason"},
        {"note", "message"},
        {"type", "type"},
        {"eventTime", "eventTime"},
        {"action", "action"},
        {"related", "related"},
        {"reportingController", "reportingController"},
        {"reportingInstance", "reportingInstance"}};
    for (const auto& [name, shown_as] : fixed) {
        if (!same(name)) out.push_back(invalid(shown_as, "field is immutable"));
    }
}

void check_priority_class(const json& body, const json* before, faults& out) {
    const auto* found = find_member(body, "value");
    const auto value = found && found->is_number_integer() ? found->get<std::int64_t>() : 0;
    const auto* metadata = find_member(body, "metadata");
    const auto name = metadata ? text_member(*metadata, "name") : std::string_view();
    if (!before) {
        if (name.starts_with("system-")) {
            out.push_back(forbidden("metadata.name",
                                    "priority class names with 'system-' prefix are "
                                    "reserved for system use only"));
        } else if (value > highest_user_priority) {
            out.push_back(forbidden(
                "value", "maximum allowed value of a user defined priority is 1000000000"));
        }
        const std::string policy(text_member(body, "preemptionPolicy"));
        if (policy != "PreemptLowerPriority" && policy != "Never") {
            out.push_back(
                not_supported("preemptionPolicy", policy, {"PreemptLowerPriority", "Never"}));
        }
        return;
    }
    const auto* old = find_member(*before, "value");
    if ((old && old->is_number_integer() ? old->get<std::int64_t>() : 0) != value) {
        out.push_back(forbidden("value", "may not be changed in an update."));
    }
    if (text_member(body, "preemptionPolicy") != text_member(*before, "preemptionPolicy")) {
        out.push_back(invalid("preemptionPolicy",
                              std::string(text_member(body, "preemptionPolicy")),
                              "field is immutable"));
    }
}

}  // namespace

void keep_member(json& body, const json& before, const char* name) {
    const auto old = before.find(name);
    const auto mine = body.find(name);
    if (old == before.end()) {
        if (mine != body.end()) body.erase(mine);
    } else if (mine == body.end()) {
        body[name] = *old;
    } else if (*mine != *old) {
        *mine = *old;
    }
}

bool built_in_has_status(const kube::resource_type& type) {
    return type.plural == "pods" || type.plural == "nodes" || type.plural == "namespaces" ||
           type.plural == "customresourcedefinitions";
}

void prepare_built_in(const kube::resource_type& type, std::string_view subresource, json& body,
                      const json* before) {
    if (!body.is_object()) return;
    if (type.plural == "pods") return prepare_pod(subresource, body, before);
    if (before && built_in_has_status(type)) {
        if (subresource == "status") {
            keep_member(body, *before, "spec");
        } else {
            keep_member(body, *before, "status");
        }
    }
    if (type.plural == "nodes") prepare_node(body);
    if (type.plural == "priorityclasses" && !find_member(body, "preemptionPolicy")) {
        body["preemptionPolicy"] = "PreemptLowerPriority";
    }
}

void check_built_in(const kube::resource_type& type, std::string_view subresource, const json& body,
                    const json* before, faults& out) {
    if (type.plural == "pods") {
        check_pod(subresource, body, before, out);
    } else if (type.plural == "nodes") {
        check_node(body, before, out);
    } else if (type.plural == "leases") {
        check_lease(body, out);
    } else if (type.plural == "events") {
        check_event(body, before, out);
    } else if (type.plural == "priorityclasses") {
        check_priority_class(body, before, out);
    }
}

void find_unknown_in_built_in(const kube::resource_type& type, const json& body,
                              std::vector<std::string>& out) {
    static const std::map<std::string_view, std::set<std::string_view>> members{
        {"pods", {"spec", "status"}},
        {"nodes", {"spec", "status"}},
        {"namespaces", {"spec", "status"}},
        {"leases", {"spec"}},
        {"priorityclasses", {"value", "globalDefault", "description", "preemptionPolicy"}},
        {"events",
         {"eventTime", "series", "reportingController", "reportingInstance", "action", "reason",
          "regarding", "related", "note", "type", "deprecatedSource", "deprecatedFirstTimestamp",
          "deprecatedLastTimestamp", "deprecatedCount"}}};
    const auto known = members.find(type.plural);
    if (known == members.end() || !body.is_object()) return;
    for (const auto& each : body.items()) {
        const auto& name = each.key();
        if (name == "apiVersion" || name == "kind" || name == "metadata") continue;
        if (!known->second.contains(name)) out.push_back(name);
    }
    if (type.plural == "pods") find_unknown_in_pod(body, out);
}

}  // namespace esi::simulation

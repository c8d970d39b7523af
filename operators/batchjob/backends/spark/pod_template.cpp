#include "batchjob/backends/spark/pod_template.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "model/names.h"

namespace esi::batchjob::spark {

namespace {

namespace names = model::names;

/// Volumes with this prefix are Spark's scratch space: the operator hands them over as
/// configuration, also without its webhook.
constexpr std::string_view local_dir_prefix = "spark-local-dir-";

refusal malformed(std::string_view path, std::string_view what) {
    return {"SpecMalformed", fmt::format("sparkSpec.{} must be {}", path, what)};
}

json* typed_in(json& parent, const std::string& key, json empty) {
    auto at = parent.find(key);
    if (at == parent.end() || at->is_null()) {
        parent[key] = std::move(empty);
        return &parent[key];
    }
    return at->type() == empty.type() ? &*at : nullptr;
}

std::string name_of(const json& item) {
    if (!item.is_object()) return {};
    const auto at = item.find("name");
    return at != item.end() && at->is_string() ? at->get<std::string>() : std::string();
}

bool has_named(const json& list, std::string_view name) {
    for (const auto& item : list) {
        if (name_of(item) == name) return true;
    }
    return false;
}

/// The container that Spark takes as its own: found by name, put in front when it is not there.
json& spark_container(json& containers, std::string_view name) {
    for (auto& item : containers) {
        if (name_of(item) == name) return item;
    }
    containers.insert(containers.begin(), json{{"name", name}});
    return containers.front();
}

/// Adds `requirement` to every term of the required node affinity (terms are ORed), making one
/// where there is none; a term without requirements matches no node and stays so. False when the
/// user's affinity has another form.
bool require_on_nodes(json& affinity, const json& requirement) {
    auto* node = typed_in(affinity, "nodeAffinity", json::object());
    if (!node) return false;
    auto* required =
        typed_in(*node, "requiredDuringSchedulingIgnoredDuringExecution", json::object());
    if (!required) return false;
    auto* terms = typed_in(*required, "nodeSelectorTerms", json::array());
    if (!terms) return false;
    if (terms->empty()) {
        terms->push_back({{"matchExpressions", json::array({requirement})}});
        return true;
    }
    for (auto& term : *terms) {
        if (!term.is_object()) return false;
        const bool any = std::ranges::any_of(std::array{"matchExpressions", "matchFields"},
                                             [&](const char* key) {
                                                 const auto at = term.find(key);
                                                 return at != term.end() && !at->empty();
                                             });
        if (!any) continue;
        auto* expressions = typed_in(term, "matchExpressions", json::array());
        if (!expressions) return false;
        expressions->push_back(requirement);
    }
    return true;
}

class role_template {
public:
    role_template(json& spec, std::string role, std::string container)
        : spec_(spec),
          role_name_(std::move(role)),
          container_name_(std::move(container)),
          role_(spec[role_name_]) {}

    /// Opens the template and its parts; false when a part has a wrong type, see `fault`.
    bool open() {
        auto* whole = typed_in(role_, "template", json::object());
        if (!whole) return wrong("template", "an object");
        pod_ = typed_in(*whole, "spec", json::object());
        if (!pod_) return wrong("template.spec", "an object");
        auto* containers = typed_in(*pod_, "containers", json::array());
        if (!containers) return wrong("template.spec.containers", "a list");
        container_ = &spark_container(*containers, container_name_);
        return true;
    }

    bool move_volumes(std::set<std::string>& moved) {
        auto mounts = role_.find("volumeMounts");
        if (mounts == role_.end() || mounts->is_null()) return true;
        if (!mounts->is_array()) return wrong("volumeMounts", "a list");
        auto* to = typed_in(*container_, "volumeMounts", json::array());
        auto* volumes = typed_in(*pod_, "volumes", json::array());
        if (!to || !volumes) return wrong("template.spec", "a pod's spec");
        json stay = json::array();
        for (const auto& mount : *mounts) {
            const auto name = name_of(mount);
            if (name.empty() || name.starts_with(local_dir_prefix)) {
                stay.push_back(mount);
                continue;
            }
            to->push_back(mount);
            moved.insert(name);
            if (has_named(*volumes, name)) continue;
            const auto all = spec_.find("volumes");
            if (all == spec_.end() || !all->is_array()) continue;
            for (const auto& volume : *all) {
                if (name_of(volume) == name) volumes->push_back(volume);
            }
        }
        if (stay.empty()) {
            role_.erase("volumeMounts");
        } else {
            *mounts = std::move(stay);
        }
        if (to->empty()) container_->erase("volumeMounts");
        if (volumes->empty()) pod_->erase("volumes");
        return true;
    }

    bool move_tolerations() {
        auto at = role_.find("tolerations");
        if (at == role_.end() || at->is_null()) return true;
        if (!at->is_array()) return wrong("tolerations", "a list");
        auto* to = typed_in(*pod_, "tolerations", json::array());
        if (!to) return wrong("template.spec.tolerations", "a list");
        for (const auto& item : *at) to->push_back(item);
        role_.erase("tolerations");
        return true;
    }

    /// The webhook sets these, it does not append: the same value twice is harmless.
    void copy_settings() {
        copy("securityContext", *container_, "securityContext");
        copy("podSecurityContext", *pod_, "securityContext");
        copy("nodeSelector", *pod_, "nodeSelector");
        copy("affinity", *pod_, "affinity");
    }

    bool has_node_affinity() const {
        const auto at = pod_->find("affinity");
        return at != pod_->end() && at->is_object() && at->contains("nodeAffinity") &&
               !(*at)["nodeAffinity"].is_null();
    }

    bool require_node(const json& requirement) {
        auto* affinity = typed_in(*pod_, "affinity", json::object());
        if (!affinity || !require_on_nodes(*affinity, requirement)) {
            return wrong("affinity", "a pod's affinity");
        }
        // The webhook, where it runs, puts the role's affinity over the template's.
        role_["affinity"] = *affinity;
        return true;
    }

    void override_pod(const std::string& key, const json& value,
                      std::vector<std::string>& overridden) {
        if (pod_->contains(key)) {
            overridden.push_back(fmt::format("{}.template.spec.{}", role_name_, key));
        }
        if (value.is_null()) {
            pod_->erase(key);
        } else {
            (*pod_)[key] = value;
        }
    }

    bool append(const std::string& key, const json& item) {
        auto* list = typed_in(*pod_, key, json::array());
        if (!list) return wrong("template.spec." + key, "a list");
        list->push_back(item);
        return true;
    }

    /// Labels and annotations come by the role's own keys; in the template none of ESI's may stand.
    bool clean_metadata(std::vector<std::string>& overridden) {
        auto& whole = role_["template"];
        const auto metadata = whole.find("metadata");
        if (metadata == whole.end() || metadata->is_null()) return true;
        if (!metadata->is_object()) return wrong("template.metadata", "an object");
        for (const std::string key : {"labels", "annotations"}) {
            const auto map = metadata->find(key);
            if (map == metadata->end() || map->is_null()) continue;
            if (!map->is_object()) return wrong("template.metadata." + key, "an object");
            for (auto at = map->begin(); at != map->end();) {
                const bool ours = at.key().starts_with(names::prefix);
                if (ours) {
                    overridden.push_back(
                        fmt::format("{}.template.metadata.{}[{}]", role_name_, key, at.key()));
                }
                at = ours ? map->erase(at) : std::next(at);
            }
        }
        return true;
    }

    const refusal& fault() const { return fault_; }

private:
    bool wrong(std::string_view part, std::string_view what) {
        fault_ = malformed(role_name_ + "." + std::string(part), what);
        return false;
    }
    void copy(const std::string& from, json& to, const std::string& key) {
        const auto at = role_.find(from);
        if (at != role_.end() && !at->is_null()) to[key] = *at;
    }

    json& spec_;
    std::string role_name_;
    std::string container_name_;
    json& role_;
    json* pod_ = nullptr;
    json* container_ = nullptr;
    refusal fault_;
};

}  // namespace

std::optional<refusal> fill_templates(json& spec, const build_request& request,
                                      const placement_options& options,
                                      std::vector<std::string>& overridden) {
    role_template driver(spec, "driver", "spark-kubernetes-driver");
    role_template executor(spec, "executor", "spark-kubernetes-executor");
    std::set<std::string> moved;
    for (auto* role : {&driver, &executor}) {
        if (!role->open() || !role->move_volumes(moved) || !role->move_tolerations() ||
            !role->clean_metadata(overridden)) {
            return role->fault();
        }
        role->copy_settings();
    }
    if (const auto all = spec.find("volumes"); all != spec.end() && all->is_array()) {
        json stay = json::array();
        for (const auto& volume : *all) {
            if (!moved.contains(name_of(volume))) stay.push_back(volume);
        }
        if (stay.empty()) {
            spec.erase("volumes");
        } else {
            *all = std::move(stay);
        }
    }

    if (!request.node_label.empty()) {
        if (!driver.has_node_affinity() &&
            !driver.require_node({{"key", request.node_label}, {"operator", "DoesNotExist"}})) {
            return driver.fault();
        }
        // On the gate path the pin says where a pod goes, and a label that is taken off while the
        // layout is held must not keep it out of its slot. The extender is asked about every node
        // that is left: there the label spares it the rest of the cluster.
        if (options.extender &&
            !executor.require_node({{"key", request.node_label}, {"operator", "Exists"}})) {
            return executor.fault();
        }
    }
    executor.override_pod("schedulerName", options.scheduler(), overridden);
    executor.override_pod("priorityClassName", options.priority_class(), overridden);
    // Both would go past the scheduler, or past its priorities.
    executor.override_pod("nodeName", nullptr, overridden);
    executor.override_pod("priority", nullptr, overridden);
    executor.override_pod("preemptionPolicy", nullptr, overridden);
    if (!executor.append("tolerations", {{"key", names::taint}, {"operator", "Exists"}})) {
        return executor.fault();
    }
    if (!options.extender && !executor.append("schedulingGates", {{"name", names::gate}})) {
        return executor.fault();
    }
    return std::nullopt;
}

}  // namespace esi::batchjob::spark

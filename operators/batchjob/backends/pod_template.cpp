#include "batchjob/backends/pod_template.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "batchjob/backends/json_parts.h"
#include "batchjob/backends/marks.h"
#include "model/names.h"

namespace esi::batchjob {

namespace {

namespace names = model::names;

/// Finds the item by name; puts it in front if it is absent.
json& own_container(json& containers, std::string_view name) {
    for (auto& item : containers) {
        if (name_of(item) == name) return item;
    }
    containers.insert(containers.begin(), json{{"name", name}});
    return containers.front();
}

/// Adds `requirement` to every term of the required node affinity (terms are ORed), making one if
/// there is none; a term without requirements matches no node and stays so. False: the user's
/// affinity has another form.
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

constexpr const char* grace_key = "terminationGracePeriodSeconds";

}  // namespace

bool limit_grace_of(json& of, seconds most) {
    const auto found = of.find(grace_key);
    if (found == of.end() || found->is_null()) return false;
    const bool small =
        found->is_number_unsigned()
            ? std::cmp_less_equal(found->get<std::uint64_t>(), most.count())
            : found->is_number_integer() && found->get<std::int64_t>() <= most.count();
    if (small) return false;
    // A text or a fraction is replaced, too: readers of templates may take it for a number.
    *found = most.count();
    return true;
}

pod_template::pod_template(json& parent, std::string template_key, std::string root,
                           std::string path, std::string container)
    : parent_(parent),
      key_(std::move(template_key)),
      root_(std::move(root)),
      path_(std::move(path)),
      container_name_(std::move(container)) {}

bool pod_template::open() {
    auto* whole = typed_in(parent_, key_, json::object());
    if (!whole) return wrong("", "an object");
    pod_ = typed_in(*whole, "spec", json::object());
    if (!pod_) return wrong(".spec", "an object");
    auto* containers = typed_in(*pod_, "containers", json::array());
    if (!containers) return wrong(".spec.containers", "a list");
    container_ = &own_container(*containers, container_name_);
    return true;
}

bool pod_template::has_node_affinity() const {
    const auto* affinity = member(*pod_, "affinity");
    return affinity && member(*affinity, "nodeAffinity");
}

bool pod_template::require_node(const json& requirement) {
    auto* affinity = typed_in(*pod_, "affinity", json::object());
    if (!affinity || !require_on_nodes(*affinity, requirement)) {
        return wrong(".spec.affinity", "a pod's affinity");
    }
    return true;
}

void pod_template::override_pod(const std::string& key, const json& value,
                                std::vector<std::string>& overridden) {
    if (pod_->contains(key)) {
        overridden.push_back(fmt::format("{}.{}.spec.{}", path_, key_, key));
    }
    if (value.is_null()) {
        pod_->erase(key);
    } else {
        (*pod_)[key] = value;
    }
}

void pod_template::limit_grace(seconds most, std::vector<std::string>& overridden) {
    if (!limit_grace_of(*pod_, most)) return;
    overridden.push_back(fmt::format("{}.{}.spec.{}", path_, key_, grace_key));
}

bool pod_template::append(const std::string& key, const json& item) {
    auto* list = typed_in(*pod_, key, json::array());
    if (!list) return wrong(".spec." + key, "a list");
    list->push_back(item);
    return true;
}

bool pod_template::clean_metadata(std::vector<std::string>& overridden) {
    auto& whole = parent_[key_];
    const auto metadata = whole.find("metadata");
    if (metadata == whole.end() || metadata->is_null()) return true;
    if (!metadata->is_object()) return wrong(".metadata", "an object");
    // A pod that cannot end never gives its slot back.
    if (metadata->erase("finalizers") > 0) {
        overridden.push_back(fmt::format("{}.{}.metadata.finalizers", path_, key_));
    }
    for (const std::string key : {"labels", "annotations"}) {
        const auto map = metadata->find(key);
        if (map == metadata->end() || map->is_null()) continue;
        if (!map->is_object()) return wrong(".metadata." + key, "an object");
        take_own_prefix(*map, fmt::format("{}.{}.metadata.{}", path_, key_, key), overridden);
    }
    return true;
}

bool pod_template::mark(const json& labels, const json& annotations) {
    auto* metadata = typed_in(parent_[key_], "metadata", json::object());
    if (!metadata) return wrong(".metadata", "an object");
    for (const auto& [key, values] :
         {std::pair<std::string, const json&>{"labels", labels}, {"annotations", annotations}}) {
        auto* map = typed_in(*metadata, key, json::object());
        if (!map) return wrong(".metadata." + key, "an object");
        map->update(values);
    }
    return true;
}

bool pod_template::stay_off(const build_request& request, std::vector<std::string>& overridden) {
    override_pod("nodeName", nullptr, overridden);
    if (request.node_label.empty() || has_node_affinity()) return true;
    return require_node({{"key", request.node_label}, {"operator", "DoesNotExist"}});
}

bool pod_template::take_slots(const build_request& request, const placement_options& options,
                              std::vector<std::string>& overridden) {
    // On the gate path the pin says where a pod goes, and a label that is removed while the layout
    // is held must not keep it out of its slot. The extender is asked about every node that is
    // left: there the label spares it the rest of the cluster.
    if (options.extender && !request.node_label.empty() &&
        !require_node({{"key", request.node_label}, {"operator", "Exists"}})) {
        return false;
    }
    override_pod("schedulerName", options.scheduler(), overridden);
    override_pod("priorityClassName", options.priority_class(), overridden);
    // These two would bypass the scheduler, or its priorities.
    override_pod("nodeName", nullptr, overridden);
    override_pod("priority", nullptr, overridden);
    override_pod("preemptionPolicy", nullptr, overridden);
    if (!append("tolerations", {{"key", names::taint}, {"operator", "Exists"}})) return false;
    return options.extender || append("schedulingGates", {{"name", names::gate}});
}

bool pod_template::wrong(std::string_view part, std::string_view what) {
    problem_ = {"SpecMalformed",
                fmt::format("{}.{}.{}{} must be {}", root_, path_, key_, part, what)};
    return false;
}

}  // namespace esi::batchjob

// A pod's own requirements on a node: taints that it tolerates, nodeSelector, required node
// affinity. Read once, so that many nodes can be asked. Pure; the rules are kube-scheduler's
// (TaintToleration, NodeAffinity).
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/cluster.h"

namespace esi::placement {

/// An entry of matchExpressions or matchFields, of a NodeSelector or a LabelSelector.
struct match_requirement {
    std::string key;
    std::string operator_;  ///< In NotIn Exists DoesNotExist Gt Lt; every other one never holds
    std::vector<std::string> values;
    /// The one value, as a number.
    std::optional<std::int64_t> limit = {};

    /// `value` is null where the object does not have it.
    bool holds(const std::string* value) const;
};

/// The entries of the list that `of` has under that name; what cannot be read matches nothing.
std::vector<match_requirement> requirements_in(const nlohmann::json& of, const char* name);

/// An entry of nodeSelectorTerms. One without requirements matches nothing.
struct node_term {
    std::vector<match_requirement> labels;
    std::vector<match_requirement> fields;

    bool matches(const model::node& node) const;
};
/// Reads a NodeSelector's nodeSelectorTerms. They are ORed.
std::vector<node_term> node_terms_of(const nlohmann::json& terms);
bool any_matches(const std::vector<node_term>& terms, const model::node& node);

/// The nodeSelectorTerms that a pod's affinity requires; null where it requires none.
const nlohmann::json* required_node_terms(const nlohmann::json& affinity);

class node_rules {
public:
    explicit node_rules(const model::pod& pod);

    bool tolerates(const model::taint& taint) const;
    /// The first taint that keeps the pod away; PreferNoSchedule never does. Null: none.
    const model::taint* untolerated_taint(const model::node& node) const;
    /// The first entry of the nodeSelector that the node does not have; null: none.
    const std::pair<const std::string, std::string>* unmet_selector(const model::node& node) const;
    bool affinity_holds(const model::node& node) const;

private:
    std::vector<model::toleration> tolerations_;
    model::string_map selector_;
    std::optional<std::vector<node_term>> terms_;
};

}  // namespace esi::placement

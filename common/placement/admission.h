// Whether the cluster's scheduler would admit a pod to a node: taints, node selector, required node
// affinity. Pure; the rules are kube-scheduler's (TaintToleration, NodeAffinity, NodeSelector).
// Callers check room.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "model/cluster.h"

namespace esi::placement {

/// Why the node refuses the (not yet bound) pod; nothing when it admits it.
std::optional<std::string> admission_refusal(const model::pod& pod, const model::node& node);

}  // namespace esi::placement

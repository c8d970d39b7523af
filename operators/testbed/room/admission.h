// Would the cluster's scheduler let a pod onto a node: taints, node selector, required node
// affinity. Pure; the rules are kube-scheduler's (TaintToleration, NodeAffinity, NodeSelector).
// Room is looked at elsewhere (room.h).
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "model/cluster.h"

namespace esi::testbed {

/// Why the node refuses the (not yet bound) pod; nothing when it admits it.
std::optional<std::string> admission_refusal(const model::pod& pod, const model::node& node);

/// spec.affinity as it must be after the pod was given its node: a matchFields entry for
/// metadata.name in EVERY required term (terms are ORed), or one new term where there is none. A
/// term without requirements stays as it is: it matches no node and may not be made to.
/// A gated pod's affinity may only be narrowed (KEP-3838), which this does. Idempotent.
nlohmann::json pinned_affinity(const model::raw_json& affinity, const std::string& node);

}  // namespace esi::testbed

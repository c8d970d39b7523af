// The patches by which a pod that waits at a gate is given a node. Pure.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "model/cluster.h"

namespace esi::placement {

/// status.nominatedNodeName; an empty node clears it. Guarded.
nlohmann::json nomination_patch(const model::pod& pod, const std::string& node);

/// An update of a pod whose nomination stands, for a kube-scheduler that was started after the
/// nomination was set: it takes the nominations of gated pods from updates only, and from any
/// update (1.36.3, backend/queue/nominator.go, updateNominatedPodUnlocked). Each one is another
/// value: a patch that changes nothing is no update. Guarded.
nlohmann::json shown_nomination_patch(const model::pod& pod);

/// spec.affinity as it must be after the pod was given its node: a matchFields entry for
/// metadata.name in EVERY required term (terms are ORed), or one new term where there is none. A
/// term without requirements stays as it is: it matches no node and may not be made to.
/// A gated pod's affinity may only be narrowed (KEP-3838), which this does. Idempotent.
nlohmann::json pinned_affinity(const model::raw_json& affinity, const std::string& node);

}  // namespace esi::placement

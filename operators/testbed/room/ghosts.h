// The ghost: a pause pod that requests exactly one slot's resources, pinned to its node and bound
// by the cluster's scheduler, never by nodeName (one binder per node: nothing is over-committed).
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "grid/grid.h"
#include "model/cluster.h"
#include "model/testbed.h"

namespace esi::testbed {

struct ghost_options {
    std::string image = "registry.k8s.io/pause:3.10";
    /// A class with preemptionPolicy Never: a waiting ghost evicts no pod.
    std::string priority_class = "esi-ghost";
};

/// The PriorityClass of the ghosts of a claim. Its value is `priority`, that of the pods that will
/// come: so they have the room against the same pods. The chart makes it.
std::string claim_priority_class(int priority);
/// The labels that every ghost of the Testbed carries.
model::string_map ghost_labels(const model::testbed& testbed);
/// Tolerations of a ghost; for a claim, with those of the shape. Null: no shape.
std::vector<model::toleration> ghost_tolerations(const model::claim_shape* shape);

/// The pod to create for one slot.
nlohmann::json ghost_object(const model::testbed& testbed, const model::testbed_layout& layout,
                            const grid::slot& place, const ghost_options& options);

/// A strategic merge patch that gives an existing ghost another image. The ghost stays where it is:
/// only its container is restarted.
nlohmann::json ghost_image_patch(const model::pod& ghost, const std::string& image);

/// Why the ghost's container does not run, in words that stay the same while the kubelet retries;
/// empty where it runs or is being started. The ghost holds its room all the same.
std::string ghost_failure(const model::pod& ghost);

/// The text of ghost_failure where the kubelet restarts a container again and again; between two
/// attempts the container runs.
inline constexpr std::string_view keeps_ending = "container does not keep running";

}  // namespace esi::testbed

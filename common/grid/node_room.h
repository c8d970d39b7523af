// The room that pods take from a node, and the rest of it. Pure; all amounts in thousandths.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "grid/grid.h"
#include "model/cluster.h"
#include "model/quantity.h"

namespace esi::grid {

/// A place in the node's `pods`.
inline constexpr std::int64_t one_pod = 1000;

/// What one pod of a slot's size takes from a node, the place in the node's `pods` included.
model::amounts slot_amounts(const model::resource_list& size);

/// Nothing if `what` fits into `free`; otherwise the resource that is missing.
std::optional<std::string> missing_resource(const model::amounts& free, const model::amounts& what);

/// A live pod's requests and its place in the node's `pods`.
model::amounts taken_by(const model::pod& pod);

/// The rest of the node's allocatable after `pods` (live ones count), may be negative.
model::amounts left_after(const model::node& node, const std::vector<pod_pointer>& pods);

}  // namespace esi::grid

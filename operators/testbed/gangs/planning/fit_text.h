// Why a gang does not fit, for people, in the words of kube-scheduler.
#pragma once

#include <span>
#include <string>

#include "testbed/gangs/planning/passes.h"

namespace esi::testbed::gangs::planning {

/// With the members on the board that fit: which member is the first that does not, and what each
/// node has against it.
std::string describe_refusals(board& on, const outcome& placed,
                              std::span<const pod_pointer> members, const resource_names& resources,
                              const fit_options& options);

/// "2 cpu, 4Gi memory".
std::string describe_requests(const model::pod& pod);

}  // namespace esi::testbed::gangs::planning

// Why a gang does not fit, for people, in the words of kube-scheduler.
#pragma once

#include <span>
#include <string>

#include "placement/passes.h"

namespace esi::placement::planning {

struct refusal_words {
    std::string message;
    /// no_fit::most_left_on
    std::string most_left_on;
};

/// Says which member is the first that does not fit, and why each node refuses it. The members that
/// fit are on the board.
refusal_words describe_refusals(board& on, const outcome& placed,
                                std::span<const pod_pointer> members,
                                const resource_names& resources, const fit_options& options);

/// "2 cpu, 4Gi memory".
std::string describe_requests(const model::pod& pod);

}  // namespace esi::placement::planning

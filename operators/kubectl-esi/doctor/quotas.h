// Finds the ResourceQuotas that refuse ghosts, by what the API server said of them. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kubectl-esi/doctor/checks.h"
#include "model/quantity.h"

namespace esi::kubectl::doctor {

/// What the API server says when a quota refuses a pod (quota's admission plugin):
/// "exceeded quota: NAME, requested: a=1,b=2, used: a=4,b=4, limited: a=4,b=8".
struct quota_refusal {
    std::string quota;
    std::map<std::string, model::quantity> requested;  ///< by one pod
    std::map<std::string, model::quantity> limited;
};
/// Nothing for another text.
std::optional<quota_refusal> quota_refusal_in(std::string_view text);

/// One finding for each quota, with the limits that all slots in ERROR need.
void look_at_quotas(const facts& at, std::vector<finding>& found);

}  // namespace esi::kubectl::doctor

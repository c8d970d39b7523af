// What a run came to, without what differs between two runs that differ only in timing: uids,
// versions, times, tokens, generated names, which pod of a run took which of its slots. Two runs
// that must end alike have equal end states. Pure functions.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "server/storage.h"

namespace esi::simulation {

/// Objects of ESI's kinds, applications, pods and nodes, by kind and "namespace/name", masked.
json end_state(const storage& objects);

/// One line for each path that differs: "batchjobs default/a .status.state: \"ReadyState\" is
/// \"FailedState\"". Empty: they are equal. At most 50, then one that counts the rest.
std::vector<std::string> differences(const json& expected, const json& found);

}  // namespace esi::simulation

// Waits among Schedulings: running ones that were extended by each other's jobs wait for ever.
// Pure.
#pragma once

#include <functional>
#include <vector>

#include "model/meta.h"

namespace esi::scheduling {

/// The holders that one Scheduling waits for.
using waits_for_function =
    std::function<std::vector<model::object_key>(const model::object_key& scheduling)>;

/// The shortest cycle through `self`, which comes first; empty if there is none. `waits_for` is
/// called once per Scheduling that can be reached.
std::vector<model::object_key> cycle_through(const model::object_key& self,
                                             const waits_for_function& waits_for);

}  // namespace esi::scheduling

// The pod templates of driver and executors, for clusters with and without the Spark operator's
// webhook. Pure; changes a spec in place.
#pragma once

#include <optional>

#include "batchjob/backends/backend.h"

namespace esi::batchjob::spark {

/// Fills spec.driver.template and spec.executor.template, and moves the user's volumes, mounts and
/// tolerations there. `spec`, `spec.driver` and `spec.executor` are objects.
std::optional<spec_problem> fill_templates(json& spec, const build_request& request,
                                           const placement_options& options,
                                           std::vector<std::string>& overridden);

}  // namespace esi::batchjob::spark

// The one table of application kinds. All that the operator knows of Spark and Flink it knows
// through a row of it; tests add rows of their own (further_kind_test.cpp).
#pragma once

#include <memory>
#include <vector>

#include "batchjob/backends/kind.h"

namespace esi::batchjob {

/// At most one row finds its spec in a BatchJob (the API server refuses jobs with two).
using application_kinds = std::vector<std::shared_ptr<application_kind>>;

/// The kinds that the operator ships with. Made anew by each call, because a row has the values of
/// its flags.
application_kinds known_kinds();

/// The kind that `spec` describes an application of; null where no row finds its spec in it.
const application_kind* kind_of(const application_kinds& kinds, const model::batchjob_spec& spec);

/// The backends with their caches, in the order of the table.
std::vector<std::unique_ptr<application_source>> make_sources(const application_kinds& kinds,
                                                              const placement_options& placement,
                                                              const source_context& with);

}  // namespace esi::batchjob

// The one table of application kinds. The operator knows Spark and Flink only through its rows;
// tests add rows of their own (further_kind_test.cpp).
#pragma once

#include <memory>
#include <vector>

#include "batchjob/backends/kind.h"

namespace esi::batchjob {

/// At most one row finds its spec in a BatchJob (the API server refuses jobs with two).
using application_kinds = std::vector<std::shared_ptr<application_kind>>;

/// The kinds that the operator ships with. Each call makes new ones, because a row has the values
/// of its flags.
application_kinds known_kinds();

/// The kind of application that `spec` describes; null if no row finds its spec in it.
const application_kind* kind_of(const application_kinds& kinds, const model::batchjob_spec& spec);

/// The backends with their caches, in the order of the table.
std::vector<std::unique_ptr<application_source>> make_sources(const application_kinds& kinds,
                                                              const placement_options& placement,
                                                              const source_context& with);

}  // namespace esi::batchjob

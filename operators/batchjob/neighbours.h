// status.runs[].neighbours: the other jobs that had a pod on a node of a run. Every account that
// may create pods can label one as a pod of a job, so only pods count that the batchjob operator
// has recorded (status.placements); names are bounded, and jobs beyond the bounds are counted.
// Pure.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/batchjob.h"

namespace esi::batchjob {

/// A node of a run has 110 pods at most, and of these a few are in slots.
inline constexpr std::size_t most_neighbours_named = 32;
/// The bound of the CRD.
inline constexpr std::size_t most_neighbours_counted = 100'000;
/// Bytes of the neighbours of all runs of one job, as JSON: a small part of etcd's limit for an
/// object, with room for the names of some hundred nodes.
inline constexpr std::size_t most_neighbour_bytes = 64 * 1024;

/// Jobs that have a pod on record on a node, by node.
using jobs_by_node = std::map<std::string, std::set<model::object_key>, std::less<>>;

/// The jobs that the status of a job may name.
struct neighbour_names {
    std::string namespace_;
    /// --cross-namespace-jobs: jobs of all namespaces.
    bool all = false;

    bool has(std::string_view job) const;
};

/// Adds the jobs of `now` on `nodes`, where the run has pods, to the known neighbours of the run.
/// Named jobs stay named. The number of the others (of other namespaces, beyond the bound) is the
/// highest at any one time: nothing says which jobs were counted before.
void note_neighbours(model::run_record& line, const std::set<std::string>& nodes,
                     const jobs_by_node& now, const neighbour_names& may);

/// Cuts what an older version or an earlier run has left to the bounds; the newest runs keep their
/// names longest.
void bound_neighbours(std::vector<model::run_record>& runs, const neighbour_names& may);

}  // namespace esi::batchjob

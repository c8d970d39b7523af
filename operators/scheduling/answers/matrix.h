// Run times of jobs by neighbour: what an external scheduler needs to decide which job runs beside
// which. Made from the runs that BatchJobs have recorded on one Testbed (status.runs, the last 20
// of each job). Pure.
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "model/batchjob.h"

namespace esi::scheduling::answers {

/// Runs of `job` beside one neighbour. A neighbour is a job that had a pod in a slot of one of the
/// run's nodes at some time of the run, as status.runs[].neighbours records it; for how long is not
/// recorded. A run with several neighbours counts beside each of them. The status may have only the
/// number of some: a run beside these is neither alone nor `sole`.
struct measured_pair {
    model::object_key job;
    /// Absent: the run had no neighbour.
    std::optional<model::object_key> neighbour;
    std::int64_t n = 0;     ///< runs that count: they ended well, and both times are recorded
    std::int64_t sole = 0;  ///< of these, runs that had no other neighbour
    double mean_seconds = 0;
    double p50_seconds = 0;  ///< see quantile()
    double p95_seconds = 0;
    /// Standard deviation of the sample (divided by n - 1); absent if n is 1.
    std::optional<double> standard_deviation_seconds;
};
BOOST_DESCRIBE_STRUCT(measured_pair, (),
                      (job, neighbour, n, sole, mean_seconds, p50_seconds, p95_seconds,
                       standard_deviation_seconds))

struct matrix {
    model::object_key testbed;
    /// By job, the runs without a neighbour first, then by neighbour.
    std::vector<measured_pair> pairs;
    std::int64_t pairs_left_out = 0;
    std::int64_t runs = 0;              ///< on the Testbed that count
    std::int64_t runs_not_counted = 0;  ///< on the Testbed: failed, released, under way
    /// The part of `runs` that is in no pair, as none of their neighbours is named.
    std::int64_t runs_beside_others = 0;
};
BOOST_DESCRIBE_STRUCT(matrix, (),
                      (testbed, pairs, pairs_left_out, runs, runs_not_counted, runs_beside_others))

/// `jobs`: the jobs whose runs are requested, each once, in the order of their keys.
matrix matrix_of(const std::vector<std::shared_ptr<const model::batchjob>>& jobs,
                 const model::object_key& testbed);

}  // namespace esi::scheduling::answers

// How long runs took, by status.runs of BatchJobs, and the estimated end of a run under way. Only
// runs count that ended well and whose pods have both times: from the start of the first pod in a
// slot to the end of the last one. Pure.
#pragma once

#include <boost/describe.hpp>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "model/batchjob.h"

namespace esi::scheduling::answers {

/// When something is likely to happen, if runs take as long as they did before.
struct estimated_time {
    model::timestamp at;
    /// From now, rounded up. 0: it could have been expected already.
    std::int64_t in_seconds = 0;
    /// How many recorded runs it is based on: the fewest of any job that it depends on. 0: on none,
    /// as it is a deadline.
    std::int64_t runs = 0;
    bool operator==(const estimated_time&) const = default;
};
BOOST_DESCRIBE_STRUCT(estimated_time, (), (at, in_seconds, runs))

estimated_time estimate_of(wall_time at, std::int64_t runs, wall_time now);

/// Seconds; nothing for a run that does not count.
std::optional<double> seconds_of(const model::run_record& line);

/// The usual time of a job's runs: the median.
struct usual_time {
    std::chrono::microseconds median{};
    std::int64_t runs = 0;
};
/// Nothing if no run of the job counts.
std::optional<usual_time> usual_time_of(const model::batchjob& job);

/// When the run under way is likely to end: the median less the time that it has lasted. Nothing if
/// the median is not known.
std::optional<estimated_time> end_of_run(const model::batchjob& job, std::string_view run,
                                         wall_time now);

/// The quantile `p` (0 to 1) of ascending values, of which there is at least one: linear between
/// the two nearest (type 7 of Hyndman and Fan, which R and NumPy use).
double quantile(const std::vector<double>& ascending, double p);

}  // namespace esi::scheduling::answers

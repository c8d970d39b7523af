// When the jobs of a plan are likely to start and to end: the plan's own policy is applied again
// after each estimated end of a run, which is derived from the job's recorded runs. Pure.
#pragma once

#include <map>
#include <optional>

#include "scheduling/answers/run_times.h"
#include "scheduling/outlook.h"

namespace esi::scheduling::answers {

struct forecast {
    /// For jobs that wait for slots. A job is absent if a run that it waits for has no known end.
    std::map<model::object_key, estimated_time> starts;
    /// For runs under way, and those that start now.
    std::map<model::object_key, estimated_time> ends;
    /// When all jobs will have ended; absent if one of them is blocked or has no recorded run.
    std::optional<estimated_time> end;
};

/// `ahead` is the outlook of `v.self`. Failures, cancellations and deadlines of runs are not
/// forecast, nor are the seconds until a slot has its ghost back. A forecast ends early after
/// most_forecast_visits: later times are absent.
forecast forecast_of(const view& v, const outlook& ahead, wall_time now);

/// Entries of the plan that one forecast looks at, over all its rounds: some milliseconds.
inline constexpr std::size_t most_forecast_visits = 50'000;

/// When `holder` is likely to release its Testbed and its jobs by itself. Absent if it does not
/// (neither releaseOnCompletion nor ttlSecondsAfterFinished), if the end of its plan is not known,
/// or if its Testbed is not that of `v.self`, whose slots are all that the view has.
std::optional<estimated_time> release_of(const view& v,
                                         std::shared_ptr<const model::scheduling> holder,
                                         wall_time now);

}  // namespace esi::scheduling::answers

#include "scheduling/answers/run_times.h"

#include <algorithm>
#include <cmath>

namespace esi::scheduling::answers {

estimated_time estimate_of(wall_time at, std::int64_t runs, wall_time now) {
    const auto when = std::max(at, now);
    return {model::timestamp{when}, std::chrono::ceil<seconds>(when - now).count(), runs};
}

std::optional<double> seconds_of(const model::run_record& line) {
    if (line.outcome != model::run_outcome::succeeded) return std::nullopt;
    if (!line.started || !line.stopped || *line.stopped < *line.started) return std::nullopt;
    return std::chrono::duration<double>(line.stopped->value - line.started->value).count();
}

std::optional<usual_time> usual_time_of(const model::batchjob& job) {
    std::vector<double> known;
    for (const auto& line : job.status.runs) {
        if (const auto took = seconds_of(line)) known.push_back(*took);
    }
    if (known.empty()) return std::nullopt;
    std::ranges::sort(known);
    const std::chrono::duration<double> median(quantile(known, 0.5));
    return usual_time{std::chrono::round<std::chrono::microseconds>(median), std::ssize(known)};
}

std::optional<estimated_time> end_of_run(const model::batchjob& job, std::string_view run,
                                         wall_time now) {
    const auto usual = usual_time_of(job);
    if (!usual) return std::nullopt;
    auto began = now;
    for (const auto& line : job.status.runs) {
        if (line.run != run || line.outcome != model::run_outcome::running) continue;
        // The clock of a node may be ahead.
        if (line.started) began = std::min(now, line.started->value);
    }
    return estimate_of(began + usual->median, usual->runs, now);
}

double quantile(const std::vector<double>& ascending, double p) {
    const auto at = p * static_cast<double>(ascending.size() - 1);
    const auto below = static_cast<std::size_t>(std::floor(at));
    const auto above = std::min(below + 1, ascending.size() - 1);
    const auto part = at - static_cast<double>(below);
    return ascending[below] + part * (ascending[above] - ascending[below]);
}

}  // namespace esi::scheduling::answers

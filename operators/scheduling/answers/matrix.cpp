#include "scheduling/answers/matrix.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "scheduling/answers/lists.h"
#include "scheduling/answers/run_times.h"

namespace esi::scheduling::answers {

namespace {

using model::object_key;

struct sample {
    std::vector<double> seconds;
    std::int64_t sole = 0;
};

std::set<object_key> neighbours_of(const model::run_record& line) {
    std::set<object_key> out;
    for (const auto& node : line.neighbours) {
        for (const auto& job : node.jobs) out.insert(object_key::from_text(job));
    }
    return out;
}

bool has_unnamed_neighbours(const model::run_record& line) {
    return std::ranges::any_of(line.neighbours,
                               [](const auto& node) { return node.others.value_or(0) > 0; });
}

measured_pair summary_of(sample& of) {
    auto& all = of.seconds;
    std::ranges::sort(all);
    measured_pair out;
    out.n = std::ssize(all);
    out.sole = of.sole;
    const auto n = static_cast<double>(out.n);
    out.mean_seconds = std::accumulate(all.begin(), all.end(), 0.0) / n;
    out.p50_seconds = quantile(all, 0.5);
    out.p95_seconds = quantile(all, 0.95);
    if (out.n < 2) return out;
    double squares = 0;
    for (const auto each : all) squares += (each - out.mean_seconds) * (each - out.mean_seconds);
    out.standard_deviation_seconds = std::sqrt(squares / (n - 1));
    return out;
}

}  // namespace

matrix matrix_of(const std::vector<std::shared_ptr<const model::batchjob>>& jobs,
                 const object_key& testbed) {
    matrix out;
    out.testbed = testbed;
    for (const auto& job : jobs) {
        std::map<std::optional<object_key>, sample> row;
        for (const auto& line : job->status.runs) {
            if (line.testbed != testbed) continue;
            const auto took = seconds_of(line);
            if (!took) {
                ++out.runs_not_counted;
                continue;
            }
            ++out.runs;
            const auto beside = neighbours_of(line);
            const bool unnamed = has_unnamed_neighbours(line);
            if (beside.empty() && unnamed) ++out.runs_beside_others;
            if (beside.empty() && !unnamed) {
                auto& alone = row[std::nullopt];
                alone.seconds.push_back(*took);
                ++alone.sole;
            }
            for (const auto& other : beside) {
                auto& each = row[other];
                each.seconds.push_back(*took);
                if (beside.size() == 1 && !unnamed) ++each.sole;
            }
        }
        for (auto& [neighbour, each] : row) {
            add(out.pairs, out.pairs_left_out, [&] {
                auto one = summary_of(each);
                one.job = job->metadata.key();
                one.neighbour = neighbour;
                return one;
            });
        }
    }
    return out;
}

}  // namespace esi::scheduling::answers

// The experiment: each list, map and text of each kind, as large as it can be, ten times, in front
// of each operator.
#pragma once

#include <string>
#include <vector>

#include "schema.h"

namespace esi::memory {

/// The chart's limit of each operator (helm/esi/values.yaml).
inline constexpr std::int64_t chart_limit = std::int64_t{128} << 20;
/// What an idle operator takes of it beside its objects (docs/performance.md).
inline constexpr std::int64_t idle = std::int64_t{20} << 20;
/// JSON of the largest object that etcd takes by default.
inline constexpr std::size_t largest_object = 1'450'000;

struct verdict {
    std::string operator_name;
    std::string list;
    std::size_t places = 0;
    /// Of these, those that the operator reads; of pods one that waits and one that runs.
    std::size_t read = 0;
    /// The most bytes that were held at any moment, and in which place.
    std::int64_t most = 0;
    std::string most_at;
    /// The most that ten objects took once they were in the caches.
    std::int64_t kept = 0;
    std::string kept_at;
    /// What is wrong, a line each.
    std::vector<std::string> wrong;
};

/// One verdict for each kind that the operator watches, of those whose list has `only` in its path.
std::vector<verdict> judge(const std::string& operator_name, const schemas& kinds,
                           const std::string& only);

}  // namespace esi::memory

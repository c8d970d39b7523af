// The blockers of a plan or a job, as tables. Pure.
#pragma once

#include <string>
#include <vector>

#include "kubectl-esi/shown/table.h"
#include "scheduling/answers/blocking.h"

namespace esi::kubectl::shown {

/// "BatchJob/spark-job-1"; with the namespace if that is not `ns`.
std::string reference_text(const scheduling::answers::reference& of, std::string_view ns);
/// A line for each blocker: which object, since when, what frees it, when that is likely; with
/// `wide` also the sentence. `jobs`: the blocked job of each blocker, or empty.
std::string blockers_text(const std::vector<scheduling::answers::blocking>& of,
                          const std::vector<std::string>& jobs, std::string_view ns, bool wide,
                          const look& as, wall_time now);
/// "... and 12 more" if some were left out.
std::string left_out_text(std::int64_t count);

}  // namespace esi::kubectl::shown

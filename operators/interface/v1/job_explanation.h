// The explanation of one job: the answer of its route `explain`.
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/meta.h"
#include "scheduling/answers/explanation.h"

namespace esi::interface::v1 {

/// Why a job does not start, or what it does: its own words, and its part in each Scheduling that
/// names it.
struct job_explanation {
    std::string namespace_;
    std::string name;
    std::string state;   ///< of the BatchJob
    std::string reason;  ///< of the BatchJob
    std::vector<std::string> problems;
    /// True, False or Unknown: the condition Startable.
    std::string startable;
    std::string startable_reason;
    std::string startable_text;
    /// The Scheduling that has acquired it.
    std::optional<model::object_key> scheduling;
    /// Explanations of the Schedulings of its namespace that name it: that one first, then by name.
    /// Each with this job alone.
    std::vector<scheduling::answers::explanation> plans;
    std::int64_t plans_left_out = 0;
};
BOOST_DESCRIBE_STRUCT(job_explanation, (),
                      (namespace_, name, state, reason, problems, startable, startable_reason,
                       startable_text, scheduling, plans, plans_left_out))

}  // namespace esi::interface::v1

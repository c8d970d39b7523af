// What is worth a Kubernetes Event and a line of the log between two statuses of a BatchJob. That
// it was acquired, ordered and released the scheduling operator tells, on both objects.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/batchjob.h"

namespace esi::batchjob {

struct happening {
    /// A failure, or a wait that a person has to end.
    bool warning = false;
    std::string reason;
    std::string action;
    /// For people; the same for as long as the same goes on.
    std::string note;
    /// What the log says.
    std::string words;
    /// The Scheduling that it is about, the other object of the step.
    std::optional<model::active_scheduling_ref> scheduling;
    /// The line of the run that it belongs to; nothing for what is of no run.
    std::optional<model::run_record> run;
    /// Pods that have got their slots.
    std::vector<model::placement> pods;
};

std::vector<happening> happenings(const model::batchjob_status& before,
                                  const model::batchjob_status& after);

/// One line for it, or one for each pod that has got its slot; a warning where it is one.
void log_happening(const model::object_key& job, const happening& what);

}  // namespace esi::batchjob

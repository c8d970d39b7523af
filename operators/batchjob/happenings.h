// What is worth a Kubernetes Event (and a count) between two statuses of a BatchJob. Pure.
#pragma once

#include <string>
#include <vector>

#include "model/batchjob.h"

namespace esi::batchjob {

struct happening {
    bool warning = false;
    std::string reason;
    std::string action;
    std::string note;
    bool operator==(const happening&) const = default;
};

std::vector<happening> happenings(const model::batchjob_status& before,
                                  const model::batchjob_status& after);

}  // namespace esi::batchjob

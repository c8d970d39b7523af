// The build_request that the tests of all kinds start from. Only for tests.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "batchjob/backends/backend.h"

namespace esi::batchjob {

inline build_request request_for(std::string spec, std::vector<int> slots = {3, 5}) {
    build_request out;
    out.job.name = "a";
    out.job.namespace_ = "jobs";
    out.job.uid = "job-uid";
    out.spec.text = std::move(spec);
    out.testbed = {"beds", "bed"};
    out.node_label = "example.com/slots";
    out.slot_size["cpu"] = *model::quantity::parse("600m");
    out.slot_size["memory"] = *model::quantity::parse("1.75Gi");
    out.slot_ids = std::move(slots);
    out.run = "s.7.1";
    return out;
}

}  // namespace esi::batchjob

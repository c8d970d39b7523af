// The build_request from which the tests of all kinds start. Only for tests.
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

/// The same for an order whose coordinator takes slot 0, of 1 core and 2 GiB. No label names the
/// nodes, as ESI has chosen them.
inline build_request request_with_coordinator(std::string spec, std::vector<int> slots = {3, 5}) {
    auto out = request_for(std::move(spec), std::move(slots));
    out.node_label.clear();
    auto& place = out.coordinator.emplace();
    place.size["cpu"] = *model::quantity::parse("1");
    place.size["memory"] = *model::quantity::parse("2Gi");
    return out;
}

}  // namespace esi::batchjob

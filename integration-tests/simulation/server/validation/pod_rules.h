// Pods as the API server takes them: defaults, what a pod must look like, and what of it may change
// later. Covers what the operators, Spark and their neighbours write: containers with resources,
// gates, node affinity and selectors, tolerations, priority, status. What admission adds (priority,
// default tolerations) and the first condition of a gated pod are the server's.
#pragma once

#include "server/validation/faults.h"

namespace esi::simulation {

void prepare_pod(std::string_view subresource, json& body, const json* before);
void check_pod(std::string_view subresource, const json& body, const json* before, faults& out);
void find_unknown_in_pod(const json& body, std::vector<std::string>& out);
/// Guaranteed, Burstable or BestEffort.
std::string quality_of_service(const json& pod_spec);
/// Taints of a node.
void check_taint_effect(const json& holder, const std::string& path, bool may_be_empty,
                        faults& out);

}  // namespace esi::simulation

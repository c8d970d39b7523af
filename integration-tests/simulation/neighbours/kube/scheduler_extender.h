// How kube-scheduler talks to an extender (k8s.io/kube-scheduler/extender/v1, nodeCacheCapable:
// names only): its questions as JSON, and the answers as it reads them. Pure.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "neighbours/kube/scheduler_fit.h"
#include "neighbours/neighbour.h"

namespace esi::simulation {

json filter_question(const pod_facts& pod, const std::vector<std::string>& nodes);
struct filter_answer {
    std::vector<std::string> nodes;
    /// Of the refused ones that it named.
    verdicts refused;
};
/// `asked`: a node that was not asked for is an error, as are any status but 200 and an Error.
result<filter_answer> read_filter_answer(int status, const json& answer,
                                         const std::vector<std::string>& asked);

json preemption_question(const pod_facts& pod, const candidates& among);
/// Nodes and victims must be known to the snapshot, and each node must have a victim.
result<candidates> read_preemption_answer(int status, const json& answer, const snapshot& on);

}  // namespace esi::simulation

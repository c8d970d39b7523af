// The scheduler extender (kube-scheduler's v1 wire format) as pure functions of the request's body.
// It reads only the annotations of the pod that the scheduler sends, in which the operators have
// committed their decision: the same question has the same answer on every replica, without state,
// without a side effect, and a restart loses nothing.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace esi::testbed {

/// POST /extender/filter. A pod without ESI's labels and annotations passes every node. A decided
/// one passes its node only; the others, and all nodes for a pod that is not decided yet, are
/// unresolvable: never FailedNodes, which leads kube-scheduler into preempting elsewhere.
/// The answer has the form that was asked (Nodes or NodeNames). errc::bad_request: the body is not
/// what a scheduler sends (400).
result<std::string> answer_filter(std::string_view body);

/// POST /extender/preemption. One node, one victim: the ghost of the pod's slot. An empty map where
/// nothing is decided. Always read from NodeNameToMetaVictims, whichever form was asked.
result<std::string> answer_preemption(std::string_view body);

}  // namespace esi::testbed

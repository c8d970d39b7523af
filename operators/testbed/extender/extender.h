// The scheduler extender (kube-scheduler's v1 wire format) as pure functions of the request's body
// and of what the caches show. The operators have committed their decision in annotations of the
// pod that the scheduler sends; since many accounts may write annotations, they count only where
// the pod's run is under the present hold, and a victim is named only where the caches show it as
// the Testbed's own ghost. The extender itself holds no state and has no side effect.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/meta.h"

namespace esi::testbed {

/// The slot that was given to a pod.
struct seat {
    std::string node;
    /// uid of the bound ghost in it that the Testbed itself made; empty without one.
    std::string ghost;
};

/// What the caches show of the Testbed that a pod names.
class extender_facts {
public:
    virtual ~extender_facts() = default;
    /// The token of its present hold; empty without a hold or without such a Testbed.
    virtual std::string hold_of(const model::object_key& testbed) const = 0;
    /// The pod's slot, by the placements of the BatchJob whose present run this is.
    virtual std::optional<seat> seat_of(const model::object_key& testbed, std::string_view run,
                                        std::string_view pod_uid) const = 0;
};

/// POST /extender/filter. A pod without a Testbed's label passes every node. A decided one passes
/// its node only; the others, and all nodes for a pod that is not decided yet or whose run is not
/// under the Testbed's present hold, are unresolvable: never FailedNodes, which leads
/// kube-scheduler into preempting elsewhere.
/// The answer has the form that was asked (Nodes or NodeNames). errc::bad_request: the body is not
/// what a scheduler sends (400).
result<std::string> answer_filter(std::string_view body, const extender_facts& known);

/// POST /extender/preemption. One node, one victim: the ghost of the pod's slot. The map is empty
/// where nothing is decided, and where the caches do not show what the pod says. The nodes are
/// always read from NodeNameToMetaVictims, whichever form was asked.
result<std::string> answer_preemption(std::string_view body, const extender_facts& known);

}  // namespace esi::testbed

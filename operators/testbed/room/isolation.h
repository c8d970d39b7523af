// The taint that keeps other pods off a Testbed's nodes: where it should be, and how a node's taint
// list looks with and without it. Pure. Node.spec.taints is one atomic list, so a write is computed
// from a live read and guarded with its resourceVersion.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "testbed/view/view.h"

namespace esi::testbed {

/// The taint is on the node: ours, or an older Testbed's that still wants it there, or, with an
/// operator of some namespaces only, that of a Testbed it does not see: two of these would take the
/// node from each other without end. (One key and effect is there once per node.)
bool is_shielded(const model::node& node, const view& seen);

/// An older Testbed of another namespace has the node, too, and keeps it open to other pods: it is
/// not ours to close.
bool is_kept_open(const model::node& node, const view& seen);

/// The node carries the taint of the Testbed with this uid.
bool has_taint_of(const model::node& node, std::string_view uid);

struct taint_change {
    std::string node;
    /// Ours, to be set; empty: remove ours.
    std::string value;
};

/// How the node's taint must change. Sets it on a node of `places` that nobody keeps open, while
/// isolation is Taint and `wanted`; removes ours from every other node. But where another Testbed
/// wants its own, ours stays until that one has put its own in the place of ours, so that the node
/// is never open in between. Nobody sets a taint for another: who is about to go would not know of
/// it.
std::optional<taint_change> change_taint(const model::node& node, const view& seen,
                                         const grid::places& places, bool wanted);

/// A live node's spec.taints after the change (other taints stay as they are, with all their
/// fields); nothing when it is so already. `uid`: of the Testbed, whose own taint is removed.
std::optional<nlohmann::json> changed_taints(const nlohmann::json& node, const taint_change& change,
                                             const std::string& uid);

}  // namespace esi::testbed

// Decides where the taint should be that keeps other pods off a Testbed's nodes, and how a node's
// taint list looks with and without it. Pure. Node.spec.taints is one atomic list, so a write is
// computed from a live read and guarded with its resourceVersion.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "testbed/view/view.h"

namespace esi::testbed {

/// True: the node has the taint: ours, or an older Testbed's that still wants it there, or, if the
/// operator sees some namespaces only, that of an unseen Testbed: two such operators would take the
/// node from each other without end. (One key and effect exists once per node.)
bool is_shielded(const model::node& node, const view& seen);

/// True: an older Testbed of another namespace has the node, too, and keeps it open to other pods:
/// it is not ours to close.
bool is_kept_open(const model::node& node, const view& seen);

/// True: the node carries the taint of the Testbed with this uid.
bool has_taint_of(const model::node& node, std::string_view uid);

struct taint_change {
    std::string node;
    /// The value of our taint, to be set; empty: remove ours.
    std::string value;
};

/// How the node's taint must change. Sets it on a node of `places` that no Testbed keeps open,
/// while isolation is Taint and `wanted`; removes ours from every other node. If another Testbed
/// wants its own taint there, ours stays until that Testbed has replaced it, so that the node is
/// never open in between. No Testbed sets a taint for another: a Testbed that is about to go would
/// not know of it.
std::optional<taint_change> change_taint(const model::node& node, const view& seen,
                                         const grid::places& places, bool wanted);

/// A live node's spec.taints after the change (other taints keep all their fields); nothing if they
/// are so already. `uid`: of the Testbed, whose own taint is removed.
std::optional<nlohmann::json> changed_taints(const nlohmann::json& node, const taint_change& change,
                                             const std::string& uid);

}  // namespace esi::testbed

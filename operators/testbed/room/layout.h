// Which slots a Testbed should have by its spec and the labels of the nodes, and how far the
// present layout differs from it. Pure. It never changes a layout: that is one guarded write of the
// reconcile, made only while no Scheduling holds the Testbed.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "testbed/view/view.h"

namespace esi::testbed {

using node_problems = std::map<std::string, std::vector<std::string>>;

struct wanted_layout {
    /// Revision 0; nodes sorted by id.
    model::testbed_layout layout;
    /// Nodes whose label is not an integer from 0 to 2147483647, or is duplicate.
    node_problems problems;
    /// Problems of the spec itself; the CRD refuses these, an older object may have them.
    std::vector<std::string> spec_problems;
    /// The number of nodes that carry the label; of a claim 0.
    int labelled = 0;
};

/// `nodes`: those that carry the label, by name. A claim asks for no other layout than the present
/// one, `stands`: claims/ makes the next one.
wanted_layout want_layout(const model::testbed_spec& spec, const model::testbed_layout& stands,
                          const std::map<std::string, node_pointer>& nodes);
wanted_layout want_layout(const view& seen);

/// At most this many bytes for nodeSelector, affinity and tolerations of all shapes of a claim
/// together: each place is planned with those of its shape, and the CRD has no bound for them.
inline constexpr std::size_t most_claim_constraints = 16 * 1024;

/// The problems of a spec itself that leave it without slots.
std::vector<std::string> problems_of(const model::testbed_spec& spec);

/// The id in a node's label; nothing when it is not an integer from 0 to 2147483647.
std::optional<std::int64_t> parse_node_id(std::string_view text);

/// True: same nodes, ids, slots and sizes; the revision does not matter.
bool same_layout(const model::testbed_layout& a, const model::testbed_layout& b);

/// The nodes of a layout by name; valid as long as the layout is.
using layout_members = std::map<std::string_view, const model::layout_node*>;
layout_members members_of(const model::testbed_layout& layout);

/// The difference, for people: "node-d would join (id 3); slotsPerNode 2 would become 3".
std::string describe_difference(const model::testbed_layout& stands,
                                const model::testbed_layout& wanted);

}  // namespace esi::testbed

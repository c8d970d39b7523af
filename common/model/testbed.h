// Testbed: nodes divided into numbered slots, labelled nodes or those that ESI chooses for a claim.
// Contract: docs/architecture.md, crds/testbed.yaml.
#pragma once

#include "model/cluster.h"
#include "model/meta.h"
#include "model/quantity.h"

namespace esi::model {

/// Bounds of the CRD.
inline constexpr int most_slots_per_node = 110;
inline constexpr std::size_t most_layout_nodes = 20000;

/// spec.isolation.
namespace isolation {
inline constexpr std::string_view none = "None";
inline constexpr std::string_view taint = "Taint";  ///< other pods are kept off the nodes
}  // namespace isolation

/// shapes[].role of a claim: the kind of pod for such a place.
namespace slot_role {
inline constexpr std::string_view worker = "worker";            ///< executor, TaskManager
inline constexpr std::string_view coordinator = "coordinator";  ///< driver, JobManager
}  // namespace slot_role

/// Bounds of the CRD.
inline constexpr std::size_t most_shapes = 32;
inline constexpr std::size_t most_claimed_places = 1000;

/// The nodes on which places of a shape may be.
struct claim_constraints {
    string_map node_selector;
    /// As in a pod; only the required nodeAffinity.
    raw_json affinity;
    std::vector<toleration> tolerations;
    bool operator==(const claim_constraints&) const = default;
};
BOOST_DESCRIBE_STRUCT(claim_constraints, (), (node_selector, affinity, tolerations))

/// Equal places.
struct claim_shape {
    std::string name;
    std::string role;  ///< see model::slot_role
    int count = 1;
    resource_list resources;
    claim_constraints constraints;
    bool operator==(const claim_shape&) const = default;
};
BOOST_DESCRIBE_STRUCT(claim_shape, (), (name, role, count, resources, constraints))

/// claim.packing.
namespace claim_packing {
inline constexpr std::string_view pack = "Pack";      ///< few nodes
inline constexpr std::string_view spread = "Spread";  ///< many
}  // namespace claim_packing

/// Places on nodes that ESI chooses, formed all or none.
struct testbed_claim {
    /// Positions are numbered through in this order.
    std::vector<claim_shape> shapes;
    std::string packing;  ///< see model::claim_packing
    int priority = 0;     ///< of the pods that will come
    bool suspend = false;
    /// If it is not held and not all places are free for so long, they are released.
    int timeout_seconds = 30;
    bool operator==(const testbed_claim&) const = default;
};
BOOST_DESCRIBE_STRUCT(testbed_claim, (), (shapes, packing, priority, suspend, timeout_seconds))

/// Either `claim` or the first three fields.
struct testbed_spec {
    int slots_per_node = 0;
    std::string node_label;
    resource_list resources_per_slot;
    std::optional<testbed_claim> claim;
    std::string isolation;  ///< see model::isolation
    /// Namespaces whose Schedulings may hold it beside those of its own; "*": all.
    std::vector<std::string> allowed_namespaces;
};
BOOST_DESCRIBE_STRUCT(testbed_spec, (),
                      (slots_per_node, node_label, resources_per_slot, claim, isolation,
                       allowed_namespaces))

struct layout_node {
    std::string name;
    std::string uid;
    std::int64_t id = 0;  ///< the integer value of the node label; of a claim, its place in nodes
    bool operator==(const layout_node&) const = default;
};
BOOST_DESCRIBE_STRUCT(layout_node, (), (name, uid, id))

/// A shape of a claim, as in its layout.
struct layout_shape {
    std::string name;
    std::string role;  ///< see model::slot_role
    int count = 0;
    resource_list resources;
    bool operator==(const layout_shape&) const = default;
};
BOOST_DESCRIBE_STRUCT(layout_shape, (), (name, role, count, resources))

/// The meaning of the positions: the authoritative layout that a hold freezes. Nodes are sorted by
/// id.
///
/// For labelled nodes, each has slots_per_node slots of one size. The layout of a claim has
/// `shapes`, whose places are numbered through in their order, and `places`: places[position] is an
/// index into nodes; its slots_per_node is 0, so that a reader that does not know places finds no
/// slot in it.
///
/// JSON has one of two forms (codec in json.h): `nodes`, a list of objects, or `compactNodes`, a
/// list of strings, one line for each node in the same order: `NAME UID ID`, separated by one
/// space, none of the three empty. Lines may get further fields after these, which this reader
/// ignores. A layout with both lists, or with a line that cannot be read, is an error, which names
/// the line.
struct testbed_layout {
    std::int64_t revision = 0;
    std::vector<layout_node> nodes;
    int slots_per_node = 0;
    resource_list resources_per_slot;
    std::vector<layout_shape> shapes;
    std::vector<int> places;
    /// Nodes are written as compactNodes. No effect on the meaning; false without nodes.
    bool compact = false;
    bool operator==(const testbed_layout&) const = default;
};

/// status.slots[].state.
namespace slot_state {
/// A ghost is bound, and no job has a right to the slot.
inline constexpr std::string_view free = "FREE";
/// Assigned to a job whose pod is not bound yet, or its ghost is under way.
inline constexpr std::string_view reserved = "RESERVED";
/// A job pod is bound in it.
inline constexpr std::string_view occupied = "OCCUPIED";
/// Neither ghost nor job pod can be there; nothing is started in it.
inline constexpr std::string_view error = "ERROR";
}  // namespace slot_state

/// status.state of a Testbed, the first that holds from ERROR up to INITIAL.
namespace testbed_state {
inline constexpr std::string_view initial = "INITIAL";  ///< not examined yet
inline constexpr std::string_view success = "SUCCESS";  ///< all that can be used are free, or none
inline constexpr std::string_view in_progress = "IN_PROGRESS";  ///< a slot is reserved
inline constexpr std::string_view running = "RUNNING";          ///< a slot is occupied
inline constexpr std::string_view error = "ERROR";              ///< no usable slot, or a wrong spec
}  // namespace testbed_state

/// One row of status.slots: for people, for the original's clients, and for operators, which read
/// from it the slots in ERROR and which pod was seen in which slot.
struct slot_status {
    int position = 0;
    std::string state;  ///< see slot_state
    std::string node_name;
    std::int64_t node_id = 0;
    int slot_position_on_node = 0;
    std::string pod_name;
    std::string pod_u_id;
    std::optional<std::string> reserved_for;
    bool operator==(const slot_status&) const = default;
};
BOOST_DESCRIBE_STRUCT(slot_status, (),
                      (position, state, node_name, node_id, slot_position_on_node, pod_name,
                       pod_u_id, reserved_for))

struct slot_counts {
    int nodes = 0;
    int total = 0;
    int free = 0;
    int reserved = 0;
    int occupied = 0;
    int error = 0;
    bool operator==(const slot_counts&) const = default;
};
BOOST_DESCRIBE_STRUCT(slot_counts, (), (nodes, total, free, reserved, occupied, error))

/// Nodes of the layout without a usable slot: gone, created again, being deleted, cordoned or not
/// ready. Their ghosts exist all the same. The scheduling operator starts nothing there.
struct nodes_out_of_use {
    int count = 0;
    std::vector<std::string> names;  ///< sorted; a layout has 20,000 nodes at most
    bool operator==(const nodes_out_of_use&) const = default;
};
BOOST_DESCRIBE_STRUCT(nodes_out_of_use, (), (count, names))

/// The Scheduling that holds a Testbed.
struct holder_status {
    std::string namespace_;
    std::string name;
    /// The name, preceded by the namespace if that is another: for kubectl get.
    std::string summary;
    bool operator==(const holder_status&) const = default;
    object_key key() const { return {namespace_, name}; }
};
BOOST_DESCRIBE_STRUCT(holder_status, (), (namespace_, name, summary))

struct testbed_status {
    std::string state;  ///< see testbed_state
    /// One word for what a person should check; empty when all is well. Taken from the first
    /// condition that is not as it should be.
    std::string reason;
    /// The reason in full, and further information; for people.
    std::string message;
    std::vector<slot_status> slots;
    /// Sentences for people, by node.
    std::map<std::string, std::vector<std::string>> node_problems;
    /// Absent in the status of an older testbed operator.
    std::optional<model::nodes_out_of_use> nodes_out_of_use;
    std::vector<std::string> problems;
    std::optional<testbed_layout> layout;
    std::int64_t observed_generation = 0;
    std::optional<slot_counts> counts;
    std::optional<holder_status> held_by;
    std::vector<condition> conditions;
};
BOOST_DESCRIBE_STRUCT(testbed_status, (),
                      (state, reason, message, slots, node_problems, nodes_out_of_use, problems,
                       layout, observed_generation, counts, held_by, conditions))

struct testbed {
    object_meta metadata;
    testbed_spec spec;
    testbed_status status;

    /// The token of the hold that the Testbed shows; empty without one.
    std::string_view hold() const;
    /// The holder, by the labels; empty name without a hold.
    object_key holder() const;
    /// Schedulings of that namespace may hold it.
    bool is_offered_to(std::string_view ns) const;
};
BOOST_DESCRIBE_STRUCT(testbed, (), (metadata, spec, status))

}  // namespace esi::model

// Testbed: labelled nodes cut into numbered slots. Contract: docs/architecture.md, crds/testbed.yaml.
#pragma once

#include "model/meta.h"
#include "model/quantity.h"

namespace esi::model {

/// Bounds of the CRD.
inline constexpr int most_slots_per_node = 110;
inline constexpr std::size_t most_layout_nodes = 20000;

struct testbed_spec {
    int slots_per_node = 0;
    std::string node_label;
    resource_list resources_per_slot;
    std::string isolation;  ///< "None" or "Taint"
};
BOOST_DESCRIBE_STRUCT(testbed_spec, (), (slots_per_node, node_label, resources_per_slot, isolation))

struct layout_node {
    std::string name;
    std::string uid;
    std::int64_t id = 0;  ///< the integer value of the node label
    bool operator==(const layout_node&) const = default;
};
BOOST_DESCRIBE_STRUCT(layout_node, (), (name, uid, id))

/// What the positions mean: the truth that a hold freezes. Nodes are sorted by id.
struct testbed_layout {
    std::int64_t revision = 0;
    std::vector<layout_node> nodes;
    int slots_per_node = 0;
    resource_list resources_per_slot;
    bool operator==(const testbed_layout&) const = default;
};
BOOST_DESCRIBE_STRUCT(testbed_layout, (), (revision, nodes, slots_per_node, resources_per_slot))

/// One row of status.slots; for people and for the original's clients, never read by operators.
struct slot_status {
    int position = 0;
    std::string state;  ///< FREE RESERVED OCCUPIED ERROR
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

struct testbed_status {
    std::string state;  ///< INITIAL IN_PROGRESS SUCCESS RUNNING ERROR
    std::vector<slot_status> slots;
    std::map<std::string, std::vector<std::string>> node_problems;
    std::vector<std::string> problems;
    std::optional<testbed_layout> layout;
    std::int64_t observed_generation = 0;
    std::optional<slot_counts> counts;
    std::optional<object_key> held_by;
    std::vector<condition> conditions;
};
BOOST_DESCRIBE_STRUCT(testbed_status, (),
                      (state, slots, node_problems, problems, layout, observed_generation, counts,
                       held_by, conditions))

struct testbed {
    object_meta metadata;
    testbed_spec spec;
    testbed_status status;

    /// The token of the hold that the Testbed shows; empty without one.
    std::string_view hold() const;
    /// Who holds it, by the labels; empty name without a hold.
    object_key holder() const;
};
BOOST_DESCRIBE_STRUCT(testbed, (), (metadata, spec, status))

}  // namespace esi::model

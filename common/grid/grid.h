// Slots as pure functions of objects: which positions there are, the contents of each, what fits.
// No I/O, no state; used by all three operators, so that they agree on what "free" means.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/batchjob.h"
#include "model/cluster.h"
#include "model/testbed.h"

namespace esi::grid {

using pod_pointer = std::shared_ptr<const model::pod>;
using node_pointer = std::shared_ptr<const model::node>;

/// The place of a position. Positions are ranks in the order (index on the node, node id), from 0;
/// in the layout of a claim they are numbered through its shapes, and the index counts the places
/// of a node in the order of their positions.
struct slot {
    int position = 0;
    std::string node;
    std::int64_t node_id = 0;
    int index = 0;  ///< the slot's index on its node, from 0
};

/// How many slots a layout has. A layout beyond the bounds of the CRD, which only a status edited
/// by hand can have, has none: its size would have no limit.
int count_of_slots(const model::testbed_layout& layout);

/// The layout is that of a claim: its slots have the sizes and roles of its shapes.
bool is_of_claim(const model::testbed_layout& layout);
/// Size of the slot at a position of the layout; empty if there is no such position.
const model::resource_list& size_of(const model::testbed_layout& layout, int position);
/// The kind of pod for the slot (model::slot_role); worker in a layout that is not of a claim.
std::string_view role_of(const model::testbed_layout& layout, int position);
/// The positions among `positions` whose slot has the role, in their order.
std::vector<int> with_role(const model::testbed_layout& layout, std::span<const int> positions,
                           std::string_view role);
/// The sizes of slots of this role, without repetition; none if the layout has no slot of the role.
std::vector<const model::resource_list*> sizes_of(const model::testbed_layout& layout,
                                                  std::string_view role);

/// A part of the name of every ghost, after the name of its Testbed.
inline constexpr std::string_view ghost_infix = "-ghost-";
/// `<testbed>-ghost-<10 hex digits of a hash of testbed uid, node name, index>`: two makers of the
/// same ghost collide with AlreadyExists. At most 63 + 17 characters.
std::string ghost_name(std::string_view testbed, std::string_view testbed_uid,
                       std::string_view node, int index);

/// The annotation `index` of a ghost; nothing when it is not a whole number from 0.
std::optional<int> slot_index_of_ghost(const model::pod& ghost);
/// The annotation `slot` of a job pod: its position; nothing when it is not a whole number from 0.
std::optional<int> slot_of_pod(const model::pod& pod);
/// Whether `candidate`, and not `known`, is the one of two ghosts of one slot that holds the room.
bool is_better_ghost(const model::pod& candidate, const model::pod& known);
/// ESI's gate is not (or no longer) on the pod: a scheduler may bind it.
bool let_in(const model::pod& pod);

/// The contents of one slot, as the pods show it.
struct slot_view {
    slot place;
    /// The ghost made for this slot, whatever its phase; null when there is none.
    pod_pointer ghost;
    /// Job pods that were given this slot (annotation slot, and bound or let in to this node) and
    /// have not ended. More than one only while something is wrong.
    std::vector<pod_pointer> job_pods;

    bool ghost_bound() const;
    /// No live pod of a job is in it and its ghost is bound, live and not being deleted.
    bool free() const;
};

/// A reference in an object of namespace `ns`: without a namespace it means that one.
model::object_key in_namespace(model::object_key reference, std::string_view ns);
/// The Testbed in whose slots the placements of a job are: that of its last run. An empty name if
/// it has none.
model::object_key placed_in(const model::batchjob& job);

/// A pod that the Testbed itself made to fill a slot: label and controller reference agree.
bool is_own_ghost(const model::pod& pod, const model::testbed& testbed);
/// Replaces the name of a pod of another namespace in texts for people of one namespace: in the
/// status of a Testbed, and over REST.
inline constexpr std::string_view foreign_pod = "a pod of another namespace";

/// Parses the annotation `slots` ("3,5,8"). Empty on any error.
std::vector<int> parse_slot_list(std::string_view text);
std::string show_slot_list(std::span<const int> slots);

/// The run tokens: a hold is "<scheduling uid>.<testbed resourceVersion>", a run is "<hold>.<k>".
std::string_view hold_of_run(std::string_view run);
std::string_view scheduling_uid_of_hold(std::string_view hold);

}  // namespace esi::grid

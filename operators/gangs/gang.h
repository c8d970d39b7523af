// A gang: a group with its member pods, each at a stage that is read off the pod alone. A value,
// rebuilt whenever the group's object or one of its pods has changed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gangs/kinds.h"
#include "gangs/pod_group.h"
#include "grid/grid.h"

namespace esi::gangs {

using grid::pod_pointer;
using group_pointer = std::shared_ptr<const pod_group>;

enum class stage : std::uint8_t {
    gated,      ///< it has the gate of gangs and no other, and no nomination
    reserved,   ///< the same, and it is nominated
    held,       ///< another gate beside the gate of gangs, which ESI may not take away
    let_in,     ///< pinned to a node, the gate gone; not bound
    bound,      ///< on a node and not ended
    ended,      ///< Succeeded or Failed
    leaving,    ///< being deleted
    not_gated,  ///< unbound, without the gate, and not let in: ESI has no part in it
};
stage stage_of(const model::pod& pod);
/// Whether the pod has the gate of gangs, beside others or alone.
bool is_gated(const model::pod& pod);
/// Whether the pod bears the node that it was given (annotation gang-node).
bool was_let_in(const model::pod& pod);
/// A member at the gate, or let in, that is being deleted, which a finalizer may delay for long; it
/// is on no node, and nominated: kube-scheduler keeps room for it that stays unused.
bool leaves_nominated(const model::pod& pod);

struct member {
    pod_pointer pod;
    stage at = stage::gated;

    const std::string& uid() const { return pod->metadata.uid; }
    /// May yet be let in.
    bool waits() const { return at == stage::gated || at == stage::reserved; }
};

/// The object of a group.
struct group_object {
    const group_kind* kind = nullptr;
    group_pointer object;
    /// Two kinds of one way have an object of this name, and this is the older one.
    bool doubled = false;

    explicit operator bool() const { return object != nullptr; }
};

struct gang {
    gang_key key;
    /// The group's object; without one, annotations alone name the group, or the object is missing.
    group_object group;
    /// By creation, then name, then uid.
    std::vector<member> members;
    /// The namespace is labelled esi.tu-berlin.de/gangs=enabled.
    bool enabled = true;
    /// Numbers of members, by their uids; empty: find() goes through all.
    std::vector<std::uint32_t> by_uid = {};

    int count(stage at) const;
    /// spec.minMember of the object; without an object the largest that members say. Nothing if
    /// none says one.
    std::optional<std::int64_t> minimum() const;
    bool suspended() const;
    /// Creation of the group's object, or of its first member.
    std::optional<model::timestamp> created() const;
    /// The uid of the object, or without one of the first member: the last criterion of an order.
    const std::string& uid() const;
    /// Null where no member has this uid.
    const member* find(std::string_view uid) const;
};
using gang_pointer = std::shared_ptr<const gang>;

/// `pods`: all that name the group, in any order.
gang make_gang(gang_key key, group_object group, const std::vector<pod_pointer>& pods,
               bool enabled = true);

}  // namespace esi::gangs

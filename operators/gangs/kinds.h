// The ways in which pods say that they are members of a gang, as data: the projects that made them,
// what names a pod's group, and the kinds of object that describe one. The operator treats all
// alike; what their clients expect to read in a status is in status.h.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "kube/resource.h"
#include "model/cluster.h"

namespace esi::gangs {

/// How a pod names its group.
enum class way : std::uint8_t {
    tenstack,      ///< the label of tenstack's batch-scheduler
    coscheduling,  ///< the label of scheduler-plugins' coscheduling
    kube_batch,    ///< the annotation of kube-batch, with or without an object
};
inline constexpr way all_ways[] = {way::tenstack, way::coscheduling, way::kube_batch};

/// "tenstack", "coscheduling", "kube-batch": for people.
std::string_view show(way by);

/// A kind of object that describes groups.
struct group_kind {
    way by;
    kube::resource_type type;
    /// "podgroups.scheduling.x-k8s.io": its definition.
    std::string_view definition;
    /// Member of spec that bounds an attempt; empty: the kind has none.
    std::string_view attempt_member;
};

/// If two kinds of one way have an object of the same name, the older object counts.
std::span<const group_kind> group_kinds();

/// The name of a group, whether or not an object describes it.
struct gang_key {
    way by = way::kube_batch;
    std::string namespace_;
    std::string name;

    auto operator<=>(const gang_key&) const = default;
    /// "lab/train (coscheduling)"
    std::string text() const;
};

/// The group that the pod names; nothing if it names none. If a pod names groups in several ways,
/// the first way of all_ways counts. Text that cannot be the name of an object names no group: this
/// bounds the key, as the API server does not bound annotations.
std::optional<gang_key> group_of(const model::pod& pod);
/// Why a pod names no group, as the end of a sentence about it.
std::string why_no_group(const model::pod& pod);
/// Whether the pod names groups in several ways.
bool names_several(const model::pod& pod);

/// The minimum that the pod itself states for its group (kube-batch's annotation for groups without
/// an object); nothing if it states none or no whole number.
std::optional<std::int64_t> minimum_on(const model::pod& pod);

}  // namespace esi::gangs

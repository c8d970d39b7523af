// The ways in of gangs, as everything in the simulation knows them: the four kinds of PodGroups,
// and the annotation alone. Written from those projects' own definitions, not from ESI's table, so
// that a mistake there is not repeated here. Plain data, constant.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string_view>

#include "kube/resource.h"

namespace esi::simulation {

using json = nlohmann::json;

struct group_kind {
    /// "tenstack", "incubator", "sigs", "coscheduling", "annotation"
    std::string_view name;
    /// Kinds of one way share the names of their groups.
    std::string_view way;
    /// Null: there is no object, members name their group in an annotation only.
    const kube::resource_type* type = nullptr;
    /// By which a pod names its group; one of the two is empty.
    std::string_view label;
    std::string_view annotation;
    /// What an author of such pods writes for spec.schedulerName; empty: nothing.
    std::string_view scheduler;
    bool has_status = true;
    /// The definition's schema, as YAML; null without an object.
    const char* schema = nullptr;
};

std::span<const group_kind> group_kinds();
/// Null: not a PodGroup.
const group_kind* find_group_kind(const kube::resource_type& type);
inline bool is_pod_group(const kube::resource_type& type) {
    return find_group_kind(type) != nullptr;
}
/// By group_kind::name; throws std::out_of_range.
const group_kind& group_kind_named(std::string_view name);

/// How a kind is told from all others: its plural, which is unique but for PodGroups; of these
/// "podgroups.GROUP".
std::string_view known_as(const kube::resource_type& type);
/// The same for what a request's path names.
std::string_view known_as(std::string_view group, std::string_view plural);

/// The group that a pod names; an empty name: none.
struct named_group {
    std::string_view way;
    std::string_view name;
    /// spec.schedulerName of that project; empty: none of its own.
    std::string_view scheduler;
};
named_group group_of(const json& pod);

}  // namespace esi::simulation

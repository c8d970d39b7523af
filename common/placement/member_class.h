// Members of a gang by what a plan asks of them: those with the same requests and constraints are
// one class, however many they are. Pure.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "placement/bounds.h"
#include "placement/node_rules.h"

namespace esi::placement::planning {

/// Where a bound volume can be used.
struct volume_rule {
    /// One of these terms has to match; unless `anywhere`.
    std::vector<node_term> terms;
    bool anywhere = true;
    /// Zone and region, and the values that each may have.
    std::map<std::string, std::set<std::string>> zones;

    bool terms_hold(const model::node& node) const;
    bool zones_hold(const model::node& node) const;
};

struct member_class {
    /// Equal for two members of one class.
    std::string text;
    std::string namespace_;
    /// The labels that some selector asks for.
    model::string_map labels;
    /// Members whose labels matter to the terms of bound pods alone are in different classes. False
    /// if that would make many more classes: then a term that selects pods of the namespace counts
    /// as selecting the class.
    bool labels_known = true;
    node_rules rules;
    /// By the resource's number in the ledger; a place in `pods` is among them.
    std::vector<std::pair<int, std::int64_t>> requests;
    /// Requested, and no node has ever had it; else empty.
    std::string unknown_resource;
    std::vector<model::host_port> ports;
    near_rules near;
    std::vector<volume_rule> volumes;
    /// Their places in the list of members.
    std::vector<int> members;

    int count() const { return static_cast<int>(members.size()); }
};

struct gang_classes {
    /// In the order in which the first of each comes.
    std::vector<member_class> list;
    /// Why a plan is refused.
    std::string too_much;
};
/// `room` says which labels matter to bound pods; `rules` are of the members and not too much.
gang_classes classes_of(std::span<const pod_pointer> members, const rules_of_members& rules,
                        const cluster_room& room, const facts& known);

/// The member's constraints that are not modelled: "resourceClaims", "PersistentVolumeClaim data,
/// which is not bound". Empty if a plan can keep all of them.
std::vector<std::string> unplanned_of(const model::pod& member, const facts& known);

/// Whether both want the same port of one address.
bool ports_clash(const model::host_port& a, const model::host_port& b);
bool ports_clash(std::span<const model::host_port> a, std::span<const model::host_port> b);

}  // namespace esi::placement::planning

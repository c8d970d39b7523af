#include "testbed/room/isolation.h"

#include <algorithm>

#include "model/names.h"
#include "testbed/room/layout.h"

namespace esi::testbed {

using nlohmann::json;

namespace {

bool is_esi_taint(const model::taint& taint) {
    return taint.key == model::names::taint && taint.effect == "NoSchedule";
}

bool has_member(const model::testbed& testbed, const model::node& node, const view& seen) {
    const auto* member = seen.index_of(testbed).places->member(node.metadata.name);
    return member && member->uid == node.metadata.uid;
}

bool is_going(const model::testbed& testbed) {
    return testbed.metadata.deleting() && !is_held(testbed);
}

/// True: `elder` has the node, too, and does not want it tainted. Testbeds of one namespace have
/// one owner, who wants both.
bool keeps_open(const model::testbed& elder, const model::testbed& younger, const model::node& node,
                const view& seen) {
    return elder.spec.isolation != model::isolation::taint &&
           elder.metadata.namespace_ != younger.metadata.namespace_ &&
           model::older(elder.metadata, younger.metadata) && !is_going(elder) &&
           has_member(elder, node, seen);
}

bool is_kept_open_for(const model::testbed& of, const model::node& node, const view& seen) {
    return keeps_open(*seen.testbed, of, node, seen) ||
           std::any_of(seen.others.begin(), seen.others.end(),
                       [&](const auto& other) { return keeps_open(*other, of, node, seen); });
}

bool wants_taint(const model::testbed& testbed, const model::node& node, const view& seen) {
    return testbed.spec.isolation == model::isolation::taint && !is_going(testbed) &&
           has_member(testbed, node, seen) && !is_kept_open_for(testbed, node, seen);
}

/// True: another Testbed takes the node over when we give it up: our taint no longer shields it.
bool has_heir(const model::node& node, const view& seen) {
    return !node.metadata.deleting() &&
           std::any_of(seen.others.begin(), seen.others.end(),
                       [&](const auto& other) { return wants_taint(*other, node, seen); });
}

}  // namespace

bool has_taint_of(const model::node& node, std::string_view uid) {
    return std::any_of(node.taints.begin(), node.taints.end(), [&](const auto& taint) {
        return is_esi_taint(taint) && taint.value == uid;
    });
}

bool is_kept_open(const model::node& node, const view& seen) {
    return is_kept_open_for(*seen.testbed, node, seen);
}

bool is_shielded(const model::node& node, const view& seen) {
    for (const auto& taint : node.taints) {
        if (!is_esi_taint(taint)) continue;
        if (taint.value == seen.testbed->metadata.uid) return true;
        auto other = std::find_if(seen.others.begin(), seen.others.end(), [&](const auto& each) {
            return each->metadata.uid == taint.value;
        });
        if (other == seen.others.end()) {
            if (!seen.all_namespaces) return true;
        } else if (wants_taint(**other, node, seen) &&
                   model::older((*other)->metadata, seen.testbed->metadata)) {
            return true;
        }
    }
    return false;
}

std::optional<taint_change> change_taint(const model::node& node, const view& seen,
                                         const grid::places& places, bool wanted) {
    const auto& uid = seen.testbed->metadata.uid;
    const auto* found = places.member(node.metadata.name);
    const bool member = found && found->uid == node.metadata.uid;
    const bool taint = wanted && seen.testbed->spec.isolation == model::isolation::taint;
    if (taint && member && !is_kept_open(node, seen)) {
        if (is_shielded(node, seen) || node.metadata.deleting()) return std::nullopt;
        return taint_change{node.metadata.name, uid};
    }
    if (!has_taint_of(node, uid) || has_heir(node, seen)) return std::nullopt;
    return taint_change{node.metadata.name, ""};
}

std::optional<json> changed_taints(const json& node, const taint_change& change,
                                   const std::string& uid) {
    json present = json::array();
    if (auto spec = node.find("spec"); spec != node.end() && spec->is_object()) {
        if (auto taints = spec->find("taints"); taints != spec->end() && taints->is_array()) {
            present = *taints;
        }
    }
    json out = json::array();
    for (const auto& taint : present) {
        const bool ours = taint.is_object() && taint.value("key", "") == model::names::taint &&
                          taint.value("effect", "") == "NoSchedule";
        if (!ours) {
            out.push_back(taint);
            continue;
        }
        if (!change.value.empty() && taint.value("value", "") == change.value) return std::nullopt;
        // Setting replaces any other value; removing takes only our own away.
        if (change.value.empty() && taint.value("value", "") != uid) out.push_back(taint);
    }
    if (!change.value.empty()) {
        out.push_back(
            {{"key", model::names::taint}, {"value", change.value}, {"effect", "NoSchedule"}});
    }
    if (out == present) return std::nullopt;
    return out;
}

}  // namespace esi::testbed

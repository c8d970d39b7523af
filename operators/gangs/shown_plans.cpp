#include "gangs/shown_plans.h"

#include "gangs/plan_mark.h"
#include "model/names.h"

namespace esi::gangs {

namespace {

/// The node that the pod has a place on as a member of a gang; empty: none. A reservation is not a
/// place yet. Authors of pods write annotations, but no nominations: without one there is no place.
std::string_view node_of_plan(const model::pod& pod) {
    const std::string_view node = pod.nominated_node_name;
    if (node.empty() || !group_of(pod)) return {};
    const auto at = stage_of(pod);
    if (at == stage::let_in) {
        return pod.metadata.annotation(model::names::gang_node) == node ? node : std::string_view();
    }
    const auto mark = mark_of(pod);
    const bool reserved_only = !mark.empty() && first_of(mark).empty();
    return at == stage::reserved && !reserved_only ? node : std::string_view();
}

}  // namespace

void shown_plans::pod_changed(const pod_pointer& before, const pod_pointer& after) {
    const auto was = before ? node_of_plan(*before) : std::string_view();
    const auto is = after ? node_of_plan(*after) : std::string_view();
    if (!was.empty() && (was != is || before->metadata.uid != after->metadata.uid)) {
        const auto there = on_.find(was);
        if (there != on_.end() && there->second.erase(before->metadata.uid) > 0 &&
            there->second.empty()) {
            on_.erase(there);
        }
    }
    if (!is.empty()) on_[std::string(is)].insert_or_assign(after->metadata.uid, after);
}

const std::map<std::string, pod_pointer, std::less<>>* shown_plans::on(
    std::string_view node) const {
    const auto found = on_.find(node);
    return found == on_.end() ? nullptr : &found->second;
}

}  // namespace esi::gangs

#include "testbed/swap/swap.h"

#include <fmt/format.h>

#include "grid/records.h"
#include "kube/patch.h"
#include "model/names.h"
#include "placement/admission.h"
#include "placement/door.h"

namespace esi::testbed {

using nlohmann::json;
namespace names = model::names;

swap_step next_step(const swap_view& at, const swap_progress& so_far) {
    if (at.slot_taken || grid::let_in(*at.pod) || at.pod->terminal() ||
        at.pod->metadata.deleting()) {
        return swap_step::wait;
    }
    // A nomination is never removed here: an earlier request for the ghost's deletion, of which no
    // answer came, may still arrive, and the room would be open.
    if (at.pod->nominated_node_name != at.node) return swap_step::nominate;
    // A scheduler that started later may not know a nomination that another process (or this one,
    // long ago) set. Once the ghost is gone, the patch that lets the pod in shows it.
    if (!so_far.nominated && at.ghost_stands) return swap_step::show_nomination;
    if (!at.ghost_stands && !at.has_room) return swap_step::wait;
    if (!so_far.read_back) return swap_step::read_back;
    if (at.ghost_stands) return swap_step::remove_ghost;
    if (!so_far.saw_room) return swap_step::look;
    return swap_step::let_in;
}

bool shows_the_end(const kube::store<model::pod>& pods, const model::pod& ghost,
                   const model::pod& written) {
    const auto shown = pods.version(written.metadata.namespace_);
    if (!shown || !model::version_at_least(*shown, written.metadata.resource_version)) return false;
    const auto there = pods.find(ghost.metadata.key());
    return !there || there->metadata.uid != ghost.metadata.uid;
}

node_look judge_node(const std::vector<pod_pointer>& on_node, const model::node& node,
                     const grid::slot& place, const model::testbed& testbed,
                     const grid::records& known, const model::pod& pod,
                     const model::amounts& on_the_way) {
    node_look out;
    auto free = node.allocatable;
    for (const auto& each : on_node) {
        const auto& other = *each;
        if (!other.live()) continue;
        model::take(free, taken_by(other));
        if (other.testbed() != testbed.metadata.key()) continue;
        if (is_own_ghost(other, testbed)) {
            if (other.metadata.annotation(names::node) == place.node &&
                grid::slot_index_of_ghost(other) == place.index) {
                out.ghost_stands = true;
            }
        } else if (!other.is_ghost() && grid::slot_of_pod(other) == place.position &&
                   !other.run().empty() && known.has(other, place.position)) {
            out.problem = fmt::format("{} is in slot {}", pod_text(other, testbed), place.position);
        }
    }
    model::take(free, on_the_way);
    if (out.ghost_stands || !out.problem.empty()) return out;
    if (auto missing = missing_resource(free, taken_by(pod))) {
        const auto wanted = taken_by(pod);
        const auto left = free.find(*missing);
        out.problem = fmt::format("{} has {} {} left, {} needs {}", place.node,
                                  model::show(*missing, left == free.end() ? 0 : left->second),
                                  *missing, pod_text(pod, testbed),
                                  model::show(*missing, wanted.find(*missing)->second));
    }
    return out;
}

json let_in_patch(const model::pod& pod, const grid::slot& place) {
    return kube::guarded(
        {{"metadata",
          {{"annotations",
            {{names::slot, std::to_string(place.position)}, {names::slot_node, place.node}}}}},
         {"spec",
          {{"affinity", placement::pinned_affinity(pod.affinity, place.node)},
           {"schedulingGates", nullptr}}}},
        pod.metadata.uid, pod.metadata.resource_version);
}

json commit_patch(const model::pod& pod, const grid::slot& place, const std::string& ghost_uid) {
    return kube::guarded({{"metadata",
                           {{"annotations",
                             {{names::slot, std::to_string(place.position)},
                              {names::slot_node, place.node},
                              {names::slot_ghost, ghost_uid}}}}}},
                         pod.metadata.uid, pod.metadata.resource_version);
}

json uncommit_patch(const model::pod& pod) {
    return kube::guarded(
        {{"metadata",
          {{"annotations",
            {{names::slot, nullptr}, {names::slot_node, nullptr}, {names::slot_ghost, nullptr}}}}}},
        pod.metadata.uid, pod.metadata.resource_version);
}

}  // namespace esi::testbed

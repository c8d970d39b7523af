#include "testbed/view.h"

#include "model/names.h"

namespace esi::testbed {

bool is_held(const model::testbed& testbed) { return !testbed.hold().empty(); }

bool is_damaged_ghost(const model::pod& pod, const model::testbed& testbed) {
    const auto& name = pod.metadata.name;
    const auto& of = testbed.metadata;
    if (pod.metadata.namespace_ != of.namespace_ || !name.starts_with(of.name + "-ghost-")) {
        return false;
    }
    const auto* owner = pod.metadata.controller_owner();
    if (owner && owner->uid != of.uid) return false;
    if (is_own_ghost(pod, testbed) && testbed_key_of(pod) == of.key().text()) return false;
    // The layout it was made for may be over: any index will do.
    for (const std::string_view node :
         {std::string_view(pod.node_name), std::string_view(pod.nominated_node_name),
          pod.metadata.annotation(model::names::node)}) {
        if (node.empty()) continue;
        for (int index = 0; index < model::most_slots_per_node; ++index) {
            if (name == grid::ghost_name(of.name, of.uid, node, index)) return true;
        }
    }
    return false;
}

std::vector<pod_pointer> damaged_ghosts(const view& seen) {
    std::vector<pod_pointer> out;
    std::set<std::string_view> found;
    const auto look_at = [&](const pod_pointer& pod) {
        if (!is_damaged_ghost(*pod, *seen.testbed)) return;
        if (found.insert(pod->metadata.uid).second) out.push_back(pod);
    };
    for (const auto& pod : seen.pods) look_at(pod);
    for (const auto& [name, node] : seen.nodes) {
        for (const auto& pod : node.pods) look_at(pod);
    }
    return out;
}

std::string pod_text(const model::pod& pod, const model::testbed& testbed) {
    if (pod.metadata.namespace_ != testbed.metadata.namespace_) return std::string(foreign_pod);
    return "pod " + pod.metadata.key().text();
}

grid::records records_of(const view& seen) {
    grid::records out(seen.testbed->metadata.key());
    out.add(*seen.testbed);
    for (const auto& job : seen.jobs) out.add(*job);
    return out;
}

std::string testbed_key_of(const model::pod& pod) {
    auto key = pod.testbed();
    return key.namespace_.empty() || key.name.empty() ? std::string{} : key.text();
}

}  // namespace esi::testbed

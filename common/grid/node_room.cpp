#include "grid/node_room.h"

namespace esi::grid {

model::amounts slot_amounts(const model::resource_list& size) {
    auto out = model::to_amounts(size);
    out["pods"] = one_pod;
    return out;
}

model::amounts taken_by(const model::pod& pod) {
    auto out = pod.requests;
    out["pods"] = one_pod;
    return out;
}

model::amounts left_after(const model::node& node, const std::vector<pod_pointer>& pods) {
    auto out = node.allocatable;
    for (const auto& pod : pods) {
        if (!pod->live()) continue;
        model::take(out, taken_by(*pod));
    }
    return out;
}

std::optional<std::string> missing_resource(const model::amounts& free,
                                            const model::amounts& what) {
    for (const auto& [name, amount] : what) {
        const auto found = free.find(name);
        if (amount > 0 && (found == free.end() ? 0 : found->second) < amount) return name;
    }
    return std::nullopt;
}

}  // namespace esi::grid

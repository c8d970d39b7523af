#include "placement/admission.h"

#include <fmt/format.h>

#include "placement/node_rules.h"

namespace esi::placement {

std::optional<std::string> admission_refusal(const model::pod& pod, const model::node& node) {
    const node_rules rules(pod);
    if (const auto* taint = rules.untolerated_taint(node)) {
        return fmt::format("does not tolerate the taint {}{}{}:{} of {}", taint->key,
                           taint->value.empty() ? "" : "=", taint->value, taint->effect,
                           node.metadata.name);
    }
    if (const auto* wanted = rules.unmet_selector(node)) {
        return fmt::format("its nodeSelector {}={} does not match {}", wanted->first,
                           wanted->second, node.metadata.name);
    }
    if (rules.affinity_holds(node)) return std::nullopt;
    return fmt::format("its required node affinity does not match {}", node.metadata.name);
}

}  // namespace esi::placement

#include "gangs/order.h"

#include <algorithm>
#include <string_view>
#include <tuple>

namespace esi::gangs {

std::int64_t priority_of(const gang& of, const class_values* classes) {
    std::string_view wanted;
    if (of.group) wanted = of.group.object->spec.priority_class_name;
    std::optional<std::int64_t> value;
    if (!wanted.empty() && classes) {
        if (const auto found = classes->find(wanted); found != classes->end()) {
            value = found->second;
        }
    }
    std::optional<std::int64_t> largest;
    for (const auto& each : of.members) {
        if (each.at == stage::ended) continue;
        if (!value && !wanted.empty() && each.pod->priority_class_name == wanted) {
            value = each.pod->priority;
        }
        if (!largest || each.pod->priority > *largest) largest = each.pod->priority;
    }
    // Quota and admission check pods: a group gives none of its members a priority that no member
    // may have.
    if (value && largest) return std::min(*value, *largest);
    return largest.value_or(0);
}

namespace {

bool earlier(const turn& a, const turn& b) {
    return std::tie(a.created, a.uid, a.key) < std::tie(b.created, b.uid, b.key);
}

}  // namespace

bool before(const turn& a, const turn& b) {
    const auto one = std::tuple(a.tried, a.urgency(), a.failed, a.nth);
    const auto two = std::tuple(b.tried, b.urgency(), b.failed, b.nth);
    return one != two ? one < two : earlier(a, b);
}

void in_turns(std::vector<turn>& ordered) {
    const auto alike = [](const turn& a, const turn& b) {
        return a.tried == b.tried && a.urgency() == b.urgency() && a.failed == b.failed;
    };
    std::map<std::string_view, int> seen;
    for (std::size_t i = 0; i < ordered.size(); ++i) {
        if (i > 0 && !alike(ordered[i - 1], ordered[i])) seen.clear();
        ordered[i].nth = seen[ordered[i].key.namespace_]++;
    }
    std::ranges::sort(ordered, before);
}

bool before_in_age(const turn& a, const turn& b) {
    return a.urgency() != b.urgency() ? a.urgency() < b.urgency() : earlier(a, b);
}

}  // namespace esi::gangs

#include "base/application_kinds.h"

#include <algorithm>
#include <stdexcept>

namespace esi::simulation {

namespace applications {

// Each in a file of its own.
application_kind spark();
application_kind flink();

}  // namespace applications

std::span<const application_kind> application_kinds() {
    static const std::vector<application_kind> all{applications::spark(), applications::flink()};
    return all;
}

const application_kind* find_application_kind(const kube::resource_type& type) {
    for (const auto& kind : application_kinds()) {
        if (kind.type->group == type.group && kind.type->plural == type.plural) return &kind;
    }
    return nullptr;
}

const application_kind& application_kind_named(std::string_view name) {
    const auto found = std::ranges::find(application_kinds(), name, &application_kind::name);
    if (found == application_kinds().end()) throw std::out_of_range(std::string(name));
    return *found;
}

}  // namespace esi::simulation

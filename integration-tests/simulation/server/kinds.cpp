#include "server/kinds.h"

#include <vector>

#include "base/application_kinds.h"
#include "base/group_kinds.h"

namespace esi::simulation {

namespace {

const std::vector<const kube::resource_type*>& served() {
    static const std::vector<const kube::resource_type*> all = [] {
        std::vector<const kube::resource_type*> out{
            &kinds::testbed, &kinds::batchjob,       &kinds::scheduling,  &kinds::slot_slice,
            &kinds::pod,     &kinds::node,           &kinds::name_space,  &kinds::lease,
            &kinds::event,   &kinds::priority_class, &kinds::token_review};
        for (const auto& kind : application_kinds()) out.push_back(kind.type);
        out.push_back(&kinds::custom_resource_definition);
        for (const auto& kind : group_kinds()) {
            if (kind.type) out.push_back(kind.type);
        }
        return out;
    }();
    return all;
}

}  // namespace

std::span<const kube::resource_type* const> all_kinds() { return served(); }

const kube::resource_type* find_kind(std::string_view group, std::string_view version,
                                     std::string_view plural) {
    for (const auto* type : served()) {
        if (type->plural == plural && type->group == group && type->version == version) return type;
    }
    return nullptr;
}

}  // namespace esi::simulation

#include "server/traits.h"

#include "base/application_kinds.h"
#include "base/group_kinds.h"
#include "server/kinds.h"

namespace esi::simulation {

bool is_kind(const kube::resource_type& type, const kube::resource_type& which) {
    return known_as(type) == known_as(which);
}

bool is_custom(const kube::resource_type& type) {
    return type.group == kinds::testbed.group || is_application(type) || is_pod_group(type);
}

bool may_update_unconditionally(const kube::resource_type& type) {
    return !is_custom(type) && !is_kind(type, kinds::lease);
}

bool may_create_on_update(const kube::resource_type& type) {
    return is_kind(type, kinds::lease) || is_kind(type, kinds::event);
}

bool begins_with_generation(const kube::resource_type& type) {
    return counts_generation(type) || is_kind(type, kinds::priority_class);
}

bool counts_generation(const kube::resource_type& type) {
    return is_custom(type) || is_kind(type, kinds::pod);
}

std::string_view judged_group(const kube::resource_type& type) {
    return is_kind(type, kinds::event) ? std::string_view() : type.group;
}

}  // namespace esi::simulation

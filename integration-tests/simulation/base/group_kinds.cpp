#include "base/group_kinds.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/fields.h"

namespace esi::simulation {

namespace {

constexpr kube::resource_type tenstack{"batch.scheduler.tencent.com", "v1", "podgroups",
                                       "PodGroup"};
constexpr kube::resource_type incubator{"scheduling.incubator.k8s.io", "v1alpha1", "podgroups",
                                        "PodGroup"};
constexpr kube::resource_type sigs{"scheduling.sigs.dev", "v1alpha2", "podgroups", "PodGroup"};
constexpr kube::resource_type coscheduling{"scheduling.x-k8s.io", "v1alpha1", "podgroups",
                                           "PodGroup"};

/// Only what plans write: the definitions belong to others.
constexpr const char* schema = R"(
type: object
properties:
  spec:
    type: object
    x-kubernetes-preserve-unknown-fields: true
    properties:
      minMember: {type: integer}
  status: {type: object, x-kubernetes-preserve-unknown-fields: true}
)";

constexpr std::string_view group_name = "scheduling.k8s.io/group-name";

}  // namespace

std::span<const group_kind> group_kinds() {
    static const std::vector<group_kind> all{
        {"tenstack",
         "tenstack",
         &tenstack,
         "group.batch.scheduler.tencent.com",
         {},
         "batch-scheduler",
         false,
         schema},
        {"incubator", "kube-batch", &incubator, {}, group_name, "kube-batch", false, schema},
        {"sigs", "kube-batch", &sigs, {}, group_name, "kube-batch", true, schema},
        {"coscheduling",
         "coscheduling",
         &coscheduling,
         "scheduling.x-k8s.io/pod-group",
         {},
         {},
         true,
         schema},
        {"annotation", "kube-batch", nullptr, {}, group_name, {}, false, nullptr}};
    return all;
}

const group_kind* find_group_kind(const kube::resource_type& type) {
    if (type.plural != coscheduling.plural) return nullptr;
    for (const auto& kind : group_kinds()) {
        if (kind.type && kind.type->group == type.group) return &kind;
    }
    return nullptr;
}

const group_kind& group_kind_named(std::string_view name) {
    const auto found = std::ranges::find(group_kinds(), name, &group_kind::name);
    if (found == group_kinds().end()) throw std::out_of_range(std::string(name));
    return *found;
}

std::string_view known_as(std::string_view group, std::string_view plural) {
    if (plural != coscheduling.plural) return plural;
    if (group == tenstack.group) return "podgroups.batch.scheduler.tencent.com";
    if (group == incubator.group) return "podgroups.scheduling.incubator.k8s.io";
    if (group == sigs.group) return "podgroups.scheduling.sigs.dev";
    if (group == coscheduling.group) return "podgroups.scheduling.x-k8s.io";
    return plural;
}

std::string_view known_as(const kube::resource_type& type) {
    return known_as(type.group, type.plural);
}

named_group group_of(const json& pod) {
    for (const auto& kind : group_kinds()) {
        const auto name = kind.label.empty() ? fields::annotation(pod, kind.annotation)
                                             : fields::label(pod, kind.label);
        if (!name.empty()) return {kind.way, name, kind.scheduler};
    }
    return {};
}

}  // namespace esi::simulation

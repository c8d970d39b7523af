// The kinds that the model API server serves. A kind is known by its plural, which is unique here
// but for PodGroups (base/group_kinds.h, known_as).
#pragma once

#include <span>
#include <string_view>

#include "kube/resource.h"

namespace esi::simulation {

namespace kinds {
using namespace kube::types;
inline constexpr kube::resource_type priority_class{"scheduling.k8s.io", "v1", "priorityclasses",
                                                    "PriorityClass", false};
inline constexpr kube::resource_type token_review{"authentication.k8s.io", "v1", "tokenreviews",
                                                  "TokenReview", false};
}  // namespace kinds

/// All of them.
std::span<const kube::resource_type* const> all_kinds();
/// Null: not served.
const kube::resource_type* find_kind(std::string_view group, std::string_view version,
                                     std::string_view plural);

}  // namespace esi::simulation

// Reasons of refusals on which callers decide: error::reason of an answer of the API server.
#pragma once

#include <string_view>

namespace esi::kube {

/// The object is larger than the API server or its store takes (errc::invalid). Kubernetes gives it
/// with 413; etcd's own errors are mapped to it, too.
inline constexpr std::string_view too_large_reason = "RequestEntityTooLarge";

}  // namespace esi::kube

// The version of the Kubernetes cluster, and whether ESI works on it.
#pragma once

#include <string>
#include <string_view>

#include "kube/transport.h"

namespace esi::kube {

struct server_version {
    int major = 0;
    int minor = 0;
    std::string text;  ///< "v1.36.3"
};

/// The oldest that ESI works on; docs/kubernetes-versions.md says why.
inline constexpr int oldest_minor = 31;

/// Parses the body of GET /version. Vendors append to the minor version ("31+"): text after its
/// digits is ignored.
result<server_version> parse_server_version(std::string_view body);

/// Reads it once. Every user may.
asio::awaitable<result<server_version>> read_server_version(transport& wire, steady_time deadline);

/// Why ESI cannot work on this version, for people; empty if it can.
std::string too_old(const server_version& version);

}  // namespace esi::kube

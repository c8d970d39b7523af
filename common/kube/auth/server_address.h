// The API server's address as a kubeconfig has it, taken apart. Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace esi::kube {

struct server_address {
    bool tls = true;
    std::string host;  ///< without brackets
    std::string port;
    /// Path before every target, without a slash at the end; usually empty.
    std::string prefix;

    /// "host:port", IPv6 in brackets.
    std::string authority() const;
};

/// "https://host[:port][/prefix]" or "http://..."; errc::config otherwise.
result<server_address> parse_server_address(std::string_view url);

}  // namespace esi::kube

// Access to routes without authentication: peers of this machine itself, which use a name of this
// machine. One rule for all routes that need it.
#pragma once

#include <boost/asio/ip/address.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "http/message.h"

namespace esi::http {

/// 127.0.0.1 and ::1, also as ::ffff:127.0.0.1. The rest of 127/8 is no local peer: service meshes
/// hand over connections of the whole cluster from there.
bool is_loopback(boost::asio::ip::address peer);

/// Whether the value of a Host header is a name of this machine itself that DNS never resolves for
/// others: localhost, 127.0.0.1 or [::1], with a port or without.
bool is_loopback_name(std::string_view host);

/// Whether pages of `origin` (the header's value) may read the answers of `host`: requests of no
/// page (empty), of pages of the host itself, and of origins in `allowed` ("*": all).
bool may_come_from(std::string_view origin, std::string_view host,
                   const std::vector<std::string>& allowed);

/// Why an entry of a list of such origins can match none: it has to be http://host or https://host,
/// with a port or without, or "*". The text begins with the origin; empty: it can.
std::string origin_fault(std::string origin);

struct local_access {
    /// Peers that are not loopback are admitted, too.
    bool open = false;
    /// Hosts that are accepted when it is open, beside those that no page can have: names of this
    /// machine, IP addresses, names without a dot and names below .svc and .cluster.local.
    /// "*.example.org": all below it; "*": every Host.
    std::vector<std::string> hosts;
    /// Origins of web pages that may send changes, beside the server's own; "*": all.
    std::vector<std::string> origins;

    /// Why the request is refused; empty: it is not. `what`: the part of the interface, for the
    /// message. A page whose own name was made to resolve to this machine comes from an allowed
    /// peer, but its browser sends that name (DNS rebinding). An absent Host is fine: browsers send
    /// it. A request forwarded by a proxy does not show its sender. A change may come from no page
    /// of another origin: a browser sends a plain POST without asking first.
    std::string refusal(const server_request& head, std::string_view what) const;

private:
    std::string refusal_of_peer(const server_request& head, std::string_view what) const;
};

}  // namespace esi::http

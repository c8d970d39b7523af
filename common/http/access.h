// Who may use what knows no authentication: peers of this machine itself, who ask for it by a name
// of this machine. One rule for all routes that need it.
#pragma once

#include <boost/asio/ip/address.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "http/message.h"

namespace esi::http {

/// 127.0.0.1 and ::1, also as ::ffff:127.0.0.1. The rest of 127/8 is no peer that a person is
/// behind: service meshes hand connections of the whole cluster over from there.
bool is_loopback(boost::asio::ip::address peer);

/// Whether the value of a Host header is a name of this machine itself, which no DNS answers for
/// others: localhost, 127.0.0.1 or [::1], with a port or without.
bool is_loopback_name(std::string_view host);

/// Whether pages of `origin` (the header's value) may ask for what `host` answers: no page at all
/// (empty), pages of the host itself, and origins of `allowed` ("*": all).
bool may_come_from(std::string_view origin, std::string_view host,
                   const std::vector<std::string>& allowed);

/// What of a list of such origins could match none: one is http://host or https://host, with a port
/// or without, or "*". A refusal that begins with the origin, or empty.
std::string origin_fault(std::string origin);

struct local_access {
    /// Peers that are not loopback are answered, too.
    bool open = false;
    /// Hosts that may be asked for when it is open, beside those that no page can have: names of
    /// this machine, IP addresses, names without a dot and names below .svc and .cluster.local.
    /// "*.example.org": all below it; "*": every Host.
    std::vector<std::string> hosts;
    /// Origins of web pages that may change something, beside the server's own; "*": all.
    std::vector<std::string> origins;

    /// Why the request is refused; empty: it is not. `what`: the part of the interface, for the
    /// message. A page whose own name was made to resolve to this machine comes from an allowed
    /// peer, but its browser says the name (DNS rebinding). An absent Host is fine: browsers send
    /// it. What a proxy handed on tells nothing of who sent it. What changes something comes from
    /// no page of another origin: a browser sends a plain POST without asking first.
    std::string refusal(const server_request& head, std::string_view what) const;

private:
    std::string refusal_of_peer(const server_request& head, std::string_view what) const;
};

}  // namespace esi::http

#include "http/access.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace esi::http {

namespace {

namespace ip = boost::asio::ip;

/// The name of a Host header in lower case, an IPv6 address without its brackets; empty when it is
/// not a name with or without a port.
std::string name_of(std::string_view host) {
    const bool v6 = host.starts_with('[');
    const auto end = v6 ? host.find(']') : std::min(host.find(':'), host.size());
    if (end == std::string_view::npos) return {};
    const auto rest = host.substr(v6 ? end + 1 : end);
    const auto digit = [](char c) { return c >= '0' && c <= '9'; };
    if (!rest.empty() &&
        (rest.size() < 2 || rest.front() != ':' || !std::ranges::all_of(rest.substr(1), digit))) {
        return {};
    }
    auto out = lower(host.substr(v6 ? 1 : 0, v6 ? end - 1 : end));
    if (v6 && !out.contains(':')) return {};
    if (out.ends_with('.')) out.pop_back();
    return out;
}

bool is_address(const std::string& name) {
    boost::system::error_code failure;
    const auto read = ip::make_address(name, failure);
    return !failure && read.to_string() == name;
}

/// A name that cannot belong to a person outside of the cluster.
bool is_inner_name(const std::string& name) {
    return is_address(name) || !name.contains('.') || name.ends_with(".svc") ||
           name.ends_with(".cluster.local");
}

bool is_listed(const std::string& name, const std::vector<std::string>& hosts) {
    return std::ranges::any_of(hosts, [&](const std::string& each) {
        const auto known = lower(each);
        if (known == "*" || known == name) return true;
        return known.starts_with("*.") && name.ends_with(std::string_view(known).substr(1));
    });
}

}  // namespace

bool is_loopback(ip::address peer) {
    if (peer.is_v6() && peer.to_v6().is_v4_mapped()) {
        peer = ip::make_address_v4(ip::v4_mapped, peer.to_v6());
    }
    return peer == ip::address_v4::loopback() || peer == ip::address_v6::loopback();
}

bool is_loopback_name(std::string_view host) {
    const auto name = name_of(host);
    return name == "localhost" || name == "127.0.0.1" || name == "::1";
}

bool may_come_from(std::string_view origin, std::string_view host,
                   const std::vector<std::string>& allowed) {
    if (origin.empty()) return true;
    const auto wanted = lower(origin);
    for (const auto& each : allowed) {
        if (each == "*" || lower(each) == wanted) return true;
    }
    const auto own = lower(host);
    return wanted == "http://" + own || wanted == "https://" + own;
}

std::string origin_fault(std::string origin) {
    if (origin == "*") return {};
    std::string_view host = origin;
    for (std::string_view scheme : {"http://", "https://"}) {
        if (!host.starts_with(scheme)) continue;
        const auto name = name_of(host.substr(scheme.size()));
        const bool fits = !name.empty() && std::ranges::all_of(name, [](unsigned char c) {
            return std::isalnum(c) || c == '-' || c == '_' || c == '.' || c == ':';
        });
        if (fits) return {};
    }
    return origin +
           " is no origin: give http://host or https://host, with its port where it has one and "
           "without a path (https://page.example.org:8443), or * for all";
}

std::string local_access::refusal(const server_request& head, std::string_view what) const {
    auto out = refusal_of_peer(head, what);
    const bool reads = head.method == "GET" || head.method == "HEAD" || head.method == "OPTIONS";
    if (!out.empty() || reads) return out;
    if (may_come_from(head.header("origin"), head.header("host"), origins)) return {};
    return fmt::format(
        "pages of this Origin may not change anything of {}; --stomp-allowed-origins of "
        "esi-scheduling lets them",
        what);
}

std::string local_access::refusal_of_peer(const server_request& head, std::string_view what) const {
    const auto host = head.header("host");
    if (open) {
        const auto name = name_of(host);
        if (host.empty() || (!name.empty() && (is_inner_name(name) || is_listed(name, hosts)))) {
            return {};
        }
        return fmt::format("{} is not answered under this Host; --allowed-hosts adds it", what);
    }
    if (!head.peer_is_loopback) {
        return fmt::format(
            "{} has no authentication and answers loopback only; --legacy-open opens it", what);
    }
    for (const auto* by_proxy : {"forwarded", "via", "x-forwarded-for", "x-real-ip"}) {
        if (!head.has_header(by_proxy)) continue;
        return fmt::format(
            "{} has no authentication and answers no proxies ({}); --legacy-open opens it", what,
            by_proxy);
    }
    if (host.empty() || is_loopback_name(host)) return {};
    return fmt::format(
        "{} has no authentication and answers only where the Host is localhost, 127.0.0.1 or "
        "[::1]; --legacy-open opens it",
        what);
}

}  // namespace esi::http

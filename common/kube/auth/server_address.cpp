#include "kube/auth/server_address.h"

#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>
#include <charconv>
#include <cstdint>

namespace esi::kube {

namespace {

bool is_port(std::string_view digits) {
    std::uint16_t number = 0;
    const auto* end = digits.data() + digits.size();
    const auto [stop, code] = std::from_chars(digits.data(), end, number);
    return code == std::errc() && stop == end && number > 0;
}

}  // namespace

std::string server_address::authority() const {
    return (host.find(':') == std::string::npos ? host : "[" + host + "]") + ":" + port;
}

result<server_address> parse_server_address(std::string_view url) {
    const auto wrong = [&](std::string_view why) {
        return fail(errc::config, "the server \"" + std::string(url) + "\" " + std::string(why));
    };
    const auto parsed = boost::urls::parse_uri(boost::urls::string_view(url.data(), url.size()));
    if (parsed.has_error()) return wrong("is not an address like https://host:6443");
    const auto& view = parsed.value();
    server_address out;
    out.tls = view.scheme_id() == boost::urls::scheme::https;
    if (!out.tls && view.scheme_id() != boost::urls::scheme::http) {
        return wrong("has neither https nor http");
    }
    if (view.has_userinfo() || view.has_query() || view.has_fragment()) {
        return wrong("has a user, a query or a fragment");
    }
    out.host = view.host_address();
    if (out.host.empty()) return wrong("has no host");
    if (view.encoded_host().contains('%')) return wrong("has a host with %-sequences");
    out.port = std::string(view.port());
    if (!out.port.empty() && !is_port(out.port)) return wrong("has a port that is not 1 to 65535");
    if (out.port.empty()) out.port = out.tls ? "443" : "80";
    out.prefix = std::string(view.encoded_path());
    // Boost.URL takes "https://host:1x": port 1, and a path that begins without a slash.
    if (!out.prefix.empty() && out.prefix.front() != '/') return wrong("has no number as port");
    while (out.prefix.ends_with('/')) out.prefix.pop_back();
    return out;
}

}  // namespace esi::kube

#include "interface/v1/access/refusals.h"

#include <fmt/format.h>

#include <algorithm>

namespace esi::interface::v1 {

namespace {

constexpr std::size_t most_shown_groups = 8;

/// As an argument of a shell: in quotes where it is more than letters, digits and a few signs.
std::string quoted(const std::string& text) {
    const bool plain = !text.empty() && std::ranges::all_of(text, [](char c) {
        return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
               std::string_view("-._:/@").contains(c);
    });
    if (plain) return text;
    std::string out = "'";
    for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return out + "'";
}

std::string resource_of(const permission& what) {
    return what.group.empty() ? what.resource : what.resource + "." + what.group;
}

bool is_namespaced(const permission& what) { return !what.group.empty(); }

}  // namespace

http::problem_details unauthenticated(std::string detail, bool bad_token) {
    http::problem_details out;
    out.status = 401;
    out.detail = std::move(detail);
    out.headers.emplace_back(
        "WWW-Authenticate",
        bad_token ? R"(Bearer realm="esi", error="invalid_token")" : R"(Bearer realm="esi")");
    return out;
}

http::problem_details readable_token() {
    http::problem_details out;
    out.status = 403;
    out.detail =
        "a bearer token is not taken over plain HTTP from another machine, as whoever reads the "
        "network could use it; this one has been sent so. Ask over TLS (tls.mode of the chart, "
        "--tls-cert-file), or over loopback (kubectl port-forward), or let esi-scheduling take it "
        "(interface.api.plainTokens, --api-plain-tokens)";
    return out;
}

std::string can_i(const http::identity& who, const access_question& of) {
    auto out = "kubectl auth can-i " + of.what.verb + " " + resource_of(of.what);
    if (!of.name.empty()) out += "/" + quoted(of.name);
    if (!of.ns.empty()) {
        out += " -n " + quoted(of.ns);
    } else if (is_namespaced(of.what)) {
        out += " -A";
    }
    out += " --as=" + quoted(who.name);
    // The API server knows the groups of service accounts, and that each caller is authenticated.
    if (who.name.starts_with("system:serviceaccount:")) return out;
    std::size_t shown = 0;
    for (const auto& group : who.groups) {
        if (group == "system:authenticated" || ++shown > most_shown_groups) continue;
        out += " --as-group=" + quoted(group);
    }
    return out;
}

http::problem_details forbidden(const http::identity& who, const access_question& of) {
    http::problem_details out;
    out.status = 403;
    std::string where;
    if (!of.ns.empty()) {
        where = fmt::format(" in the namespace \"{}\"", of.ns);
    } else if (is_namespaced(of.what)) {
        where = " in all namespaces";
    }
    out.detail = fmt::format("\"{}\" may not {} {}{}{}; the cluster's RBAC decides: {}", who.name,
                             of.what.verb, resource_of(of.what),
                             of.name.empty() ? std::string() : fmt::format(" \"{}\"", of.name),
                             where, can_i(who, of));
    return out;
}

http::problem_details throttled(std::string detail, steady_time::duration wait) {
    http::problem_details out;
    out.status = 429;
    out.detail = std::move(detail);
    out.retryable = true;
    const auto whole = std::chrono::ceil<seconds>(wait).count();
    out.retry_after_seconds = static_cast<int>(std::clamp<std::int64_t>(whole, 1, 60));
    return out;
}

}  // namespace esi::interface::v1

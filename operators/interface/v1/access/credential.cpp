#include "interface/v1/access/credential.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>

#include "model/meta.h"

namespace esi::interface::v1 {

namespace {

constexpr std::size_t longest_name = 256;
constexpr std::size_t most_groups = 64;
constexpr std::string_view of_the_cluster = "system:";

/// token68 of RFC 9110, which is b64token of RFC 6750.
bool is_token(std::string_view text) {
    const auto padding = text.find('=');
    const auto body = text.substr(0, padding);
    const auto rest = padding == std::string_view::npos ? std::string_view() : text.substr(padding);
    const auto fits = [](char c) {
        return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
               std::string_view("-._~+/").contains(c);
    };
    return !body.empty() && std::ranges::all_of(body, fits) &&
           std::ranges::all_of(rest, [](char c) { return c == '='; });
}

}  // namespace

std::expected<std::string_view, std::string> bearer_token(const http::server_request& head) {
    const auto lines = std::ranges::count(head.headers, std::string_view("authorization"),
                                          &std::pair<std::string, std::string>::first);
    if (lines == 0) return std::string_view();
    if (lines > 1) return std::unexpected("Authorization is there more than once");
    const auto value = head.header("authorization");
    constexpr std::string_view scheme = "bearer ";
    if (http::lower(trimmed(value)) == "bearer") {
        return std::unexpected("Authorization has the scheme Bearer and no token behind it");
    }
    if (http::lower(value.substr(0, scheme.size())) != scheme) {
        return std::unexpected("the only scheme of Authorization understood is Bearer");
    }
    auto token = value.substr(scheme.size());
    while (token.starts_with(' ')) token.remove_prefix(1);
    if (!is_token(token)) return std::unexpected("what follows Bearer is no token");
    return token;
}

bool is_plain_name(std::string_view name) {
    if (name.empty() || name.size() > longest_name) return false;
    if (!simdjson::validate_utf8(name)) return false;
    for (std::size_t at = 0; at < name.size(); ++at) {
        const auto byte = static_cast<unsigned char>(name[at]);
        const bool control = byte < 0x20 || byte == 0x7F;
        // U+0080 to U+009F, which terminals obey, too.
        const bool further_control =
            byte == 0xC2 && static_cast<unsigned char>(name[at + 1]) < 0xA0;
        if (control || further_control) return false;
    }
    return true;
}

std::expected<std::shared_ptr<const http::identity>, std::string> identity_of(
    const http::certificate_subject& subject, wall_time now) {
    if (subject.has_ended(now)) {
        return std::unexpected(fmt::format(
            "the client certificate of this connection has expired: it was valid until {}; open a "
            "new connection with a new certificate, or send a bearer token",
            model::timestamp{subject.not_after}.whole_seconds()));
    }
    if (!is_plain_name(subject.common_name)) {
        return std::unexpected(
            "the subject of the client certificate has to have exactly one common name (CN), of at "
            "most 256 bytes");
    }
    if (subject.organizations.size() > most_groups ||
        !std::ranges::all_of(subject.organizations, is_plain_name)) {
        return std::unexpected(
            "the subject of the client certificate has to have at most 64 organizations (O), of at "
            "most 256 bytes each");
    }
    const auto is_of_the_cluster = [](const std::string& name) {
        return name.starts_with(of_the_cluster);
    };
    if (is_of_the_cluster(subject.common_name) ||
        std::ranges::any_of(subject.organizations, is_of_the_cluster)) {
        return std::unexpected(
            "names that begin with system: are not taken from client certificates; use a token");
    }
    auto who = std::make_shared<http::identity>();
    who->name = subject.common_name;
    who->groups = subject.organizations;
    who->groups.emplace_back("system:authenticated");
    return who;
}

}  // namespace esi::interface::v1

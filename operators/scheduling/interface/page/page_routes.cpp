#include "scheduling/interface/page/page_routes.h"

#include <algorithm>
#include <boost/asio/awaitable.hpp>

#include "base/text.h"
#include "scheduling/interface/page/page_files.h"

namespace esi::scheduling::page {

namespace {

/// Nothing is loaded, sent or framed but by this origin, and no text becomes a script or HTML.
constexpr std::string_view content_security_policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'";

constexpr std::string_view index_name = "index.html";

std::string_view trimmed(std::string_view text) {
    const auto from = text.find_first_not_of(" \t");
    if (from == std::string_view::npos) return {};
    return text.substr(from, text.find_last_not_of(" \t") - from + 1);
}

/// Takes the part before the next `separator` off the front, without the blanks around it.
std::string_view take(std::string_view& from, char separator) {
    const auto end = std::min(from.find(separator), from.size());
    const auto part = from.substr(0, end);
    from.remove_prefix(std::min(end + 1, from.size()));
    return trimmed(part);
}

/// "q=0", "q=0.0": not wanted at all (RFC 9110 12.4.2).
bool is_quality_of_zero(std::string_view parameter) {
    const auto text = lower(parameter);
    if (!text.starts_with("q=0")) return false;
    return text.find_first_not_of("0.", 2) == std::string::npos;
}

std::string_view media_type_of(std::string_view name) {
    if (name.ends_with(".html")) return "text/html;charset=utf-8";
    if (name.ends_with(".js")) return "text/javascript;charset=utf-8";
    if (name.ends_with(".css")) return "text/css;charset=utf-8";
    return "image/svg+xml";
}

/// By If-None-Match (RFC 9110 13.1.2), which compares weakly.
bool has_it(const http::server_request& from, std::string_view tag) {
    auto list = from.header("if-none-match");
    while (!list.empty()) {
        auto known = take(list, ',');
        if (known.starts_with("W/")) known.remove_prefix(2);
        if (known == "*" || known == tag) return true;
    }
    return false;
}

const file* find(std::string_view name) {
    const auto all = files();
    const auto found = std::ranges::find(all, name, &file::name);
    return found == all.end() ? nullptr : &*found;
}

http::server_reply reply_of(const http::server_request& to, const file& of) {
    const auto tag = '"' + std::string(of.digest) + '"';
    http::server_reply out;
    if (has_it(to, tag)) {
        out.status = 304;
    } else {
        out.content_type = media_type_of(of.name);
        out.body = of.content;
    }
    out.headers = {{"ETag", tag},
                   {"Cache-Control", "no-cache"},
                   {"Content-Security-Policy", std::string(content_security_policy)},
                   {"Referrer-Policy", "no-referrer"},
                   {"Cross-Origin-Opener-Policy", "same-origin"},
                   {"Cross-Origin-Resource-Policy", "same-origin"}};
    if (of.name == index_name) out.headers.emplace_back("Vary", "Accept");
    return out;
}

}  // namespace

bool names_html(std::string_view accept) {
    while (!accept.empty()) {
        auto range = take(accept, ',');
        if (lower(take(range, ';')) != "text/html") continue;
        bool wanted = true;
        while (!range.empty()) wanted = !is_quality_of_zero(take(range, ';')) && wanted;
        if (wanted) return true;
    }
    return false;
}

void add_to(http::router& router) {
    // A route for / would change what other methods and other media types get there: 405 instead of
    // 404. A filter answers the page, and leaves all else to those who answered before.
    router.guard("/", [](const http::server_request& head) -> std::optional<http::server_reply> {
        const bool reads = head.method == "GET" || head.method == "HEAD";
        if (!reads || head.raw_path != "/" || !names_html(head.header("accept"))) {
            return std::nullopt;
        }
        return reply_of(head, *find(index_name));
    });
    for (const auto& each : files()) {
        if (each.name == index_name) continue;
        router.add("GET", "/page/" + std::string(each.name),
                   [&each](http::server_request from) -> asio::awaitable<http::server_reply> {
                       co_return reply_of(from, each);
                   });
    }
}

}  // namespace esi::scheduling::page

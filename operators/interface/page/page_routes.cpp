#include "interface/page/page_routes.h"

#include <algorithm>
#include <boost/asio/awaitable.hpp>

#include "http/accept.h"
#include "http/entity_tag.h"
#include "interface/page/page_files.h"

namespace esi::interface::page {

namespace {

/// Only files of this origin are loaded, requests go only there, no page may frame this one, and no
/// text becomes a script or HTML.
constexpr std::string_view content_security_policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'";

constexpr std::string_view index_name = "index.html";

std::string_view media_type_of(std::string_view name) {
    if (name.ends_with(".html")) return "text/html;charset=utf-8";
    if (name.ends_with(".js")) return "text/javascript;charset=utf-8";
    if (name.ends_with(".css")) return "text/css;charset=utf-8";
    return "image/svg+xml";
}

/// By If-None-Match (RFC 9110 13.1.2), which compares weakly.
bool has_it(const http::server_request& from, std::string_view tag) {
    const auto known = from.header("if-none-match");
    return http::is_any_tag(known) || http::names_tag(known, tag);
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
    return std::ranges::any_of(http::media_ranges(accept), [](const auto& range) {
        return range.name == "text/html" && !range.refused;
    });
}

void add_to(http::router& router) {
    // A route for / would change the answers to other methods and other media types: 405 instead of
    // 404. A filter answers with the page, and leaves all else to the earlier handlers.
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

}  // namespace esi::interface::page

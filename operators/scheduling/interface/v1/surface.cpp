#include "scheduling/interface/v1/surface.h"

#include <fmt/format.h>

#include <algorithm>

#include "scheduling/interface/v1/openapi.h"
#include "scheduling/interface/v1/problems.h"

namespace esi::scheduling::v1 {

namespace {

using http::problem_details;
using http::server_reply;
using http::server_request;

/// Some clients send a body with every request.
constexpr std::size_t longest_ignored_body = 4u << 10;

std::string_view trimmed(std::string_view text) {
    while (text.starts_with(' ') || text.starts_with('\t')) text.remove_prefix(1);
    while (text.ends_with(' ') || text.ends_with('\t')) text.remove_suffix(1);
    return text;
}

/// "q=0": not that one.
bool is_excluded(std::string_view parameters) {
    while (!parameters.empty()) {
        const auto end = std::min(parameters.find(';'), parameters.size());
        const auto each = http::lower(std::string(trimmed(parameters.substr(0, end))));
        parameters.remove_prefix(std::min(end + 1, parameters.size()));
        if (each.starts_with("q=0") && each.find_first_not_of("0.", 2) == std::string::npos) {
            return true;
        }
    }
    return false;
}

server_reply miss(const server_request& from, const std::vector<std::string>& allowed) {
    if (from.undecodable_path) {
        return http::reply_of(problem_of(400, "",
                                         "the path cannot be decoded: it has a wrong escape, or an "
                                         "encoded slash"),
                              from.raw_path);
    }
    if (allowed.empty()) {
        return http::reply_of(
            problem_of(404, "",
                       "nothing is at " + from.raw_path + "; /openapi.json lists all paths"),
            from.raw_path);
    }
    return http::reply_of(problem_of(405, "",
                                     fmt::format("{} takes {}, not {}", from.raw_path,
                                                 fmt::join(allowed, ", "), from.method)),
                          from.raw_path);
}

asio::awaitable<server_reply> document(const server_request&) {
    static const auto text = openapi_text();
    co_return server_reply(200, "application/json", text);
}

}  // namespace

std::string media_type_of(std::string_view content_type) {
    return http::lower(std::string(trimmed(content_type.substr(0, content_type.find(';')))));
}

bool accepts(std::string_view accept, std::string_view media_type) {
    if (trimmed(accept).empty()) return true;
    const auto all_of_type = std::string(media_type.substr(0, media_type.find('/'))) + "/*";
    // The most specific range that matches decides (RFC 9110 12.5.1).
    int best = 0;
    bool out = false;
    while (!accept.empty()) {
        const auto end = std::min(accept.find(','), accept.size());
        const auto range = accept.substr(0, end);
        accept.remove_prefix(std::min(end + 1, accept.size()));
        const auto name = media_type_of(range);
        const int rank = name == media_type ? 3 : name == all_of_type ? 2 : name == "*/*" ? 1 : 0;
        if (rank < best || rank == 0) continue;
        const auto parameters = range.find(';');
        best = rank;
        out = parameters == std::string_view::npos || !is_excluded(range.substr(parameters + 1));
    }
    return out;
}

surface::surface(sources from, limits bounds, const gate& door, events::hub& tells)
    : from_(std::move(from)),
      door_(door),
      reads_(from_, bounds),
      questions_(from_),
      writes_(from_, reads_.waits()),
      nodes_(from_, bounds),
      all_(operations({&reads_, &questions_, &writes_, &nodes_, &tells})) {}

void surface::add_to(http::router& routes) {
    for (const auto& each : all_) {
        http::route_rules rules;
        rules.body_limit = each.body_limit == 0 ? longest_ignored_body : each.body_limit;
        routes.add(
            each.method, each.path,
            [this, &each](server_request from) { return serve(each, std::move(from)); }, rules,
            door_.admission_of(each.needs));
    }
    routes.add("GET", "/openapi.json", document);
    routes.on_miss("/api", miss);
}

void surface::stop() { reads_.stop(); }

std::optional<problem_details> surface::unserved(const operation& which,
                                                 const server_request& from) const {
    const auto is_admitted = [&](const content& each) {
        return accepts(from.header("accept"), each.media_type);
    };
    const auto& answers = which.answers;
    const bool says_nothing = std::ranges::all_of(
        answers, [](const auto& each) { return each.status >= 300 || each.contents.empty(); });
    const bool admitted = std::ranges::any_of(answers, [&](const auto& each) {
        return each.status < 300 && std::ranges::any_of(each.contents, is_admitted);
    });
    if (!says_nothing && !admitted) {
        return problem_of(406, "",
                          fmt::format("the answer is {}, which Accept does not admit",
                                      answers.front().contents.front().media_type));
    }
    const auto type = media_type_of(from.header("content-type"));
    const bool has_body = !from.body.empty() || !type.empty();
    if (!which.bodies.empty() && (has_body || !which.body_is_optional) &&
        std::ranges::find(which.bodies, type, &content::media_type) == which.bodies.end()) {
        std::vector<std::string> known;
        for (const auto& each : which.bodies) known.push_back(each.media_type);
        auto out = problem_of(
            415, "",
            fmt::format("the body is of {}, the operation takes {}",
                        type.empty() ? "no Content-Type" : type, fmt::join(known, ", ")));
        out.headers.emplace_back(which.method == "PATCH" ? "Accept-Patch" : "Accept-Post",
                                 fmt::format("{}", fmt::join(known, ", ")));
        return out;
    }
    auto& seen = from_.seen;
    if (!seen.schedulings().synced() || !seen.jobs().synced() || !seen.testbeds().synced()) {
        return unavailable(problem_code::caches_not_synced,
                           "this replica has just begun and does not know all objects yet");
    }
    const auto ns = key_of(from).namespace_;
    const auto& watched = from_.namespaces;
    if (!ns.empty() && !watched.empty() && std::ranges::find(watched, ns) == watched.end()) {
        return problem_of(404, problem_code::namespace_not_watched,
                          fmt::format("namespace {} is not watched by this installation; its "
                                      "esi-scheduling has --namespace {}",
                                      ns, fmt::join(watched, ",")));
    }
    return std::nullopt;
}

asio::awaitable<server_reply> surface::serve(const operation& which, server_request from) {
    if (const auto why = unserved(which, from)) co_return http::reply_of(*why, from.raw_path);
    co_return co_await which.handler(std::move(from));
}

}  // namespace esi::scheduling::v1

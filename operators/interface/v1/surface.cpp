#include "interface/v1/surface.h"

#include <fmt/format.h>

#include <algorithm>

#include "http/accept.h"
#include "interface/v1/openapi.h"
#include "interface/v1/wire/problems.h"
#include "model/text.h"

namespace esi::interface::v1 {

namespace {

using http::problem_details;
using http::server_reply;
using http::server_request;

/// Some clients send a body with every request.
constexpr std::size_t longest_ignored_body = 4u << 10;

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

/// 404 if no object, or no namespace, can have that name: the API server need not be asked, whose
/// message would differ for each verb.
std::optional<problem_details> impossible_name(const server_request& from) {
    constexpr std::size_t longest_namespace = 63;
    constexpr std::size_t longest_shown = 100;
    for (const auto& [variable, value] : from.variables) {
        const bool of_namespace = variable == "namespace";
        const bool possible =
            model::may_exist({value, value}) &&
            !(of_namespace && (value.size() > longest_namespace || value.contains('.')));
        if (possible) continue;
        return problem_of(
            404, "",
            fmt::format("no {} can be called \"{}\"", of_namespace ? "namespace" : "object",
                        model::cut(value, longest_shown)));
    }
    return std::nullopt;
}

/// A query parameter with which the answer may be waited for (reads.h).
bool asks_to_wait(std::string_view parameter) {
    return parameter == "index" || parameter == "waitFor";
}

/// A guard without text, such as a variable that is not set, must not count as no guard.
std::optional<problem_details> empty_guard(const server_request& from) {
    if (!from.has_header("if-match") || !trimmed(from.header("if-match")).empty()) {
        return std::nullopt;
    }
    return with_faults(400, {{"If-Match:", std::string(problem_code::field_value),
                              "is empty: give the ETag of what you have read, or *, or leave the "
                              "header out"}});
}

asio::awaitable<server_reply> document(const server_request&) {
    static const auto text = openapi_text();
    co_return server_reply(200, "application/json", text);
}

}  // namespace

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
        return http::accepts(from.header("accept"), each.media_type);
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
    const auto type = http::media_type_of(from.header("content-type"));
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
    if (auto why = empty_guard(from)) return why;
    if (auto why = impossible_name(from)) return why;
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
    const bool may_wait =
        std::ranges::any_of(from.query, [](const auto& each) { return asks_to_wait(each.first); });
    if (!may_wait) co_return co_await which.handler(std::move(from));
    // Kept while the handler has the request: after a wait the caller is checked again like a new
    // one.
    const auto head = std::make_shared<const server_request>(from);
    auto answer = co_await which.handler(std::move(from));
    if (const auto why = co_await door_.refusal_after_wait(*head, which.needs)) {
        co_return http::reply_of(*why, head->raw_path);
    }
    co_return answer;
}

}  // namespace esi::interface::v1

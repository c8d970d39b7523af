#include "interface/v1/access/gate.h"

#include <utility>

#include "base/log.h"

namespace esi::interface::v1 {

using http::problem_details;
using http::server_request;

namespace {

std::string variable(const server_request& head, std::string_view name) {
    const auto found = head.variables.find(name);
    return found == head.variables.end() ? std::string() : found->second;
}

/// The namespaces in which the request has to be allowed; an empty one means all.
std::vector<std::string> namespaces_of(const server_request& head) {
    if (auto of_path = variable(head, "namespace"); !of_path.empty()) return {std::move(of_path)};
    std::vector<std::string> out;
    for (const auto& [name, value] : head.query) {
        if (name == "namespace" && !value.empty()) out.push_back(value);
    }
    if (out.empty()) out.emplace_back();
    return out;
}

bool is_read(const server_request& head) {
    return head.method == "GET" || head.method == "HEAD" || head.method == "OPTIONS";
}

problem_details not_from_here(std::string detail) {
    problem_details out;
    out.status = 403;
    out.detail = std::move(detail);
    return out;
}

}  // namespace

std::optional<problem_details> page_rules::refusal(const server_request& head) const {
    if (!is_read(head) && !http::may_come_from(head.header("origin"), head.header("host"), {})) {
        return not_from_here("pages of another origin may not change anything by /api/v1");
    }
    if (!checks_host) return std::nullopt;
    http::local_access known;
    known.open = true;
    known.hosts = hosts;
    auto why = known.refusal(head, "/api/v1 without authentication");
    if (why.empty()) return std::nullopt;
    return not_from_here(std::move(why));
}

gate::gate(access& who_may, quota& limits, page_rules pages)
    : who_may_(who_may), limits_(limits), pages_(std::move(pages)) {}

http::admission gate::admission_of(std::vector<permission> needs) const {
    auto kept = std::make_shared<const std::vector<permission>>(std::move(needs));
    return [this, kept](server_request& head) { return admit(head, kept); };
}

asio::awaitable<std::optional<problem_details>> gate::refusal(server_request& head,
                                                              needs_pointer needs) const {
    if (auto why = pages_.refusal(head)) co_return why;
    auto who = co_await who_may_.authenticate(head);
    if (!who) co_return std::move(who).error();
    head.caller = std::move(*who);
    if (auto why = limits_.throttled(*head.caller)) co_return why;
    co_return co_await missing_right(*head.caller, head, *needs);
}

asio::awaitable<std::optional<problem_details>> gate::missing_right(
    const http::identity& who, const server_request& head,
    const std::vector<permission>& needs) const {
    if (needs.empty()) co_return std::nullopt;
    const auto name = variable(head, "name");
    for (const auto& ns : namespaces_of(head)) {
        for (const auto& each : needs) {
            auto why = co_await who_may_.refusal(who, each, ns, name);
            if (why) co_return why;
        }
    }
    co_return std::nullopt;
}

asio::awaitable<std::optional<problem_details>> gate::refusal_after_wait(
    const server_request& head, const std::vector<permission>& needs) const {
    const auto who = co_await who_may_.authenticate(head);
    if (!who) co_return who.error();
    co_return co_await missing_right(**who, head, needs);
}

asio::awaitable<std::optional<http::server_reply>> gate::admit(server_request& head,
                                                               needs_pointer needs) const {
    const auto why = co_await refusal(head, std::move(needs));
    if (!why) co_return std::nullopt;
    log::debug("api refused", {{"caller", head.caller ? head.caller->name : std::string()},
                               {"request", head.method + " " + head.raw_path},
                               {"status", why->status},
                               {"why", why->detail}});
    co_return http::reply_of(*why, head.raw_path);
}

}  // namespace esi::interface::v1

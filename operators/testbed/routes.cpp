// The part of the operator (operator.h) that serves HTTP: the scheduler's extender, and the
// original's helpers.
#include "testbed/extender/extender.h"
#include "testbed/operator.h"
#include "testbed/original/debug.h"
#include "testbed/original/original_error.h"

namespace esi::testbed {

namespace {

using extender_verb = result<std::string> (*)(std::string_view, const extender_facts&);

asio::awaitable<http::server_reply> answer_extender(extender_verb verb, const caches& known,
                                                    clock& time, http::server_request request) {
    // The scheduler counts this as a failed attempt; it would believe an answer of half-filled
    // caches.
    if (!known.synced()) {
        co_return original_error(request, 503, time.wall(), {"the caches are not filled yet"});
    }
    auto answer = verb(request.body, known);
    if (!answer) co_return original_error(request, 400, time.wall(), {answer.error().text});
    co_return http::server_reply(200, "application/json", std::move(*answer));
}

/// kube-scheduler sends the names of all nodes, or with nodeCacheCapable: false the whole nodes (10
/// to 40 KiB each), which only a scheduler with a certificate may.
http::route_rules extender_rules() {
    http::route_rules out;
    out.body_limit = 4u << 20;
    out.certified_body_limit = 64u << 20;
    return out;
}

}  // namespace

void testbed_operator::add_routes() {
    auto& routes = env_.routes;
    auto& time = env_.time;
    using reply = http::server_reply;
    if (!env_.options.client_ca_file.empty()) {
        routes.guard(
            "/extender", [&time](const http::server_request& head) -> std::optional<reply> {
                if (head.peer_has_certificate) return std::nullopt;
                return original_error(head, 403, time.wall(),
                                      {"/extender answers clients with a certificate of "
                                       "--client-ca-file; give kube-scheduler's extender one "
                                       "(tlsConfig)"});
            });
    }
    const auto& known = caches_;
    routes.add(
        "POST", "/extender/filter",
        [&known, &time](http::server_request request) {
            return answer_extender(answer_filter, known, time, std::move(request));
        },
        extender_rules());
    routes.add(
        "POST", "/extender/preemption",
        [&known, &time](http::server_request request) {
            return answer_extender(answer_preemption, known, time, std::move(request));
        },
        extender_rules());
    for (const char* prefix : {"/extender", "/debug"}) {
        routes.on_miss(prefix, [&time](const http::server_request& request,
                                       const std::vector<std::string>& allowed) {
            return original_miss(request, allowed, time.wall());
        });
    }
    if (env_.options.enable_debug_endpoints) {
        if (options_.access.open) controller::warn_of_open_access("/debug");
        add_debug_routes(
            routes, {time, env_.open_api, caches_, options_.legacy_namespace, options_.access});
    }
}

}  // namespace esi::testbed

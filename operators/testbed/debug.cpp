#include "testbed/debug.h"

#include <fmt/format.h>

#include <charconv>

#include "base/log.h"
#include "kube/patch.h"
#include "kube/resource.h"
#include "model/json.h"
#include "model/names.h"

namespace esi::testbed {

using kube::json;
namespace names = model::names;
namespace types = kube::types;

namespace {

/// "2026-11-21T09:23:01.879+00:00", as the original writes it.
std::string show_time(wall_time when) {
    const auto whole = std::chrono::floor<std::chrono::seconds>(when);
    const auto rest = std::chrono::duration_cast<milliseconds>(when - whole).count();
    auto text = model::timestamp{when}.whole_seconds();
    if (!text.empty() && text.back() == 'Z') text.pop_back();
    return fmt::format("{}.{:03}+00:00", text, rest);
}

struct endpoints {
    controller::environment& around;
    const caches_of_testbeds& seen;
    std::string legacy_namespace;

    http::server_reply error(int status, std::string_view name, std::string_view path,
                             std::string_view message) const {
        json body = {{"timestamp", show_time(around.time.wall())},
                     {"status", status},
                     {"error", name},
                     {"path", path},
                     {"message", message}};
        return {status, "application/json",
                body.dump(-1, ' ', false, json::error_handler_t::replace)};
    }

    asio::awaitable<http::server_reply> set_up_nodes(http::server_request request) const;
    asio::awaitable<http::server_reply> reset_jobs(http::server_request request) const;
};

asio::awaitable<http::server_reply> endpoints::set_up_nodes(http::server_request request) const {
    const std::string path = "/debug/node-set-up";
    const auto name = request.parameter("name");
    const auto count_text = request.parameter("count");
    int count = 0;
    if (count_text) {
        const auto* end = count_text->data() + count_text->size();
        auto [at, code] = std::from_chars(count_text->data(), end, count);
        if (code != std::errc() || at != end) count = 0;
    }
    if (!name || !count_text || count < 1) {
        co_return error(400, "Bad Request", path, "name and count (from 1) are needed");
    }
    auto testbed = seen.find_testbed({legacy_namespace, *name});
    if (!testbed) {
        co_return error(404, "Not Found", path, "no such Testbed in namespace " + legacy_namespace);
    }
    const auto choice = choose_nodes(*testbed, seen.all_nodes(), count);
    if (choice.names.empty()) {
        co_return error(
            400, "Bad Request", path,
            fmt::format("{} nodes have the room, {} are wanted", choice.fitting, count));
    }
    for (const auto& change : choice.changes) {
        const auto& meta = change.node->metadata;
        json value = change.value ? json(*change.value) : json(nullptr);
        auto body = kube::guarded(
            {{"metadata", {{"labels", {{testbed->spec.node_label, std::move(value)}}}}}}, meta.uid,
            "");
        auto done =
            co_await around.api.patch(types::node, "", meta.name, kube::patch_kind::merge, body);
        if (!done) {
            // Only the leader writes; and who was not answered may ask again.
            if (done.error().transient()) {
                co_return error(503, "Service Unavailable", path, done.error().text);
            }
            co_return error(401, "Unauthorized", path, done.error().text);
        }
        log::info("node labelled",
                  {{"node", meta.name}, {"testbed", testbed->metadata.key().text()}});
    }
    co_return http::server_reply(200, "application/json", json(choice.names).dump());
}

asio::awaitable<http::server_reply> endpoints::reset_jobs(http::server_request request) const {
    const auto all = request.parameter("allNamespaces").value_or("false");
    if (all != "true" && all != "false") {
        co_return error(400, "Bad Request", "/debug/reset-all-jobs",
                        "allNamespaces is true or false");
    }
    const auto stamp = model::timestamp{around.time.wall()}.micro();
    json done = json::array();
    for (const auto& job : seen.jobs()) {
        const auto& meta = job->metadata;
        if (all == "false" && meta.namespace_ != legacy_namespace) continue;
        if (job->status.state != model::job_state::failed &&
            job->status.state != model::job_state::failed_submission) {
            continue;
        }
        auto body =
            kube::guarded({{"metadata", {{"annotations", {{names::reset, stamp}}}}}}, meta.uid, "");
        auto answer = co_await around.api.patch(types::batchjob, meta.namespace_, meta.name,
                                                kube::patch_kind::merge, body);
        if (!answer && answer.error().code == errc::not_leader) {
            co_return error(503, "Service Unavailable", "/debug/reset-all-jobs",
                            answer.error().text);
        }
        if (!answer) {
            log::warn("job not reset", {{"job", meta.key().text()}, {"why", answer.error().text}});
            continue;
        }
        done.push_back(meta.name);
    }
    co_return http::server_reply(200, "application/json", done.dump());
}

}  // namespace

void add_debug_routes(http::router& routes, controller::environment& around,
                      const caches_of_testbeds& seen, std::string legacy_namespace) {
    auto shared = std::make_shared<const endpoints>(around, seen, std::move(legacy_namespace));
    routes.add("GET", "/debug/node-set-up", [shared](http::server_request request) {
        return shared->set_up_nodes(std::move(request));
    });
    routes.add("GET", "/debug/reset-all-jobs", [shared](http::server_request request) {
        return shared->reset_jobs(std::move(request));
    });
}

}  // namespace esi::testbed

#include "testbed/original/debug.h"

#include <fmt/format.h>

#include <charconv>
#include <ranges>

#include "base/log.h"
#include "grid/node_choice.h"
#include "kube/patch.h"
#include "kube/resource.h"
#include "kube/watch/live_list.h"
#include "model/json.h"
#include "model/names.h"
#include "testbed/original/node_setup.h"
#include "testbed/original/original_error.h"

namespace esi::testbed {

using kube::json;
namespace names = model::names;
namespace types = kube::types;

namespace {

using reply = http::server_reply;
using request = http::server_request;
using answer = asio::awaitable<reply> (*)(std::shared_ptr<const debug_endpoints>, request);

reply refused(const debug_endpoints& at, const request& asked, int status,
              const std::vector<std::string>& messages) {
    return original_error(asked, status, at.time.wall(), messages);
}

/// Refuses a change that any page could make a browser ask for.
reply not_meant(const debug_endpoints& at, const request& asked) {
    return refused(at, asked, 403,
                   {"this would change objects, which any page could ask for; send the header "
                    "X-ESI-Debug: 1"});
}

reply list_of(const std::vector<std::string>& of) {
    return {200, "application/json", json(of).dump()};
}

/// Parses a whole number from 1; 0 for any other text.
int read_count(const std::string& text) {
    int out = 0;
    const auto* end = text.data() + text.size();
    auto [at, code] = std::from_chars(text.data(), end, out);
    return code != std::errc() || at != end || out < 1 ? 0 : out;
}

asio::awaitable<reply> set_up_nodes(std::shared_ptr<const debug_endpoints> at, request asked) {
    const auto name = asked.parameter("name");
    const auto count = read_count(asked.parameter("count").value_or(""));
    if (!name || count == 0)
        co_return refused(*at, asked, 400, {"name and count (from 1) are needed"});
    auto testbed = at->seen.find_testbed({at->legacy_namespace, *name});
    if (!testbed) {
        co_return refused(*at, asked, 404,
                          {"no such Testbed in namespace " + at->legacy_namespace});
    }
    if (testbed->spec.claim) co_return refused(*at, asked, 400, {grid::nodes_of_claim(*testbed)});
    if (grid::is_kubernetes_own(testbed->spec.node_label)) {
        co_return refused(*at, asked, 400,
                          {"spec.nodeLabel of the Testbed is " + testbed->spec.node_label +
                           ", a label of Kubernetes itself; it would be taken off other nodes"});
    }
    // The cache may not show the labels yet that the last request wrote.
    auto nodes = co_await kube::live_list<model::node>(at->api, types::node, "");
    if (!nodes) {
        const auto& why = nodes.error();
        co_return refused(*at, asked, why.transient() ? 503 : 401, {why.text});
    }
    const auto choice = choose_nodes(*testbed, at->seen.with_pods(std::move(*nodes)), count);
    if (choice.names.empty()) {
        co_return refused(
            *at, asked, 400,
            {fmt::format("{} nodes have the room, {} are wanted", choice.fitting, count)});
    }
    if (!choice.changes.empty() && !is_meant(asked)) co_return not_meant(*at, asked);
    for (const auto& change : choice.changes) {
        const auto& meta = change.node->metadata;
        json value = change.value ? json(*change.value) : json(nullptr);
        auto body = kube::guarded(
            {{"metadata", {{"labels", {{testbed->spec.node_label, std::move(value)}}}}}}, meta.uid,
            "");
        auto done = co_await at->api.patch(types::node, "", meta.name, kube::patch_kind::merge,
                                           std::move(body));
        if (!done) {
            const auto why = "node " + meta.name + ": " + done.error().text;
            co_return refused(*at, asked, done.error().transient() ? 503 : 401, {why});
        }
        log::info("node labelled",
                  {{"node", meta.name}, {"testbed", testbed->metadata.key().text()}});
    }
    co_return list_of(choice.names);
}

bool has_failed(const model::batchjob& job) {
    return job.status.state == model::job_state::failed ||
           job.status.state == model::job_state::failed_submission;
}

asio::awaitable<reply> reset_jobs(std::shared_ptr<const debug_endpoints> at, request asked) {
    const auto all = asked.parameter("allNamespaces").value_or("false");
    if (all != "true" && all != "false") {
        co_return refused(*at, asked, 400, {"allNamespaces is true or false"});
    }
    const auto stamp = model::timestamp{at->time.wall()}.micro();
    std::vector<std::string> done;
    std::vector<std::string> problems;
    bool unanswered = false;
    // A copy: the watch changes the store while a patch is under way.
    const auto known = at->seen.jobs().all();
    for (const auto& job : known | std::views::values) {
        const auto& meta = job->metadata;
        if (all == "false" && meta.namespace_ != at->legacy_namespace) continue;
        if (!has_failed(*job) || meta.deleting()) continue;
        if (!is_meant(asked)) co_return not_meant(*at, asked);
        auto body =
            kube::guarded({{"metadata", {{"annotations", {{names::reset, stamp}}}}}}, meta.uid, "");
        auto written = co_await at->api.patch(types::batchjob, meta.namespace_, meta.name,
                                              kube::patch_kind::merge, std::move(body));
        if (written) {
            done.push_back(meta.name);
            continue;
        }
        const auto& why = written.error();
        // The object is gone, or is another one by now.
        if (why.code == errc::not_found || why.code == errc::conflict) continue;
        unanswered = unanswered || why.transient();
        problems.push_back("job " + meta.key().text() + ": " + why.text);
        if (unanswered) break;
    }
    if (problems.empty()) co_return list_of(done);
    for (const auto& name : done) problems.push_back("job " + name + " was reset");
    co_return refused(*at, asked, unanswered ? 503 : 401, problems);
}

std::optional<reply> barred(const debug_endpoints& at, const request& asked) {
    auto why = at.access.refusal(asked, "/debug");
    if (why.empty()) return std::nullopt;
    return refused(at, asked, 403, {std::move(why)});
}

void add(http::router& routes, const std::string& path, std::shared_ptr<const debug_endpoints> at,
         answer how) {
    http::route_rules rules;
    rules.writes = true;
    routes.add(
        "GET", path, [at = std::move(at), how](request asked) { return how(at, std::move(asked)); },
        rules);
}

}  // namespace

bool is_meant(const request& asked) { return asked.header("x-esi-debug") == "1"; }

void add_debug_routes(http::router& routes, debug_endpoints with) {
    auto shared = std::make_shared<const debug_endpoints>(std::move(with));
    routes.guard("/debug", [shared](const request& asked) { return barred(*shared, asked); });
    for (std::string slash : {"", "/"}) {
        add(routes, "/debug/node-set-up" + slash, shared, set_up_nodes);
        add(routes, "/debug/reset-all-jobs" + slash, shared, reset_jobs);
    }
}

}  // namespace esi::testbed

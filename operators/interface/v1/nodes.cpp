#include "interface/v1/nodes.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "grid/node_room.h"
#include "interface/v1/access/trail.h"
#include "interface/v1/reads.h"
#include "interface/v1/wire/parameters.h"
#include "interface/v1/wire/print.h"
#include "interface/v1/wire/problems.h"
#include "kube/patch.h"
#include "kube/watch/live_list.h"
#include "model/json.h"

namespace esi::interface::v1 {

namespace {

using nlohmann::json;
namespace types = kube::types;

/// Pods that are read at a time: the requests of all are needed, none is kept.
constexpr int pods_at_a_time = 500;

std::expected<nodes_request, faults> read_request(const json& body) {
    faults wrong;
    validate(reference_to("NodesRequest"), body, "", wrong);
    if (!wrong.empty()) return std::unexpected(std::move(wrong));
    nodes_request out;
    if (body.contains("count")) out.count = body["count"].get<int>();
    if (body.contains("nodes")) out.nodes = body["nodes"].get<std::vector<std::string>>();
    if (out.count.has_value() == out.nodes.has_value()) {
        add_fault(wrong, "", problem_code::field_value,
                  "exactly one of count and nodes must be given");
    }
    if (out.nodes) {
        std::set<std::string_view> known;
        for (std::size_t i = 0; i < out.nodes->size(); ++i) {
            if (known.insert((*out.nodes)[i]).second) continue;
            add_fault(wrong, fmt::format("/nodes/{}", i), problem_code::field_twice,
                      fmt::format("node {} is named twice", (*out.nodes)[i]));
        }
    }
    if (!wrong.empty()) return std::unexpected(std::move(wrong));
    return out;
}

faults unknown_nodes(const std::vector<grid::node_candidate>& all,
                     const std::vector<std::string>& names) {
    std::set<std::string_view> known;
    for (const auto& each : all) known.insert(each.node->metadata.name);
    faults out;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (known.contains(names[i])) continue;
        add_fault(out, fmt::format("/nodes/{}", i), problem_code::field_value,
                  fmt::format("there is no node {}", names[i]));
    }
    return out;
}

/// The problem if the operator itself lacks the right.
http::problem_details problem_of_nodes(const error& why) {
    auto out = problem_of(why);
    if (why.code == errc::forbidden) {
        out.detail +=
            "; esi-scheduling needs the right to list and patch nodes (value "
            "interface.nodes.enabled of the chart)";
    }
    return out;
}

std::string continue_of(std::string_view list) {
    simdjson::dom::parser parser;
    const auto root = model::parse(parser, list);
    std::string_view out;
    if (!root || (*root)["metadata"]["continue"].get(out) != simdjson::SUCCESS) return {};
    return std::string(out);
}

}  // namespace

asio::awaitable<result<void>> nodes::take_pods(
    std::shared_ptr<const model::testbed> testbed,
    std::map<std::string, grid::node_candidate*, std::less<>>& by_name) {
    kube::list_options options;
    options.limit = pods_at_a_time;
    options.field_selector = "spec.nodeName!=";
    do {
        const auto text = co_await from_.api.list(types::pod, "", options);
        if (!text) co_return std::unexpected(text.error());
        const auto pods = model::decode_list<model::pod>(*text, "Pod");
        if (!pods) co_return std::unexpected(pods.error());
        for (const auto& pod : *pods) {
            const auto at = by_name.find(pod.node_name);
            if (at == by_name.end() || !pod.live() || grid::is_own_ghost(pod, *testbed)) continue;
            model::take(at->second->left, grid::taken_by(pod));
        }
        options.continue_token = continue_of(*text);
    } while (!options.continue_token.empty());
    co_return result<void>();
}

asio::awaitable<result<std::vector<grid::node_candidate>>> nodes::candidates(
    std::shared_ptr<const model::testbed> testbed) {
    auto all = co_await kube::live_list<model::node>(from_.api, types::node, "");
    if (!all) co_return std::unexpected(std::move(all).error());
    std::vector<grid::node_candidate> out;
    for (auto& node : *all) {
        auto left = node.allocatable;
        out.push_back({std::make_shared<const model::node>(std::move(node)), std::move(left)});
    }
    std::map<std::string, grid::node_candidate*, std::less<>> by_name;
    for (auto& each : out) by_name.emplace(each.node->metadata.name, &each);
    auto done = co_await take_pods(testbed, by_name);
    if (!done) co_return std::unexpected(std::move(done).error());
    co_return out;
}

asio::awaitable<nodes::outcome<nodes_answer>> nodes::set(
    std::shared_ptr<const model::testbed> testbed, nodes_request wanted) {
    if (testbed->spec.claim) {
        co_return std::unexpected(
            problem_of(409, problem_code::nodes_of_claim, grid::nodes_of_claim(*testbed)));
    }
    const auto& label = testbed->spec.node_label;
    if (grid::is_kubernetes_own(label)) {
        co_return std::unexpected(problem_of(
            409, "",
            fmt::format(
                "spec.nodeLabel of Testbed {} is {}, a label of Kubernetes itself; it would "
                "be taken off other nodes",
                testbed->metadata.key().text(), label)));
    }
    const auto all = co_await candidates(testbed);
    if (!all) co_return std::unexpected(problem_of_nodes(all.error()));
    grid::node_choice choice;
    if (wanted.nodes) {
        if (auto wrong = unknown_nodes(*all, *wanted.nodes); !wrong.empty()) {
            co_return std::unexpected(with_faults(422, std::move(wrong)));
        }
        choice = grid::give_nodes(*testbed, *all, *wanted.nodes);
    } else {
        choice = grid::choose_nodes(*testbed, *all, *wanted.count);
        if (choice.names.empty()) {
            co_return std::unexpected(problem_of(
                409, problem_code::too_few_nodes,
                fmt::format("{} nodes have the room for {} slots of Testbed {}, {} are wanted",
                            choice.fitting, testbed->spec.slots_per_node,
                            testbed->metadata.key().text(), *wanted.count)));
        }
    }
    nodes_answer out{choice.names, {}};
    for (const auto& change : choice.changes) {
        const auto& meta = change.node->metadata;
        json value = change.value ? json(*change.value) : json(nullptr);
        auto body =
            kube::guarded({{"metadata", {{"labels", {{label, std::move(value)}}}}}}, meta.uid, "");
        const auto done = co_await from_.api.patch(types::node, "", meta.name,
                                                   kube::patch_kind::merge, std::move(body));
        if (!done) {
            auto why = problem_of_nodes(done.error());
            why.detail += fmt::format("; {} of {} nodes are labelled, the same request goes on",
                                      out.changed.size(), choice.changes.size());
            co_return std::unexpected(std::move(why));
        }
        out.changed.push_back(meta.name);
    }
    co_return out;
}

asio::awaitable<answer> nodes::set_nodes(http::server_request from) {
    parameters given(from);
    if (auto wrong = given.take_faults(); !wrong.empty()) {
        co_return std::unexpected(bad_parameters(std::move(wrong)));
    }
    if (!bounds_.nodes) {
        co_return std::unexpected(
            problem_of(403, problem_code::nodes_not_enabled,
                       "this installation does not write labels of nodes; start esi-scheduling "
                       "with --api-nodes (value interface.nodes.enabled of the chart), or label "
                       "the nodes with kubectl"));
    }
    auto body = parse_body(from.body);
    if (!body) co_return std::unexpected(with_faults(400, std::move(body).error()));
    auto wanted = read_request(*body);
    if (!wanted) co_return std::unexpected(with_faults(422, std::move(wanted).error()));
    const auto key = key_of(from);
    auto testbed = from_.seen.testbeds().find(key);
    if (!testbed) co_return std::unexpected(not_found("Testbed", key));
    auto done = co_await set(std::move(testbed), std::move(*wanted));
    const auto code =
        done ? std::string()
             : std::string(done.error().code.empty() ? http::code_of_status(done.error().status)
                                                     : std::string_view(done.error().code));
    audit(from, {"set-nodes", "Testbed", key, done ? 200 : done.error().status, code});
    if (!done) co_return std::unexpected(std::move(done).error());
    co_return http::server_reply(200, "application/json", printed(*done));
}

}  // namespace esi::interface::v1

#include "kubectl-esi/commands/nodes.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "grid/node_room.h"
#include "kube/patch.h"
#include "kubectl-esi/read/remedy.h"
#include "kubectl-esi/read/world.h"
#include "kubectl-esi/shown/documents.h"
#include "kubectl-esi/shown/words.h"

namespace esi::kubectl {

namespace types = kube::types;
using shown::json;

namespace {

using pointer = std::shared_ptr<const model::testbed>;

/// Reads the nodes; if `room`, with their resources that foreign pods leave free.
asio::awaitable<result<std::vector<grid::node_candidate>>> read_nodes(session& in, pointer testbed,
                                                                      bool room) {
    auto nodes = co_await kube::live_list<model::node>(in.api, types::node, "");
    if (!nodes) co_return std::unexpected(std::move(nodes).error());
    std::vector<grid::node_candidate> out;
    std::map<std::string, std::size_t, std::less<>> places;
    for (auto& each : *nodes) {
        places.emplace(each.metadata.name, out.size());
        const auto left = grid::left_after(each, {});
        out.push_back({std::make_shared<const model::node>(std::move(each)), left});
    }
    if (!room) co_return out;
    auto all = co_await kube::live_list<model::pod>(in.api, types::pod, "");
    if (!all) {
        all.error().text +=
            "; --count needs to know what the nodes have room for, --nodes a,b,c "
            "does not";
        co_return std::unexpected(std::move(all).error());
    }
    for (const auto& each : *all) {
        const auto found = places.find(each.node_name);
        if (found == places.end() || !each.live() || grid::is_own_ghost(each, *testbed)) continue;
        model::take(out[found->second].left, grid::taken_by(each));
    }
    co_return out;
}

std::string value_text(const std::optional<std::string>& of) {
    return of ? *of : std::string(shown::none);
}

std::optional<std::string> label_of(const model::node& of, const std::string& label) {
    const auto found = of.metadata.labels.find(label);
    if (found == of.metadata.labels.end()) return std::nullopt;
    return found->second;
}

reply show_present(const session& in, const pointer& testbed,
                   const std::vector<grid::node_candidate>& nodes) {
    const auto& label = testbed->spec.node_label;
    shown::table rows({"NODE", "ID", "READY", "SCHEDULABLE"});
    json items = json::array();
    for (const auto& each : nodes) {
        const auto& node = *each.node;
        const auto value = label_of(node, label);
        if (!value) continue;
        rows.add({node.metadata.name, *value, node.ready ? "True" : "False",
                  node.unschedulable ? "False" : "True"});
        items.push_back({{"node", node.metadata.name},
                         {"id", *value},
                         {"ready", node.ready},
                         {"schedulable", !node.unschedulable}});
    }
    reply out;
    if (!in.tables()) {
        out.out = shown::object_text({{"items", std::move(items)}}, in.flags.output);
    } else if (rows.empty()) {
        out.note = fmt::format("No node has the label {} of Testbed {}.\n", label,
                               testbed->metadata.key().text());
    } else {
        out.out = rows.text(in.look());
    }
    return out;
}

asio::awaitable<reply> apply(session& in, pointer testbed, grid::node_choice choice, bool dry_run) {
    const auto& label = testbed->spec.node_label;
    reply out;
    if (!testbed->holder().name.empty() && !choice.changes.empty()) {
        out.note = fmt::format(
            "note: Scheduling {} holds the Testbed: its layout stays as it is until the release\n",
            testbed->holder().text());
    }
    shown::table rows({"NODE", "LABEL", "BEFORE", "AFTER"});
    json items = json::array();
    for (const auto& change : choice.changes) {
        const auto& meta = change.node->metadata;
        const auto before = label_of(*change.node, label);
        if (!dry_run) {
            json value = change.value ? json(*change.value) : json(nullptr);
            auto body = kube::guarded({{"metadata", {{"labels", {{label, std::move(value)}}}}}},
                                      meta.uid, "");
            const auto done = co_await in.api.patch(types::node, "", meta.name,
                                                    kube::patch_kind::merge, std::move(body));
            if (!done) {
                out.note += error_text(done.error(), &in.access);
                out.code = exit_code::failed;
                break;
            }
        }
        rows.add({meta.name, label, value_text(before), value_text(change.value)});
        json one = {{"node", meta.name}, {"label", label}};
        if (before) one["before"] = *before;
        if (change.value) one["after"] = *change.value;
        items.push_back(std::move(one));
    }
    if (!in.tables()) {
        out.out = shown::object_text({{"items", std::move(items)}}, in.flags.output);
    } else if (!rows.empty()) {
        out.out = rows.text(in.look());
        if (dry_run) out.note += "(dry run: nothing was written)\n";
    } else if (out.code == exit_code::ok) {
        out.note += "All labels are as they should be.\n";
    }
    co_return out;
}

}  // namespace

result<grid::node_choice> assign_nodes(const model::testbed& testbed,
                                       const std::vector<grid::node_candidate>& nodes,
                                       const std::vector<std::string>& names) {
    std::set<std::string_view> known;
    for (const auto& each : nodes) known.insert(each.node->metadata.name);
    std::set<std::string_view> wanted;
    for (const auto& name : names) {
        if (!known.contains(name)) {
            return fail(errc::not_found,
                        "Node " + name + " does not exist; those that do: kubectl get nodes");
        }
        if (!wanted.insert(name).second) {
            return fail(errc::config, "--nodes names " + name + " twice");
        }
    }
    return grid::give_nodes(testbed, nodes, names);
}

asio::awaitable<result<reply>> nodes(session& in, std::string testbed_name, nodes_options how) {
    const model::object_key key{in.own_namespace(), std::move(testbed_name)};
    auto testbed = co_await read_one<model::testbed>(in, types::testbed, key);
    if (!testbed) co_return std::unexpected(std::move(testbed).error());
    const bool shows = how.count == 0 && how.names.empty() && !how.clear;
    if ((*testbed)->spec.claim) co_return fail(errc::invalid, grid::nodes_of_claim(**testbed));
    const auto& label = (*testbed)->spec.node_label;
    if (!shows && grid::is_kubernetes_own(label)) {
        co_return fail(errc::invalid, fmt::format("spec.nodeLabel of Testbed {} is {}, a label of "
                                                  "Kubernetes itself: it is not changed",
                                                  key.text(), label));
    }
    auto seen = co_await read_nodes(in, *testbed, how.count > 0);
    if (!seen) co_return std::unexpected(std::move(seen).error());
    if (shows) co_return show_present(in, *testbed, *seen);
    if (how.count == 0) {
        auto choice = assign_nodes(**testbed, *seen, how.names);
        if (!choice) co_return std::unexpected(std::move(choice).error());
        co_return co_await apply(in, *testbed, std::move(*choice), how.dry_run);
    }
    auto choice = grid::choose_nodes(**testbed, *seen, how.count);
    if (choice.names.empty()) {
        co_return fail(
            errc::invalid,
            fmt::format("Testbed {} needs {} nodes with room for {} slots each, {} have "
                        "it; fewer nodes, smaller slots, or --nodes a,b,c, which does "
                        "not look at the room",
                        key.text(), how.count, (*testbed)->spec.slots_per_node, choice.fitting));
    }
    co_return co_await apply(in, *testbed, std::move(choice), how.dry_run);
}

}  // namespace esi::kubectl

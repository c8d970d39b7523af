#include "placement/fit_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <vector>

namespace esi::placement::planning {

namespace {

std::size_t index(int number) { return static_cast<std::size_t>(number); }

std::string words_of(refusal why, const member_class& of, const model::node& node,
                     const fit_options& options) {
    switch (why) {
        case refusal::left_out:
            return std::string(options.left_out);
        case refusal::unschedulable:
            return "node(s) were unschedulable";
        case refusal::not_ready:
            return "node(s) were not ready";
        case refusal::taint: {
            const auto* taint = of.rules.untolerated_taint(node);
            return fmt::format("node(s) had untolerated taint {{{}: {}}}", taint ? taint->key : "",
                               taint ? taint->value : "");
        }
        case refusal::node_affinity:
            return "node(s) didn't match Pod's node affinity/selector";
        case refusal::ports:
            return "node(s) didn't have free ports for the requested pod ports";
        case refusal::volume_affinity:
            return "node(s) didn't match PersistentVolume's node affinity";
        case refusal::volume_zone:
            return "node(s) had no available volume zone";
        case refusal::spread_label:
            return "node(s) didn't match pod topology spread constraints (missing required label)";
        case refusal::spread:
            return "node(s) didn't match pod topology spread constraints";
        case refusal::repelled:
            return "node(s) didn't satisfy existing pods anti-affinity rules";
        case refusal::pod_affinity:
            return "node(s) didn't match pod affinity rules";
        case refusal::pod_anti_affinity:
            return "node(s) didn't match pod anti-affinity rules";
        case refusal::resources:
        case refusal::none:
            break;
    }
    return {};
}

/// Among the nodes that only lack room: the most that one has left of what most of them lack.
struct largest_left {
    int resource = -1;
    std::int64_t amount = 0;
    int node = -1;
};

std::string resource_words(const std::string& name) {
    return name == "pods" ? "Too many pods" : "Insufficient " + name;
}

}  // namespace

std::string describe_requests(const model::pod& pod) {
    std::vector<std::string> out;
    for (const auto& [name, amount] : pod.requests) {
        if (amount > 0) out.push_back(fmt::format("{} {}", model::show(name, amount), name));
    }
    return fmt::format("{}", fmt::join(out, ", "));
}

refusal_words describe_refusals(board& on, const outcome& placed,
                                std::span<const pod_pointer> members,
                                const resource_names& resources, const fit_options& options) {
    // The first in the order of the list, so that it is the same one each time.
    const auto first = std::ranges::find(placed.nodes, -1);
    if (first == placed.nodes.end()) return {};
    const auto member = first - placed.nodes.begin();
    int of = 0;
    for (std::size_t c = 0; c < on.classes().size(); ++c) {
        if (std::ranges::binary_search(on.classes()[c].members, static_cast<int>(member))) {
            of = static_cast<int>(c);
        }
    }
    const auto& me = on.classes()[index(of)];
    const auto& pod = *members[static_cast<std::size_t>(member)];

    std::map<std::string, int> reasons;
    std::map<int, int> lacking;
    std::vector<int> short_of_room;
    for (int at = 0; at < on.nodes(); ++at) {
        const auto why = on.explain(of, at);
        if (why != refusal::resources) {
            // The node would take this member; a member set later blocks the gang.
            if (why != refusal::none) ++reasons[words_of(why, me, on.node(at), options)];
            continue;
        }
        if (!me.unknown_resource.empty()) ++reasons[resource_words(me.unknown_resource)];
        short_of_room.push_back(at);
        for (const int resource : on.missing_on(of, at)) {
            ++reasons[resource_words(resources.name(resource))];
            ++lacking[resource];
        }
    }
    std::vector<std::pair<int, std::string>> sorted;
    for (const auto& [text, count] : reasons) sorted.emplace_back(-count, text);
    std::ranges::sort(sorted);
    std::vector<std::string> parts;
    for (const auto& [count, text] : sorted) parts.push_back(fmt::format("{} {}", -count, text));

    std::string left;
    std::string left_on;
    if (!lacking.empty()) {
        const auto most =
            std::ranges::max_element(lacking, {}, [](const auto& each) { return each.second; });
        largest_left best{most->first, 0, -1};
        for (const int at : short_of_room) {
            const auto amount = on.left(at, best.resource);
            if (best.node < 0 || amount > best.amount) best = {best.resource, amount, at};
        }
        const auto& name = resources.name(best.resource);
        left_on = on.node(best.node).metadata.name;
        left = fmt::format("; most {} left on one node: {}{}", name, model::show(name, best.amount),
                           options.tell_nodes ? fmt::format(" ({})", left_on) : std::string());
    }
    const auto requests = describe_requests(pod);
    return {fmt::format("{} of {} {} fit; {} {}{} does not: 0/{} nodes are available{}{}{}",
                        placed.fitting, members.size(), options.members, options.member,
                        pod.metadata.key().text(), requests.empty() ? "" : " (" + requests + ")",
                        on.nodes(), parts.empty() ? "" : ": ", fmt::join(parts, ", "), left),
            std::move(left_on)};
}

}  // namespace esi::placement::planning

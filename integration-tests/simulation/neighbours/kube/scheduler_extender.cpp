#include "neighbours/kube/scheduler_extender.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/fields.h"
#include "base/text.h"

namespace esi::simulation {

namespace {

/// Go's decoder does not look at case.
const json* member(const json& from, std::string_view name) {
    if (!from.is_object()) return nullptr;
    for (const auto& [key, value] : from.items()) {
        if (lower(key) == lower(name)) return value.is_null() ? nullptr : &value;
    }
    return nullptr;
}

result<void> check(int status, const json& answer) {
    if (status != 200) {
        return fail(errc::server, fmt::format("failed extender call, code {}", status));
    }
    if (!answer.is_object()) return fail(errc::decode, "the extender's answer is not an object");
    return {};
}

void refuse(const json& answer, std::string_view map, fits how, verdicts& out) {
    const auto* named = member(answer, map);
    if (!named || !named->is_object()) return;
    for (const auto& [node, text] : named->items()) {
        // FailedAndUnresolvableNodes has the last word on a node that is in both.
        out.insert_or_assign(
            node,
            verdict{how, rejector::extender, {text.is_string() ? text.get<std::string>() : ""}});
    }
}

}  // namespace

json filter_question(const pod_facts& pod, const std::vector<std::string>& nodes) {
    return {{"Pod", pod.body()}, {"Nodes", nullptr}, {"NodeNames", nodes}};
}

result<filter_answer> read_filter_answer(int status, const json& answer,
                                         const std::vector<std::string>& asked) {
    if (auto done = check(status, answer); !done) return std::unexpected(done.error());
    if (const auto* text = member(answer, "Error"); text && *text != "") {
        return fail(errc::server, text->is_string() ? text->get<std::string>() : text->dump());
    }
    filter_answer out;
    if (const auto* names = member(answer, "NodeNames"); names && names->is_array()) {
        for (const auto& one : *names) {
            if (!one.is_string()) return fail(errc::decode, "NodeNames has what is no text");
            out.nodes.push_back(one.get<std::string>());
        }
    } else if (const auto* nodes = member(answer, "Nodes")) {
        if (const auto* items = member(*nodes, "items"); items && items->is_array()) {
            for (const auto& one : *items) {
                out.nodes.emplace_back(fields::text(one, {"metadata", "name"}));
            }
        }
    }
    for (const auto& node : out.nodes) {
        if (std::find(asked.begin(), asked.end(), node) == asked.end()) {
            return fail(errc::server,
                        fmt::format("extender claims a filtered node \"{}\" which is not found in "
                                    "the input node list",
                                    node));
        }
    }
    refuse(answer, "FailedNodes", fits::no, out.refused);
    refuse(answer, "FailedAndUnresolvableNodes", fits::never, out.refused);
    return out;
}

json preemption_question(const pod_facts& pod, const candidates& among) {
    json nodes = json::object();
    for (const auto& [node, victims] : among) {
        json pods = json::array();
        for (const auto& one : victims) pods.push_back({{"UID", one->uid}});
        nodes[node] = {{"Pods", std::move(pods)}, {"NumPDBViolations", 0}};
    }
    return {{"Pod", pod.body()},
            {"NodeNameToVictims", nullptr},
            {"NodeNameToMetaVictims", std::move(nodes)}};
}

result<candidates> read_preemption_answer(int status, const json& answer, const snapshot& on) {
    if (auto done = check(status, answer); !done) return std::unexpected(done.error());
    candidates out;
    const auto* nodes = member(answer, "NodeNameToMetaVictims");
    if (!nodes || !nodes->is_object()) return out;
    for (const auto& [name, victims] : nodes->items()) {
        const auto node = on.find(name);
        if (node == on.end()) {
            return fail(errc::server,
                        fmt::format("node \"{}\" of the extender is not known", name));
        }
        auto& chosen = out[name];
        const auto* pods = member(victims, "Pods");
        if (pods && pods->is_array()) {
            for (const auto& one : *pods) {
                const auto* uid = member(one, "UID");
                const auto& there = node->second.pods;
                const auto found =
                    std::find_if(there.begin(), there.end(), [&](const pod_pointer& pod) {
                        return uid && uid->is_string() &&
                               pod->uid == uid->get_ref<const std::string&>();
                    });
                if (found == there.end()) {
                    return fail(errc::server,
                                fmt::format("extender: pod {} is not on node \"{}\"",
                                            uid ? uid->dump() : "without a UID", name));
                }
                chosen.push_back(*found);
            }
        }
        if (chosen.empty()) {
            return fail(errc::server,
                        fmt::format("expected at least one victim pod on node \"{}\"", name));
        }
    }
    return out;
}

}  // namespace esi::simulation

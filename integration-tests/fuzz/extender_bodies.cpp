// Questions of kube-scheduler to the extender. Oracles, out of nlohmann's reading of the question:
// the answer has the form that was asked, every node is in it once and none that was not asked; a
// pod that is decided passes its node only. And without any reading of annotations: whoever is
// named as a victim is a ghost of the cluster below, or was chosen by the scheduler for a pod
// without a Testbed's label.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "model/names.h"
#include "one_meaning.h"
#include "target.h"
#include "testbed/extender/extender.h"

namespace esi::fuzz {
namespace {

using nlohmann::json;
namespace names = model::names;

/// Members by their names in lower case, as Go's decoder takes them; nothing where two are equal
/// then, which is for the reader to decide.
std::optional<std::map<std::string, json>> members(const json& of) {
    std::map<std::string, json> out;
    if (!of.is_object()) return out;
    for (const auto& [key, value] : of.items()) {
        std::string lower = key;
        for (auto& c : lower) {
            if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
        }
        if (!out.emplace(lower, value).second) return std::nullopt;
    }
    return out;
}
const json& at(const std::map<std::string, json>& of, const std::string& name) {
    static const json nothing;
    const auto found = of.find(name);
    return found == of.end() ? nothing : found->second;
}
std::string text(const json& of, std::string_view key) {
    if (!of.is_object()) return {};
    const auto found = of.find(key);
    return found != of.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// A cluster of two Testbeds, of which one is held; its run has two pods in slots.
struct cluster final : testbed::extender_facts {
    std::string hold_of(const model::object_key& testbed) const override {
        return testbed == held ? "s.7" : "";
    }
    std::optional<testbed::seat> seat_of(const model::object_key& testbed, std::string_view run,
                                         std::string_view pod_uid) const override {
        const auto found = seats.find(pod_uid);
        if (testbed != held || run != "s.7.1" || found == seats.end()) return std::nullopt;
        return found->second;
    }
    const model::object_key held{"default", "tb"};
    const std::map<std::string, testbed::seat, std::less<>> seats{{"p", {"node-b", "g"}},
                                                                  {"q", {"node-c", "h"}}};
};
const cluster shown;

struct question {
    bool ours = false;
    std::string uid;
    std::string run;
    std::string node;
    std::string ghost;
    std::map<std::string, json> top;
};

/// Nothing where the text can be read in two ways.
std::optional<question> read(const json& asked) {
    question out;
    auto top = members(asked);
    if (!top) return std::nullopt;
    out.top = std::move(*top);
    const auto pod = members(at(out.top, "pod"));
    if (!pod) return std::nullopt;
    const auto metadata = members(at(*pod, "metadata"));
    if (!metadata) return std::nullopt;
    const auto& labels = at(*metadata, "labels");
    const auto& annotations = at(*metadata, "annotations");
    out.ours = labels.is_object() && labels.contains(names::testbed);
    out.uid = text(*metadata, "uid");
    out.run = text(annotations, names::run);
    const bool of_held =
        text(labels, names::testbed) == "tb" && text(labels, names::testbed_namespace) == "default";
    if (out.ours && of_held && out.run.starts_with("s.7.") &&
        out.run.find('.', 4) == std::string::npos) {
        out.node = text(annotations, names::slot_node);
        out.ghost = text(annotations, names::slot_ghost);
    }
    return out;
}

void filter(std::string_view body, const std::optional<question>& asked) {
    const auto got = testbed::answer_filter(body, shown);
    if (!got) {
        require(got.error().code == errc::bad_request, "refused as {}",
                to_string(got.error().code));
        return;
    }
    const auto answer = json::parse(*got, nullptr, false);
    require(answer.is_object() && answer.size() == 5, "the answer is {}", *got);
    require(answer.at("Error") == "" && answer.at("FailedNodes") == json::object(), "{}", *got);
    if (!asked) return;
    const auto& refused = answer.at("FailedAndUnresolvableNodes");
    std::set<std::string> passed;
    std::set<std::string> in_question;
    const auto& by_name = at(asked->top, "nodenames");
    const auto& whole = at(asked->top, "nodes");
    require(answer.at("NodeNames").is_array() == by_name.is_array(), "another form: {}", *got);
    require(answer.at("Nodes").is_object() == (whole.is_object() && !by_name.is_array()),
            "another form: {}", *got);
    if (by_name.is_array()) {
        for (const auto& name : by_name) in_question.insert(name.get<std::string>());
        for (const auto& name : answer.at("NodeNames")) passed.insert(name.get<std::string>());
    } else if (whole.is_object()) {
        const auto list = members(whole);
        if (!list) return;
        std::multiset<std::string> texts;
        for (const auto& item : at(*list, "items")) {
            const auto node = members(item);
            const auto metadata = node ? members(at(*node, "metadata")) : std::nullopt;
            if (!metadata) return;
            in_question.insert(at(*metadata, "name").get<std::string>());
            texts.insert(item.dump());
        }
        for (const auto& item : answer.at("Nodes").at("items")) {
            passed.insert(at(*members(at(*members(item), "metadata")), "name").get<std::string>());
            const auto known = texts.find(item.dump());
            require(known != texts.end(), "a node that was not sent: {}", item.dump());
            texts.erase(known);
        }
    }
    for (const auto& name : passed) {
        require(in_question.contains(name), "{} was not asked", name);
        require(!refused.contains(name), "{} passes and is refused", name);
        require(!asked->ours || name == asked->node, "{} is not the node of the slot", name);
    }
    for (const auto& name : in_question) {
        const bool passes = !asked->ours || (!asked->node.empty() && name == asked->node);
        require(passed.contains(name) == passes && refused.contains(name) == !passes,
                "{} is answered wrongly: {}", name, *got);
    }
    require(refused.size() + passed.size() == in_question.size(), "other nodes: {}", *got);
}

void preemption(std::string_view body, const std::optional<question>& asked) {
    const auto got = testbed::answer_preemption(body, shown);
    if (!got) {
        require(got.error().code == errc::bad_request, "refused as {}",
                to_string(got.error().code));
        return;
    }
    const auto answer = json::parse(*got, nullptr, false);
    require(answer.is_object() && answer.size() == 1, "the answer is {}", *got);
    const auto& victims = answer.at("NodeNameToMetaVictims");
    require(victims.is_object(), "the answer is {}", *got);
    if (!asked) return;
    std::set<std::string> offered;
    for (const char* form : {"nodenametometavictims", "nodenametovictims"}) {
        const auto& list = at(asked->top, form);
        if (!list.is_object()) continue;
        for (const auto& [node, unused] : list.items()) offered.insert(node);
    }
    for (const auto& [node, chosen] : victims.items()) {
        require(offered.contains(node), "{} was not offered", node);
        require(!chosen.at("Pods").empty(), "a node without victims: {}", *got);
        if (!asked->ours) continue;
        require(chosen.at("Pods").size() == 1, "more than one victim: {}", *got);
        const bool is_ghost = std::ranges::any_of(shown.seats, [&](const auto& each) {
            return each.second.node == node && chosen.at("Pods")[0].at("UID") == each.second.ghost;
        });
        require(is_ghost, "the victim is no ghost of the Testbed on that node: {}", *got);
    }
    if (asked->ours) {
        const auto seat = shown.seats.find(asked->uid);
        const bool right = seat != shown.seats.end() && asked->run == "s.7.1" &&
                           seat->second.node == asked->node && seat->second.ghost == asked->ghost;
        require(victims.size() == (right && offered.contains(asked->node) ? 1u : 0u), "{}", *got);
    }
}

void extender_bodies(std::string_view body) {
    const auto parsed = json::parse(body, nullptr, false);
    std::optional<question> asked;
    if (parsed.is_object() && one_meaning(body)) asked = read(parsed);
    filter(body, asked);
    preemption(body, asked);
    if (parsed.is_discarded() && one_meaning(body)) {
        require(!testbed::answer_filter(body, shown) && !testbed::answer_preemption(body, shown),
                "taken, but nlohmann finds no JSON");
    }
}

}  // namespace
}  // namespace esi::fuzz

ESI_FUZZ_TARGET(extender_bodies, esi::fuzz::extender_bodies)

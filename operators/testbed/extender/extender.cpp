#include "testbed/extender/extender.h"

#include <simdjson.h>

#include <vector>

#include "grid/grid.h"
#include "model/names.h"

namespace esi::testbed {

namespace names = model::names;
using simdjson::dom::element;

namespace {

void append_text(std::string& out, std::string_view text) {
    static constexpr char digits[] = "0123456789abcdef";
    out += '"';
    for (char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (byte < 0x20) {
            out += "\\u00";
            out += digits[byte >> 4];
            out += digits[byte & 15];
        } else {
            out += c;
        }
    }
    out += '"';
}

/// Finds the member `name` in any case; null and absent are the same. False: it has another type.
template <class T>
bool member(const simdjson::dom::object& of, std::string_view name, bool& there, T& out) {
    there = false;
    element found;
    if (of.at_key_case_insensitive(name).get(found) != simdjson::SUCCESS || found.is_null()) {
        return true;
    }
    there = true;
    return found.get(out) == simdjson::SUCCESS;
}

struct pod_decision {
    /// True: the pod carries a Testbed's label: it is for one of its slots, or for no node.
    bool ours = false;
    /// True: its run is under the present hold. False: what it says of slot, node and ghost is
    /// ignored.
    bool under_hold = false;
    std::string_view uid;
    std::string_view run;
    std::string_view slot;
    std::string_view node;
    std::string_view ghost;
    model::object_key testbed;
};

struct question {
    simdjson::dom::parser parser;
    simdjson::dom::object root;
    pod_decision pod;
};

result<void> refuse(std::string_view what) { return fail(errc::bad_request, std::string(what)); }

/// The text under this key, which may be absent or of another type.
std::string_view text_at(const simdjson::dom::object& of, std::string_view key) {
    std::string_view out;
    if (of.at_key(key).get(out) != simdjson::SUCCESS) out = {};
    return out;
}

result<void> read(question& into, std::string_view body, const extender_facts& known) {
    element root;
    if (into.parser.parse(body.data(), body.size()).get(root) != simdjson::SUCCESS) {
        return refuse("the body is not JSON");
    }
    if (root.get(into.root) != simdjson::SUCCESS) return refuse("the body is not an object");
    bool there = false;
    simdjson::dom::object pod;
    simdjson::dom::object metadata;
    if (!member(into.root, "Pod", there, pod)) return refuse("Pod is not an object");
    if (!there) return {};
    if (!member(pod, "metadata", there, metadata)) return refuse("Pod.metadata is not an object");
    if (!there) return {};
    simdjson::dom::object labels;
    if (!member(metadata, "labels", there, labels)) return refuse("labels is not an object");
    if (there) {
        element found;
        into.pod.ours = labels.at_key(names::testbed).get(found) == simdjson::SUCCESS;
        into.pod.testbed = {std::string(text_at(labels, names::testbed_namespace)),
                            std::string(text_at(labels, names::testbed))};
    }
    simdjson::dom::object annotations;
    if (!member(metadata, "annotations", there, annotations)) {
        return refuse("annotations is not an object");
    }
    if (!there || !into.pod.ours) return {};
    into.pod.run = text_at(annotations, names::run);
    const auto hold = known.hold_of(into.pod.testbed);
    into.pod.under_hold = !hold.empty() && grid::hold_of_run(into.pod.run) == hold;
    if (!into.pod.under_hold) return {};
    if (!member(metadata, "uid", there, into.pod.uid)) return refuse("uid is not a text");
    into.pod.slot = text_at(annotations, names::slot);
    into.pod.node = text_at(annotations, names::slot_node);
    into.pod.ghost = text_at(annotations, names::slot_ghost);
    return {};
}

}  // namespace

result<std::string> answer_filter(std::string_view body, const extender_facts& known) {
    question asked;
    if (auto done = read(asked, body, known); !done) return std::unexpected(done.error());
    const auto& pod = asked.pod;
    std::string reason = pod.under_hold
                             ? "ESI has not decided the slot of this pod yet"
                             : "the run of this pod is not under the present hold of its Testbed";
    if (!pod.node.empty()) {
        reason = "slot ";
        reason += pod.slot;
        reason += " of the pod is on ";
        reason += pod.node;
    }
    std::string encoded_reason;
    append_text(encoded_reason, reason);

    std::string passed;
    std::string refused;
    auto judge = [&](std::string_view name, auto&& write) {
        if (!pod.ours || (!pod.node.empty() && name == pod.node)) {
            if (!passed.empty()) passed += ',';
            write();
            return;
        }
        if (!refused.empty()) refused += ',';
        append_text(refused, name);
        refused += ':';
        refused += encoded_reason;
    };

    bool there = false;
    simdjson::dom::array list;
    if (!member(asked.root, "NodeNames", there, list)) {
        return fail(errc::bad_request, "NodeNames is not a list");
    }
    std::string nodes = "null";
    std::string node_names = "null";
    if (there) {
        for (element item : list) {
            std::string_view name;
            if (item.get(name) != simdjson::SUCCESS) {
                return fail(errc::bad_request, "NodeNames has an entry that is not a text");
            }
            judge(name, [&] { append_text(passed, name); });
        }
        node_names = "[" + passed + "]";
    } else {
        simdjson::dom::object wrapper;
        if (!member(asked.root, "Nodes", there, wrapper)) {
            return fail(errc::bad_request, "Nodes is not an object");
        }
        if (there) {
            bool items = false;
            if (!member(wrapper, "items", items, list)) {
                return fail(errc::bad_request, "Nodes.items is not a list");
            }
            if (items) {
                for (element item : list) {
                    simdjson::dom::object node;
                    simdjson::dom::object metadata;
                    std::string_view name;
                    bool has_metadata = false;
                    bool has_name = false;
                    if (item.get(node) != simdjson::SUCCESS ||
                        !member(node, "metadata", has_metadata, metadata) || !has_metadata ||
                        !member(metadata, "name", has_name, name) || !has_name) {
                        return fail(errc::bad_request, "Nodes has an entry without a name");
                    }
                    judge(name, [&] { passed += simdjson::to_string(item); });
                }
            }
            nodes = R"({"metadata":{},"items":[)" + passed + "]}";
        }
    }
    return R"({"Nodes":)" + nodes + R"(,"NodeNames":)" + node_names +
           R"(,"FailedNodes":{},"FailedAndUnresolvableNodes":{)" + refused + R"(},"Error":""})";
}

result<std::string> answer_preemption(std::string_view body, const extender_facts& known) {
    question asked;
    if (auto done = read(asked, body, known); !done) return std::unexpected(done.error());
    const std::string none = R"({"NodeNameToMetaVictims":{}})";
    bool offered = false;
    bool any = false;
    for (std::string_view form : {"NodeNameToMetaVictims", "NodeNameToVictims"}) {
        bool there = false;
        simdjson::dom::object victims;
        if (!member(asked.root, form, there, victims)) {
            return fail(errc::bad_request, std::string(form) + " is not an object");
        }
        if (!there) continue;
        any = true;
        element found;
        // Node names are compared exactly; only field names come in any case.
        offered |= victims.at_key(asked.pod.node).get(found) == simdjson::SUCCESS;
        if (asked.pod.ours) continue;
        // A pod that is not ours: the scheduler's own choice stands.
        std::string echo;
        for (auto entry : victims) {
            std::string pods;
            simdjson::dom::object of_node;
            simdjson::dom::array list;
            bool has_pods = false;
            if (entry.value.get(of_node) != simdjson::SUCCESS ||
                !member(of_node, "Pods", has_pods, list)) {
                return fail(errc::bad_request, "a node's victims are not what a scheduler sends");
            }
            if (!has_pods) continue;
            for (element victim : list) {
                simdjson::dom::object fields;
                simdjson::dom::object metadata;
                std::string_view uid;
                bool has = false;
                if (victim.get(fields) != simdjson::SUCCESS) {
                    return fail(errc::bad_request, "a victim is not an object");
                }
                if (!member(fields, "UID", has, uid)) {
                    return fail(errc::bad_request, "a victim's UID is not a text");
                }
                if (!has && (!member(fields, "metadata", has, metadata) || !has ||
                             !member(metadata, "uid", has, uid) || !has)) {
                    return fail(errc::bad_request, "a victim has no uid");
                }
                if (!pods.empty()) pods += ',';
                pods += R"({"UID":)";
                append_text(pods, uid);
                pods += '}';
            }
            if (pods.empty()) continue;
            std::int64_t violations = 0;
            bool has_violations = false;
            if (!member(of_node, "NumPDBViolations", has_violations, violations)) {
                return fail(errc::bad_request, "NumPDBViolations is not a whole number");
            }
            if (!echo.empty()) echo += ',';
            append_text(echo, entry.key);
            echo += R"(:{"Pods":[)" + pods + R"(],"NumPDBViolations":)" +
                    std::to_string(violations) + "}";
        }
        return R"({"NodeNameToMetaVictims":{)" + echo + "}}";
    }
    const auto& pod = asked.pod;
    if (!any || !pod.ours || pod.node.empty() || pod.ghost.empty() || !offered) return none;
    const auto given = known.seat_of(pod.testbed, pod.run, pod.uid);
    if (!given || given->node != pod.node || given->ghost != pod.ghost) return none;
    std::string out = R"({"NodeNameToMetaVictims":{)";
    append_text(out, pod.node);
    out += R"(:{"Pods":[{"UID":)";
    append_text(out, pod.ghost);
    out += R"(}],"NumPDBViolations":0}}})";
    return out;
}

}  // namespace esi::testbed

#include "check/end_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/application_kinds.h"
#include "base/fields.h"
#include "check/records.h"
#include "model/names.h"
#include "plan/plan.h"

namespace esi::simulation {

namespace names = model::names;
using checks::at;

namespace {

constexpr std::size_t most_differences = 50;

bool hex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }
bool digit(char c) { return c >= '0' && c <= '9'; }

/// Length of a uid (8-4-4-4-12 hexadecimal digits) at `from`; 0 when there is none.
std::size_t uid_at(std::string_view text, std::size_t from) {
    static constexpr std::array parts{8, 4, 4, 4, 12};
    auto at = from;
    for (std::size_t part = 0; part < parts.size(); ++part) {
        if (part > 0) {
            if (at >= text.size() || text[at] != '-') return 0;
            ++at;
        }
        for (int i = 0; i < parts[part]; ++i, ++at) {
            if (at >= text.size() || !hex(text[at])) return 0;
        }
    }
    return at - from;
}

/// Length of ".123" at `from`; 0 when there is none.
std::size_t number_at(std::string_view text, std::size_t from) {
    if (from >= text.size() || text[from] != '.') return 0;
    auto end = from + 1;
    while (end < text.size() && digit(text[end])) ++end;
    return end == from + 1 ? 0 : end - from;
}

/// Length of a time as Kubernetes writes it at `from`; 0 when there is none.
std::size_t time_at(std::string_view text, std::size_t from) {
    static constexpr std::string_view shape = "0000-00-00T00:00:00";
    if (text.size() < from + shape.size()) return 0;
    for (std::size_t i = 0; i < shape.size(); ++i) {
        const char c = text[from + i];
        if (shape[i] == '0' ? !digit(c) : c != shape[i]) return 0;
    }
    auto end = from + shape.size();
    end += number_at(text, end);
    return end < text.size() && text[end] == 'Z' ? end + 1 - from : 0;
}

/// Names of uids, for all strings of an end state.
class mask {
public:
    explicit mask(const storage& objects) {
        for (const auto* type : all_kinds()) {
            for (const auto& each : objects.all(*type)) {
                uids_[each->uid()] = fmt::format("{} {}", type->kind, each->name());
            }
        }
    }

    std::string text(std::string_view from) const {
        std::string out;
        for (std::size_t i = 0; i < from.size();) {
            if (const auto length = uid_at(from, i); length > 0) {
                out += "<" + name_of(from.substr(i, length));
                i += length;
                // <uid>.<version> is a hold, <uid>.<version>.<k> a run.
                if (const auto version = number_at(from, i); version > 0) {
                    i += version;
                    const auto k = number_at(from, i);
                    i += k;
                    out += k > 0 ? " run" : " hold";
                }
                out += ">";
            } else if (const auto time = time_at(from, i); time > 0) {
                out += "<time>";
                i += time;
            } else {
                out += from[i++];
            }
        }
        return out;
    }

    json value(const json& from) const {
        if (from.is_string()) return text(from.get_ref<const std::string&>());
        if (from.is_array()) {
            json out = json::array();
            for (const auto& each : from) out.push_back(value(each));
            return out;
        }
        if (!from.is_object()) return from;
        json out = json::object();
        for (const auto& [key, each] : from.items()) out[text(key)] = value(each);
        return out;
    }

private:
    std::string name_of(std::string_view uid) const {
        auto found = uids_.find(uid);
        return found == uids_.end() ? "uid" : found->second;
    }

    std::map<std::string, std::string, std::less<>> uids_;
};

void copy(const json& from, std::string_view key, json& to) {
    if (const auto& found = at(from, {key}); !found.is_null()) to[std::string(key)] = found;
}

/// "True/Reason" by type.
json conditions_of(const json& status) {
    json out = json::object();
    const auto& list = at(status, {"conditions"});
    if (!list.is_array()) return out;
    for (const auto& each : list) {
        const auto word = [&](std::string_view key) {
            const auto& value = at(each, {key});
            return value.is_string() ? value.get<std::string>() : std::string();
        };
        out[word("type")] = word("status") + "/" + word("reason");
    }
    return out;
}

json metadata_of(const json& body) {
    json out = json::object();
    const auto& from = at(body, {"metadata"});
    copy(from, "labels", out);
    copy(from, "finalizers", out);
    if (!at(from, {"deletionTimestamp"}).is_null()) out["deleting"] = true;
    if (const auto& all = at(from, {"annotations"}); all.is_object()) {
        json own = json::object();
        for (const auto& [key, value] : all.items()) {
            if (key.starts_with(names::prefix)) own[key] = value;
        }
        if (!own.empty()) out["annotations"] = std::move(own);
    }
    if (const auto& owners = at(from, {"ownerReferences"}); owners.is_array()) {
        for (const auto& each : owners) {
            out["owners"].push_back(
                fmt::format("{} {}", at(each, {"kind"}).dump(), at(each, {"name"}).dump()));
        }
    }
    return out;
}

/// Texts for people differ with the moment: that there are some stays.
void tell_whether(const json& status, std::string_view key, json& to) {
    const auto& value = at(status, {key});
    to[std::string(key)] = !value.is_null() && !value.empty() && value != "";
}

void sort_list(json& list) {
    if (list.is_array()) std::sort(list.begin(), list.end());
}

json observed(const json& body) {
    return at(body, {"status", "observedGeneration"}) == at(body, {"metadata", "generation"})
               ? "current"
               : "behind";
}

json testbed_state(const json& body) {
    json out{{"metadata", metadata_of(body)}, {"spec", at(body, {"spec"})}};
    const auto& status = at(body, {"status"});
    json told = json::object();
    for (auto key : {"state", "counts", "heldBy", "nodesOutOfUse"}) copy(status, key, told);
    if (const auto& slots = at(status, {"slots"}); slots.is_array()) {
        for (const auto& each : slots) {
            json row = json::object();
            for (auto key : {"position", "state", "nodeName", "nodeId", "slotPositionOnNode"}) {
                copy(each, key, row);
            }
            row["reserved"] = !at(each, {"reservedFor"}).is_null();
            told["slots"].push_back(std::move(row));
        }
    }
    if (const auto& layout = at(status, {"layout"}); layout.is_object()) {
        json kept = json::object();
        for (auto key : {"slotsPerNode", "resourcesPerSlot"}) copy(layout, key, kept);
        // Both forms say the same.
        if (const auto read = model::decode<model::testbed_layout>(layout.dump(), "layout")) {
            for (const auto& each : read->nodes) {
                kept["nodes"].push_back({{"name", each.name}, {"id", each.id}});
            }
        }
        told["layout"] = std::move(kept);
    }
    if (const auto& nodes = at(status, {"nodeProblems"}); nodes.is_object()) {
        for (const auto& [node, list] : nodes.items()) told["nodeProblems"].push_back(node);
    }
    tell_whether(status, "problems", told);
    told["conditions"] = conditions_of(status);
    told["observedGeneration"] = observed(body);
    out["status"] = std::move(told);
    return out;
}

json batchjob_state(const json& body) {
    json out{{"metadata", metadata_of(body)}, {"spec", at(body, {"spec"})}};
    if (auto spec = out.find("spec"); spec->is_object() && spec->contains("creationRequest")) {
        sort_list((*spec)["creationRequest"]["slotIds"]);
    }
    const auto& status = at(body, {"status"});
    json told = json::object();
    for (auto key : {"state", "slots", "slotIds", "activeScheduling", "replication", "specHash",
                     "observedReset", "type", "runCount", "reason"}) {
        copy(status, key, told);
    }
    sort_list(told["slotIds"]);
    if (const auto& events = at(status, {"scheduledEvents"}); events.is_array()) {
        for (const auto& each : events) {
            told["scheduledEvents"].push_back({{"successful", at(each, {"successful"})},
                                               {"scheduling", at(each, {"scheduling"})},
                                               {"stopped", !at(each, {"stop"}).is_null()}});
        }
    }
    if (const auto& placements = at(status, {"placements"}); placements.is_array()) {
        for (const auto& each : placements) told["placements"].push_back(at(each, {"slot"}));
        sort_list(told["placements"]);
    }
    if (const auto& app = at(status, {"application"}); app.is_object()) {
        for (auto key : {"kind", "name", "run"}) copy(app, key, told["application"]);
    }
    if (const auto& runs = at(status, {"runs"}); runs.is_array()) {
        for (const auto& each : runs) {
            json line = json::object();
            for (auto key : {"run", "scheduling", "testbed", "slots", "outcome", "reason"}) {
                copy(each, key, line);
            }
            sort_list(line["slots"]);
            told["runs"].push_back(std::move(line));
        }
    }
    // "Succeeded 24.1s"
    if (const auto& last = at(status, {"lastResult"}); last.is_string()) {
        const auto& text = last.get_ref<const std::string&>();
        told["lastResult"] = text.substr(0, text.find(' '));
    }
    tell_whether(status, "problems", told);
    told["conditions"] = conditions_of(status);
    told["observedGeneration"] = observed(body);
    out["status"] = std::move(told);
    return out;
}

json scheduling_state(const json& body) {
    json out{{"metadata", metadata_of(body)}, {"spec", at(body, {"spec"})}};
    const auto& status = at(body, {"status"});
    json told = json::object();
    for (auto key : {"state", "mode", "plan", "jobStates", "releasing", "lastRun", "progress"}) {
        copy(status, key, told);
    }
    if (const auto& list = at(status, {"assignments"}); list.is_array()) {
        for (const auto& each : list) {
            json line = json::object();
            for (auto key : {"job", "slotIds", "run", "outcome"}) copy(each, key, line);
            sort_list(line["slotIds"]);
            line["ended"] = !at(each, {"ended"}).is_null();
            told["assignments"].push_back(std::move(line));
        }
    }
    tell_whether(status, "problems", told);
    tell_whether(status, "waitingFor", told);
    told["conditions"] = conditions_of(status);
    told["observedGeneration"] = observed(body);
    out["status"] = std::move(told);
    return out;
}

json application_state(const application_kind& kind, const json& body) {
    const auto* state = fields::find(body, kind.state);
    return {{"metadata", metadata_of(body)},
            {"spec", at(body, {"spec"})},
            {"state", state ? *state : json()}};
}

json node_state(const json& body) {
    json out{{"labels", at(body, {"metadata", "labels"})},
             {"unschedulable", at(body, {"spec", "unschedulable"}) == true},
             {"allocatable", at(body, {"status", "allocatable"})},
             {"taints", at(body, {"spec", "taints"})}};
    sort_list(out["taints"]);
    return out;
}

std::string word_of(const json& value) {
    return value.is_string() ? value.get<std::string>() : std::string();
}

/// Null: the pod coordinates no application.
const application_kind* coordinated_by(const json& labels) {
    for (const auto& kind : application_kinds()) {
        if (at(labels, {kind.coordinator.label}) == kind.coordinator.value) return &kind;
    }
    return nullptr;
}

/// Ghosts by slot, pods of a run by job: their names and which took which slot are chance.
void add_pod(const json& body, json& out) {
    const auto& labels = at(body, {"metadata", "labels"});
    const auto ns = word_of(at(body, {"metadata", "namespace"}));
    const auto name = word_of(at(body, {"metadata", "name"}));
    const auto run = word_of(at(body, {"metadata", "annotations", names::run}));
    const auto testbed = fmt::format("{}/{}", word_of(at(labels, {names::testbed_namespace})),
                                     word_of(at(labels, {names::testbed})));
    const auto node = word_of(at(body, {"spec", "nodeName"}));
    json one{{"phase", at(body, {"status", "phase"})},
             {"deleting", !at(body, {"metadata", "deletionTimestamp"}).is_null()}};
    if (at(labels, {names::ghost}) == "true") {
        const auto slot = fmt::format("{} {}/{}", testbed,
                                      word_of(at(body, {"metadata", "annotations", names::node})),
                                      word_of(at(body, {"metadata", "annotations", names::index})));
        one["node"] = node;
        out["ghosts"][slot].push_back(std::move(one));
    } else if (!run.empty() && testbed != "/") {
        one["testbed"] = testbed;
        one["run"] = run;
        one["node"] = node;
        one["slot"] = at(body, {"metadata", "annotations", names::slot});
        one["gated"] = !at(body, {"spec", "schedulingGates"}).empty();
        const auto job = fmt::format("{}/{}", ns, word_of(at(labels, {names::job})));
        out["jobPods"][job].push_back(std::move(one));
    } else if (const auto* kind = coordinated_by(labels); kind && !kind->coordinator_of.empty()) {
        one["run"] = run;
        const auto app = word_of(at(labels, {kind->coordinator_of}));
        out["drivers"][fmt::format("{}/{}-{}", ns, app, kind->coordinator.value)].push_back(
            std::move(one));
    } else if (kind || !run.empty()) {
        one["run"] = run;
        out["drivers"][fmt::format("{}/{}", ns, name)] = std::move(one);
    } else {
        // Where a stranger finds room, and when, is chance as well.
        out["strangers"].push_back(fmt::format("{}/{}", ns, name));
    }
}

json pods_state(const storage& objects) {
    json out{{"ghosts", json::object()},
             {"jobPods", json::object()},
             {"drivers", json::object()},
             {"strangers", json::array()}};
    for (const auto& each : objects.all(kinds::pod)) {
        // Those who only harm themselves leave behind what they have made.
        const bool forged =
            !word_of(at(each->body(), {"metadata", "labels", "example.com/forged"})).empty();
        if (!forged && each->ns() != hostile_namespace) add_pod(each->body(), out);
    }
    for (auto& [job, list] : out["jobPods"].items()) sort_list(list);
    return out;
}

void compare(const json& a, const json& b, const std::string& path, std::vector<std::string>& out) {
    if (a == b) return;
    if (a.is_object() && b.is_object()) {
        for (const auto& [key, value] : a.items()) {
            const auto here = path.empty() ? key : fmt::format("{} .{}", path, key);
            auto other = b.find(key);
            if (other == b.end()) {
                out.push_back(fmt::format("{}: {} is missing", here, value.dump()));
            } else {
                compare(value, *other, here, out);
            }
        }
        for (const auto& [key, value] : b.items()) {
            if (a.contains(key)) continue;
            const auto here = path.empty() ? key : fmt::format("{} .{}", path, key);
            out.push_back(fmt::format("{}: {} should not be there", here, value.dump()));
        }
        return;
    }
    if (a.is_array() && b.is_array() && a.size() == b.size()) {
        for (std::size_t i = 0; i < a.size(); ++i) {
            compare(a[i], b[i], fmt::format("{}[{}]", path, i), out);
        }
        return;
    }
    out.push_back(fmt::format("{}: {} is {}", path, a.dump(), b.dump()));
}

}  // namespace

json end_state(const storage& objects) {
    const mask masked(objects);
    json out = json::object();
    const auto take = [&](const kube::resource_type& type, auto state) {
        auto& list = out[std::string(type.plural)];
        list = json::object();
        for (const auto& each : objects.all(type)) {
            if (each->ns() == hostile_namespace) continue;
            const auto name = each->ns().empty() ? each->name() : each->ns() + "/" + each->name();
            list[name] = masked.value(state(each->body()));
        }
    };
    take(kinds::testbed, testbed_state);
    take(kinds::batchjob, batchjob_state);
    take(kinds::scheduling, scheduling_state);
    for (const auto& kind : application_kinds()) {
        take(*kind.type, [&](const json& body) { return application_state(kind, body); });
    }
    take(kinds::node, node_state);
    // Sorted once more: what is masked now was part of the order before.
    out["pods"] = masked.value(pods_state(objects));
    for (auto& [job, list] : out["pods"]["jobPods"].items()) sort_list(list);
    return out;
}

std::vector<std::string> differences(const json& expected, const json& found) {
    std::vector<std::string> out;
    compare(expected, found, "", out);
    if (out.size() > most_differences) {
        const auto rest = out.size() - most_differences;
        out.resize(most_differences);
        out.push_back(fmt::format("and {} more", rest));
    }
    return out;
}

}  // namespace esi::simulation

// Every record out of one text. Oracle: nlohmann as second opinion. Both take the whole text, and
// all fields agree, or both do not: then the record is refused, or has its name and uid and is
// marked. What is written decodes to the same again.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "applications.h"
#include "one_meaning.h"
#include "second_opinion.h"
#include "target.h"

namespace esi::fuzz {
namespace {

using nlohmann::json;
namespace op = opinion;
// Of the applications.
using fuzz::read;
using fuzz::same;

// --- the objects of others, by hand: the trimmed fields and how the API names them ---

bool amounts_of(const json& container, model::amounts& out) {
    model::resource_list list;
    if (!op::member(container, {"resources", "requests"}, list)) return false;
    out = model::to_amounts(list);
    return true;
}

/// KEP-753, the other way round: what runs at the same time, for each moment of the start.
bool requests_of(const json& spec, model::amounts& out) {
    std::vector<model::amounts> moments;
    model::amounts standing;
    if (const auto& list = op::at(spec, {"initContainers"}); list.is_array()) {
        for (const auto& each : list) {
            model::amounts own;
            if (!amounts_of(each, own)) return false;
            moments.push_back(standing);
            model::add(moments.back(), own);
            if (op::text(each, {"restartPolicy"}) == "Always") standing = moments.back();
        }
    }
    if (const auto& list = op::at(spec, {"containers"}); list.is_array()) {
        for (const auto& each : list) {
            model::amounts own;
            if (!amounts_of(each, own)) return false;
            model::add(standing, own);
        }
    }
    for (const auto& moment : moments) model::raise(standing, moment);
    model::resource_list overhead;
    if (!op::member(spec, {"overhead"}, overhead)) return false;
    model::add(standing, model::to_amounts(overhead));
    out = standing;
    return true;
}

void read_states(const json& status, model::pod& out) {
    for (const char* which : {"containerStatuses", "initContainerStatuses"}) {
        const auto& list = op::at(status, {which});
        if (!list.is_array()) continue;
        for (const auto& each : list) {
            const bool main = std::string_view(which) == "containerStatuses";
            auto started = op::time(each, {"state", "running", "startedAt"});
            if (!started) started = op::time(each, {"state", "terminated", "startedAt"});
            if (main && started && (!out.started_at || *started < *out.started_at)) {
                out.started_at = started;
            }
            const auto finished = op::time(each, {"state", "terminated", "finishedAt"});
            if (main && finished && (!out.finished_at || *finished > *out.finished_at)) {
                out.finished_at = finished;
            }
            for (const char* kind : {"terminated", "waiting"}) {
                const auto& state = op::at(each, {"state", kind});
                const auto reason = op::text(state, {"reason"});
                if (!out.reason.empty() || state.is_null() || reason == "Completed" ||
                    reason == "ContainerCreating") {
                    continue;
                }
                out.reason = reason;
                out.message = op::text(state, {"message"});
            }
        }
    }
}

bool read(const json& from, model::pod& out) {
    if (!op::member(from, {"metadata"}, out.metadata)) return false;
    if (const auto& spec = op::at(from, {"spec"}); !spec.is_null()) {
        out.node_name = op::text(spec, {"nodeName"});
        out.scheduler_name = op::text(spec, {"schedulerName"});
        out.priority_class_name = op::text(spec, {"priorityClassName"});
        if (!requests_of(spec, out.requests)) return false;
        if (const auto& gates = op::at(spec, {"schedulingGates"}); gates.is_array()) {
            for (const auto& gate : gates) out.scheduling_gates.push_back(op::text(gate, {"name"}));
        }
        if (out.node_name.empty()) {
            if (!op::member(spec, {"tolerations"}, out.tolerations)) return false;
            if (!op::member(spec, {"affinity"}, out.affinity)) return false;
            if (!op::member(spec, {"nodeSelector"}, out.node_selector)) return false;
        }
    }
    const auto& status = op::at(from, {"status"});
    if (status.is_null()) return true;
    out.phase = op::text(status, {"phase"});
    out.nominated_node_name = op::text(status, {"nominatedNodeName"});
    if (const auto& conditions = op::at(status, {"conditions"}); conditions.is_array()) {
        for (const auto& each : conditions) {
            if (op::text(each, {"type"}) != "PodScheduled") continue;
            out.scheduled_status = op::text(each, {"status"});
            out.scheduled_reason = op::text(each, {"reason"});
            out.scheduled_message = op::text(each, {"message"});
            out.scheduled_time = op::time(each, {"lastTransitionTime"});
        }
    }
    read_states(status, out);
    if (out.reason.empty()) {
        out.reason = op::text(status, {"reason"});
        out.message = op::text(status, {"message"});
    }
    return true;
}
bool same(const model::pod& a, const model::pod& b) {
    const auto rest = [](const model::pod& p) {
        return std::tie(p.node_name, p.phase, p.scheduler_name, p.nominated_node_name,
                        p.priority_class_name, p.requests, p.scheduling_gates, p.tolerations,
                        p.node_selector, p.scheduled_status, p.scheduled_reason,
                        p.scheduled_message, p.scheduled_time, p.started_at, p.finished_at,
                        p.reason, p.message);
    };
    return op::same(a.metadata, b.metadata) && rest(a) == rest(b) &&
           op::same(a.affinity, b.affinity);
}

/// The status of the last condition of that type; nothing without one.
std::optional<std::string> condition_of(const json& from, std::string_view type) {
    std::optional<std::string> out;
    const auto& conditions = op::at(from, {"status", "conditions"});
    if (!conditions.is_array()) return out;
    for (const auto& each : conditions) {
        if (op::text(each, {"type"}) == type) out = op::text(each, {"status"});
    }
    return out;
}

bool read(const json& from, model::node& out) {
    model::resource_list allocatable;
    if (!op::member(from, {"metadata"}, out.metadata) ||
        !op::member(from, {"status", "allocatable"}, allocatable) ||
        !op::member(from, {"spec", "taints"}, out.taints) ||
        !op::member(from, {"spec", "unschedulable"}, out.unschedulable)) {
        return false;
    }
    out.allocatable = model::to_amounts(allocatable);
    out.ready = condition_of(from, "Ready") == "True";
    return true;
}
bool same(const model::node& a, const model::node& b) {
    return op::same(a.metadata, b.metadata) && a.allocatable == b.allocatable &&
           a.taints == b.taints && a.unschedulable == b.unschedulable && a.ready == b.ready;
}

bool read(const json& from, model::custom_resource_definition& out) {
    out.group = op::text(from, {"spec", "group"});
    out.kind = op::text(from, {"spec", "names", "kind"});
    out.established = condition_of(from, "Established") == "True";
    return op::member(from, {"metadata"}, out.metadata);
}
bool same(const model::custom_resource_definition& a, const model::custom_resource_definition& b) {
    return op::same(a.metadata, b.metadata) && a.group == b.group && a.kind == b.kind &&
           a.established == b.established;
}

// --- the checks ---

template <class T>
void compare(std::string_view text, const json* parsed, std::string_view kind) {
    const auto decoded = model::decode<T>(text, kind);
    if (!decoded) {
        require(decoded.error().code == errc::decode && decoded.error().text.starts_with(kind),
                "{}: refused without its name: {}", kind, decoded.error().text);
    }
    if (parsed == nullptr) {
        require(!decoded, "{}: taken, but nlohmann finds no JSON", kind);
        return;
    }
    T other{};
    bool taken = false;
    if constexpr (op::described<T>) {
        taken = op::read(*parsed, other);
    } else {
        taken = read(*parsed, other);
    }
    const auto why = decoded ? decoded->metadata.undecodable : decoded.error().text;
    require(why.empty() == taken, "{}: {}, the second opinion {} it", kind,
            why.empty() ? "taken" : why, taken ? "takes" : "refuses");
    if (decoded && !why.empty()) {
        // What can be released and deleted: it is known by name and uid.
        require(op::text(*parsed, {"metadata", "name"}) == decoded->metadata.name &&
                    op::text(*parsed, {"metadata", "uid"}) == decoded->metadata.uid &&
                    !decoded->metadata.name.empty() && !decoded->metadata.uid.empty(),
                "{}: marked, but not known by its name", kind);
    }
    if (!why.empty()) return;
    if constexpr (op::described<T>) {
        require(op::same(*decoded, other), "{}: fields differ", kind);
    } else {
        require(same(*decoded, other), "{}: fields differ", kind);
    }
}

bool has_null(const json& value) {
    if (value.is_null()) return true;
    if (!value.is_structured()) return false;
    return std::ranges::any_of(value, [](const json& item) { return has_null(item); });
}

/// What is written reads as the same; null, which the API server refuses in most places, is written
/// nowhere.
template <class T>
void write_and_read(const T& value, std::string_view what) {
    const auto written = model::encode(value);
    require(!has_null(written), "{}: null in {}", what, written.dump());
    const auto again = model::decode<T>(written.dump(), what);
    require(again.has_value(), "{}: does not read what it wrote: {}", what,
            again ? "" : again.error().text);
    require(op::same(value, *again), "{}: written and read it is another: {}", what,
            written.dump());
}

/// The members of others' objects are passed on as they are, nulls included.
void without_raw(model::batchjob_spec& spec) {
    spec.spark_spec.reset();
    spec.flink_spec.reset();
    spec.spark_driver.reset();
}

void records(std::string_view text) {
    if (!one_meaning(text)) return;
    const auto parsed = json::parse(text, nullptr, false);
    const json* there = parsed.is_discarded() ? nullptr : &parsed;
    compare<model::pod>(text, there, "Pod");
    compare<model::node>(text, there, "Node");
    for_each_application([&]<class T>(std::string_view kind) { compare<T>(text, there, kind); });
    compare<model::custom_resource_definition>(text, there, "CustomResourceDefinition");
    compare<model::testbed>(text, there, "Testbed");
    compare<model::batchjob>(text, there, "BatchJob");
    compare<model::scheduling>(text, there, "Scheduling");
    if (const auto got = model::decode<model::testbed>(text, "Testbed")) {
        write_and_read(got->spec, "Testbed.spec");
        write_and_read(got->status, "Testbed.status");
    }
    if (auto got = model::decode<model::batchjob>(text, "BatchJob")) {
        without_raw(got->spec);
        write_and_read(got->spec, "BatchJob.spec");
        write_and_read(got->status, "BatchJob.status");
    }
    if (const auto got = model::decode<model::scheduling>(text, "Scheduling")) {
        write_and_read(got->spec, "Scheduling.spec");
        write_and_read(got->status, "Scheduling.status");
    }
}

}  // namespace
}  // namespace esi::fuzz

ESI_FUZZ_TARGET(records, esi::fuzz::records)

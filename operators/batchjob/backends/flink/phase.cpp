#include "batchjob/backends/flink/phase.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/contains.h"
#include "batchjob/backends/json_parts.h"

namespace esi::batchjob::flink {

namespace {

using word = std::string_view;

bool ended(word job_state) {
    return job_state == "FINISHED" || job_state == "FAILED" || job_state == "CANCELED";
}

/// The operator is between two deployments of the object: it writes FINISHED for a job that it has
/// stopped itself.
bool between_deployments(word lifecycle) {
    return lifecycle == "UPGRADING" || lifecycle == "ROLLING_BACK" || lifecycle == "DELETING" ||
           lifecycle == "DELETED";
}

bool known_lifecycle(word state) {
    static constexpr std::array<word, 11> known{
        "",         "CREATED",      "SUSPENDED",   "UPGRADING", "DEPLOYED", "STABLE",
        "DELETING", "ROLLING_BACK", "ROLLED_BACK", "FAILED",    "DELETED"};
    return contains(known, state);
}

bool known_job_manager(word state) {
    static constexpr std::array<word, 6> known{"",        "READY", "DEPLOYED_NOT_READY",
                                               "MISSING", "ERROR", "DEPLOYING"};
    return contains(known, state);
}

/// FAILED is not the end if the spec asks for a restart from the last savepoint.
bool begins_again(const model::flink_deployment& object) {
    return object.upgrade_mode == "savepoint";
}

/// True: a JobManager has existed. A later failure is no failure of the submission.
bool deployed(const model::flink_deployment& object) {
    const auto& manager = object.job_manager_state;
    return !object.job_state.empty() || (!manager.empty() && manager != "MISSING");
}

/// Before the first deployment the operator also shows FAILED between two attempts; it gives up
/// only a spec that it refuses.
bool tries_again(const model::flink_deployment& object) {
    return !deployed(object) && !object.error.empty() &&
           !object.error.contains("ValidationException");
}

/// The JobManager's Deployment was deleted. It is not made again: ESI has switched that off.
bool lost_its_job_manager(const model::flink_deployment& object) {
    return object.job_manager_state == "MISSING" && object.job_started && !begins_again(object);
}

const json* innermost(const json& error) {
    const auto* list = member(error, "throwableList");
    return list && list->is_array() && !list->empty() ? &list->back() : nullptr;
}

std::string text_in(const json* from, const std::string& key) {
    const auto* value = from ? member(*from, key) : nullptr;
    return value && value->is_string() ? value->get<std::string>() : std::string();
}

/// The time in whole seconds, like the times of pods.
std::optional<model::timestamp> whole(std::optional<model::timestamp> time) {
    if (time) time->value = std::chrono::floor<seconds>(time->value);
    return time;
}

}  // namespace

phase phase_of(const model::flink_deployment& object) {
    static constexpr std::array<word, 7> underway{
        "", "INITIALIZING", "CREATED", "FAILING", "CANCELLING", "RESTARTING", "RECONCILING"};
    const word job = object.job_state;
    const word lifecycle = object.lifecycle_state;
    // A suspended job has the state FINISHED, too: the state alone does not prove success.
    if (object.wanted_state == "suspended" || lifecycle == "SUSPENDED" || job == "SUSPENDED") {
        return phase::paused;
    }
    if (between_deployments(lifecycle)) return phase::underway;
    if (job == "FINISHED") return phase::succeeded;
    if (job == "CANCELED") return phase::failed;
    if (job == "FAILED") return begins_again(object) ? phase::underway : phase::failed;
    if (object.job_manager_state == "ERROR") return phase::failed;
    if (lifecycle == "FAILED") return tries_again(object) ? phase::underway : phase::failed;
    if (lost_its_job_manager(object)) return phase::failed;
    if (job == "RUNNING") return phase::running;
    const bool known = contains(underway, job) && known_lifecycle(lifecycle) &&
                       known_job_manager(object.job_manager_state);
    return known ? phase::underway : phase::unknown;
}

std::string message_of(std::string_view error) {
    const auto parsed = json::parse(error, nullptr, false);
    std::string out;
    if (parsed.is_object()) {
        out = text_in(&parsed, "message");
        if (out.empty()) out = text_in(&parsed, "type");
        const auto* cause = innermost(parsed);
        auto why = text_in(cause, "message");
        if (why.empty()) why = text_in(cause, "type");
        if (out.empty()) {
            out = why;
        } else if (!why.empty() && !out.contains(why)) {
            out += ": " + why;
        }
    }
    if (out.empty()) out = error;
    out.erase(out.find_last_not_of(" \r\n\t") + 1);
    return out;
}

application facts_of(const model::flink_deployment& object) {
    application out;
    out.metadata = object.metadata;
    out.phase = phase_of(object);
    out.word = !object.job_state.empty() ? object.job_state : object.lifecycle_state;
    if (out.phase == phase::paused) out.word = "suspended";
    out.attempt = deployed(object) ? 1 : 0;
    out.started = whole(object.job_started);
    out.job_started = object.job_started;
    if (ended(object.job_state) && out.final()) {
        out.ended = whole(object.job_changed);
        out.job_stopped = object.job_changed;
    }
    if (!out.final() && !deployed(object)) out.message = message_of(object.error);
    if (out.phase == phase::failed) {
        out.message = message_of(object.error);
        if (out.message.empty()) {
            out.message = object.job_state == "CANCELED" ? "the job was canceled"
                          : object.job_manager_state == "ERROR"
                              ? "the JobManager's deployment is in state ERROR"
                          : lost_its_job_manager(object)
                              ? "the JobManager's deployment is gone"
                              : fmt::format("the job is in state {}", out.word);
        }
    }
    return out;
}

pod_role role_of(const model::pod& pod, std::string_view name) {
    if (pod.metadata.label("app") != name) return pod_role::none;
    if (!pod.metadata.label("type").starts_with("flink-")) return pod_role::none;
    const auto component = pod.metadata.label("component");
    if (component == "taskmanager") return pod_role::slot;
    return component == "jobmanager" ? pod_role::coordinator : pod_role::none;
}

std::string foreign(const model::pod& pod, const application& app) {
    const auto& name = app.metadata.name;
    const bool slot = role_of(pod, name) == pod_role::slot;
    const auto set = fmt::format("{}{}-{}", name, slot ? "-taskmanager" : "",
                                 pod.metadata.label("pod-template-hash"));
    const auto* owner = pod.metadata.controller_owner();
    if (owner && owner->kind == "ReplicaSet" && owner->name == set) return {};
    return fmt::format("its owner is {}, not ReplicaSet {}", show_owner(pod.metadata), set);
}

}  // namespace esi::batchjob::flink

#include "batchjob/backends/spark/phase.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/contains.h"
#include "model/names.h"

namespace esi::batchjob::spark {

phase phase_of(std::string_view state) {
    static constexpr std::array<std::string_view, 8> underway{"",
                                                              "SUBMITTED",
                                                              "SUCCEEDING",
                                                              "FAILING",
                                                              "INVALIDATING",
                                                              "PENDING_RERUN",
                                                              "SUBMISSION_FAILED",
                                                              "RESUMING"};
    if (state == "RUNNING") return phase::running;
    if (state == "COMPLETED") return phase::succeeded;
    if (state == "FAILED") return phase::failed;
    if (state == "SUSPENDING" || state == "SUSPENDED") return phase::paused;
    return contains(underway, state) ? phase::underway : phase::unknown;
}

application facts_of(const model::spark_application& object) {
    application out;
    out.metadata = object.metadata;
    out.phase = phase_of(object.state);
    out.word = object.state;
    out.message = object.error_message;
    // The output of spark-submit ends with line ends.
    out.message.erase(out.message.find_last_not_of(" \r\n\t") + 1);
    out.coordinator_pod = object.driver_pod_name;
    out.submission = object.submission_id;
    out.attempt = object.execution_attempts;
    out.attempt_since = object.last_submission_attempt;
    out.ended = object.termination_time;
    return out;
}

pod_role role_of(const model::pod& pod, std::string_view name) {
    if (pod.metadata.label("sparkoperator.k8s.io/app-name") != name) return pod_role::none;
    const auto role = pod.metadata.label("spark-role");
    if (role == "executor") return pod_role::slot;
    return role == "driver" ? pod_role::coordinator : pod_role::none;
}

std::string foreign(const model::pod& pod, const application& app,
                    std::span<const pod_pointer> beside) {
    const auto* owner = pod.metadata.controller_owner();
    const auto& name = app.metadata.name;
    const auto& driver_name = app.coordinator_pod;
    if (role_of(pod, name) == pod_role::coordinator) {
        // Not every version of the operator makes its application the driver's owner.
        if (owner && owner->uid != app.metadata.uid)
            return "its owner is " + show_owner(pod.metadata);
        // A driver that takes a slot gets it once the application names it.
        const bool takes_slot = !pod.metadata.label(model::names::testbed).empty();
        if (driver_name.empty() && takes_slot) {
            return fmt::format("SparkApplication {} names no driver yet", name);
        }
        if (driver_name.empty() || pod.metadata.name == driver_name) return {};
        return fmt::format("the driver of SparkApplication {} is {}", name, driver_name);
    }
    if (driver_name.empty()) return fmt::format("SparkApplication {} names no driver yet", name);
    const auto driver = std::ranges::find_if(beside, [&](const pod_pointer& other) {
        return other->metadata.name == driver_name &&
               role_of(*other, name) == pod_role::coordinator &&
               foreign(*other, app, beside).empty();
    });
    if (driver == beside.end()) return fmt::format("its driver {} is not there", driver_name);
    if (!owner || owner->uid != (*driver)->metadata.uid) {
        return fmt::format("its owner is {}, not the driver {}", show_owner(pod.metadata),
                           driver_name);
    }
    const auto submission = pod.metadata.label("sparkoperator.k8s.io/submission-id");
    if (!app.submission.empty() && submission != app.submission) {
        return fmt::format("it is of submission {}, not of {}",
                           submission.empty() ? "none" : submission, app.submission);
    }
    return {};
}

}  // namespace esi::batchjob::spark

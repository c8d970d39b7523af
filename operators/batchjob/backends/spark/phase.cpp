#include "batchjob/backends/spark/phase.h"

#include <algorithm>
#include <array>

#include "batchjob/contains.h"

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
    // What spark-submit says ends with line ends.
    out.message.erase(out.message.find_last_not_of(" \r\n\t") + 1);
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

}  // namespace esi::batchjob::spark

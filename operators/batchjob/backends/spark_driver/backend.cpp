#include "batchjob/backends/spark_driver/backend.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/contains.h"
#include "batchjob/backends/marks.h"
#include "model/json.h"
#include "model/names.h"

namespace esi::batchjob::spark_driver {

namespace names = model::names;

namespace {

/// A label of each pod that Spark's operator has made.
constexpr std::string_view operator_label = "sparkoperator.k8s.io/app-name";

phase phase_of(std::string_view pod_phase) {
    if (pod_phase == "Running") return phase::running;
    if (pod_phase == "Succeeded") return phase::succeeded;
    if (pod_phase == "Failed") return phase::failed;
    return pod_phase == "Pending" || pod_phase.empty() ? phase::underway : phase::unknown;
}

application facts_of(const model::pod& pod) {
    application out;
    out.metadata = pod.metadata;
    // The driver owns its BatchJob; as an application it belongs to the BatchJob that has taken it
    // over.
    out.metadata.owner_references = {{kube::types::batchjob.api_version(), "BatchJob",
                                      pod.metadata.name,
                                      std::string(pod.metadata.annotation(names::job_uid)), true}};
    out.phase = phase_of(pod.phase);
    out.word = pod.phase.empty() ? "Pending" : pod.phase;
    out.attempt = 1;
    out.coordinator_pod = pod.metadata.name;
    out.ended = pod.finished_at;
    return out;
}

std::expected<std::string, spec_problem> uid_in(const model::raw_json& spec) {
    const auto parsed = json::parse(spec.text, nullptr, false);
    const auto uid = parsed.is_object() ? parsed.find("uid") : parsed.end();
    if (!parsed.is_object() || uid == parsed.end() || !uid->is_string()) {
        return std::unexpected(
            spec_problem{"SpecMalformed", "sparkDriver.uid must be the uid of the driver pod"});
    }
    return uid->get<std::string>();
}

}  // namespace

bool is_driver(const model::pod& pod) {
    return pod.metadata.label(role_label) == "driver" &&
           !pod.metadata.labels.contains(operator_label);
}

std::shared_ptr<const application> application_of(const model::pod& pod) {
    const bool taken_over = !pod.run().empty() &&
                            !pod.metadata.annotation(names::job_uid).empty() &&
                            pod.metadata.label(names::job) == pod.metadata.name;
    if (!is_driver(pod) || !taken_over) return nullptr;
    return std::make_shared<const application>(facts_of(pod));
}

std::expected<built, spec_problem> driver_backend::build(const build_request& request) const {
    if (auto uid = uid_in(request.spec); !uid) return std::unexpected(std::move(uid).error());
    if (!request.coordinator) {
        return std::unexpected(
            spec_problem{"NoCoordinatorPlace",
                         "a driver that exists already waits for a coordinator place, and the "
                         "Testbed of this order has none: claim one (role: coordinator)"});
    }
    built out;
    out.object = marks(request, pod_role::coordinator);
    out.object["metadata"]["annotations"][std::string(names::job_uid)] = request.job.uid;
    return out;
}

std::expected<built, spec_problem> driver_backend::probe(const model::object_meta&,
                                                         const model::raw_json& spec, bool) const {
    if (auto uid = uid_in(spec); !uid) return std::unexpected(std::move(uid).error());
    return built();
}

result<application> driver_backend::read(std::string_view text) const {
    auto pod = model::decode<model::pod>(text, "Pod");
    if (!pod) return std::unexpected(pod.error());
    const auto app = application_of(*pod);
    // A driver that no BatchJob has taken over does not concern ESI.
    if (!app) return fail(errc::not_found, "no BatchJob has taken over pod " + pod->metadata.name);
    return *app;
}

pod_role driver_backend::role_of(const model::pod& pod, std::string_view name) const {
    if (pod.metadata.labels.contains(operator_label)) return pod_role::none;
    const auto role = pod.metadata.label(role_label);
    if (role == "driver") {
        return pod.metadata.name == name ? pod_role::coordinator : pod_role::none;
    }
    return role == "executor" ? pod_role::slot : pod_role::none;
}

std::string driver_backend::foreign(const model::pod& pod, const application& app,
                                    std::span<const pod_pointer>) const {
    if (role_of(pod, app.metadata.name) == pod_role::coordinator) {
        if (pod.metadata.uid == app.metadata.uid) return {};
        return fmt::format("it is not the driver that the BatchJob names (uid {})",
                           app.metadata.uid);
    }
    const auto* owner = pod.metadata.controller_owner();
    if (owner && owner->kind == "Pod" && owner->uid == app.metadata.uid) return {};
    return fmt::format("its owner is {}, not the driver {}", show_owner(pod.metadata),
                       app.metadata.name);
}

std::string driver_backend::unfit_for_adoption(const model::pod& pod,
                                               const model::batchjob& job) const {
    if (!job.spec.spark_driver) return "the BatchJob names no driver (sparkDriver)";
    const auto uid = uid_in(*job.spec.spark_driver);
    if (!uid) return uid.error().text;
    const auto& meta = pod.metadata;
    if (meta.uid != *uid) {
        return fmt::format("pod {} is another one (uid {}) than the driver of this job (uid {})",
                           meta.key().text(), meta.uid, *uid);
    }
    // Any author could write a BatchJob by hand with the uid of a foreign driver.
    const bool is_of_driver = std::ranges::any_of(
        job.metadata.owner_references,
        [&](const auto& each) { return each.kind == "Pod" && each.uid == *uid; });
    if (!is_of_driver) {
        return fmt::format(
            "BatchJob {} is not owned by driver {} (uid {}): delete it, and esi-batchjob "
            "makes the one of the driver",
            job.metadata.key().text(), meta.key().text(), *uid);
    }
    if (!is_driver(pod)) {
        return fmt::format(
            "pod {} is no driver: its label {} is not driver, or Spark's operator "
            "has made it",
            meta.key().text(), role_label);
    }
    if (meta.deleting() || pod.terminal()) {
        return fmt::format("driver {} has ended", meta.key().text());
    }
    if (!contains(pod.scheduling_gates, names::gate)) {
        return fmt::format(
            "driver {} does not wait at the scheduling gate {}: it was let in by "
            "others, or made without it; delete it, and make it again",
            meta.key().text(), names::gate);
    }
    return {};
}

bool driver_backend::is_named(const application& app, const model::batchjob_spec& spec) const {
    if (!spec.spark_driver) return false;
    const auto uid = uid_in(*spec.spark_driver);
    return uid && *uid == app.metadata.uid;
}

json driver_backend::marks(const build_request& request, pod_role role) const {
    return {{"metadata",
             {{"labels", slot_labels(request)}, {"annotations", slot_annotations(request, role)}}}};
}

std::string driver_backend::not_served() const {
    if (!uses_gate()) {
        return "drivers that exist are taken over by the scheduling gate only: start esi-batchjob "
               "with --placement=gate";
    }
    return "esi-batchjob takes no drivers over: start it with --spark-drivers "
           "(sparkDrivers.enabled=true of the chart)";
}

}  // namespace esi::batchjob::spark_driver

#include "batchjob/backends/backend.h"

#include <fmt/format.h>

#include <cstdint>

#include "model/names.h"

namespace esi::batchjob {

std::string_view application::run() const { return metadata.annotation(model::names::run); }

bool application::owned_by(const model::object_meta& job) const {
    const auto* owner = metadata.controller_owner();
    return owner && owner->uid == job.uid;
}

std::string backend::definition() const {
    return fmt::format("{}.{}", resource().plural, resource().group);
}

std::string backend::served_text() const { return definition() + " is served"; }

std::string backend::not_served() const {
    return fmt::format("the CustomResourceDefinition {} is not there: install the {} operator",
                       definition(), type());
}

std::string backend::where_to_look(const model::object_key& app,
                                   std::string_view coordinator_pod) const {
    return fmt::format("kubectl logs -n {} {}", app.namespace_, coordinator_pod);
}

bool belongs_to(const application& app, const backend& kind, const model::batchjob& job) {
    if (!app.owned_by(job.metadata)) return false;
    const auto& begun = job.status.application;
    const bool is_begun =
        begun && begun->kind == kind.resource().kind && begun->uid == app.metadata.uid;
    return is_begun || kind.is_named(app, job.spec);
}

std::string show_owner(const model::object_meta& meta) {
    const auto* owner = meta.controller_owner();
    if (!owner) return "nobody";
    return fmt::format("{} {} (uid {})", owner->kind, owner->name, owner->uid);
}

build_request probe_request(const model::object_meta& job, const model::raw_json& spec,
                            std::int64_t slot_mib) {
    build_request out;
    out.job = job;
    out.spec = spec;
    out.slot_ids = {0};
    out.run = "check";
    const auto bytes = slot_mib * 1024 * 1024;
    out.slot_size["cpu"] = {"100m", 100};
    out.slot_size["memory"] = {std::to_string(bytes), bytes * 1000};
    return out;
}

}  // namespace esi::batchjob

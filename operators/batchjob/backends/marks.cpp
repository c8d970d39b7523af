#include "batchjob/backends/marks.h"

#include <fmt/format.h>

#include "grid/grid.h"
#include "kube/resource.h"
#include "model/names.h"

namespace esi::batchjob {

namespace names = model::names;

json job_labels(const build_request& request) {
    return {{std::string(names::job), request.job.name}};
}

json run_annotations(const build_request& request) {
    return {{std::string(names::run), request.run}};
}

json slot_labels(const build_request& request) {
    auto out = job_labels(request);
    if (!request.testbed.name.empty()) {
        out[std::string(names::testbed)] = request.testbed.name;
        out[std::string(names::testbed_namespace)] = request.testbed.namespace_;
    }
    return out;
}

json slot_annotations(const build_request& request, pod_role role) {
    auto out = run_annotations(request);
    const bool coordinates = role == pod_role::coordinator && request.coordinator;
    const auto slots = coordinates ? std::vector{request.coordinator->position} : request.slot_ids;
    out[std::string(names::slots)] = grid::show_slot_list(slots);
    return out;
}

json application_metadata(const build_request& request) {
    const json owner{{"apiVersion", kube::types::batchjob.api_version()},
                     {"kind", kube::types::batchjob.kind},
                     {"name", request.job.name},
                     {"uid", request.job.uid},
                     {"controller", true},
                     {"blockOwnerDeletion", true}};
    return {{"name", request.job.name},
            {"namespace", request.job.namespace_},
            {"labels", job_labels(request)},
            {"annotations", run_annotations(request)},
            {"ownerReferences", json::array({owner})}};
}

void take_own_prefix(json& map, std::string_view path, std::vector<std::string>& overridden) {
    for (auto at = map.begin(); at != map.end();) {
        if (!at.key().starts_with(names::prefix)) {
            ++at;
            continue;
        }
        overridden.push_back(fmt::format("{}[{}]", path, at.key()));
        at = map.erase(at);
    }
}

}  // namespace esi::batchjob

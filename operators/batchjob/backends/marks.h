// What ESI writes on an application and its pods, so that both are known again: labels,
// annotations, the owner. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "batchjob/backends/backend.h"

namespace esi::batchjob {

/// On an application: hash_of the spec that it was made from.
inline constexpr std::string_view spec_hash = "esi.tu-berlin.de/spec-hash";

/// Of every pod of the job.
json job_labels(const build_request& request);
json run_annotations(const build_request& request);
/// Of those that take slots, the coordinator among them where the request has a slot for it.
json slot_labels(const build_request& request);
/// Those of workers name their slots, that of the coordinator (pod_role::coordinator) its own.
json slot_annotations(const build_request& request, pod_role role = pod_role::slot);
/// metadata of the application: the job's name, owned by the job.
json application_metadata(const build_request& request);
/// Takes keys with ESI's prefix out of a map of labels or annotations, and names them.
void take_own_prefix(json& map, std::string_view path, std::vector<std::string>& overridden);

}  // namespace esi::batchjob

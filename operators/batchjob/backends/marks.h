// The marks that ESI writes on an application and its pods to recognize both: labels, annotations,
// the owner. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "batchjob/backends/backend.h"

namespace esi::batchjob {

/// An annotation of an application: hash_of the spec that it was made from.
inline constexpr std::string_view spec_hash = "esi.tu-berlin.de/spec-hash";

/// The labels of every pod of the job.
json job_labels(const build_request& request);
json run_annotations(const build_request& request);
/// The labels of pods that take slots, also of the coordinator if the request has a slot for it.
json slot_labels(const build_request& request);
/// Annotations: workers name all their slots, the coordinator (pod_role::coordinator) its own.
json slot_annotations(const build_request& request, pod_role role = pod_role::slot);
/// metadata of the application: the job's name, owned by the job.
json application_metadata(const build_request& request);
/// Removes keys with ESI's prefix from a map of labels or annotations, and names them.
void take_own_prefix(json& map, std::string_view path, std::vector<std::string>& overridden);

}  // namespace esi::batchjob

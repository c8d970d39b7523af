// What people write into a sparkSpec, a flinkSpec and a pod's affinity, which ESI rewrites.
// Oracles: a spec is either refused with a sentence, or its application has exactly what its slots
// say, whatever stood there; a pinned pod fits its own node only, and only where it did before.
// Input: JSON.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "applications.h"
#include "placement/admission.h"
#include "placement/door.h"
#include "target.h"

namespace esi::fuzz {
namespace {

using nlohmann::json;
namespace keys = model::names;

void affinity(std::string_view text) {
    model::pod pod;
    pod.affinity.text = text;
    model::node near;
    near.metadata.name = "near";
    near.metadata.labels = {{"zone", "a"}, {"number", "7"}};
    auto far = near;
    far.metadata.name = "far";
    // An empty list of terms is refused by the API server.
    const auto parsed = json::parse(text);
    static const json::json_pointer terms(
        "/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms");
    if (parsed.is_object() && parsed.contains(terms) && parsed.at(terms).empty()) return;
    const bool before = !placement::admission_refusal(pod, near);
    const auto pinned = placement::pinned_affinity(pod.affinity, "near");
    pod.affinity.text = pinned.dump();
    require(!placement::admission_refusal(pod, near) <= before,
            "the pin lets in where the pod did not fit: {}", pod.affinity.text);
    require(placement::admission_refusal(pod, far).has_value(), "the pin does not hold: {}",
            pod.affinity.text);
    require(placement::pinned_affinity(pod.affinity, "near") == pinned, "pinned twice: {}",
            pod.affinity.text);
}

void job_pods(std::string_view text) {
    const auto parsed = json::parse(text, nullptr, false);
    if (parsed.is_discarded()) return;
    map_to_applications(text, false);
    map_to_applications(text, true);
    affinity(text);
}

}  // namespace
}  // namespace esi::fuzz

ESI_FUZZ_TARGET(job_pods, esi::fuzz::job_pods)

// Shared by the files that make up pod_rules.h, and included by them only.
#pragma once

#include "model/quantity.h"
#include "server/validation/faults.h"

namespace esi::simulation::pods {

inline constexpr const char* container_lists[] = {"containers", "initContainers"};

/// "path[i]"
std::string item(const std::string& path, std::size_t i);
/// 0 where it is none.
model::quantity quantity_of(const json* value);
/// The required terms of a node affinity and the affinity itself; null where there is none.
const json* node_affinity(const json& spec);
const json* required_terms(const json* node_affinity);
inline constexpr const char* terms_path =
    "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms";

/// What a spec must look like.
void check_spec(const json& spec, faults& out);
/// What of it may change.
void check_spec_change(const json& spec, const json& old, faults& out);
void check_status(const json& body, const json& before, faults& out);

}  // namespace esi::simulation::pods

// In what the kinds differ as far as requests for all of them are concerned: the "strategies" of
// kube-apiserver (pkg/registry/*/strategy.go). What is in their specs is validation's.
#pragma once

#include <string_view>

#include "kube/resource.h"

namespace esi::simulation {

/// Served by a CustomResourceDefinition.
bool is_custom(const kube::resource_type& type);
bool is_kind(const kube::resource_type& type, const kube::resource_type& which);
/// An update without resourceVersion overwrites.
bool may_update_unconditionally(const kube::resource_type& type);
/// A PUT of what is not there creates it.
bool may_create_on_update(const kube::resource_type& type);
/// metadata.generation is there from the beginning.
bool begins_with_generation(const kube::resource_type& type);
/// ... and goes up with each change of the spec.
bool counts_generation(const kube::resource_type& type);
/// The group in which its faults are told: Events of events.k8s.io are judged as those of the core.
std::string_view judged_group(const kube::resource_type& type);

}  // namespace esi::simulation

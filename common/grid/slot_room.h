// What a pod asks for, beside what a slot has.
#pragma once

#include <string>

#include "model/quantity.h"

namespace esi::grid {

/// "it requests 2250m cpu, the slot has 2": for each resource of which the pod asks for more than
/// the slot has, at most four of them by name. Empty: the pod fits.
std::string larger_than_slot(const model::amounts& requests, const model::resource_list& slot);

}  // namespace esi::grid

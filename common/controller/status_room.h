// How large a status may be: etcd takes a request of 1.5 MiB, and with it the whole object, of
// which the status is the part that an operator answers for. The rest is what others store. Pure.
#pragma once

#include <algorithm>

#include "model/json_size.h"

namespace esi::controller {

/// Of etcd's 1.5 MiB a sixth is left for what an operator does not see of an object: managedFields,
/// labels and annotations that its caches do not keep.
inline constexpr std::size_t most_object_bytes = 1280 * 1024;
/// Where the rest of the object leaves less than this (a spec of more than 1.2 MiB), the status has
/// it all the same: what others decide by needs it, and the API server's answer tells more than a
/// guess about managedFields.
inline constexpr std::size_t least_status_bytes = 64 * 1024;

/// Bytes that the status of this object may have.
template <class T>
std::size_t room_for_status(const T& of) {
    const auto& meta = of.metadata;
    const auto rest = model::json_size(of.spec) + model::json_size(meta.labels) +
                      model::json_size(meta.annotations) + model::json_size(meta.finalizers);
    return std::max(least_status_bytes, most_object_bytes - std::min(rest, most_object_bytes));
}

/// A status in `room` bytes, as far as that can be without what others decide by; 0 asks for the
/// smallest form. Pure.
template <class Status>
using fit_function = Status (*)(Status wanted, std::size_t room);

}  // namespace esi::controller

// How large a status may be: etcd takes a request of 1.5 MiB, and with it the whole object, of
// which the operator is responsible for the status. Other writers store the rest. Pure.
#pragma once

#include <algorithm>

#include "model/json_size.h"

namespace esi::controller {

/// A sixth of etcd's 1.5 MiB is left for parts of an object that an operator does not see:
/// managedFields, labels and annotations that its caches do not keep.
inline constexpr std::size_t most_object_bytes = 1280 * 1024;
/// If the rest of the object leaves less than this (a spec of more than 1.2 MiB), the status has it
/// all the same: decisions of other programs need it, and the API server's answer tells more than a
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

/// Fits a status into `room` bytes, as far as possible without dropping what others decide by; 0
/// asks for the smallest form. Pure.
template <class Status>
using fit_function = Status (*)(Status wanted, std::size_t room);

}  // namespace esi::controller

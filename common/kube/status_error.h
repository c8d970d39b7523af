// The refusals of the API server: Status objects and bodies of answers, read into errors.
#pragma once

#include <string_view>

#include "base/result.h"
#include "kube/transport.h"

namespace esi::kube {

/// The error in a Status object (or any body) of an answer >= 400. `subject` is "patch Pod
/// ns/name".
error status_error(const response& answer, std::string_view subject);
/// The same for a Status inside a watch (its own code decides).
error status_error(std::string_view status_json, std::string_view subject);

}  // namespace esi::kube

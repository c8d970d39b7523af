// The remedy of an error: a command, or where to look. Pure.
#pragma once

#include <string>

#include "base/result.h"
#include "kube/auth/kubeconfig.h"

namespace esi::kubectl {

/// The error as it is printed, with its remedy, if there is one, as a second line.
std::string error_text(const error& what, const kube::cluster_access* access);

}  // namespace esi::kubectl

// The CRDs of crds/ as constants of the program (cmake/embed.cmake).
#pragma once

#include <span>

#include "base/embedded_file.h"

namespace esi::model::crds {

/// YAML, by name: "batchjob.yaml".
std::span<const embedded_file> files();

}  // namespace esi::model::crds

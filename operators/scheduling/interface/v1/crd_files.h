// The CRDs as they stand in crds/, compiled in.
#pragma once

#include <string_view>

namespace esi::scheduling::v1 {

/// YAML.
std::string_view testbed_crd();
std::string_view batchjob_crd();
std::string_view scheduling_crd();

}  // namespace esi::scheduling::v1

#pragma once

namespace esi {

/// The version of ESI, as CMakeLists.txt has it: "0.2.0".
const char* version();

}  // namespace esi

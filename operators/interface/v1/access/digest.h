// SHA-256 of secrets and long texts: what stands in a cache as a key is of no use to who reads it.
#pragma once

#include <string>
#include <string_view>

namespace esi::interface::v1 {

/// 32 bytes.
std::string sha256(std::string_view text);

}  // namespace esi::interface::v1

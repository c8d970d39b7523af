// SHA-256 of secrets and long texts, so that a key of a cache is of no use to a reader.
#pragma once

#include <string>
#include <string_view>

namespace esi::interface::v1 {

/// 32 bytes.
std::string sha256(std::string_view text);

}  // namespace esi::interface::v1

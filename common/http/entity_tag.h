// The headers If-Match and If-None-Match (RFC 9110 13.1). Pure.
#pragma once

#include <string_view>

namespace esi::http {

/// The header is *, which matches any version. In quotes it is a tag like others.
bool is_any_tag(std::string_view header);

/// Whether the list contains the tag, which is given with its quotes. A weak one counts as the
/// same: a proxy that compresses makes tags weak.
bool names_tag(std::string_view header, std::string_view tag);

}  // namespace esi::http

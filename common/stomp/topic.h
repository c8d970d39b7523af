// The destinations of a subscription: one destination, or a pattern of them in the form of the Java
// original (Ant's path patterns). Pure.
#pragma once

#include <string_view>

namespace esi::stomp {

/// Has a ? or a *: stands for more than itself.
bool is_pattern(std::string_view destination);

/// Whether `destination` matches `pattern`. Both are cut at their slashes; in a segment, ? is one
/// character and * any number of them; ** is any number of whole segments, also none. Bounded by
/// (segments + characters of the pattern) x (those of the destination).
bool matches(std::string_view pattern, std::string_view destination);

}  // namespace esi::stomp

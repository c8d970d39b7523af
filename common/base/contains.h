// std::ranges::contains of C++23, which libstdc++ 12 does not have.
#pragma once

#include <algorithm>

namespace esi {

template <class Range, class Value>
bool contains(const Range& range, const Value& value) {
    return std::ranges::find(range, value) != std::ranges::end(range);
}

}  // namespace esi

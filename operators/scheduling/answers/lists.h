// The bound of every list in an answer: an answer must not grow with the cluster.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace esi::scheduling::answers {

/// Of each list. What is beyond is counted in the member NAME_left_out beside the list.
inline constexpr std::size_t most_entries = 1000;

/// Adds what `make` returns while there is room; `make` is not called for what is left out.
template <class T, class Make>
void add(std::vector<T>& list, std::int64_t& left_out, Make make) {
    if (list.size() < most_entries) {
        list.push_back(make());
    } else {
        ++left_out;
    }
}

/// The first entries of `from`.
template <class T>
std::vector<T> first_of(const std::vector<T>& from, std::int64_t& left_out) {
    std::vector<T> out;
    for (const auto& each : from) add(out, left_out, [&] { return each; });
    return out;
}

}  // namespace esi::scheduling::answers

// How much memory a record takes, so that objects stored by others can be bounded by it: a list of
// empty maps takes fifteen times the bytes of its JSON.
#pragma once

#include <algorithm>
#include <boost/pfr.hpp>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "model/meta.h"

namespace esi::model {

/// Bytes of one allocation of so many: glibc adds a word and rounds up to 16.
constexpr std::size_t allocated(std::size_t bytes) {
    return bytes == 0 ? 0 : std::max<std::size_t>(32, (bytes + 8 + 15) / 16 * 16);
}

template <class T>
std::size_t held_by(const T& value);

namespace footprint_of {

/// Parent, children and color of a node of std::map.
inline constexpr std::size_t node = 32;

inline std::size_t held(const std::string& text) {
    return text.capacity() > 15 ? allocated(text.capacity() + 1) : 0;
}
template <class T>
std::size_t held(const std::optional<T>& value) {
    return value ? held_by(*value) : 0;
}
template <class T>
std::size_t held(const std::vector<T>& list) {
    auto out = allocated(list.capacity() * sizeof(T));
    if constexpr (!std::is_trivially_copyable_v<T>) {
        for (const auto& item : list) out += held_by(item);
    }
    return out;
}
template <class K, class V, class C>
std::size_t held(const std::map<K, V, C>& entries) {
    auto out = entries.size() * allocated(node + sizeof(std::pair<const K, V>));
    for (const auto& [key, value] : entries) out += held_by(key) + held_by(value);
    return out;
}
/// All members of any type: a member that is added to a record is counted without a change here, or
/// does not compile.
template <class T>
    requires std::is_class_v<T> && std::is_aggregate_v<T>
std::size_t held(const T& record) {
    std::size_t out = 0;
    boost::pfr::for_each_field(record, [&](const auto& member) { out += held_by(member); });
    return out;
}

}  // namespace footprint_of

/// Bytes on the heap that `value` owns, its own size aside. Text, lists, maps, optional values and
/// records of these.
template <class T>
std::size_t held_by(const T& value) {
    if constexpr (std::is_trivially_copyable_v<T>) {
        return 0;
    } else {
        return footprint_of::held(value);
    }
}

}  // namespace esi::model

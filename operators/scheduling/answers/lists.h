// The bounds of an answer, which must not grow with the cluster: of every list in it, and of the
// total of its jobs and pods, as each of them has lists of its own.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "model/footprint.h"

namespace esi::scheduling::answers {

/// Bound of each list. The member NAME_left_out beside the list counts the rest.
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

/// Bound of the memory of an answer's entries, about the same as text: as long as an answer of a
/// list (interface/v1/reads.h). The entry that exceeds it is the last one.
inline constexpr std::size_t most_bytes = 4u << 20;

/// Counts the bytes of an answer.
class answer_size {
public:
    std::size_t bytes() const { return bytes_; }
    bool is_full() const { return bytes_ >= most_bytes; }
    /// Takes nothing more.
    void fill() { bytes_ = std::max(bytes_, most_bytes); }
    template <class T>
    void count(const T& entry) {
        bytes_ += sizeof(T) + model::held_by(entry);
    }

private:
    std::size_t bytes_ = 0;
};

/// The same while the whole answer has room, too.
template <class T, class Make>
void add(std::vector<T>& list, std::int64_t& left_out, answer_size& of_all, Make make) {
    if (of_all.is_full()) {
        ++left_out;
        return;
    }
    const auto before = list.size();
    add(list, left_out, std::move(make));
    if (list.size() > before) of_all.count(list.back());
}

/// The first entries of `from`.
template <class T>
std::vector<T> first_of(const std::vector<T>& from, std::int64_t& left_out) {
    std::vector<T> out;
    for (const auto& each : from) add(out, left_out, [&] { return each; });
    return out;
}

}  // namespace esi::scheduling::answers

// Values that are valid for a time, bounded in number and bytes: the least recently used one goes
// first. No I/O and no clock of its own.
#pragma once

#include <cstddef>
#include <iterator>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/clock.h"

namespace esi::interface::v1 {

template <class Value>
class bounded_cache {
public:
    explicit bounded_cache(std::size_t most, std::size_t most_bytes = 4u << 20)
        : most_(most), most_bytes_(most_bytes) {}

    /// Null if there is no valid value. Usable until the next put().
    Value* find(std::string_view key, steady_time now) {
        const auto known = by_key_.find(key);
        if (known == by_key_.end()) return nullptr;
        const auto at = known->second;
        if (at->until <= now) {
            drop(at);
            return nullptr;
        }
        entries_.splice(entries_.begin(), entries_, at);
        return &at->value;
    }

    /// `bytes`: the size of the value, without the key. A value too large for the whole cache is
    /// not kept; then null.
    Value* put(std::string key, Value value, steady_time until, std::size_t bytes = sizeof(Value)) {
        if (const auto known = by_key_.find(key); known != by_key_.end()) drop(known->second);
        bytes += key.size();
        if (bytes > most_bytes_ || most_ == 0) return nullptr;
        entries_.push_front({std::move(key), std::move(value), until, bytes});
        by_key_.emplace(entries_.front().key, entries_.begin());
        bytes_ += bytes;
        while (entries_.size() > most_ || bytes_ > most_bytes_) drop(std::prev(entries_.end()));
        return &entries_.front().value;
    }

    std::size_t size() const { return entries_.size(); }
    std::size_t bytes() const { return bytes_; }

private:
    struct entry {
        std::string key;
        Value value;
        steady_time until;
        std::size_t bytes = 0;
    };
    using place = typename std::list<entry>::iterator;

    void drop(place at) {
        bytes_ -= at->bytes;
        by_key_.erase(at->key);
        entries_.erase(at);
    }

    std::size_t most_;
    std::size_t most_bytes_;
    std::size_t bytes_ = 0;
    /// The most recently used is the first.
    std::list<entry> entries_;
    std::unordered_map<std::string_view, place> by_key_;
};

}  // namespace esi::interface::v1

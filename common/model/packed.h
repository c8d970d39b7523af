// An object as a short string of bytes, for caches of many thousands: its key, and its members that
// are not at their default. Known words, uids and numbers take a few bytes each. The form is of
// this process alone; it is never written or sent.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

namespace esi::model {

struct pod;

/// Namespace and name; compares as object_key does.
using key_view = std::pair<std::string_view, std::string_view>;

/// One object, in one allocation.
class packed {
public:
    packed() = default;
    packed(const key_view& key, std::string_view body);

    /// Refers to this object's bytes.
    key_view key() const;
    std::string_view body() const;
    /// The memory that it takes beside itself, without the allocator's own bytes.
    std::size_t size() const;
    /// Equal objects of one kind have equal bytes.
    friend bool operator==(const packed& a, const packed& b) { return a.whole() == b.whole(); }

private:
    std::string_view whole() const { return {bytes_.get(), size()}; }
    std::unique_ptr<char[]> bytes_;
};

packed pack(const pod& object);
/// `into` has every member at its default. The result equals what was packed.
void unpack(const packed& from, pod& into);

}  // namespace esi::model

// Kubernetes resource quantities ("600m", "1.75Gi", "2") as integers of a thousandth.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"

namespace esi::model {

/// A parsed quantity with the text it came from. Compared by value, so "1" == "1000m".
/// Values above 9.2e15 saturate; fractions below a thousandth are rounded up, as Kubernetes does.
/// Source: k8s.io/apimachinery/pkg/api/resource, the grammar in its package comment.
struct quantity {
    std::string text;
    std::int64_t milli = 0;

    static result<quantity> parse(std::string_view text);
    /// Rounds up to whole units: bytes for memory, cores for cpu.
    std::int64_t units() const;
    bool operator==(const quantity& other) const { return milli == other.milli; }
    auto operator<=>(const quantity& other) const { return milli <=> other.milli; }
};

using resource_list = std::map<std::string, quantity, std::less<>>;

/// Amounts per resource name, in thousandths: what is added and compared.
using amounts = std::map<std::string, std::int64_t, std::less<>>;

amounts to_amounts(const resource_list& list);
void add(amounts& to, const amounts& what);
/// May go below zero if more is taken than there is. As add() and times() it stops at the largest
/// number instead of overflowing: a pod may request any quantity.
void take(amounts& from, const amounts& what);
std::int64_t plus(std::int64_t a, std::int64_t b);
/// `count` is 0 or more.
std::int64_t times(std::int64_t amount, int count);
/// Per resource the larger of both.
void raise(amounts& to, const amounts& what);

/// "600m" for cpu, "1.75Gi" for memory: the shortest text with that value, for messages.
std::string show(std::string_view resource, std::int64_t milli);

}  // namespace esi::model

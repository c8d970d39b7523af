// Bounds on the rules of a gang's pods, as their authors choose how much they ask for. A gang whose
// rules a plan cannot check in a short time is refused by name, before anything is read for it.
// Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "placement/question.h"

namespace esi::placement::planning {

/// Bounds of one member: affinity and topology spread as text, required terms for other pods, and
/// the rest.
using model::most_rule_text;
constexpr std::size_t most_terms = 64;
constexpr std::size_t most_claims = 16;
constexpr std::size_t most_ports = 64;
constexpr std::size_t most_tolerations = 256;
/// Bounds of a gang: different texts of affinity and spread, claims, namespaces whose pods are
/// read, kinds of members that have terms.
constexpr std::size_t most_texts = 2 * 1024 * 1024;
constexpr std::size_t most_claims_of_all = 1000;
constexpr std::size_t most_namespaces = 32;
constexpr std::size_t most_classes_with_terms = 64;
/// Comparisons of labels that the terms of a gang may cost: with its own members and with
/// namespaces; and with the pods of the cluster.
constexpr std::int64_t most_comparisons = 1'000'000;
constexpr std::int64_t most_pod_comparisons = 10'000'000;

/// The members' rules about pods near them; members with equal rules share one entry.
struct rules_of_members {
    std::vector<near_rules> kinds;
    /// By member: its place in `kinds`.
    std::vector<std::size_t> of;
    /// Why a plan is refused; then the rest is not complete.
    std::string too_much;
};
rules_of_members rules_of(std::span<const pod_pointer> members);

/// How many comparisons it takes to match one pod against the terms.
std::int64_t weight_of(const label_selector& selector);
std::int64_t weight_of(const near_rules& rules);

/// What has to be read. If `too_much` is not empty, it says why nothing is read.
struct bounded_needs {
    needs what;
    std::string too_much;
};
bounded_needs bounded_needs_of(std::span<const pod_pointer> members, const rules_of_members& rules,
                               const namespace_labels* known);

}  // namespace esi::placement::planning

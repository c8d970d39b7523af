#include "kube/watch/share.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>

namespace esi::kube {

namespace {

double mebibytes(std::size_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

}  // namespace

void namespace_shares::add(std::string_view ns, std::size_t bytes) {
    auto found = shares_.find(ns);
    if (found == shares_.end()) found = shares_.emplace(std::string(ns), share()).first;
    found->second.bytes += bytes;
}

void namespace_shares::take(std::string_view ns, std::size_t bytes) {
    const auto found = shares_.find(ns);
    if (found == shares_.end()) return;
    auto& of = found->second;
    of.bytes -= std::min(bytes, of.bytes);
    of.stuck_at = of.bytes <= limit_ ? 0 : std::min(of.stuck_at, of.bytes);
    if (of.bytes == 0) shares_.erase(found);
}

void namespace_shares::came(const model::object_key& key, std::size_t weight) {
    add(key.namespace_, weight);
}

void namespace_shares::changed(const model::object_key& key, std::size_t before,
                               std::size_t after) {
    left_out_.erase(key);
    add(key.namespace_, after);
    take(key.namespace_, before);
    if (after < before) note_room(key.namespace_);
}

void namespace_shares::gone(const model::object_key& key, std::size_t weight) {
    left_out_.erase(key);
    take(key.namespace_, weight);
    note_room(key.namespace_);
}

void namespace_shares::left_out(const model::object_key& key, std::size_t weight) {
    left_out_.insert_or_assign(key, weight);
}

bool namespace_shares::stays_left_out(const model::object_key& key, std::size_t weight) const {
    return left_out_.contains(key) && bytes_of(key.namespace_) + weight > goal();
}

bool namespace_shares::is_above(std::string_view ns) const {
    if (limit_ == 0) return false;
    const auto found = shares_.find(ns);
    if (found == shares_.end()) return false;
    const auto& of = found->second;
    return of.bytes > limit_ && of.bytes > of.stuck_at + (of.stuck_at == 0 ? 0 : limit_ / 16);
}

bool namespace_shares::is_within_goal(std::string_view ns) const { return bytes_of(ns) <= goal(); }

void namespace_shares::looked_at(std::string_view ns) {
    const auto found = shares_.find(ns);
    if (found == shares_.end()) return;
    auto& of = found->second;
    of.stuck_at = of.bytes > limit_ ? of.bytes : 0;
}

std::vector<std::string> namespace_shares::above() const {
    std::vector<std::string> out;
    for (const auto& [ns, unused] : shares_) {
        if (is_above(ns)) out.push_back(ns);
    }
    return out;
}

void namespace_shares::listed(std::string_view ns) {
    if (ns.empty()) {
        roomy_.clear();
    } else if (const auto found = roomy_.find(ns); found != roomy_.end()) {
        roomy_.erase(found);
    }
}

void namespace_shares::note_room(std::string_view ns) {
    if (left_out_.empty() || limit_ == 0) return;
    const auto bytes = bytes_of(ns);
    const auto fits = [&](const auto& each) {
        return each.first.namespace_ == ns && bytes + each.second <= goal();
    };
    if (std::ranges::any_of(left_out_, fits)) roomy_.emplace(ns);
}

std::size_t namespace_shares::bytes_of(std::string_view ns) const {
    const auto found = shares_.find(ns);
    return found == shares_.end() ? 0 : found->second.bytes;
}

std::size_t namespace_shares::bytes() const {
    std::size_t out = 0;
    for (const auto& each : shares_ | std::views::values) out += each.bytes;
    return out;
}

std::size_t namespace_shares::largest() const {
    std::size_t out = 0;
    for (const auto& each : shares_ | std::views::values) out = std::max(out, each.bytes);
    return out;
}

std::string namespace_shares::left_out_text(std::string_view member, std::size_t weight) const {
    return fmt::format(
        "{}{}it takes {:.1f} MiB of memory, and all objects of the kind {} in one namespace may "
        "take {:.1f} MiB together (--cache-share-bytes): make it smaller, or delete others",
        member, member.empty() ? "" : ": ", mebibytes(weight), kind_, mebibytes(limit_));
}

}  // namespace esi::kube

#include "interface/v1/events/ids.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

namespace esi::interface::v1::events {

namespace {

constexpr char letters[] = {'t', 'j', 's'};

/// FNV-1a: the same in each process and build.
std::uint32_t check_of(const std::vector<std::string>& names, std::string_view ns,
                       std::string_view labels) {
    std::uint32_t out = 2166136261u;
    auto all = names;
    all.emplace_back(ns);
    if (!labels.empty()) all.emplace_back(labels);
    for (const auto& name : all) {
        for (const char c : name + "/") {
            out = (out ^ static_cast<unsigned char>(c)) * 16777619u;
        }
    }
    return out;
}

bool take(std::string_view& from, std::string_view what) {
    if (!from.starts_with(what)) return false;
    from.remove_prefix(what.size());
    return true;
}

bool take(std::string_view& from, version& into) {
    const auto* end = from.data() + from.size();
    const auto read = std::from_chars(from.data(), end, into);
    if (read.ec != std::errc() || read.ptr == from.data()) return false;
    // One text for each number.
    if (*from.data() == '0' && read.ptr - from.data() > 1) return false;
    from.remove_prefix(static_cast<std::size_t>(read.ptr - from.data()));
    return true;
}

}  // namespace

const kube::resource_type& type_of(kind of) {
    switch (of) {
        case kind::testbed:
            return kube::types::testbed;
        case kind::batchjob:
            return kube::types::batchjob;
        case kind::scheduling:
            break;
    }
    return kube::types::scheduling;
}

std::string_view word_of(kind of) {
    return of == kind::batchjob ? std::string_view("jobs") : type_of(of).plural;
}

std::optional<kind> kind_of_word(std::string_view word) {
    for (const auto each : all_kinds) {
        if (word_of(each) == word) return each;
    }
    return std::nullopt;
}

version version_of(std::string_view text) {
    version out = 0;
    return take(text, out) && text.empty() ? out : 0;
}

void raise(positions& to, const positions& other) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = std::max(to[i], other[i]);
}

bool at_least(const positions& have, const positions& want) {
    return std::ranges::equal(have, want, std::ranges::greater_equal());
}

feed_table::feed_table(std::vector<std::string> namespaces) : namespaces_(std::move(namespaces)) {
    std::ranges::sort(namespaces_);
    namespaces_.erase(std::ranges::unique(namespaces_).begin(), namespaces_.end());
    if (namespaces_.empty()) namespaces_.emplace_back();
}

std::optional<std::size_t> feed_table::find(kind of, std::string_view ns) const {
    const auto base = static_cast<std::size_t>(of) * namespaces_.size();
    if (!limited()) return base;
    const auto found = std::ranges::lower_bound(namespaces_, ns);
    if (found == namespaces_.end() || *found != ns) return std::nullopt;
    return base + static_cast<std::size_t>(found - namespaces_.begin());
}

std::vector<std::size_t> feed_table::select(const std::vector<kind>& kinds,
                                            std::string_view ns) const {
    std::vector<std::size_t> out;
    for (const auto each : kinds) {
        for (std::size_t i = 0; i < namespaces_.size(); ++i) {
            if (!ns.empty() && limited() && namespaces_[i] != ns) continue;
            out.push_back(static_cast<std::size_t>(each) * namespaces_.size() + i);
        }
    }
    return out;
}

id_form::id_form(const feed_table& of, const std::vector<kind>& kinds, std::string_view ns,
                 std::string_view labels)
    : all_(of.size()), feeds_(of.select(kinds, ns)) {
    std::string before;
    if (of.limited() || !ns.empty() || !labels.empty()) {
        before = fmt::format("n{:x}.", check_of(of.namespaces(), ns, labels));
    }
    for (std::size_t i = 0; i < feeds_.size(); ++i) {
        const auto which = of.kind_of(feeds_[i]);
        if (i > 0) before = which == of.kind_of(feeds_[i - 1]) ? "_" : ".";
        if (before != "_") before += letters[static_cast<std::size_t>(which)];
        parts_.push_back({feeds_[i], std::exchange(before, {})});
    }
}

std::string id_form::id(const positions& of) const {
    std::string out;
    for (const auto& each : parts_) {
        out += each.before;
        out += std::to_string(of[each.feed]);
    }
    return out;
}

std::optional<positions> id_form::parse(std::string_view id) const {
    positions out(all_);
    for (const auto& each : parts_) {
        if (!take(id, each.before) || !take(id, out[each.feed])) return std::nullopt;
    }
    if (!id.empty()) return std::nullopt;
    return out;
}

}  // namespace esi::interface::v1::events

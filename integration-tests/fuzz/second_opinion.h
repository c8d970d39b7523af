// The records read a second time, from nlohmann's DOM, by rules written down here again: what
// model/json.h makes of a text has to agree. Slow and plain; for fuzz targets only.
#pragma once

#include <boost/describe.hpp>
#include <boost/mp11/algorithm.hpp>
#include <cerrno>
#include <cstdlib>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "model/json.h"
#include "model/names.h"

namespace esi::fuzz::opinion {

using nlohmann::json;

template <class T>
concept described = boost::describe::has_describe_members<T>::value;

// --- equality of records ---

template <class T>
bool same(const std::vector<T>& a, const std::vector<T>& b);
template <class T, class C>
bool same(const std::map<std::string, T, C>& a, const std::map<std::string, T, C>& b);
template <class T>
bool same(const std::optional<T>& a, const std::optional<T>& b);

template <class T>
bool same(const T& a, const T& b) {
    if constexpr (described<T>) {
        bool out = true;
        using members = boost::describe::describe_members<T, boost::describe::mod_public>;
        boost::mp11::mp_for_each<members>(
            [&](auto member) { out = out && same(a.*member.pointer, b.*member.pointer); });
        return out;
    } else if constexpr (std::is_same_v<T, model::quantity>) {
        return a.text == b.text && a.milli == b.milli;
    } else if constexpr (std::is_same_v<T, model::testbed_layout>) {
        return a == b && same(a.resources_per_slot, b.resources_per_slot);
    } else if constexpr (std::is_same_v<T, model::raw_json>) {
        return a.text == b.text ||
               (!a.text.empty() && !b.text.empty() && json::parse(a.text) == json::parse(b.text));
    } else {
        return a == b;
    }
}
template <class T>
bool same(const std::vector<T>& a, const std::vector<T>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const T& x, const T& y) { return same(x, y); });
}
template <class T, class C>
bool same(const std::map<std::string, T, C>& a, const std::map<std::string, T, C>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
        return x.first == y.first && same(x.second, y.second);
    });
}
/// What is there and empty is not written, so it is as good as absent.
template <class T>
bool same(const std::optional<T>& a, const std::optional<T>& b) {
    if (a && b) return same(*a, *b);
    if constexpr (requires(const T& value) { value.empty(); }) {
        return (!a || a->empty()) && (!b || b->empty());
    } else {
        return !a && !b;
    }
}

// --- reading; false: refused ---

inline bool read(const json& from, std::string& out) {
    if (from.is_null()) return true;
    if (!from.is_string()) return false;
    out = from.get<std::string>();
    return true;
}
inline bool read(const json& from, bool& out) {
    if (from.is_null()) return true;
    if (!from.is_boolean()) return false;
    out = from.get<bool>();
    return true;
}
inline bool read(const json& from, std::int64_t& out) {
    if (from.is_null()) return true;
    if (!from.is_number_integer()) return false;
    if (from.is_number_unsigned() &&
        from.get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX)) {
        return false;
    }
    out = from.get<std::int64_t>();
    return true;
}
inline bool read(const json& from, int& out) {
    std::int64_t wide = out;
    if (!read(from, wide) || wide < std::numeric_limits<int>::min() ||
        wide > std::numeric_limits<int>::max()) {
        return false;
    }
    out = static_cast<int>(wide);
    return true;
}
inline bool read(const json& from, model::timestamp& out) {
    auto parsed = from.is_string() ? model::timestamp::parse(from.get<std::string>())
                                   : fail(errc::decode, "");
    if (parsed) out = *parsed;
    return parsed.has_value();
}
inline bool read(const json& from, model::quantity& out) {
    std::string text;
    if (from.is_string()) {
        text = from.get<std::string>();
    } else if (std::int64_t whole = 0; from.is_number_integer() && read(from, whole)) {
        text = std::to_string(whole);
    } else if (from.is_number()) {
        text = fmt::format("{}", from.get<double>());
    } else {
        return false;
    }
    auto parsed = model::quantity::parse(text);
    if (parsed) out = *parsed;
    return parsed.has_value();
}
inline bool read(const json& from, model::raw_json& out) {
    out.text = from.dump();
    return true;
}

template <class T>
bool read(const json& from, std::optional<T>& out);
template <class T>
bool read(const json& from, std::vector<T>& out);
template <class T, class C>
bool read(const json& from, std::map<std::string, T, C>& out);
inline bool read(const json& from, model::object_meta& out);
inline bool read(const json& from, model::testbed_layout& out);
template <described T>
bool read(const json& from, T& out);

template <class T>
bool read(const json& from, std::optional<T>& out) {
    return from.is_null() || read(from, out.emplace());
}
template <class T>
bool read(const json& from, std::vector<T>& out) {
    if (from.is_null()) return true;
    if (!from.is_array()) return false;
    for (const auto& item : from) {
        if (!read(item, out.emplace_back())) return false;
    }
    return true;
}
template <class T, class C>
bool read(const json& from, std::map<std::string, T, C>& out) {
    if (from.is_null()) return true;
    if (!from.is_object()) return false;
    for (const auto& [key, value] : from.items()) {
        if (!read(value, out[key])) return false;
    }
    return true;
}

/// The value at a path of members; null where anything on the way is missing.
inline const json& at(const json& from, std::initializer_list<const char*> path) {
    static const json nothing;
    const json* here = &from;
    for (const char* name : path) {
        if (!here->is_object()) return nothing;
        const auto found = here->find(name);
        if (found == here->end()) return nothing;
        here = &*found;
    }
    return *here;
}
/// Absent leaves the default.
template <class T>
bool member(const json& from, std::initializer_list<const char*> path, T& out) {
    const auto& value = at(from, path);
    return value.is_null() || read(value, out);
}
/// Lenient: what is not a text reads as none.
inline std::string text(const json& from, std::initializer_list<const char*> path) {
    const auto& value = at(from, path);
    return value.is_string() ? value.get<std::string>() : std::string();
}
inline std::optional<model::timestamp> time(const json& from,
                                            std::initializer_list<const char*> path) {
    auto parsed = model::timestamp::parse(text(from, path));
    return parsed ? std::optional(*parsed) : std::nullopt;
}

inline bool read(const json& from, model::object_meta& out) {
    if (from.is_null()) return true;
    if (!from.is_object()) return false;
    bool ok = member(from, {"name"}, out.name) && member(from, {"namespace"}, out.namespace_) &&
              member(from, {"uid"}, out.uid) &&
              member(from, {"resourceVersion"}, out.resource_version) &&
              member(from, {"generation"}, out.generation) &&
              member(from, {"creationTimestamp"}, out.creation_timestamp) &&
              member(from, {"deletionTimestamp"}, out.deletion_timestamp) &&
              member(from, {"labels"}, out.labels) &&
              member(from, {"ownerReferences"}, out.owner_references) &&
              member(from, {"finalizers"}, out.finalizers);
    if (const auto& annotations = at(from, {"annotations"}); annotations.is_object()) {
        for (const auto& [key, value] : annotations.items()) {
            if (!key.starts_with(model::names::prefix)) continue;
            out.annotations[key] = value.is_string() ? value.get<std::string>() : std::string();
        }
    }
    return ok;
}

/// "NAME UID ID", and what else may follow after one space.
inline bool read_line(const std::string& line, model::layout_node& out) {
    std::vector<std::string> fields{""};
    for (const char c : line) {
        if (c == ' ') {
            fields.emplace_back();
        } else {
            fields.back() += c;
        }
    }
    if (fields.size() < 3 || fields[0].empty() || fields[1].empty()) return false;
    const auto digits = fields[2].substr(fields[2].starts_with("-") ? 1 : 0);
    if (digits.empty() || digits.find_first_not_of("0123456789") != std::string::npos) return false;
    errno = 0;
    out = {fields[0], fields[1], std::strtoll(fields[2].c_str(), nullptr, 10)};
    return errno == 0;
}

/// One of two lists.
inline bool read(const json& from, model::testbed_layout& out) {
    if (from.is_null()) return true;
    if (!from.is_object()) return false;
    std::vector<std::string> lines;
    if (!member(from, {"revision"}, out.revision) || !member(from, {"nodes"}, out.nodes) ||
        !member(from, {"compactNodes"}, lines) ||
        !member(from, {"slotsPerNode"}, out.slots_per_node) ||
        !member(from, {"resourcesPerSlot"}, out.resources_per_slot)) {
        return false;
    }
    out.compact = !lines.empty();
    if (out.compact && !out.nodes.empty()) return false;
    for (const auto& line : lines) {
        if (!read_line(line, out.nodes.emplace_back())) return false;
    }
    return true;
}

template <described T>
bool read(const json& from, T& out) {
    if (from.is_null()) return true;
    if (!from.is_object()) return false;
    bool ok = true;
    using members = boost::describe::describe_members<T, boost::describe::mod_public>;
    boost::mp11::mp_for_each<members>([&](auto described_member) {
        if (!ok) return;
        const auto found = from.find(model::json_name(described_member.name));
        if (found != from.end()) ok = read(*found, out.*described_member.pointer);
    });
    return ok;
}

}  // namespace esi::fuzz::opinion

#include "server/api/metadata.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace esi::simulation {

namespace {

/// Steele, Lea, Flood: Fast splittable pseudorandom number generators (splitmix64).
std::uint64_t mixed(std::uint64_t value) {
    value += 0x9e3779b97f4a7c15U;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9U;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebU;
    return value ^ (value >> 31);
}

bool is_alphanumeric(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

bool is_label(std::string_view text) {
    return !text.empty() && text.size() <= 63 && is_alphanumeric(text.front()) &&
           is_alphanumeric(text.back()) &&
           std::ranges::all_of(text, [](char c) { return is_alphanumeric(c) || c == '-'; });
}

bool is_subdomain(std::string_view text) {
    if (text.empty() || text.size() > 253) return false;
    while (true) {
        const auto dot = text.find('.');
        const auto part = text.substr(0, dot);
        // The regular expression of the server knows no 63 here.
        if (part.empty() || !is_alphanumeric(part.front()) || !is_alphanumeric(part.back())) {
            return false;
        }
        if (!std::ranges::all_of(part, [](char c) { return is_alphanumeric(c) || c == '-'; })) {
            return false;
        }
        if (dot == std::string_view::npos) return true;
        text = text.substr(dot + 1);
    }
}

json value_in(const json& metadata, const char* key) {
    const auto found = metadata.find(key);
    return found == metadata.end() ? json() : *found;
}

void put_back(json& metadata, const json& before, const char* key) {
    const auto found = before.find(key);
    if (found != before.end()) {
        metadata[key] = *found;
    } else {
        metadata.erase(key);
    }
}

int number_at(std::string_view text, std::size_t from, std::size_t length) {
    int out = -1;
    const auto* begin = text.data() + from;
    const auto [end, code] = std::from_chars(begin, begin + length, out);
    return code == std::errc() && end == begin + length ? out : -1;
}

}  // namespace

std::string_view text_in(const json& object, std::string_view key) {
    if (!object.is_object()) return {};
    const auto found = object.find(key);
    if (found == object.end() || !found->is_string()) return {};
    return found->get_ref<const std::string&>();
}

const json& metadata_of(const json& body) { return body.at("metadata"); }
json& metadata_of(json& body) { return body.at("metadata"); }

std::string_view metadata_text(const json& body, std::string_view key) {
    return text_in(metadata_of(body), key);
}

std::optional<std::int64_t> metadata_number(const json& body, std::string_view key) {
    const auto& metadata = metadata_of(body);
    const auto found = metadata.find(key);
    if (found == metadata.end() || !found->is_number_integer()) return std::nullopt;
    return found->get<std::int64_t>();
}

bool is_deleting(const json& body) { return !metadata_text(body, "deletionTimestamp").empty(); }

bool has_finalizers(const json& body) {
    const auto& metadata = metadata_of(body);
    const auto found = metadata.find("finalizers");
    return found != metadata.end() && !found->empty();
}

const json* object_in(const json& body, std::string_view key) {
    const auto found = body.find(key);
    return found != body.end() && found->is_object() ? &*found : nullptr;
}

std::string time_text(wall_time when) {
    const auto second = std::chrono::floor<std::chrono::seconds>(when);
    const auto day = std::chrono::floor<std::chrono::days>(second);
    const std::chrono::year_month_day date(day);
    const std::chrono::hh_mm_ss time(second - day);
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", static_cast<int>(date.year()),
                       static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                       time.hours().count(), time.minutes().count(), time.seconds().count());
}

std::optional<wall_time> time_from(std::string_view text) {
    if (text.size() != 20) return std::nullopt;
    const std::chrono::year_month_day date(
        std::chrono::year(number_at(text, 0, 4)),
        std::chrono::month(static_cast<unsigned>(number_at(text, 5, 2))),
        std::chrono::day(static_cast<unsigned>(number_at(text, 8, 2))));
    if (!date.ok()) return std::nullopt;
    return wall_time(std::chrono::sys_days(date)) + std::chrono::hours(number_at(text, 11, 2)) +
           std::chrono::minutes(number_at(text, 14, 2)) +
           std::chrono::seconds(number_at(text, 17, 2));
}

std::string uid_number(std::uint64_t n) {
    const auto high = mixed(2 * n);
    const auto low = mixed(2 * n + 1);
    // Version 4, variant 1.
    return fmt::format("{:08x}-{:04x}-4{:03x}-{:x}{:03x}-{:012x}", high >> 32,
                       (high >> 16) & 0xffff, high & 0xfff, 8 + ((low >> 60) & 3),
                       (low >> 48) & 0xfff, low & 0xffffffffffff);
}

std::string suffix_number(std::uint64_t n) {
    // apimachinery's rand.String: no vowels, nothing that looks like another.
    static constexpr std::string_view letters = "bcdfghjklmnpqrstvwxz2456789";
    auto left = mixed(~n);
    std::string out;
    for (int i = 0; i < 5; ++i, left /= letters.size()) out += letters[left % letters.size()];
    return out;
}

void tidy_metadata(json& body) {
    auto& metadata = metadata_of(body);
    metadata.erase("managedFields");
    metadata.erase("selfLink");
    for (auto at = metadata.begin(); at != metadata.end();) {
        const bool nothing = at->is_null() || (at->is_structured() && at->empty()) ||
                             (at->is_string() && at->get_ref<const std::string&>().empty());
        at = nothing ? metadata.erase(at) : std::next(at);
    }
}

std::vector<fault_cause> name_faults(std::string_view name, bool label) {
    if (name.empty()) {
        return {{"metadata.name", "FieldValueRequired",
                 "Required value: name or generateName is required"}};
    }
    if (label ? is_label(name) : is_subdomain(name)) return {};
    if (label) {
        return {{"metadata.name", "FieldValueInvalid",
                 fmt::format("Invalid value: \"{}\": a lowercase RFC 1123 label must consist of "
                             "lower case alphanumeric characters or '-', and must start and end "
                             "with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex "
                             "used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
                             name)}};
    }
    if (name.size() > 253) {
        return {{"metadata.name", "FieldValueInvalid",
                 fmt::format("Invalid value: \"{}\": must be no more than 253 bytes", name)}};
    }
    return {{"metadata.name", "FieldValueInvalid",
             fmt::format("Invalid value: \"{}\": a lowercase RFC 1123 subdomain must consist of "
                         "lower case alphanumeric characters, '-' or '.', and must start and end "
                         "with an alphanumeric character (e.g. 'example.com', regex used for "
                         "validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*"
                         "[a-z0-9])?)*')",
                         name)}};
}

void keep_system_metadata(json& body, const json& before) {
    auto& metadata = metadata_of(body);
    const auto& old = metadata_of(before);
    put_back(metadata, old, "generation");
    put_back(metadata, old, "creationTimestamp");
    if (text_in(metadata, "uid").empty()) put_back(metadata, old, "uid");
    if (old.contains("namespace")) metadata["namespace"] = old["namespace"];
    if (is_deleting(before)) {
        put_back(metadata, old, "deletionTimestamp");
        if (!metadata.contains("deletionGracePeriodSeconds")) {
            put_back(metadata, old, "deletionGracePeriodSeconds");
        }
    }
}

std::vector<fault_cause> immutable_faults(const json& body, const json& before) {
    std::vector<fault_cause> out;
    const auto& metadata = metadata_of(body);
    const auto& old = metadata_of(before);
    for (const char* key :
         {"name", "namespace", "uid", "deletionTimestamp", "deletionGracePeriodSeconds"}) {
        const auto now = value_in(metadata, key);
        if (now == value_in(old, key)) continue;
        out.push_back({std::string("metadata.") + key, "FieldValueInvalid",
                       "Invalid value: " + now.dump() + ": field is immutable"});
    }
    return out;
}

bool same_but_metadata(const json& a, const json& b) {
    const auto covered = [](const json& first, const json& second) {
        for (const auto& [key, value] : first.items()) {
            if (key == "metadata") continue;
            const auto found = second.find(key);
            if (found == second.end() || *found != value) return false;
        }
        return true;
    };
    return a.size() == b.size() && covered(a, b);
}

}  // namespace esi::simulation

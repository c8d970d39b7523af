// Faults of a body and the place where they are, in the words of the API server. A path is a stack
// of views into the body and the schema, and becomes text only for a fault: most writes have none.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/validation/validation.h"

namespace esi::simulation {

using faults = std::vector<fault_cause>;

class field_path {
public:
    /// Keeps one part on the path as long as it lives.
    class step {
    public:
        step(field_path& path) : path_(path) {}
        step(const step&) = delete;
        step& operator=(const step&) = delete;
        ~step() { path_.parts_.pop_back(); }

    private:
        field_path& path_;
    };

    [[nodiscard]] step child(std::string_view name) {
        parts_.push_back({name, 0, kind::member});
        return step(*this);
    }
    /// A key of a map: ".key" for the schema's own faults, "[key]" for all others.
    [[nodiscard]] step key(std::string_view name) {
        parts_.push_back({name, 0, kind::entry});
        return step(*this);
    }
    [[nodiscard]] step index(std::size_t at) {
        parts_.push_back({{}, at, kind::item});
        return step(*this);
    }

    std::string text() const { return text(false); }
    std::string schema_text() const { return text(true); }

private:
    enum class kind { member, entry, item };
    struct part {
        std::string_view name;
        std::size_t at;
        kind what;
    };
    std::vector<part> parts_;

    std::string text(bool keys_as_members) const {
        std::string out;
        for (const auto& each : parts_) {
            if (each.what == kind::item) {
                out += "[" + std::to_string(each.at) + "]";
            } else if (each.what == kind::entry && !keys_as_members) {
                out.append("[").append(each.name).append("]");
            } else {
                if (!out.empty()) out += '.';
                out += each.name;
            }
        }
        return out;
    }
};

/// The value as the API server shows it in a message.
inline std::string shown(const json& value) {
    return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

inline fault_cause invalid(std::string field, const json& value, std::string_view why) {
    return {std::move(field), "FieldValueInvalid",
            "Invalid value: " + shown(value) + ": " + std::string(why)};
}
/// Of an object or a list, which is not shown.
inline fault_cause invalid(std::string field, std::string_view why) {
    return {std::move(field), "FieldValueInvalid", "Invalid value: " + std::string(why)};
}
inline fault_cause required(std::string field, std::string_view why = {}) {
    return {std::move(field), "FieldValueRequired",
            why.empty() ? "Required value" : "Required value: " + std::string(why)};
}
inline fault_cause forbidden(std::string field, std::string_view why) {
    return {std::move(field), "FieldValueForbidden", "Forbidden: " + std::string(why)};
}
inline fault_cause duplicate(std::string field, const json& value) {
    return {std::move(field), "FieldValueDuplicate", "Duplicate value: " + shown(value)};
}
inline fault_cause not_supported(std::string field, const json& value,
                                 const std::vector<std::string>& supported) {
    std::string list;
    for (const auto& each : supported) {
        list += (list.empty() ? "" : ", ") + shown(json(each));
    }
    return {std::move(field), "FieldValueNotSupported",
            "Unsupported value: " + shown(value) + ": supported values: " + list};
}

/// The member, or null where there is none or it is null.
inline const json* find_member(const json& object, std::string_view name) {
    if (!object.is_object()) return nullptr;
    const auto at = object.find(name);
    return at == object.end() || at->is_null() ? nullptr : &*at;
}
/// The text, or an empty one.
inline std::string_view text_of(const json* value) {
    return value && value->is_string() ? std::string_view(value->get_ref<const std::string&>())
                                       : std::string_view();
}
inline std::string_view text_member(const json& object, std::string_view name) {
    return text_of(find_member(object, name));
}
/// The list, or null.
inline const json* list_member(const json& object, std::string_view name) {
    const auto* at = find_member(object, name);
    return at && at->is_array() ? at : nullptr;
}

}  // namespace esi::simulation

// How long a record is as JSON, without making the JSON: checked by an operator before it writes a
// status. Never less than the result of model::encode, nor than the API server stores of it. Pure.
#pragma once

#include "model/json.h"

namespace esi::model {

std::size_t json_size(std::string_view text);
inline std::size_t json_size(const std::string& text) { return json_size(std::string_view(text)); }
inline std::size_t json_size(const quantity& value) { return json_size(value.text); }
inline std::size_t json_size(const raw_json& value) { return value.text.size(); }
std::size_t json_size(const testbed_layout& layout);

namespace detail {

/// Members with such values are omitted.
template <class T>
bool is_left_out(const T& value) {
    if constexpr (requires { value.has_value(); }) {
        return !value.has_value();
    } else if constexpr (requires { value.empty(); }) {
        return value.empty();
    } else {
        return false;
    }
}

// Values that are never longer.
inline constexpr std::size_t longest_time = 29;
inline constexpr std::size_t longest_bool = 5;
inline constexpr std::size_t longest_int = 11;
inline constexpr std::size_t longest_number = 24;
/// Quotes and colon of a name, and the comma after the value.
inline constexpr std::size_t around_member = 4;
inline constexpr std::size_t brackets = 2;

}  // namespace detail

template <class T>
std::size_t json_size(const T& value) {
    if constexpr (std::is_same_v<T, timestamp>) {
        return detail::longest_time;
    } else if constexpr (std::is_same_v<T, bool>) {
        return detail::longest_bool;
    } else if constexpr (std::is_same_v<T, int>) {
        return detail::longest_int;
    } else if constexpr (std::is_arithmetic_v<T>) {
        return detail::longest_number;
    } else if constexpr (requires { value.has_value(); }) {
        return value ? json_size(*value) : 0;
    } else if constexpr (requires { typename T::mapped_type; }) {
        std::size_t out = detail::brackets;
        for (const auto& [key, each] : value) {
            out += json_size(key) + json_size(each) + detail::around_member;
        }
        return out;
    } else if constexpr (requires { value.begin(); }) {
        std::size_t out = detail::brackets;
        for (const auto& each : value) out += json_size(each) + 1;
        return out;
    } else {
        std::size_t out = detail::brackets;
        using members = boost::describe::describe_members<T, boost::describe::mod_public>;
        boost::mp11::mp_for_each<members>([&](auto member) {
            const auto& field = value.*member.pointer;
            if (detail::is_left_out(field)) return;
            // A member's name in C++ is never shorter than in JSON.
            out += std::string_view(member.name).size() + json_size(field) + detail::around_member;
        });
        return out;
    }
}

}  // namespace esi::model

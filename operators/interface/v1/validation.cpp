#include "interface/v1/validation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "http/nesting.h"
#include "interface/v1/wire/problems.h"
#include "model/text.h"

namespace esi::interface::v1 {

namespace {

using nlohmann::json;

/// Above it a number with a fraction cannot represent each whole number.
constexpr double largest_whole = 9007199254740992.0;

/// In JSON 2.0 is a whole number as 2 is, and some languages write all numbers so.
void to_whole_numbers(json& in) {
    if (in.is_number_float()) {
        const auto value = in.get<double>();
        if (std::abs(value) <= largest_whole && std::trunc(value) == value) {
            in = static_cast<std::int64_t>(value);
        }
    }
    if (!in.is_structured()) return;
    for (auto& each : in) to_whole_numbers(each);
}

std::string_view type_name(const json& value) {
    switch (value.type()) {
        case json::value_t::null:
            return "null";
        case json::value_t::boolean:
            return "boolean";
        case json::value_t::string:
            return "string";
        case json::value_t::object:
            return "object";
        case json::value_t::array:
            return "array";
        case json::value_t::number_integer:
        case json::value_t::number_unsigned:
            return "integer";
        default:
            return "number";
    }
}

bool has_type(const json& value, std::string_view type) {
    const auto own = type_name(value);
    return own == type || (type == "number" && own == "integer");
}

const ordered_json& resolved(const ordered_json& schema) {
    const auto found = schema.find("$ref");
    if (found == schema.end()) return schema;
    const auto path = found->get<std::string>();
    return schemas().at(path.substr(path.rfind('/') + 1));
}

std::string shown(const json& value) {
    return model::cut(value.dump(-1, ' ', false, json::error_handler_t::replace), 100);
}

/// Characters, as the API server counts them.
std::size_t length_of(const std::string& text) {
    return static_cast<std::size_t>(std::ranges::count_if(
        text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0u) != 0x80u; }));
}

struct checker {
    faults& wrong;

    void type(const ordered_json& schema, const json& value, const std::string& pointer,
              bool& right) {
        const auto found = schema.find("type");
        if (found == schema.end()) return;
        if (found->is_array()) {
            right = std::ranges::any_of(*found, [&](const auto& each) {
                return has_type(value, each.template get<std::string>());
            });
        } else {
            right = has_type(value, found->get<std::string>());
        }
        if (right) return;
        add_fault(wrong, pointer, problem_code::field_type,
                  fmt::format("must be of type {}, not {}",
                              found->is_array() ? found->front().get<std::string>()
                                                : found->get<std::string>(),
                              type_name(value)));
    }

    void words(const ordered_json& schema, const json& value, const std::string& pointer) {
        if (const auto found = schema.find("const"); found != schema.end()) {
            const auto text = found->get<std::string>();
            if (value != text) {
                add_fault(wrong, pointer, problem_code::field_value,
                          fmt::format("must be {}, not {}", text, shown(value)));
            }
        }
        const auto found = schema.find("enum");
        if (found == schema.end() || !value.is_string()) return;
        std::vector<std::string> known;
        for (const auto& each : *found) {
            if (each.is_string()) known.push_back(each.get<std::string>());
        }
        if (std::ranges::find(known, value.get_ref<const std::string&>()) != known.end()) return;
        add_fault(wrong, pointer, problem_code::field_value,
                  fmt::format("must be one of {}, not {}", fmt::join(known, ", "), shown(value)));
    }

    void range(const ordered_json& schema, const json& value, const std::string& pointer) {
        if (!value.is_number()) return;
        const auto low = schema.find("minimum");
        const auto high = schema.find("maximum");
        const bool is_32 = schema.value("format", "") == "int32";
        const double least =
            low == schema.end() ? (is_32 ? -2147483648.0 : -9e18) : low->get<double>();
        const double most =
            high == schema.end() ? (is_32 ? 2147483647.0 : 9e18) : high->get<double>();
        const auto number = value.get<double>();
        if (number >= least && number <= most) return;
        add_fault(wrong, pointer, problem_code::field_value,
                  fmt::format("must be a number from {:.0f} to {:.0f}, not {}", least, most,
                              shown(value)));
    }

    void size(const ordered_json& schema, std::size_t size, const char* least, const char* most,
              const char* of, const std::string& pointer) {
        if (const auto found = schema.find(most);
            found != schema.end() && size > found->get<std::size_t>()) {
            add_fault(wrong, pointer, problem_code::too_long,
                      fmt::format("has {} {}, at most {} are allowed", size, of,
                                  found->get<std::size_t>()));
        }
        if (const auto found = schema.find(least);
            found != schema.end() && size < found->get<std::size_t>()) {
            add_fault(wrong, pointer, problem_code::field_value,
                      fmt::format("has {} {}, at least {} must be given", size, of,
                                  found->get<std::size_t>()));
        }
    }

    void object(const ordered_json& schema, const json& value, const std::string& pointer) {
        size(schema, value.size(), "minProperties", "maxProperties", "members", pointer);
        const auto properties = schema.find("properties");
        const auto others = schema.find("additionalProperties");
        for (const auto& [key, each] : value.items()) {
            if (properties != schema.end() && properties->contains(key)) {
                const auto& own = (*properties)[key];
                if (!own.value("readOnly", false)) check(own, each, pointer_to(pointer, key));
            } else if (others != schema.end() && others->is_object()) {
                check(*others, each, pointer_to(pointer, key));
            } else if (others != schema.end() && others->is_boolean() && !others->get<bool>()) {
                add_fault(wrong, pointer_to(pointer, key), problem_code::field_unknown,
                          "there is no such member");
            }
        }
        if (const auto needed = schema.find("required"); needed != schema.end()) {
            for (const auto& each : *needed) {
                const auto name = each.get<std::string>();
                if (value.contains(name)) continue;
                add_fault(wrong, pointer_to(pointer, name), problem_code::field_missing,
                          "must be given");
            }
        }
    }

    void check(const ordered_json& schema, const json& value, const std::string& pointer) {
        if (wrong.size() >= most_faults) return;
        if (const auto either = schema.find("anyOf"); either != schema.end()) {
            if (!value.is_null()) check(either->front(), value, pointer);
            return;
        }
        const auto& rules = resolved(schema);
        bool right = true;
        type(rules, value, pointer, right);
        if (!right) return;
        words(rules, value, pointer);
        range(rules, value, pointer);
        if (value.is_string()) {
            size(rules, length_of(value.get_ref<const std::string&>()), "minLength", "maxLength",
                 "characters", pointer);
        } else if (value.is_array()) {
            size(rules, value.size(), "minItems", "maxItems", "entries", pointer);
            const auto items = rules.find("items");
            if (items == rules.end()) return;
            std::size_t index = 0;
            for (const auto& each : value) check(*items, each, pointer_to(pointer, index++));
        } else if (value.is_object()) {
            object(rules, value, pointer);
        }
    }
};

/// Finds repeated members of an object; for a text that has been parsed once.
class doubled_members final : public nlohmann::json_sax<json> {
public:
    explicit doubled_members(faults& wrong) : wrong_(wrong) {}

    bool start_object(std::size_t) override {
        open_.emplace_back();
        return true;
    }
    bool end_object() override {
        open_.pop_back();
        return true;
    }
    bool key(string_t& name) override {
        if (!open_.back().insert(name).second) {
            add_fault(wrong_, "", problem_code::field_twice,
                      fmt::format("the member {} is given more than once", shown(name)));
        }
        return true;
    }
    bool null() override { return true; }
    bool boolean(bool) override { return true; }
    bool number_integer(number_integer_t) override { return true; }
    bool number_unsigned(number_unsigned_t) override { return true; }
    bool number_float(number_float_t, const string_t&) override { return true; }
    bool string(string_t&) override { return true; }
    bool binary(binary_t&) override { return true; }
    bool start_array(std::size_t) override { return true; }
    bool end_array() override { return true; }
    bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
        return false;
    }

private:
    faults& wrong_;
    /// Names of the members of each object that is open.
    std::vector<std::unordered_set<std::string>> open_;
};

}  // namespace

void add_fault(faults& wrong, std::string pointer, std::string_view code, std::string detail) {
    if (wrong.size() >= most_faults) return;
    wrong.push_back({std::move(pointer), std::string(code), std::move(detail)});
}

std::string pointer_to(const std::string& pointer, std::string_view member) {
    auto out = pointer + "/";
    for (const char c : model::cut(member, 200)) {
        if (c == '~') {
            out += "~0";
        } else if (c == '/') {
            out += "~1";
        } else {
            out += c;
        }
    }
    return out;
}

std::string pointer_to(const std::string& pointer, std::size_t index) {
    return pointer + "/" + std::to_string(index);
}

std::expected<json, faults> parse_body(std::string_view body) {
    faults wrong;
    if (http::nests_deeper_than(deepest_body, body)) {
        add_fault(wrong, "", problem_code::too_deep,
                  fmt::format("the body nests deeper than {} levels", deepest_body));
        return std::unexpected(std::move(wrong));
    }
    json out;
    try {
        // Without a callback: with one the parser goes over an array again for each of its entries.
        out = json::parse(body);
        doubled_members look(wrong);
        json::sax_parse(body, &look);
    } catch (const json::exception& e) {
        // "[json.exception.parse_error.101] parse error at line 1, column 2: ..."
        std::string why = e.what();
        if (const auto end = why.find("] "); end != std::string::npos) why.erase(0, end + 2);
        wrong.clear();
        add_fault(wrong, "", problem_code::not_json,
                  body.empty() ? "the body is missing" : model::cut(why, 300));
        return std::unexpected(std::move(wrong));
    }
    if (!wrong.empty()) return std::unexpected(std::move(wrong));
    to_whole_numbers(out);
    return out;
}

void validate(const ordered_json& schema, const json& value, const std::string& pointer,
              faults& wrong) {
    checker{wrong}.check(schema, value, pointer);
}

}  // namespace esi::interface::v1

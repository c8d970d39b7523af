#include "sweep/properties.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>

#include "server/validation/schema.h"

namespace esi::simulation {

namespace {

/// What no schema of ours means by a text.
constexpr std::string_view odd_texts[][2] = {
    {"upper-case", "Upper.Case"}, {"blank", " "},       {"unicode", "slot-\u00e9\u6f22\U0001F642"},
    {"slashes", "../a/b"},        {"quote", "a\"b\\c"}, {"number-as-text", "1"},
};

std::string text_member(const json& schema, const char* key) {
    const auto found = schema.find(key);
    return found != schema.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::optional<std::int64_t> bound(const json& schema, const char* key) {
    const auto found = schema.find(key);
    if (found == schema.end() || !found->is_number_integer()) return std::nullopt;
    return found->get<std::int64_t>();
}

bool flag(const json& schema, const char* key) {
    const auto found = schema.find(key);
    return found != schema.end() && found->is_boolean() && found->get<bool>();
}

bool is_required(const json& parent, const std::string& name) {
    const auto found = parent.find("required");
    if (found == parent.end() || !found->is_array()) return false;
    return std::ranges::find(*found, json(name)) != found->end();
}

void walk(const json& schema, std::vector<std::string>& path, bool required,
          std::vector<property>& out) {
    if (!path.empty()) out.push_back({path, schema, required});
    if (const auto members = schema.find("properties"); members != schema.end()) {
        for (const auto& [name, member] : members->items()) {
            path.push_back(name);
            walk(member, path, is_required(schema, name), out);
            path.pop_back();
        }
    }
    if (const auto items = schema.find("items"); items != schema.end()) {
        path.emplace_back("0");
        walk(*items, path, true, out);
        path.pop_back();
    }
    if (const auto more = schema.find("additionalProperties");
        more != schema.end() && more->is_object()) {
        path.emplace_back(key_of_map);
        walk(*more, path, false, out);
        path.pop_back();
    }
}

/// Values of all types; those of `type` are left out.
void add_wrong_types(const std::string& type, std::vector<trial>& out) {
    const std::pair<const char*, json> of_each[] = {
        {"object", json{{"a", 1}}},
        {"array", json::array({"a"})},
        {"string", "text"},
        {"boolean", true},
        {"integer", 7},
        {"number", 1.5},
    };
    for (const auto& [name, value] : of_each) {
        if (name != type) out.push_back({fmt::format("as-{}", name), value, true});
    }
}

void add_numbers(const json& schema, const std::optional<json>& present, std::vector<trial>& out) {
    const auto least = bound(schema, "minimum");
    const auto most = bound(schema, "maximum");
    if (least) {
        out.push_back({"below-minimum", *least - 1, true});
        out.push_back({"minimum", *least});
    }
    if (most) {
        out.push_back({"maximum", *most});
        out.push_back({"above-maximum", *most + 1, true});
    }
    if (text_member(schema, "format") == "int32") {
        out.push_back({"above-int32", std::int64_t{2147483648}, true});
        if (!least) out.push_back({"negative", -1});
        if (!most) out.push_back({"largest-int32", 2147483647});
    }
    if (present && present->is_number_integer()) {
        const auto now = present->get<std::int64_t>();
        out.push_back({"one-more", now + 1, most && now + 1 > *most});
        out.push_back({"as-whole-float", static_cast<double>(now + 1), most && now + 1 > *most});
    }
}

void add_texts(const json& schema, std::vector<trial>& out) {
    const auto choices = schema.find("enum");
    const bool chosen = choices != schema.end();
    if (chosen) {
        for (const auto& one : *choices) {
            out.push_back({fmt::format("choice-{}", one.get<std::string>()), one});
        }
        out.push_back({"no-choice", "none-of-these", true});
    }
    const auto least = bound(schema, "minLength").value_or(0);
    const auto most = bound(schema, "maxLength");
    out.push_back({"empty", "", least > 0 || chosen});
    if (most) {
        const auto length = static_cast<std::size_t>(*most);
        out.push_back({"longest", std::string(length, 'a'), chosen});
        out.push_back({"too-long", std::string(length + 1, 'a'), true});
    }
    for (const auto& [label, text] : odd_texts) {
        out.push_back({std::string(label), std::string(text), chosen});
    }
    if (!chosen) out.push_back({"changed", "another"});
}

void add_lists(const json& schema, const std::optional<json>& present, std::vector<trial>& out) {
    const auto least = bound(schema, "minItems").value_or(0);
    const auto most = bound(schema, "maxItems");
    out.push_back({"empty", json::array(), least > 0});
    if (!present || !present->is_array() || present->empty()) return;
    const auto first = present->front();
    auto twice = *present;
    twice.push_back(first);
    out.push_back({"twice", twice, text_member(schema, "x-kubernetes-list-type") == "set"});
    auto shorter = *present;
    shorter.erase(shorter.size() - 1);
    out.push_back({"shorter", shorter, static_cast<std::int64_t>(shorter.size()) < least});
    auto turned = *present;
    std::ranges::reverse(turned);
    out.push_back({"turned-round", turned});
    auto with_null = *present;
    with_null.push_back(nullptr);
    out.push_back({"with-null", with_null, true});
    if (!most) return;
    json many = json::array();
    const auto numbers = first.is_number_integer();
    for (std::int64_t i = 0; i <= *most; ++i) many.push_back(numbers ? json(i) : first);
    out.push_back({"too-many", many, true});
    many.erase(many.size() - 1);
    out.push_back({"most", many});
}

void add_objects(const json& schema, const std::optional<json>& present, std::vector<trial>& out) {
    const auto required = schema.find("required");
    const bool open = flag(schema, "x-kubernetes-preserve-unknown-fields");
    const auto least = bound(schema, "minProperties").value_or(0);
    out.push_back({"empty", json::object(), required != schema.end() || least > 0});
    auto with = [&](std::string key, json value) {
        json out_ = present && present->is_object() ? *present : json::object();
        out_[std::move(key)] = std::move(value);
        return out_;
    };
    if (open) {
        json deep = "end";
        for (int i = 0; i < 60; ++i) deep = json{{"a", std::move(deep)}};
        out.push_back({"deep", with("deep", deep)});
        // Beyond what ESI reads.
        for (int i = 0; i < 400; ++i) deep = json{{"a", std::move(deep)}};
        out.push_back({"too-deep", with("deep", std::move(deep))});
        out.push_back({"long", with("long", std::string(200000, 'x'))});
        out.push_back({"odd-key", with("a/b~c \u6f22", json::array({1, nullptr, "x"}))});
        return;
    }
    if (present && present->is_object()) out.push_back({"with-unknown", with("unknownKey", 1)});
    const auto more = schema.find("additionalProperties");
    const auto most = bound(schema, "maxProperties");
    if (more == schema.end() || !more->is_object() || !present || !present->is_object() ||
        present->empty()) {
        return;
    }
    const auto value = present->begin().value();
    out.push_back({"one-more", with("example.com/gpu", value)});
    out.push_back({"odd-key", with("a b/\u6f22", value)});
    out.push_back({"empty-key", with("", value)});
    if (!most) return;
    auto many = *present;
    for (int i = 0; static_cast<std::int64_t>(many.size()) <= *most; ++i) {
        many[fmt::format("example.com/r{}", i)] = value;
    }
    out.push_back({"too-many", many, true});
}

void add_quantities(std::vector<trial>& out) {
    for (const auto* good : {"1", "100m", "1e3", "1Ki", "0.5", "1E"}) {
        out.push_back({fmt::format("quantity-{}", good), good});
    }
    out.push_back({"integer", 1});
    out.push_back({"zero", 0, true});
    out.push_back({"zero-text", "0", true});
    out.push_back({"zero-milli", "0m", true});
    out.push_back({"below-zero", "-1", true});
    out.push_back({"no-quantity", "lots", true});
    out.push_back({"no-suffix", "1 Gi", true});
    out.push_back({"too-long", std::string(65, '1'), true});
    out.push_back({"huge", "99999999999999999999"});
    out.push_back({"fraction", 1.5, true});
}

}  // namespace

json spec_schema(const std::string& crd_file) {
    const auto whole = to_json(YAML::LoadFile(crd_file));
    const json::json_pointer at("/spec/versions/0/schema/openAPIV3Schema/properties/spec");
    if (!whole.contains(at)) throw std::runtime_error(crd_file + ": has no schema of a spec");
    return whole.at(at);
}

std::string property::name() const { return fmt::format("{}", fmt::join(path, ".")); }

json::json_pointer property::pointer() const {
    json::json_pointer out;
    for (const auto& part : path) {
        const bool index = part.find_first_not_of("0123456789") == std::string::npos;
        if (index) {
            out /= static_cast<std::size_t>(std::stoul(part));
        } else {
            out /= part;
        }
    }
    return out;
}

std::vector<property> properties(const json& spec_schema) {
    std::vector<property> out;
    std::vector<std::string> path;
    walk(spec_schema, path, true, out);
    return out;
}

std::vector<trial> trials(const property& of, const std::optional<json>& present) {
    std::vector<trial> out;
    const auto& schema = of.schema;
    const bool item = of.path.back() == "0";
    const bool defaulted = schema.contains("default");
    if (!item) out.push_back({"absent", std::nullopt, of.required && !defaulted});
    // A null that is not allowed is taken away before the object is judged, but not out of a list.
    out.push_back({"null", json(nullptr), (of.required && !defaulted) || item});

    if (flag(schema, "x-kubernetes-int-or-string")) {
        add_wrong_types("", out);
        std::erase_if(out, [](const trial& one) {
            return one.label == "as-string" || one.label == "as-integer";
        });
        add_quantities(out);
        return out;
    }
    const auto type = text_member(schema, "type");
    add_wrong_types(type, out);
    if (type == "integer") add_numbers(schema, present, out);
    if (type == "string") add_texts(schema, out);
    if (type == "array") add_lists(schema, present, out);
    if (type == "object") {
        add_objects(schema, present, out);
        // An object without bounds takes any object: {"a": 1} has no wrong type there.
    }
    if (type == "boolean") {
        const bool now = present && present->is_boolean() && present->get<bool>();
        out.push_back({"changed", !now});
    }
    // What is written there already is no trial.
    std::erase_if(out,
                  [&](const trial& one) { return one.value && present && *one.value == *present; });
    return out;
}

}  // namespace esi::simulation

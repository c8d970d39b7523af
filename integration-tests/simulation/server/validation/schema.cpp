#include "server/validation/schema.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace esi::simulation {

namespace {

constexpr std::string_view root_members[] = {"apiVersion", "kind", "metadata"};

const char* type_name(const json& value) {
    return value.is_number_integer() ? "integer" : value.type_name();
}

bool is_integer(const json& value) {
    if (value.is_number_integer()) return true;
    if (!value.is_number_float()) return false;
    const auto number = value.get<double>();
    return std::trunc(number) == number;
}

std::size_t characters(std::string_view text) {
    return static_cast<std::size_t>(std::ranges::count_if(
        text, [](char each) { return (static_cast<unsigned char>(each) & 0xC0U) != 0x80U; }));
}

/// RFC 3339, as strfmt.IsDateTime reads it: a date, 'T', a time with an optional fraction, a zone.
bool is_date_time(std::string_view text) {
    constexpr std::string_view form = "0000-00-00T00:00:00";
    if (text.size() < form.size() + 1) return false;
    for (std::size_t i = 0; i < form.size(); ++i) {
        const bool digit = text[i] >= '0' && text[i] <= '9';
        if (form[i] == '0'   ? !digit
            : form[i] == 'T' ? text[i] != 'T' && text[i] != 't'
                             : text[i] != form[i]) {
            return false;
        }
    }
    const auto number = [&](std::size_t at) {
        return (text[at] - '0') * 10 + (text[at + 1] - '0');
    };
    if (number(5) < 1 || number(5) > 12 || number(8) < 1 || number(8) > 31 || number(11) > 23 ||
        number(14) > 59 || number(17) > 59) {
        return false;
    }
    auto rest = text.substr(form.size());
    if (rest.starts_with('.')) {
        const auto end = rest.find_first_not_of("0123456789", 1);
        if (end == std::string_view::npos || end == 1) return false;
        rest.remove_prefix(end);
    }
    if (rest == "Z" || rest == "z") return true;
    return rest.size() == 6 && (rest[0] == '+' || rest[0] == '-') && rest[3] == ':' &&
           std::ranges::all_of(std::string_view("\1\2\4\5"), [&](char at) {
               const char each = rest[static_cast<std::size_t>(at)];
               return each >= '0' && each <= '9';
           });
}

}  // namespace

bool schema::knows_at_root(const std::string& key) const {
    return root_ && std::ranges::find(root_members, key) != std::end(root_members);
}

const schema* schema::member(std::string_view name) const {
    const auto at = members_.find(name);
    return at == members_.end() ? nullptr : at->second.get();
}

/// The schema of a member or map entry; null where there is none.
const schema* schema::of_key(const std::string& key, bool& is_member) const {
    const auto at = members_.find(key);
    is_member = at != members_.end();
    return is_member ? at->second.get() : additional_.get();
}

void schema::prepare(json& value) const {
    if (value.is_array()) {
        if (!items_) return;
        for (auto& each : value) items_->prepare(each);
        return;
    }
    if (!value.is_object()) return;
    for (auto at = value.begin(); at != value.end();) {
        if (knows_at_root(at.key())) {
            ++at;
            continue;
        }
        bool is_member = false;
        const auto* child = of_key(at.key(), is_member);
        const bool is_unknown = !child && !keeps_unknown_ && kind_ == kind::object;
        const bool is_dropped_null =
            child && at->is_null() && !child->nullable_ && !child->default_;
        if (is_unknown || is_dropped_null) {
            at = value.erase(at);
            continue;
        }
        if (child) {
            if (at->is_null() && !child->nullable_) *at = *child->default_;
            child->prepare(*at);
        }
        ++at;
    }
    for (const auto& [name, child] : members_) {
        if (child->default_ && !value.contains(name)) value[name] = *child->default_;
    }
}

void schema::find_unknown(const json& value, field_path& at, std::vector<std::string>& out) const {
    if (value.is_array() && items_) {
        for (std::size_t i = 0; i < value.size(); ++i) {
            const auto here = at.index(i);
            items_->find_unknown(value[i], at, out);
        }
    }
    if (!value.is_object()) return;
    for (const auto& each : value.items()) {
        if (knows_at_root(each.key())) continue;
        bool is_member = false;
        const auto* child = of_key(each.key(), is_member);
        const auto here = at.child(each.key());
        if (child) {
            child->find_unknown(each.value(), at, out);
        } else if (!keeps_unknown_ && kind_ == kind::object) {
            out.push_back(at.text());
        }
    }
}

void schema::check_values(const json& value, const json* old, field_path& at, faults& out) const {
    const auto known = out.size();
    judge(value, old, at, out);
    if (out.size() > known && old && *old == value) out.resize(known);
}

void schema::judge(const json& value, const json* old, field_path& at, faults& out) const {
    if (value.is_null() && nullable_) return;
    if (!check_type(value, at, out)) return;
    if (!enum_.empty() && value.is_string() &&
        std::ranges::find(enum_, value.get_ref<const std::string&>()) == enum_.end()) {
        out.push_back(not_supported(at.schema_text(), value, enum_));
    }
    if (value.is_string()) {
        check_text(value.get_ref<const std::string&>(), at, out);
    } else if (value.is_number()) {
        check_number(value, at, out);
    } else if (value.is_array()) {
        check_count(value.size(), "items", at, out);
        for (std::size_t i = 0; items_ && i < value.size(); ++i) {
            const auto here = at.index(i);
            items_->check_values(value[i], old_item(value[i], old), at, out);
        }
    } else if (value.is_object()) {
        check_count(value.size(), "properties", at, out);
        for (const auto& name : required_) {
            if (value.contains(name)) continue;
            const auto here = at.child(name);
            out.push_back(required(at.schema_text()));
        }
        for (auto each = value.begin(); each != value.end(); ++each) {
            if (knows_at_root(each.key())) continue;
            bool is_member = false;
            const auto* child = of_key(each.key(), is_member);
            if (!child) continue;
            const auto here = is_member ? at.child(each.key()) : at.key(each.key());
            child->check_values(*each, old ? find_member(*old, each.key()) : nullptr, at, out);
        }
    }
}

bool schema::check_type(const json& value, const field_path& at, faults& out) const {
    bool fits = true;
    const char* wanted = "";
    switch (kind_) {
        case kind::any:
            return true;
        case kind::object:
            fits = value.is_object(), wanted = "object";
            break;
        case kind::array:
            fits = value.is_array(), wanted = "array";
            break;
        case kind::text:
            fits = value.is_string(), wanted = "string";
            break;
        case kind::integer:
            fits = is_integer(value), wanted = "integer";
            break;
        case kind::number:
            fits = value.is_number(), wanted = "number";
            break;
        case kind::boolean:
            fits = value.is_boolean(), wanted = "boolean";
            break;
        case kind::int_or_text:
            fits = is_integer(value) || value.is_string(), wanted = "integer,string";
            break;
    }
    if (fits) return true;
    const auto path = at.schema_text();
    const std::string type = type_name(value);
    out.push_back({path, "FieldValueTypeInvalid",
                   "Invalid value: \"" + type + "\": " + path + " in body must be of type " +
                       wanted + ": \"" + type + "\""});
    return false;
}

void schema::check_text(const std::string& text, const field_path& at, faults& out) const {
    if (form_ == form::date_time && !is_date_time(text)) {
        const auto path = at.schema_text();
        out.push_back({path, "FieldValueTypeInvalid",
                       "Invalid value: " + shown(text) + ": " + path +
                           " in body must be of type date-time: " + shown(text)});
    }
    if (!least_ && !most_ && !pattern_) return;
    const auto length = characters(text);
    if (least_ && length < *least_) {
        const auto path = at.schema_text();
        out.push_back(invalid(
            path, text,
            path + " in body should be at least " + std::to_string(*least_) + " chars long"));
    }
    if (most_ && length > *most_) {
        out.push_back({at.schema_text(), "FieldValueTooLong",
                       "Too long: may not be more than " + std::to_string(*most_) + " bytes"});
    }
    if (pattern_ && !std::regex_search(text, *pattern_)) {
        const auto path = at.schema_text();
        out.push_back(invalid(path, text, path + " in body should match '" + pattern_text_ + "'"));
    }
}

void schema::check_number(const json& value, const field_path& at, faults& out) const {
    const auto number = value.get<double>();
    if (form_ == form::int32 && (number < std::numeric_limits<std::int32_t>::min() ||
                                 number > std::numeric_limits<std::int32_t>::max())) {
        out.push_back(
            {"<nil>", "FieldValueInvalid",
             "Invalid value: \"\": Checked value must be of type integer with format int32 in " +
                 at.schema_text()});
    }
    const auto limit = [&](const char* relation, double bound) {
        const auto path = at.schema_text();
        const json shown_bound =
            is_integer(bound) ? json(static_cast<std::int64_t>(bound)) : json(bound);
        out.push_back(invalid(
            path, value,
            path + " in body should be " + relation + " than or equal to " + shown(shown_bound)));
    };
    if (minimum_ && number < *minimum_) limit("greater", *minimum_);
    if (maximum_ && number > *maximum_) limit("less", *maximum_);
}

void schema::check_count(std::size_t count, const char* what, const field_path& at,
                         faults& out) const {
    if (least_ && count < *least_) {
        const auto path = at.schema_text();
        out.push_back(invalid(
            path, count,
            path + " in body should have at least " + std::to_string(*least_) + " " + what));
    }
    if (most_ && count > *most_) {
        out.push_back({at.schema_text(), "FieldValueTooMany",
                       "Too many: " + std::to_string(count) + ": must have at most " +
                           std::to_string(*most_) + " items"});
    }
}

/// The element of the old list with the same keys; only elements of map lists can be found again.
const json* schema::old_item(const json& item, const json* old) const {
    if (list_ != list::map || !old || !old->is_array() || !item.is_object()) return nullptr;
    for (const auto& each : *old) {
        if (!each.is_object()) continue;
        const bool same = std::ranges::all_of(map_keys_, [&](const std::string& key) {
            const auto* mine = find_member(item, key);
            const auto* other = find_member(each, key);
            return mine && other ? *mine == *other : mine == other;
        });
        if (same) return &each;
    }
    return nullptr;
}

void schema::check_lists(const json& value, field_path& at, faults& out) const {
    if (!has_lists_) return;
    if (value.is_array()) {
        if (list_ != list::atomic && value.size() > 1) {
            std::map<json, int> seen;
            for (std::size_t i = 0; i < value.size(); ++i) {
                json key = value[i];
                if (list_ == list::map) {
                    key = json::object();
                    for (const auto& name : map_keys_) {
                        if (const auto* part = find_member(value[i], name)) key[name] = *part;
                    }
                }
                // An element is told as a duplicate once, at its second place.
                if (++seen[key] == 2) {
                    const auto here = at.index(i);
                    out.push_back(duplicate(at.text(), key));
                }
            }
        }
        for (std::size_t i = 0; items_ && items_->has_lists_ && i < value.size(); ++i) {
            const auto here = at.index(i);
            items_->check_lists(value[i], at, out);
        }
    } else if (value.is_object()) {
        for (auto each = value.begin(); each != value.end(); ++each) {
            bool is_member = false;
            const auto* child = of_key(each.key(), is_member);
            if (!child || !child->has_lists_) continue;
            const auto here = is_member ? at.child(each.key()) : at.key(each.key());
            child->check_lists(*each, at, out);
        }
    }
}

void schema::check_rules(const json& value, const json* old, field_path& at, faults& out) const {
    if (!has_rules_ || value.is_null()) return;
    run_rules(value, old, at, out);
    if (value.is_array() && items_ && items_->has_rules_) {
        for (std::size_t i = 0; i < value.size(); ++i) {
            const auto here = at.index(i);
            items_->check_rules(value[i], old_item(value[i], old), at, out);
        }
    } else if (value.is_object()) {
        for (auto each = value.begin(); each != value.end(); ++each) {
            bool is_member = false;
            const auto* child = of_key(each.key(), is_member);
            if (!child || !child->has_rules_) continue;
            const auto here = is_member ? at.child(each.key()) : at.key(each.key());
            child->check_rules(*each, old ? find_member(*old, each.key()) : nullptr, at, out);
        }
    }
}

void schema::run_rules(const json& value, const json* old, field_path& at, faults& out) const {
    if (rules_.empty()) return;
    // What did not change is accepted however wrong it is, unless the rule is about changes. Of a
    // scalar that is cheaper to see than to judge.
    const bool unchanged_scalar = old && value.is_primitive() && *old == value;
    for (const auto& each : rules_) {
        const bool about_changes = each.condition.uses_old_self();
        if (about_changes && !old && !each.optional_old_self) continue;
        if (!about_changes && unchanged_scalar) continue;
        const auto outcome = each.condition.holds(value, old);
        if (outcome.holds) continue;
        if (!outcome.error.empty()) {
            out.push_back(invalid(at.text(), outcome.error + " evaluating rule: " + each.message));
            continue;
        }
        if (!about_changes && old && *old == value) continue;
        auto path = at.text();
        if (!each.field.empty()) path += (path.empty() ? "" : ".") + each.field;
        if (each.reason == "FieldValueRequired") {
            out.push_back(required(path, each.message));
        } else if (each.reason == "FieldValueForbidden") {
            out.push_back(forbidden(path, each.message));
        } else if (value.is_structured()) {
            out.push_back(invalid(path, each.message));
        } else {
            out.push_back(invalid(path, value, each.message));
        }
    }
}

}  // namespace esi::simulation

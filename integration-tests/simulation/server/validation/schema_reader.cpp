#include <yaml-cpp/yaml.h>

#include <cmath>
#include <stdexcept>

#include "server/validation/schema.h"

namespace esi::simulation {

namespace {

[[noreturn]] void unknown(const std::string& where, const std::string& what) {
    throw std::runtime_error("schema " + where + ": " + what);
}

}  // namespace

json to_json(const YAML::Node& source) {
    if (source.IsMap()) {
        json out = json::object();
        for (const auto& each : source) out[each.first.Scalar()] = to_json(each.second);
        return out;
    }
    if (source.IsSequence()) {
        json out = json::array();
        for (const auto& each : source) out.push_back(to_json(each));
        return out;
    }
    if (!source.IsScalar()) return nullptr;
    const auto& text = source.Scalar();
    if (source.Tag() == "!") return text;  // quoted
    if (text == "true" || text == "false") return text == "true";
    if (text == "null" || text == "~" || text.empty()) return nullptr;
    // JSON's numbers are those that YAML writers mean: "-3", "0.5", and "1e9", which goes as an
    // integer.
    auto number = json::parse(text, nullptr, false);
    if (number.is_number_float() && std::trunc(number.get<double>()) == number.get<double>())
        return static_cast<std::int64_t>(number.get<double>());
    if (number.is_number()) return number;
    return text;
}

schema::schema(const YAML::Node& source, const std::string& where, bool root) : root_(root) {
    if (!source.IsMap()) unknown(where, "is not an object");
    for (const auto& each : source) {
        const auto& keyword = each.first.Scalar();
        if (!root || keyword != "properties") {
            read(keyword, each.second, where);
            continue;
        }
        for (const auto& member : each.second) {
            const auto& name = member.first.Scalar();
            if (knows_at_root(name)) continue;
            members_[name] = std::make_unique<schema>(member.second, where + "." + name);
        }
    }
    if (kind_ == kind::any && !keeps_unknown_) unknown(where, "no type");
    if (list_ == list::map && map_keys_.empty()) unknown(where, "a map list without keys");
    if (!rules_.empty()) has_rules_ = true;
    if (list_ != list::atomic) has_lists_ = true;
    const auto below = [this](const schema* child) {
        if (!child) return;
        has_rules_ |= child->has_rules_;
        has_lists_ |= child->has_lists_;
    };
    for (const auto& [name, child] : members_) below(child.get());
    below(items_.get());
    below(additional_.get());
    for (const auto& each : rules_) {
        for (const auto& name : each.condition.members()) {
            if (!members_.contains(name) && !(root_ && knows_at_root(name))) {
                unknown(where, "rule \"" + each.condition.text() + "\": unknown member " + name);
            }
        }
    }
}

void schema::read(const std::string& keyword, const YAML::Node& value, const std::string& where) {
    if (keyword == "description" || keyword == "title") return;
    if (keyword == "type") {
        const auto& name = value.Scalar();
        static const std::map<std::string, kind> kinds{
            {"object", kind::object},   {"array", kind::array},   {"string", kind::text},
            {"integer", kind::integer}, {"number", kind::number}, {"boolean", kind::boolean}};
        const auto at = kinds.find(name);
        if (at == kinds.end()) unknown(where, "unknown type " + name);
        kind_ = at->second;
    } else if (keyword == "format") {
        static const std::map<std::string, form> forms{
            {"int32", form::int32}, {"int64", form::int64}, {"date-time", form::date_time}};
        const auto at = forms.find(value.Scalar());
        if (at == forms.end()) unknown(where, "unknown format " + value.Scalar());
        form_ = at->second;
    } else if (keyword == "x-kubernetes-int-or-string") {
        if (value.as<bool>()) kind_ = kind::int_or_text;
    } else if (keyword == "anyOf") {
        // Stands beside int-or-string and says the same.
        if (to_json(value) != json::parse(R"([{"type": "integer"}, {"type": "string"}])")) {
            unknown(where, "unknown anyOf");
        }
    } else if (keyword == "nullable") {
        nullable_ = value.as<bool>();
    } else if (keyword == "x-kubernetes-preserve-unknown-fields") {
        keeps_unknown_ = value.as<bool>();
    } else if (keyword == "default") {
        default_ = to_json(value);
    } else if (keyword == "enum") {
        for (const auto& each : value) enum_.push_back(each.Scalar());
    } else if (keyword == "pattern") {
        pattern_text_ = value.Scalar();
        pattern_ = std::regex(pattern_text_, std::regex::ECMAScript | std::regex::optimize);
    } else if (keyword == "minimum") {
        minimum_ = value.as<double>();
    } else if (keyword == "maximum") {
        maximum_ = value.as<double>();
    } else if (keyword == "minLength" || keyword == "minItems" || keyword == "minProperties") {
        least_ = value.as<std::size_t>();
    } else if (keyword == "maxLength" || keyword == "maxItems" || keyword == "maxProperties") {
        most_ = value.as<std::size_t>();
    } else if (keyword == "required") {
        for (const auto& each : value) required_.push_back(each.Scalar());
    } else if (keyword == "properties") {
        for (const auto& each : value) {
            const auto& name = each.first.Scalar();
            members_[name] = std::make_unique<schema>(each.second, where + "." + name);
        }
    } else if (keyword == "items") {
        items_ = std::make_unique<schema>(value, where + "[]");
    } else if (keyword == "additionalProperties") {
        additional_ = std::make_unique<schema>(value, where + ".*");
    } else if (keyword == "x-kubernetes-list-type") {
        static const std::map<std::string, list> lists{
            {"atomic", list::atomic}, {"set", list::set}, {"map", list::map}};
        const auto at = lists.find(value.Scalar());
        if (at == lists.end()) unknown(where, "unknown list type " + value.Scalar());
        list_ = at->second;
    } else if (keyword == "x-kubernetes-list-map-keys") {
        for (const auto& each : value) map_keys_.push_back(each.Scalar());
    } else if (keyword == "x-kubernetes-validations") {
        for (const auto& each : value) read_rule(each, where);
    } else {
        unknown(where, "unknown keyword " + keyword);
    }
}

void schema::read_rule(const YAML::Node& source, const std::string& where) {
    std::string text;
    std::string reason = "FieldValueInvalid";
    std::string field;
    std::string message;
    bool optional = false;
    for (const auto& each : source) {
        const auto& name = each.first.Scalar();
        if (name == "rule") {
            text = each.second.Scalar();
        } else if (name == "reason") {
            reason = each.second.Scalar();
        } else if (name == "message") {
            message = each.second.Scalar();
        } else if (name == "optionalOldSelf") {
            optional = each.second.as<bool>();
        } else if (name == "fieldPath") {
            field = each.second.Scalar();
            if (field.starts_with('.')) field.erase(0, 1);
        } else {
            unknown(where, "unknown member of a rule " + name);
        }
    }
    if (reason != "FieldValueInvalid" && reason != "FieldValueRequired" &&
        reason != "FieldValueForbidden") {
        unknown(where, "unknown reason " + reason);
    }
    if (message.empty()) message = "failed rule: " + text;
    rules_.push_back({cel_rule(text, optional), optional, reason, field, message});
}

}  // namespace esi::simulation

#include "scheduling/interface/v1/objects.h"

#include <boost/describe.hpp>
#include <boost/mp11/algorithm.hpp>
#include <map>
#include <optional>
#include <type_traits>
#include <vector>

#include "model/json.h"

namespace esi::scheduling::v1 {

namespace {

template <class T>
ordered_json shown(const T& value);
template <class T>
ordered_json shown(const std::optional<T>& value);
template <class T>
ordered_json shown(const std::vector<T>& value);
template <class V, class C>
ordered_json shown(const std::map<std::string, V, C>& value);

/// What stands for an empty value inside of a list or map.
template <class T>
ordered_json inside(const T& value) {
    auto out = shown(value);
    return out.is_null() ? ordered_json(model::empty_of<T>()) : out;
}

template <class T>
ordered_json shown(const std::optional<T>& value) {
    return value ? shown(*value) : ordered_json(nullptr);
}

template <class T>
ordered_json shown(const std::vector<T>& value) {
    if (value.empty()) return nullptr;
    auto out = ordered_json::array();
    for (const auto& item : value) out.push_back(inside(item));
    return out;
}

template <class V, class C>
ordered_json shown(const std::map<std::string, V, C>& value) {
    if (value.empty()) return nullptr;
    auto out = ordered_json::object();
    for (const auto& [key, item] : value) out[key] = inside(item);
    return out;
}

template <class T>
ordered_json members_of(const T& value) {
    using members = boost::describe::describe_members<T, boost::describe::mod_public>;
    auto out = ordered_json::object();
    boost::mp11::mp_for_each<members>([&](auto member) {
        static const std::string name = model::json_name(member.name);
        auto each = shown(value.*member.pointer);
        if (!each.is_null()) out[name] = std::move(each);
    });
    return out;
}

template <class T>
ordered_json shown(const T& value) {
    if constexpr (std::is_same_v<T, model::timestamp>) {
        return time_text(value);
    } else if constexpr (std::is_same_v<T, model::testbed_layout>) {
        // Of its two forms in a Testbed's status always the list of objects.
        auto listed = value;
        listed.compact = false;
        return model::encode(listed);
    } else if constexpr (boost::describe::has_describe_members<T>::value) {
        return members_of(value);
    } else {
        return model::encode(value);
    }
}

ordered_json metadata_json(const model::object_meta& of) {
    auto out = ordered_json::object();
    out["name"] = of.name;
    out["namespace"] = of.namespace_;
    out["uid"] = of.uid;
    out["resourceVersion"] = of.resource_version;
    out["generation"] = of.generation;
    if (of.creation_timestamp) out["creationTimestamp"] = time_text(*of.creation_timestamp);
    if (of.deletion_timestamp) out["deletionTimestamp"] = time_text(*of.deletion_timestamp);
    if (!of.labels.empty()) out["labels"] = shown(of.labels);
    if (!of.annotations.empty()) out["annotations"] = shown(of.annotations);
    return out;
}

template <class T>
ordered_json whole(const T& of) {
    auto out = ordered_json::object();
    out["metadata"] = metadata_json(of.metadata);
    out["spec"] = members_of(of.spec);
    out["status"] = members_of(of.status);
    return out;
}

}  // namespace

ordered_json object_json(const model::testbed& of) { return whole(of); }
ordered_json object_json(const model::batchjob& of) { return whole(of); }
ordered_json object_json(const model::scheduling& of) { return whole(of); }

std::string time_text(const model::timestamp& when) {
    // "2026-11-21T09:34:07.149160Z"
    auto out = when.micro();
    out.replace(out.size() - 4, 4, "Z");
    return out;
}

std::string text_of(const ordered_json& body) {
    return body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace esi::scheduling::v1

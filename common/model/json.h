// JSON of the records: decoded with simdjson, encoded with nlohmann_json. Structs are described
// once (Boost.Describe); a member's JSON name is its name in camelCase (slot_ids -> slotIds,
// namespace_ -> namespace, pod_u_id -> podUId).
//
// Decoding: null and absent members leave the default; unknown members are ignored (the API server
// has checked them against the schema); a wrong type is an error that names the path. Members
// beside one that cannot be read are read all the same: an object of which only a part cannot be
// read is marked (object_meta::undecodable) and no error, so that this can be reported on it, and
// it can be released and deleted like any other. Encoding: empty optionals, strings, lists and maps
// are omitted; numbers and booleans are written.
#pragma once

#include <simdjson.h>

#include <boost/describe.hpp>
#include <boost/mp11/algorithm.hpp>
#include <concepts>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "base/result.h"
#include "model/batchjob.h"
#include "model/cluster.h"
#include "model/meta.h"
#include "model/parse.h"
#include "model/scheduling.h"
#include "model/testbed.h"
#include "model/text.h"

namespace esi::model {

using json = nlohmann::json;
using element = simdjson::dom::element;

/// "slot_ids" -> "slotIds", "namespace_" -> "namespace".
std::string json_name(std::string_view member);

/// decode() fills `out`; encode() gives null for a value that is omitted.
template <class T>
struct codec;

#define ESI_DECLARE_CODEC(type)                                     \
    template <>                                                     \
    struct codec<type> {                                            \
        static result<void> decode(const element& from, type& out); \
        static json encode(const type& value);                      \
    }
ESI_DECLARE_CODEC(std::string);
ESI_DECLARE_CODEC(bool);
ESI_DECLARE_CODEC(int);
ESI_DECLARE_CODEC(std::int64_t);
ESI_DECLARE_CODEC(double);
ESI_DECLARE_CODEC(timestamp);
ESI_DECLARE_CODEC(quantity);
ESI_DECLARE_CODEC(raw_json);
ESI_DECLARE_CODEC(testbed_layout);
/// Keeps only annotations with ESI's prefix and those that name a group.
ESI_DECLARE_CODEC(object_meta);
ESI_DECLARE_CODEC(pod);
ESI_DECLARE_CODEC(node);
ESI_DECLARE_CODEC(spark_application);
ESI_DECLARE_CODEC(custom_resource_definition);
#undef ESI_DECLARE_CODEC

/// The replacement of an empty value that cannot be omitted, inside of a list or map: null is
/// refused there.
template <class T>
json empty_of() {
    if constexpr (std::is_same_v<T, std::string>) {
        return "";
    } else if constexpr (requires { typename T::mapped_type; }) {
        return json::object();
    } else {
        return json::array();
    }
}

template <class T>
struct codec<std::optional<T>> {
    static result<void> decode(const element& from, std::optional<T>& out) {
        if (from.is_null()) return {};
        return codec<T>::decode(from, out.emplace());
    }
    static json encode(const std::optional<T>& value) {
        return value ? codec<T>::encode(*value) : json(nullptr);
    }
};

template <class T>
struct codec<std::vector<T>> {
    static result<void> decode(const element& from, std::vector<T>& out) {
        if (from.is_null()) return {};
        simdjson::dom::array list;
        if (from.get(list) != simdjson::SUCCESS) return fail(errc::decode, ": is not a list");
        for (element item : list) {
            if (auto done = codec<T>::decode(item, out.emplace_back()); !done) {
                const auto at = out.size() - 1;
                // All or none: half a list is another list.
                out.clear();
                return fail(errc::decode, "[" + std::to_string(at) + "]" + done.error().text);
            }
        }
        return {};
    }
    static json encode(const std::vector<T>& value) {
        if (value.empty()) return nullptr;
        json out = json::array();
        for (const auto& item : value) {
            auto encoded = codec<T>::encode(item);
            out.push_back(encoded.is_null() ? empty_of<T>() : std::move(encoded));
        }
        return out;
    }
};

template <class V, class C>
struct codec<std::map<std::string, V, C>> {
    static result<void> decode(const element& from, std::map<std::string, V, C>& out) {
        if (from.is_null()) return {};
        simdjson::dom::object members;
        if (from.get(members) != simdjson::SUCCESS) return fail(errc::decode, ": is not an object");
        for (auto member : members) {
            std::string key(member.key);
            if (auto done = codec<V>::decode(member.value, out[key]); !done) {
                out.clear();
                return fail(errc::decode, "." + key + done.error().text);
            }
        }
        return {};
    }
    static json encode(const std::map<std::string, V, C>& value) {
        if (value.empty()) return nullptr;
        json out = json::object();
        for (const auto& [key, item] : value) {
            auto encoded = codec<V>::encode(item);
            out[key] = encoded.is_null() ? empty_of<V>() : std::move(encoded);
        }
        return out;
    }
};

/// Any struct with BOOST_DESCRIBE_STRUCT.
template <class T>
    requires boost::describe::has_describe_members<T>::value
struct codec<T> {
    using members = boost::describe::describe_members<T, boost::describe::mod_public>;

    static result<void> decode(const element& from, T& out) {
        if (from.is_null()) return {};
        simdjson::dom::object object;
        if (from.get(object) != simdjson::SUCCESS) return fail(errc::decode, ": is not an object");
        result<void> first;
        boost::mp11::mp_for_each<members>([&](auto member) {
            static const std::string name = json_name(member.name);
            element value;
            if (object.at_key(name).get(value) != simdjson::SUCCESS) return;
            using field = std::remove_reference_t<decltype(out.*member.pointer)>;
            const auto done = codec<field>::decode(value, out.*member.pointer);
            if (!done && first) first = fail(errc::decode, "." + name + done.error().text);
        });
        return first;
    }
    static json encode(const T& value) {
        json out = json::object();
        boost::mp11::mp_for_each<members>([&](auto member) {
            static const std::string name = json_name(member.name);
            using field = std::remove_cvref_t<decltype(value.*member.pointer)>;
            auto encoded = codec<field>::encode(value.*member.pointer);
            if (!encoded.is_null()) out[name] = std::move(encoded);
        });
        return out;
    }
};

/// A record as JSON.
template <class T>
json encode(const T& value) {
    return codec<T>::encode(value);
}

/// Bytes of the error that is reported on an object: it may name a member of any length.
inline constexpr std::size_t most_told = 1024;

/// An object whose name and uid could be read.
template <class T>
concept object = requires(T& of) {
    { of.metadata } -> std::same_as<object_meta&>;
};

/// A record from an element that a parser still holds. An error only if no object could be made at
/// all.
template <class T>
result<T> decode(const element& from) {
    T out{};
    auto done = codec<T>::decode(from, out);
    if (done) return out;
    if constexpr (object<T>) {
        if (!out.metadata.name.empty() && !out.metadata.uid.empty()) {
            out.metadata.undecodable = cut(done.error().text, most_told);
            return out;
        }
    }
    return std::unexpected(std::move(done).error());
}

/// A record from text: the answer to a single request. The error names the kind of record by
/// `what`.
template <class T>
result<T> decode(std::string_view text, std::string_view what) {
    simdjson::dom::parser parser;
    auto root = parse(parser, text);
    if (!root) return fail(errc::decode, std::string(what) + ": " + root.error().text);
    auto out = decode<T>(*root);
    if (!out) out.error().text = std::string(what) + out.error().text;
    return out;
}

/// The records of the answer to a list, all or none: a completely unreadable one is an error, as it
/// may be the one that matters. `what` names the kind of record.
template <class T>
result<std::vector<T>> decode_list(std::string_view text, std::string_view what) {
    simdjson::dom::parser parser;
    auto root = parse(parser, text);
    if (!root) return fail(errc::decode, "list of " + std::string(what) + ": " + root.error().text);
    element items;
    if ((*root)["items"].get(items) != simdjson::SUCCESS) {
        return fail(errc::decode, "list of " + std::string(what) + ": no items");
    }
    std::vector<T> out;
    if (items.is_null()) return out;
    simdjson::dom::array list;
    if (items.get(list) != simdjson::SUCCESS) {
        return fail(errc::decode, "list of " + std::string(what) + ".items: is not a list");
    }
    for (element item : list) {
        auto read = decode<T>(item);
        if (!read) {
            return fail(errc::decode, "list of " + std::string(what) + ".items[" +
                                          std::to_string(out.size()) + "]" + read.error().text);
        }
        out.push_back(std::move(*read));
    }
    return out;
}

}  // namespace esi::model

namespace esi::kube {
/// Used by informer<T>.
template <class T>
result<T> decode_object(const simdjson::dom::element& object) {
    return model::decode<T>(object);
}
}  // namespace esi::kube

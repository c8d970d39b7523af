// JSON as the interface v1 prints it, written as text from the structs that describe it (the same
// from which schemas.h makes the OpenAPI document): a member's name in camelCase, times in RFC 3339
// with milliseconds. Absent optionals, empty texts and references to nothing are omitted;
// everything else is there. Pure.
#pragma once

#include <boost/describe.hpp>
#include <boost/mp11/algorithm.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "kube/resource.h"
#include "model/json.h"

namespace esi::interface::v1 {

/// "2026-11-21T09:34:07.149Z"
std::string milliseconds_text(const model::timestamp& of);
/// Appends a string with its quotes. Bytes that are not UTF-8 are replaced.
void print_text(std::string& out, std::string_view text);

template <class T>
struct printer;

template <class T>
void print(std::string& out, const T& value) {
    printer<T>::print(out, value);
}

template <class T>
std::string printed(const T& value) {
    std::string out;
    print(out, value);
    return out;
}

template <>
struct printer<std::string> {
    static void print(std::string& out, const std::string& value) { print_text(out, value); }
};
template <>
struct printer<bool> {
    static void print(std::string& out, bool value) { out += value ? "true" : "false"; }
};
template <>
struct printer<int> {
    static void print(std::string& out, int value) { out += std::to_string(value); }
};
template <>
struct printer<std::int64_t> {
    static void print(std::string& out, std::int64_t value) { out += std::to_string(value); }
};
template <>
struct printer<double> {
    static void print(std::string& out, double value);
};
template <>
struct printer<model::timestamp> {
    static void print(std::string& out, const model::timestamp& value) {
        out += '"';
        out += milliseconds_text(value);
        out += '"';
    }
};
template <>
struct printer<model::quantity> {
    static void print(std::string& out, const model::quantity& value) {
        print_text(out, value.text);
    }
};
template <>
struct printer<model::raw_json> {
    static void print(std::string& out, const model::raw_json& value) {
        out += value.text.empty() ? "{}" : value.text;
    }
};

template <class T>
struct printer<std::optional<T>> {
    static void print(std::string& out, const std::optional<T>& value) {
        if (value) {
            v1::print(out, *value);
        } else {
            out += "null";
        }
    }
};

template <class T>
struct printer<std::vector<T>> {
    static void print(std::string& out, const std::vector<T>& value) {
        out += '[';
        const char* between = "";
        for (const auto& each : value) {
            out += between;
            v1::print(out, each);
            between = ",";
        }
        out += ']';
    }
};

template <class V, class C>
struct printer<std::map<std::string, V, C>> {
    static void print(std::string& out, const std::map<std::string, V, C>& value) {
        out += '{';
        const char* between = "";
        for (const auto& [key, each] : value) {
            out += between;
            print_text(out, key);
            out += ':';
            v1::print(out, each);
            between = ",";
        }
        out += '}';
    }
};

template <class T>
bool is_left_out(const T&) {
    return false;
}
inline bool is_left_out(const std::string& value) { return value.empty(); }
/// A reference that names nothing.
inline bool is_left_out(const model::object_key& value) { return value.name.empty(); }
template <class T>
bool is_left_out(const std::optional<T>& value) {
    return !value.has_value();
}

/// Any struct with BOOST_DESCRIBE_STRUCT.
template <class T>
    requires boost::describe::has_describe_members<T>::value
struct printer<T> {
    static void print(std::string& out, const T& value) {
        using members = boost::describe::describe_members<T, boost::describe::mod_public>;
        char before = '{';
        boost::mp11::mp_for_each<members>([&](auto member) {
            static const std::string name = '"' + model::json_name(member.name) + "\":";
            const auto& each = value.*member.pointer;
            if (is_left_out(each)) return;
            out += before;
            out += name;
            v1::print(out, each);
            before = ',';
        });
        if (before == '{') out += '{';
        out += '}';
    }
};

/// A layout as the interface shows it: that of a claim has shapes and places.
struct shown_layout {
    std::int64_t revision = 0;
    std::vector<model::layout_node> nodes;
    int slots_per_node = 0;
    model::resource_list resources_per_slot;
    std::optional<std::vector<model::layout_shape>> shapes;
    std::optional<std::vector<int>> places;
};
BOOST_DESCRIBE_STRUCT(shown_layout, (),
                      (revision, nodes, slots_per_node, resources_per_slot, shapes, places))

/// The spec of a Testbed as the interface shows it: with a claim it has no label and no size.
struct shown_testbed_spec {
    std::optional<int> slots_per_node;
    std::string node_label;
    std::optional<model::resource_list> resources_per_slot;
    std::optional<model::testbed_claim> claim;
    std::string isolation;
    std::vector<std::string> allowed_namespaces;
};
BOOST_DESCRIBE_STRUCT(shown_testbed_spec, (),
                      (slots_per_node, node_label, resources_per_slot, claim, isolation,
                       allowed_namespaces))

/// The metadata that the interface shows; owners and finalizers are for operators.
struct shown_meta {
    std::string name;
    std::string namespace_;
    std::string uid;
    std::string resource_version;
    std::int64_t generation = 0;
    std::optional<model::timestamp> creation_timestamp;
    std::optional<model::timestamp> deletion_timestamp;
    model::string_map labels;
    model::string_map annotations;
};
BOOST_DESCRIBE_STRUCT(shown_meta, (),
                      (name, namespace_, uid, resource_version, generation, creation_timestamp,
                       deletion_timestamp, labels, annotations))

/// The nodes as a list of objects, in whichever form the object has them.
template <>
struct printer<model::testbed_layout> {
    static void print(std::string& out, const model::testbed_layout& value);
};
template <>
struct printer<model::testbed_spec> {
    static void print(std::string& out, const model::testbed_spec& value);
};
template <>
struct printer<model::object_meta> {
    static void print(std::string& out, const model::object_meta& value);
};

/// apiVersion and kind of ESI's own kinds.
template <class T>
const kube::resource_type& type_of();
template <>
inline const kube::resource_type& type_of<model::testbed>() {
    return kube::types::testbed;
}
template <>
inline const kube::resource_type& type_of<model::batchjob>() {
    return kube::types::batchjob;
}
template <>
inline const kube::resource_type& type_of<model::scheduling>() {
    return kube::types::scheduling;
}

/// An object with apiVersion and kind.
template <class T>
void print_object(std::string& out, const T& value) {
    const auto& type = type_of<T>();
    out += R"({"apiVersion":")" + type.api_version() + R"(","kind":")";
    out += type.kind;
    out += R"(","metadata":)";
    print(out, value.metadata);
    out += R"(,"spec":)";
    print(out, value.spec);
    out += R"(,"status":)";
    print(out, value.status);
    out += '}';
}

}  // namespace esi::interface::v1

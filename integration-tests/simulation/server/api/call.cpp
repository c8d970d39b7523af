#include "server/api/call.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "server/traits.h"

namespace esi::simulation {

namespace {

/// JSON numbers of unstructured objects: Go writes a whole one without a fraction, however it came.
void write_whole_numbers(json& value) {
    if (value.is_number_float()) {
        const auto number = value.get<double>();
        if (std::trunc(number) == number && std::abs(number) < 9e18) {
            value = static_cast<std::int64_t>(number);
        }
    } else if (value.is_structured()) {
        for (auto& each : value) write_whole_numbers(each);
    }
}

int digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

std::string decoded(std::string_view text, bool query) {
    std::string out;
    out.reserve(text.size());
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] == '%' && at + 2 < text.size() && digit(text[at + 1]) >= 0 &&
            digit(text[at + 2]) >= 0) {
            out += static_cast<char>(digit(text[at + 1]) * 16 + digit(text[at + 2]));
            at += 2;
        } else if (query && text[at] == '+') {
            out += ' ';
        } else {
            out += text[at];
        }
    }
    return out;
}

std::vector<std::string> segments(std::string_view path) {
    std::vector<std::string> out;
    while (!path.empty()) {
        const auto end = path.find('/');
        const auto part = path.substr(0, end);
        if (!part.empty()) out.push_back(decoded(part, false));
        path = end == std::string_view::npos ? std::string_view() : path.substr(end + 1);
    }
    return out;
}

void read_query(std::string_view text, call& into) {
    while (!text.empty()) {
        const auto end = text.find('&');
        const auto pair = text.substr(0, end);
        const auto equals = pair.find('=');
        if (!pair.empty()) {
            into.query.emplace(decoded(pair.substr(0, equals), true),
                               equals == std::string_view::npos
                                   ? std::string()
                                   : decoded(pair.substr(equals + 1), true));
        }
        text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    }
}

std::string text_at(const json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::string unlike(std::string_view what, std::string_view field, std::string_view wanted) {
    return fmt::format(
        "json: cannot unmarshal {} into Go struct field ObjectMeta.metadata.{} of "
        "type {}",
        what, field, wanted);
}

std::string_view go_name(const json& value) {
    switch (value.type()) {
        case json::value_t::object:
            return "object";
        case json::value_t::array:
            return "array";
        case json::value_t::string:
            return "string";
        case json::value_t::boolean:
            return "bool";
        default:
            return "number";
    }
}

/// Labels and the like: a map, or a list, of texts.
bool all_texts(const json& value) {
    for (const auto& each : value) {
        if (!each.is_string()) return false;
    }
    return true;
}

/// A null in a list or a map of a metadata is what Go's decoder makes of it: an empty text, an
/// owner without any member.
void fill_nulls(json& metadata) {
    for (const char* field : {"labels", "annotations", "finalizers"}) {
        const auto found = metadata.find(field);
        if (found == metadata.end() || !found->is_structured()) continue;
        for (auto& each : *found) {
            if (each.is_null()) each = "";
        }
    }
    const auto owners = metadata.find("ownerReferences");
    if (owners == metadata.end() || !owners->is_array()) return;
    for (auto& owner : *owners) {
        if (owner.is_null()) owner = json::object();
        if (!owner.is_object()) continue;
        for (auto at = owner.begin(); at != owner.end();) {
            at = at->is_null() ? owner.erase(at) : std::next(at);
        }
    }
}

/// What is wrong with the shape of a metadata; nulls count as absent.
std::optional<std::string> wrong_shape(const json& metadata) {
    for (const char* field : {"name", "namespace", "generateName", "uid", "resourceVersion",
                              "creationTimestamp", "deletionTimestamp"}) {
        const auto found = metadata.find(field);
        if (found != metadata.end() && !found->is_string() && !found->is_null()) {
            return unlike(go_name(*found), field, "string");
        }
    }
    for (const char* field : {"generation", "deletionGracePeriodSeconds"}) {
        const auto found = metadata.find(field);
        if (found != metadata.end() && !found->is_number_integer() && !found->is_null()) {
            return unlike(go_name(*found), field, "int64");
        }
    }
    for (const char* field : {"labels", "annotations"}) {
        const auto found = metadata.find(field);
        if (found == metadata.end() || found->is_null()) continue;
        if (!found->is_object()) return unlike(go_name(*found), field, "map[string]string");
        if (!all_texts(*found)) return unlike("number", field, "string");
    }
    for (const char* field : {"finalizers", "ownerReferences"}) {
        const auto found = metadata.find(field);
        if (found == metadata.end() || found->is_null()) continue;
        if (!found->is_array()) return unlike(go_name(*found), field, "[]string");
    }
    const auto finalizers = metadata.find("finalizers");
    if (finalizers != metadata.end() && finalizers->is_array() && !all_texts(*finalizers)) {
        return unlike("number", "finalizers", "string");
    }
    const auto owners = metadata.find("ownerReferences");
    if (owners != metadata.end() && owners->is_array()) {
        for (const auto& owner : *owners) {
            if (!owner.is_object())
                return unlike(go_name(owner), "ownerReferences", "OwnerReference");
        }
    }
    return std::nullopt;
}

kube::response unrecognized(const kube::resource_type& type, std::string_view why,
                            std::string_view body) {
    return bad_request(
        fmt::format("the object provided is unrecognized (must be of type {}): {} "
                    "({})",
                    type.kind, why, body.substr(0, 40)));
}

kube::response unknown_path(bool core) { return core ? resource_not_found() : page_not_found(); }

bool is_subresource(const kube::resource_type& type, std::string_view name) {
    if (name == "status") return true;
    if (name == "binding") return type.plural == kinds::pod.plural;
    if (name == "finalize") return type.plural == kinds::name_space.plural;
    return false;
}

/// What follows ".../VERSION": [namespaces NS] PLURAL [NAME [SUBRESOURCE]].
or_refused<void> read_rest(call& into, std::string_view group, std::string_view version,
                           const std::vector<std::string>& parts, std::size_t at) {
    const bool core = group.empty();
    auto rest = parts.size() - at;
    // "namespaces/x" and "namespaces/x/finalize" are the object itself, the rest is what is in it.
    if (rest >= 3 && parts[at] == "namespaces" &&
        !(core && rest == 3 && is_subresource(kinds::name_space, parts[at + 2]))) {
        into.ns = parts[at + 1];
        at += 2;
        rest -= 2;
    }
    if (rest == 0 || rest > 3) return refused(unknown_path(core));
    into.type = find_kind(group, version, parts[at]);
    if (into.type == nullptr) return refused(unknown_path(core));
    if (!into.ns.empty() && !into.type->namespaced) return refused(unknown_path(core));
    if (rest >= 2) into.name = parts[at + 1];
    if (rest == 3) into.subresource = parts[at + 2];
    if (!into.name.empty() && into.type->namespaced && into.ns.empty()) {
        return refused(unknown_path(core));
    }
    if (!into.subresource.empty() && !is_subresource(*into.type, into.subresource)) {
        return refused(core ? resource_not_found() : not_found(*into.type, into.name));
    }
    return {};
}

}  // namespace

std::string_view call::option(std::string_view key) const {
    const auto found = query.find(key);
    return found == query.end() ? std::string_view() : std::string_view(found->second);
}

bool call::flag(std::string_view key) const {
    const auto value = option(key);
    return value == "true" || value == "1";
}

bool call::metadata_only() const {
    return request->accept.starts_with(
        "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1");
}

or_refused<call> read_call(const kube::request& what) {
    call out;
    out.request = &what;
    const std::string_view target(what.target);
    const auto question = target.find('?');
    if (question != std::string_view::npos) read_query(target.substr(question + 1), out);
    const auto parts = segments(target.substr(0, question));
    if (parts.size() >= 3 && parts[0] == "api") {
        if (auto done = read_rest(out, "", parts[1], parts, 2); !done) {
            return refused(std::move(done).error());
        }
        return out;
    }
    if (parts.size() >= 4 && parts[0] == "apis") {
        if (auto done = read_rest(out, parts[1], parts[2], parts, 3); !done) {
            return refused(std::move(done).error());
        }
        return out;
    }
    return refused(page_not_found());
}

or_refused<json> read_body(const call& in) {
    const auto& text = in.request->body;
    auto body = json::parse(text, nullptr, false);
    if (body.is_discarded()) {
        return refused(unrecognized(
            *in.type, "couldn't get version/kind; json parse error: unexpected end of JSON input",
            text));
    }
    if (auto done = check_body(in, body, false); !done) return refused(std::move(done).error());
    return body;
}

or_refused<void> check_body(const call& in, json& body, bool patched) {
    const auto& type = *in.type;
    if (!body.is_object()) {
        return refused(unrecognized(type,
                                    "couldn't get version/kind; json parse error: json: "
                                    "cannot unmarshal it into an object",
                                    body.dump(-1, ' ', false, json::error_handler_t::replace)));
    }
    const bool custom = is_custom(type);
    if (custom) write_whole_numbers(body);
    auto kind = text_at(body, "kind");
    auto version = text_at(body, "apiVersion");
    if (kind.empty() && custom && !patched) {
        return refused(unrecognized(type, "Object 'Kind' is missing", in.request->body));
    }
    if (kind.empty() && !custom) body["kind"] = kind = type.kind;
    if (version.empty() && !custom) body["apiVersion"] = version = type.api_version();
    if (version != type.api_version() && !patched) {
        return refused(
            bad_request(fmt::format("the API version in the data ({}) does not match the "
                                    "expected API version ({})",
                                    version, type.api_version())));
    }
    auto& metadata = body["metadata"];
    if (metadata.is_null()) metadata = json::object();
    if (!metadata.is_object()) {
        return refused(bad_request(unlike(go_name(metadata), "", "ObjectMeta")));
    }
    const auto name = text_at(metadata, "name");
    if (kind != type.kind || version != type.api_version()) {
        if (!custom) {
            return refused(bad_request(fmt::format("{} in version \"{}\" cannot be handled as a {}",
                                                   kind, version, type.kind)));
        }
        if (kind != type.kind) {
            return refused(
                invalid(type.group, kind, name,
                        {{"kind", "FieldValueInvalid",
                          fmt::format("Invalid value: \"{}\": must be {}", kind, type.kind)}}));
        }
        return refused(invalid(
            "", kind, name,
            {{"apiVersion", "FieldValueInvalid",
              fmt::format("Invalid value: \"{}\": must be {}", version, type.api_version())}}));
    }
    fill_nulls(metadata);
    if (auto fault = wrong_shape(metadata)) {
        if (!patched) return refused(bad_request(std::move(*fault)));
        return refused(
            invalid("", "", "", {{"patch", "FieldValueInvalid", "Invalid value: " + *fault}}));
    }
    return {};
}

}  // namespace esi::simulation

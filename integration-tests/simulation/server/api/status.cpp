#include "server/api/status.h"

#include <fmt/format.h>

#include "server/traits.h"

namespace esi::simulation {

namespace {

json details_of(std::string_view group, std::string_view kind, std::string_view name) {
    json out = json::object();
    if (!name.empty()) out["name"] = name;
    if (!group.empty()) out["group"] = group;
    out["kind"] = kind;
    return out;
}

}  // namespace

std::string qualified(const kube::resource_type& type) {
    return type.group.empty() ? std::string(type.plural)
                              : fmt::format("{}.{}", type.plural, type.group);
}

kube::response answer_with(int code, std::string body) {
    kube::response out;
    out.status = code;
    out.body = std::move(body);
    return out;
}

kube::response with_metadata_only(kube::response answer) {
    auto object = json::parse(answer.body, nullptr, false);
    if (!object.is_object() || object.value("kind", "") == "Status") return answer;
    const json part = {{"kind", "PartialObjectMetadata"},
                       {"apiVersion", "meta.k8s.io/v1"},
                       {"metadata", std::move(object["metadata"])}};
    answer.body = part.dump(-1, ' ', false, json::error_handler_t::replace);
    return answer;
}

kube::response success(int code, json details) {
    json status = {{"kind", "Status"}, {"apiVersion", "v1"}, {"status", "Success"}};
    status["metadata"] = json::object();
    if (details.is_object()) {
        status["details"] = std::move(details);
    } else {
        status["code"] = code;
    }
    return answer_with(code, status.dump());
}

kube::response failure(int code, std::string_view reason, std::string message, json details) {
    json status = {{"kind", "Status"}, {"apiVersion", "v1"}, {"status", "Failure"}, {"code", code}};
    status["metadata"] = json::object();
    status["message"] = std::move(message);
    if (!reason.empty()) status["reason"] = reason;
    if (!details.is_null()) status["details"] = std::move(details);
    return answer_with(code, status.dump(-1, ' ', false, json::error_handler_t::replace));
}

kube::response page_not_found() { return answer_with(404, "404 page not found\n"); }

kube::response resource_not_found() {
    return failure(404, "NotFound", "the server could not find the requested resource",
                   json::object());
}

kube::response bad_request(std::string message) {
    return failure(400, "BadRequest", std::move(message));
}

kube::response internal_error(std::string message) { return failure(500, {}, std::move(message)); }

kube::response not_found(const kube::resource_type& type, std::string_view name) {
    return failure(404, "NotFound", fmt::format("{} \"{}\" not found", qualified(type), name),
                   details_of(type.group, type.plural, name));
}

kube::response already_exists(const kube::resource_type& type, std::string_view name) {
    return failure(409, "AlreadyExists",
                   fmt::format("{} \"{}\" already exists", qualified(type), name),
                   details_of(type.group, type.plural, name));
}

kube::response method_not_allowed(const kube::resource_type& type, std::string_view verb) {
    if (!is_custom(type)) {
        return failure(405, "MethodNotAllowed",
                       "the server does not allow this method on the requested resource",
                       json::object());
    }
    return failure(
        405, "MethodNotAllowed",
        fmt::format("{} is not supported on resources of kind \"{}\"", verb, qualified(type)),
        details_of(type.group, type.plural, {}));
}

kube::response unsupported_media() {
    return failure(415, "UnsupportedMediaType",
                   "the body of the request was in an unknown format - accepted media types "
                   "include: application/json-patch+json, application/merge-patch+json");
}

kube::response modified(const kube::resource_type& type, std::string_view name) {
    return conflict(type.group, type.plural, name,
                    "the object has been modified; please apply your changes to the latest version "
                    "and try again");
}

kube::response conflict(std::string_view group, std::string_view resource, std::string_view name,
                        std::string_view why) {
    return failure(409, "Conflict",
                   fmt::format("Operation cannot be fulfilled on {}{}{} \"{}\": {}", resource,
                               group.empty() ? "" : ".", group, name, why),
                   details_of(group, resource, name));
}

kube::response wrong_uid(const kube::resource_type& type, std::string_view ns,
                         std::string_view name, std::string_view given, std::string_view present) {
    return conflict(
        type.group, type.plural, name,
        fmt::format("StorageError: invalid object, Code: 4, Key: /registry/{}{}{}/{}{}{}, "
                    "ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in "
                    "precondition: {}, UID in object meta: {}",
                    type.group.ends_with(".k8s.io") ? "" : type.group,
                    type.group.empty() || type.group.ends_with(".k8s.io") ? "" : "/", type.plural,
                    ns, ns.empty() ? "" : "/", name, given, present));
}

kube::response forbidden(const kube::resource_type& type, std::string_view name,
                         std::string_view why, json causes) {
    auto details = details_of(type.group, type.plural, name);
    if (causes.is_array()) details["causes"] = std::move(causes);
    return failure(403, "Forbidden",
                   fmt::format("{} \"{}\" is forbidden: {}", qualified(type), name, why),
                   std::move(details));
}

kube::response invalid(std::string_view group, std::string_view kind, std::string_view name,
                       const std::vector<fault_cause>& causes) {
    auto details = details_of(group, kind, name);
    if (kind.empty()) details.erase("kind");
    auto& list = details["causes"] = json::array();
    std::string text;
    for (const auto& cause : causes) {
        list.push_back(
            {{"reason", cause.reason}, {"message", cause.message}, {"field", cause.field}});
        const auto line = cause.field + ": " + cause.message;
        if (text.find(line) != std::string::npos) continue;
        text += (text.empty() ? "" : ", ") + line;
    }
    if (causes.size() > 1) text = "[" + text + "]";
    return failure(422, "Invalid",
                   fmt::format("{}{}{} \"{}\" is invalid: {}", kind, group.empty() ? "" : ".",
                               group, name, text),
                   std::move(details));
}

kube::response invalid_options(std::string_view kind, const std::vector<fault_cause>& causes) {
    return invalid("meta.k8s.io", kind, {}, causes);
}

kube::response too_large_version(std::uint64_t wanted, std::uint64_t newest) {
    json details = json::object();
    details["causes"] = json::array();
    details["causes"].push_back(
        {{"reason", "ResourceVersionTooLarge"}, {"message", "Too large resource version"}});
    details["retryAfterSeconds"] = 1;
    auto out =
        failure(504, "Timeout",
                fmt::format("Timeout: Too large resource version: {}, current: {}", wanted, newest),
                std::move(details));
    out.retry_after_seconds = 1;
    return out;
}

kube::response expired(std::string message, std::string continue_token) {
    auto out = failure(410, "Expired", std::move(message));
    if (continue_token.empty()) return out;
    auto status = json::parse(out.body);
    status["metadata"]["continue"] = std::move(continue_token);
    out.body = status.dump();
    return out;
}

}  // namespace esi::simulation

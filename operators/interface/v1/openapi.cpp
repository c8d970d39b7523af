#include "interface/v1/openapi.h"

#include <algorithm>
#include <set>

#include "base/version.h"
#include "interface/v1/operations.h"
#include "interface/v1/schema_texts.h"

namespace esi::interface::v1 {

namespace {

constexpr const char* problem_media_type = "application/problem+json";

struct header_text {
    const char* name;
    const char* text;
};
constexpr header_text headers[] = {
    {"ETag", "The resourceVersion of the object in quotes, for If-Match and If-None-Match."},
    {"X-ESI-Index", "The version that the answer shows, for the parameter index."},
    {"Location", "Path of the object."},
    {"Retry-After", "Seconds until the next try."},
    {"Warning", "A remark on a request that is accepted (299), one header for each."},
};

ordered_json string_schema(const char* pattern = nullptr) {
    ordered_json out{{"type", "string"}};
    if (pattern != nullptr) out["pattern"] = pattern;
    return out;
}

ordered_json parameter_of(const parameter& from, const char* in) {
    ordered_json out{{"name", from.name}, {"in", in}, {"description", from.description}};
    if (from.required) out["required"] = true;
    out["schema"] = ordered_json::parse(from.schema);
    return out;
}

ordered_json path_parameters(const std::string& path) {
    auto out = ordered_json::array();
    const auto add = [&](const char* name, const char* description, const char* pattern,
                         int longest) {
        if (!path.contains("{" + std::string(name) + "}")) return;
        ordered_json each{
            {"name", name}, {"in", "path"}, {"required", true}, {"description", description}};
        each["schema"] = string_schema(pattern);
        each["schema"]["maxLength"] = longest;
        out.push_back(std::move(each));
    };
    add("namespace", "Namespace of the objects.", "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", 63);
    add("name", "Name of the object.", "^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$", 253);
    return out;
}

ordered_json content_of(const std::vector<content>& from) {
    auto out = ordered_json::object();
    for (const auto& each : from) out[each.media_type] = {{"schema", reference_to(each.schema)}};
    return out;
}

ordered_json problem_answer(const char* description) {
    return {{"description", description},
            {"content", {{problem_media_type, {{"schema", reference_to("Problem")}}}}}};
}

ordered_json answers_of(const operation& from) {
    auto out = ordered_json::object();
    for (const auto& each : from.answers) {
        ordered_json made{{"description", each.description}};
        for (const auto& name : each.headers) {
            made["headers"][name] = {{"$ref", "#/components/headers/" + name}};
        }
        if (!each.contents.empty()) made["content"] = content_of(each.contents);
        out[std::to_string(each.status)] = std::move(made);
    }
    const auto refer = [&](int status, const char* name) {
        const auto key = std::to_string(status);
        if (!out.contains(key))
            out[key] = {{"$ref", std::string("#/components/responses/") + name}};
    };
    refer(400, "BadRequest");
    refer(401, "Unauthorized");
    refer(403, "Forbidden");
    refer(404, "NotFound");
    refer(406, "NotAcceptable");
    if (!from.bodies.empty()) {
        refer(413, "TooLarge");
        refer(415, "UnsupportedMediaType");
        refer(422, "Invalid");
    }
    refer(429, "Throttled");
    refer(503, "Unavailable");
    return out;
}

ordered_json operation_of(const operation& from) {
    ordered_json out{{"operationId", from.id}, {"tags", {from.tag}}, {"summary", from.summary}};
    if (!from.description.empty()) out["description"] = from.description;
    auto parameters = path_parameters(from.path);
    for (const auto& each : from.query) parameters.push_back(parameter_of(each, "query"));
    for (const auto& each : from.headers) parameters.push_back(parameter_of(each, "header"));
    if (!parameters.empty()) out["parameters"] = std::move(parameters);
    if (!from.bodies.empty()) {
        out["requestBody"] = {{"required", !from.body_is_optional},
                              {"content", content_of(from.bodies)}};
    }
    out["responses"] = answers_of(from);
    auto rights = ordered_json::array();
    for (const auto* of : {&from.needs, &from.asks}) {
        for (const auto& each : *of) {
            rights.push_back(
                {{"verb", each.verb}, {"group", each.group}, {"resource", each.resource}});
        }
    }
    out["x-required-rights"] = std::move(rights);
    return out;
}

std::string lower_method(const std::string& method) {
    std::string out;
    for (const char c : method) out += static_cast<char>(c - 'A' + 'a');
    return out;
}

ordered_json components() {
    ordered_json out;
    out["schemas"] = schemas();
    auto& answers = out["responses"];
    answers["BadRequest"] =
        problem_answer("Path, query, headers or body cannot be read; errors has every fault.");
    answers["Unauthorized"] = problem_answer("The caller cannot be identified.");
    answers["Forbidden"] =
        problem_answer("The cluster's RBAC does not allow it; detail names verb and resource.");
    answers["NotFound"] = problem_answer("There is no such object, or no such namespace here.");
    answers["NotAcceptable"] =
        problem_answer("The header Accept admits none of the media types of the answer.");
    answers["TooLarge"] = problem_answer("The body is too large.");
    answers["UnsupportedMediaType"] = problem_answer("The operation takes another Content-Type.");
    answers["Invalid"] =
        problem_answer("The body is well-formed and refused; errors has every reason.");
    answers["Throttled"] = problem_answer("Too many requests at a time.");
    answers["Unavailable"] = problem_answer(
        "The request cannot be answered now; the header Retry-After says when to ask again.");
    for (const char* name : {"Throttled", "Unavailable"}) {
        answers[name]["headers"]["Retry-After"] = {{"$ref", "#/components/headers/Retry-After"}};
    }
    for (const auto& each : headers) {
        out["headers"][each.name] = {{"description", each.text}, {"schema", string_schema()}};
    }
    out["securitySchemes"] = {
        {"bearer",
         {{"type", "http"},
          {"scheme", "bearer"},
          {"description", "A token that the cluster knows, with the audience esi."}}},
        {"certificate",
         {{"type", "mutualTLS"},
          {"description",
           "A certificate of the client CA: its common name is the user, its "
           "organizations are the groups."}}}};
    return out;
}

}  // namespace

ordered_json openapi_document(std::span<const operation> all) {
    ordered_json out{{"openapi", "3.1.0"}};
    out["info"] = {
        {"title", "ESI"},
        {"version", version()},
        {"summary", "The external scheduler interface, version 1."},
        {"description",
         "Which job runs in which slots, beside which jobs, and why a job waits. Objects are those "
         "of the Kubernetes API; the cluster's RBAC decides what the caller may do. Errors are "
         "problems (RFC 9457) that name all faults together. x-extensible-enum lists the values "
         "known today; later versions may add values, and members of answers. A member of a "
         "request that is not named here is refused."},
        {"license", {{"name", "Apache-2.0"}, {"identifier", "Apache-2.0"}}}};
    out["servers"] = {{{"url", "/"}}};
    out["security"] = {{{"bearer", ordered_json::array()}},
                       {{"certificate", ordered_json::array()}}};
    auto tags = ordered_json::array();
    std::set<std::string> known;
    for (const auto& each : all) {
        if (known.insert(each.tag).second) tags.push_back({{"name", each.tag}});
    }
    out["tags"] = std::move(tags);
    auto& paths = out["paths"] = ordered_json::object();
    for (const auto& each : all) paths[each.path][lower_method(each.method)] = operation_of(each);
    out["components"] = components();
    auto codes = ordered_json::array();
    for (const auto& each : problem_codes()) {
        ordered_json made{{"code", each.code}};
        if (each.status != 0) made["status"] = each.status;
        made["description"] = each.text;
        codes.push_back(std::move(made));
    }
    out["x-problem-codes"] = std::move(codes);
    return out;
}

std::string openapi_text() { return openapi_document(operations({})).dump(2) + "\n"; }

}  // namespace esi::interface::v1

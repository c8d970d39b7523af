#include "server/desk.h"

#include <fmt/format.h>

#include "kube/status_error.h"

namespace esi::simulation {

namespace {

std::string text_of(const json& body) {
    return body.dump(-1, ' ', false, json::error_handler_t::replace);
}

kube::request with_body(std::string method, std::string target, std::string type,
                        const json& body) {
    kube::request out(std::move(method), std::move(target));
    out.content_type = std::move(type);
    out.body = text_of(body);
    return out;
}

}  // namespace

result<json> desk::get(const kube::resource_type& type, std::string_view ns,
                       std::string_view name) {
    return send(kube::request("GET", type.path(ns, name)));
}

result<json> desk::create(const kube::resource_type& type, std::string_view ns, json body) {
    return send(with_body("POST", type.path(ns), "application/json", body));
}

result<json> desk::patch(const kube::resource_type& type, std::string_view ns,
                         std::string_view name, kube::patch_kind kind, json body,
                         std::string_view subresource) {
    const auto content = kind == kube::patch_kind::merge  ? "application/merge-patch+json"
                         : kind == kube::patch_kind::json ? "application/json-patch+json"
                         : kind == kube::patch_kind::strategic
                             ? "application/strategic-merge-patch+json"
                             : "application/apply-patch+yaml";
    return send(with_body("PATCH", type.path(ns, name, subresource), content, body));
}

result<json> desk::update(const kube::resource_type& type, std::string_view ns,
                          std::string_view name, json body, std::string_view subresource) {
    return send(with_body("PUT", type.path(ns, name, subresource), "application/json", body));
}

result<json> desk::remove(const kube::resource_type& type, std::string_view ns,
                          std::string_view name, kube::preconditions guard,
                          std::optional<int> grace_seconds) {
    json options = {{"kind", "DeleteOptions"}, {"apiVersion", "v1"}};
    if (!guard.uid.empty()) options["preconditions"]["uid"] = guard.uid;
    if (!guard.resource_version.empty()) {
        options["preconditions"]["resourceVersion"] = guard.resource_version;
    }
    if (grace_seconds) options["gracePeriodSeconds"] = *grace_seconds;
    return send(with_body("DELETE", type.path(ns, name), "application/json", options));
}

result<json> desk::bind(std::string_view ns, std::string_view pod, std::string_view uid,
                        std::string_view node) {
    json body = {{"kind", "Binding"}, {"apiVersion", "v1"}};
    body["metadata"] = {{"name", pod}};
    if (!uid.empty()) body["metadata"]["uid"] = uid;
    body["target"] = {{"kind", "Node"}, {"name", node}};
    return send(with_body("POST", kinds::pod.path(ns, pod, "binding"), "application/json", body));
}

result<json> desk::send(kube::request what) {
    if (server_.away()) return fail(errc::transport, who_ + ": connection refused");
    const auto answer = server_.answer(what, who_);
    if (answer.status >= 200 && answer.status < 300) return json::parse(answer.body);
    return std::unexpected(
        kube::status_error(answer, fmt::format("{}: {} {}", who_, what.method, what.target)));
}

}  // namespace esi::simulation

#include "world/requests.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "base/group_kinds.h"
#include "server/storage.h"

namespace esi::simulation {

namespace {

std::string_view reason_of(int code) {
    switch (code) {
        case 403:
            return "Forbidden";
        case 404:
            return "NotFound";
        case 409:
            return "Conflict";
        case 410:
            return "Expired";
        case 422:
            return "Invalid";
        case 429:
            return "TooManyRequests";
        case 503:
            return "ServiceUnavailable";
        case 504:
            return "Timeout";
        default:
            return "InternalError";
    }
}

}  // namespace

bool is_write(const kube::request& what) {
    return what.method != "GET" && what.target.find("dryRun=All") == std::string::npos;
}

request_target target_of(const kube::request& what) {
    std::string_view path = what.target;
    path = path.substr(0, path.find('?'));
    std::vector<std::string_view> parts;
    for (std::size_t at = 1; at <= path.size();) {
        const auto end = std::min(path.find('/', at), path.size());
        parts.push_back(path.substr(at, end - at));
        at = end + 1;
    }
    // api/v1/... or apis/GROUP/VERSION/...
    std::size_t next = !parts.empty() && parts[0] == "api" ? 2 : 3;
    request_target out;
    std::string_view ns;
    if (parts.size() > next + 2 && parts[next] == "namespaces") {
        ns = parts[next + 1];
        next += 2;
    }
    if (next < parts.size()) {
        out.plural =
            known_as(next == 2 || parts.size() < 2 ? std::string_view() : parts[1], parts[next]);
    }
    if (next + 1 < parts.size()) out.object = fmt::format("{}/{}", ns, parts[next + 1]);
    if (next + 2 < parts.size()) out.subresource = parts[next + 2];
    return out;
}

std::string node_looked_at(std::string_view target) {
    const auto question = target.find('?');
    if (question == target.npos || wanted_version(target)) return {};
    std::string node;
    for (auto at = question + 1; at < target.size();) {
        const auto end = std::min(target.find('&', at), target.size());
        const auto part = target.substr(at, end - at);
        at = end + 1;
        if (part.starts_with("watch=") || part.starts_with("continue=")) return {};
        constexpr std::string_view key = "fieldSelector=";
        if (!part.starts_with(key)) continue;
        auto value = part.substr(key.size());
        for (const std::string_view field : {"spec.nodeName%3D", "spec.nodeName="}) {
            if (!value.starts_with(field)) continue;
            value.remove_prefix(field.size());
            // A further condition is taken for one that leaves out only pods that have ended.
            node = value.substr(0, std::min(value.find("%2C"), value.find(',')));
        }
    }
    return node;
}

std::optional<std::uint64_t> wanted_version(std::string_view target) {
    constexpr std::string_view key = "resourceVersion=";
    for (auto at = target.find(key); at != target.npos; at = target.find(key, at + 1)) {
        if (target[at - 1] != '?' && target[at - 1] != '&') continue;
        std::uint64_t out = 0;
        for (auto i = at + key.size(); i < target.size() && target[i] >= '0' && target[i] <= '9';
             ++i)
            out = out * 10 + static_cast<std::uint64_t>(target[i] - '0');
        return out;
    }
    return std::nullopt;
}

std::string holder_of(const kube::request& lease) {
    const auto body = json::parse(lease.body, nullptr, false);
    const json::json_pointer at("/spec/holderIdentity");
    if (!body.is_object() || !body.contains(at) || !body[at].is_string()) return {};
    return body[at].get<std::string>();
}

bool carried_out(std::string_view fault) {
    return fault.empty() || fault == "lost-answer" || fault == "delay" || fault == "late" ||
           fault == "504-applied";
}

kube::response refusal_of(const request_fault& fault, const kube::request& what) {
    int code = std::atoi(fault.what.c_str());
    if (code == 409 && what.method == "GET") code = 500;
    auto out = status_answer(code, reason_of(code));
    if (fault.what == "429-retry-after") out.retry_after_seconds = fault.retry_after_seconds;
    return out;
}

kube::response status_answer(int code, std::string_view reason) {
    kube::response out;
    out.status = code;
    out.body = json{{"kind", "Status"},
                    {"apiVersion", "v1"},
                    {"status", "Failure"},
                    {"reason", reason},
                    {"code", code},
                    {"message", fmt::format("{} (a fault of the simulation)", reason)}}
                   .dump();
    return out;
}

}  // namespace esi::simulation

#include "http/problem.h"

#include <nlohmann/json.hpp>

namespace esi::http {

std::string_view code_of_status(int status) {
    switch (status) {
        case 400:
            return "BadRequest";
        case 401:
            return "Unauthorized";
        case 403:
            return "Forbidden";
        case 404:
            return "NotFound";
        case 405:
            return "MethodNotAllowed";
        case 406:
            return "NotAcceptable";
        case 408:
            return "Timeout";
        case 409:
            return "Conflict";
        case 412:
            return "PreconditionFailed";
        case 413:
            return "TooLarge";
        case 415:
            return "UnsupportedMediaType";
        case 422:
            return "Invalid";
        case 428:
            return "PreconditionRequired";
        case 429:
            return "Throttled";
        case 431:
            return "HeadersTooLarge";
        case 503:
            return "Unavailable";
        case 504:
            return "Timeout";
        case 505:
            return "VersionNotSupported";
        default:
            return status >= 500 ? "Internal" : "BadRequest";
    }
}

server_reply reply_of(const problem_details& what, std::string_view instance) {
    const std::string code(what.code.empty() ? code_of_status(what.status)
                                             : std::string_view(what.code));
    nlohmann::ordered_json body;
    body["type"] = "urn:esi:problem:" + code;
    body["title"] = reason_phrase(what.status);
    body["status"] = what.status;
    body["detail"] = what.detail;
    if (!instance.empty()) body["instance"] = instance;
    body["code"] = code;
    body["retryable"] = what.retryable;
    for (const auto& [name, text] : what.members) body[name] = text;
    if (!what.errors.empty()) {
        auto& errors = body["errors"] = nlohmann::ordered_json::array();
        for (const auto& fault : what.errors) {
            errors.push_back(
                {{"pointer", fault.pointer}, {"code", fault.code}, {"detail", fault.detail}});
        }
    }
    server_reply out(what.status, "application/problem+json",
                     body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
    out.headers = what.headers;
    if (what.retry_after_seconds) {
        out.headers.emplace_back("Retry-After", std::to_string(*what.retry_after_seconds));
    }
    return out;
}

server_reply problem(int status, std::string_view detail) {
    problem_details what;
    what.status = status;
    what.detail = detail;
    what.retryable = status == 408 || status == 429 || status == 503 || status == 504;
    return reply_of(what);
}

}  // namespace esi::http

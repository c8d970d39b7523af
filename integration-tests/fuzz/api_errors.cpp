// Answers of the API server (or of what stands in front of it) that are no success. Oracle: the
// class of the error follows from status and reason alone, and a person gets a sentence. Input: a
// number, a line end, the body.
#include <charconv>
#include <nlohmann/json.hpp>

#include "kube/client.h"
#include "kube/status_error.h"
#include "target.h"

namespace esi::fuzz {
namespace {

using nlohmann::json;

void api_errors(std::string_view input) {
    const auto line = std::min(input.find('\n'), input.size());
    kube::response answer;
    int status = 500;
    std::from_chars(input.data(), input.data() + line, status);
    answer.status = 400 + std::abs(status % 200);
    answer.body = input.substr(std::min(line + 1, input.size()));
    const auto got = kube::status_error(answer, "get pods");
    require(got.text.starts_with("get pods: HTTP "), "the error says: {}", got.text);
    switch (answer.status) {
        case 401:
            require(got.code == errc::unauthorized, "{}", to_string(got.code));
            break;
        case 404:
            require(got.code == errc::not_found, "{}", to_string(got.code));
            break;
        case 409:
            require((got.code == errc::already_exists) == (got.reason == "AlreadyExists") &&
                        (got.code == errc::already_exists || got.code == errc::conflict),
                    "{}", to_string(got.code));
            break;
        case 410:
            require(got.code == errc::gone, "{}", to_string(got.code));
            break;
        case 422:
            require(got.code == errc::invalid || got.code == errc::conflict, "{}",
                    to_string(got.code));
            break;
        case 429:
            require(got.code == errc::too_many_requests && got.transient(), "{}",
                    to_string(got.code));
            break;
        default:
            break;
    }
    if (got.retry_after) require(got.retry_after->count() >= 0, "an answer from the future");
    const auto parsed = json::parse(answer.body, nullptr, false);
    if (!parsed.is_object()) require(got.reason.empty(), "reason {}", got.reason);
    // The same as an event of a watch, which carries its code itself.
    const auto told = kube::status_error(answer.body, "watch pods");
    require(told.text.starts_with("watch pods: HTTP "), "the error says: {}", told.text);
}

}  // namespace
}  // namespace esi::fuzz

ESI_FUZZ_TARGET(api_errors, esi::fuzz::api_errors)

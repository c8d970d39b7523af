#include "interface/v1/wire/problems.h"

#include <fmt/format.h>

#include "kube/reasons.h"

namespace esi::interface::v1 {

namespace {

constexpr int usual_wait_seconds = 2;

int status_of(const error& why) {
    switch (why.code) {
        case errc::not_found:
            return 404;
        case errc::forbidden:
            return 403;
        case errc::bad_request:
            return 400;
        case errc::invalid:
            return why.reason == kube::too_large_reason ? 413 : 422;
        case errc::conflict:
        case errc::already_exists:
            return 409;
        case errc::too_many_requests:
            return 429;
        default:
            return 503;
    }
}

}  // namespace

http::problem_details problem_of(int status, std::string_view code, std::string detail) {
    http::problem_details out;
    out.status = status;
    out.code = code;
    out.detail = std::move(detail);
    return out;
}

http::problem_details not_found(std::string_view kind, const model::object_key& key) {
    return problem_of(404, "", fmt::format("{} {} does not exist", kind, key.text()));
}

http::problem_details problem_of(const error& why) {
    auto out = problem_of(status_of(why), "", why.text);
    out.retryable = why.transient();
    if (why.code == errc::already_exists) out.code = problem_code::already_exists;
    if (out.status == 503) out.code = problem_code::api_server;
    if (out.status == 503 || out.status == 429) {
        out.retry_after_seconds =
            why.retry_after ? static_cast<int>(why.retry_after->count()) : usual_wait_seconds;
    }
    return out;
}

http::problem_details unavailable(std::string_view code, std::string detail) {
    auto out = problem_of(503, code, std::move(detail));
    out.retryable = true;
    out.retry_after_seconds = usual_wait_seconds;
    return out;
}

http::problem_details no_room() { return unavailable("", "too many answers are on the way"); }

http::problem_details with_faults(int status, std::vector<http::problem_fault> faults) {
    auto out = problem_of(status, faults.size() == 1 ? faults.front().code : "", "");
    if (!faults.empty()) {
        out.detail = fmt::format("{}: {}", faults.front().pointer, faults.front().detail);
    }
    if (faults.size() > 1) out.detail += fmt::format(" (and {} more)", faults.size() - 1);
    out.errors = std::move(faults);
    return out;
}

}  // namespace esi::interface::v1

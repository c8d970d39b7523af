#include "kube/status_error.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "kube/reasons.h"

namespace esi::kube {

using json = nlohmann::json;

namespace {

constexpr std::size_t shown_text = 300;
constexpr std::size_t shown_causes = 8;
/// A proxy may ask for a day; caches must not stand still for so long.
constexpr std::chrono::seconds longest_retry_after{120};
/// Texts of etcd and of the API server's client of it (HTTP 500) for an object that they cannot
/// store.
constexpr std::string_view too_large_texts[] = {"etcdserver: request is too large",
                                                "trying to send message larger than max"};

errc code_of(int status, std::string_view reason) {
    switch (status) {
        case 401:
            return errc::unauthorized;
        case 403:
            return errc::forbidden;
        case 404:
            return errc::not_found;
        case 409:
            return reason == "AlreadyExists" ? errc::already_exists : errc::conflict;
        case 410:
            return errc::gone;
        case 413:
        case 422:
            return errc::invalid;
        case 429:
            return errc::too_many_requests;
        default:
            break;
    }
    // Watch errors may carry a reason without the fitting code.
    if (reason == "Expired" || reason == "Gone") return errc::gone;
    return status >= 500 || status < 400 ? errc::server : errc::bad_request;
}

std::string text_at(const json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

int number_at(const json& object, const char* key, int otherwise) {
    const auto found = object.find(key);
    return found != object.end() && found->is_number_integer() ? found->get<int>() : otherwise;
}

const json* causes_in(const json& status) {
    const auto details = status.find("details");
    if (details == status.end() || !details->is_object()) return nullptr;
    const auto causes = details->find("causes");
    return causes != details->end() && causes->is_array() ? &*causes : nullptr;
}

/// "; spec.x: Required value; ..." for the causes that the message does not mention already.
std::string causes_text(const json& causes, std::string_view message) {
    std::string out;
    std::size_t shown = 0;
    for (const auto& cause : causes) {
        if (!cause.is_object() || shown == shown_causes) continue;
        std::string line;
        for (const char* part : {"field", "message", "reason"}) {
            const auto text = text_at(cause, part);
            // "FieldValueInvalid" and its like only repeat the words before.
            if (text.starts_with("FieldValue") || message.find(text) != std::string_view::npos) {
                continue;
            }
            line += (line.empty() ? "" : ": ") + text;
        }
        if (line.empty()) continue;
        out += "; " + line;
        ++shown;
    }
    return out;
}

/// A patch with the uid of another object of that name is refused as an attempt to change the uid
/// (422), where an update and a delete get 409.
bool is_about_the_uid(const json& causes) {
    for (const auto& cause : causes) {
        if (cause.is_object() && text_at(cause, "field") == "metadata.uid") return true;
    }
    return false;
}

error from_status(int code, std::string_view body, std::string_view subject) {
    error out;
    const auto status = json::parse(body, nullptr, false);
    if (!status.is_object()) {
        out.code = code_of(code, {});
        out.text = fmt::format("{}: HTTP {}: {}", subject, code, body.substr(0, shown_text));
        return out;
    }
    if (code == 0) code = number_at(status, "code", 500);
    out.reason = text_at(status, "reason");
    out.code = code_of(code, out.reason);
    const auto message = text_at(status, "message");
    if (out.code == errc::server &&
        std::ranges::any_of(too_large_texts, [&](auto text) { return message.contains(text); })) {
        out.code = errc::invalid;
        out.reason = too_large_reason;
    }
    const auto* causes = causes_in(status);
    if (out.code == errc::invalid && causes != nullptr && is_about_the_uid(*causes)) {
        out.code = errc::conflict;
    }
    out.text = fmt::format("{}: HTTP {}{}{}: {}{}", subject, code, out.reason.empty() ? "" : " ",
                           out.reason, message.empty() ? "no message" : message,
                           causes == nullptr ? "" : causes_text(*causes, message));
    const auto details = status.find("details");
    if (details != status.end() && details->is_object()) {
        const int wait = number_at(*details, "retryAfterSeconds", 0);
        if (wait > 0) out.retry_after = std::min(std::chrono::seconds(wait), longest_retry_after);
    }
    return out;
}

}  // namespace

error status_error(const response& answer, std::string_view subject) {
    auto out = from_status(answer.status, answer.body, subject);
    if (answer.retry_after_seconds >= 0) {
        out.retry_after =
            std::min(std::chrono::seconds(answer.retry_after_seconds), longest_retry_after);
    }
    return out;
}

error status_error(std::string_view status_json, std::string_view subject) {
    return from_status(0, status_json, subject);
}

}  // namespace esi::kube

#include "testbed/original/original_error.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string_view>

#include "model/json.h"

namespace esi::testbed {

namespace {

/// "2026-11-21T09:23:01.879+00:00"
std::string show_time(wall_time when) {
    const auto whole = std::chrono::floor<seconds>(when);
    const auto rest = std::chrono::duration_cast<milliseconds>(when - whole).count();
    auto text = model::timestamp{when}.whole_seconds();
    if (!text.empty() && text.back() == 'Z') text.pop_back();
    return fmt::format("{}.{:03}+00:00", text, rest);
}

}  // namespace

http::server_reply original_error(const http::server_request& to, int status, wall_time now,
                                  const std::vector<std::string>& messages) {
    nlohmann::ordered_json body;
    body["timestamp"] = show_time(now);
    body["status"] = status;
    body["error"] = http::reason_phrase(status);
    body["path"] = to.raw_path;
    if (!messages.empty()) body["messages"] = messages;
    http::server_reply out(status, "application/json",
                           body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
    if (status == 503) out.headers.emplace_back("Retry-After", "2");
    return out;
}

http::server_reply original_miss(const http::server_request& to,
                                 const std::vector<std::string>& allowed, wall_time now) {
    auto out = original_error(to, allowed.empty() ? 404 : 405, now);
    if (allowed.empty()) return out;
    std::string list;
    for (const auto& method : allowed) list += (list.empty() ? "" : ", ") + method;
    out.headers.emplace_back("Allow", list);
    return out;
}

}  // namespace esi::testbed

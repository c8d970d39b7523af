#include "interface/legacy/content.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/text.h"
#include "interface/legacy/json.h"

namespace esi::interface::legacy {

namespace {

bool ends_with_json(std::string_view subtype) {
    return subtype == "json" || subtype == "*+json" || subtype.ends_with("+json");
}

/// Calls `use(type, quality in thousandths)` for each media range, in order.
template <class Use>
void each_range(std::string_view accept, Use use) {
    while (!accept.empty()) {
        auto end = std::min(accept.find(','), accept.size());
        auto range = accept.substr(0, end);
        accept.remove_prefix(std::min(end + 1, accept.size()));
        auto semicolon = std::min(range.find(';'), range.size());
        auto type = http::lower(trimmed(range.substr(0, semicolon)));
        int quality = 1000;
        auto rest = range.substr(semicolon);
        if (auto at = rest.find("q="); at != std::string_view::npos) {
            auto text = trimmed(rest.substr(at + 2));
            double value = 1;
            auto [stop, code] = std::from_chars(text.data(), text.data() + text.size(), value);
            const bool read = code == std::errc() && std::isfinite(value);
            quality = read ? static_cast<int>(std::clamp(value, 0.0, 1.0) * 1000) : 0;
        }
        if (!type.empty() && quality > 0) use(type, quality);
    }
}

bool takes_json(std::string_view type) {
    return type == "*/*" || type == "application/*" ||
           (type.starts_with("application/") && ends_with_json(type.substr(12)));
}

bool takes_html(std::string_view type) { return type == "text/html" || type == "text/*"; }

}  // namespace

wanted_form form_of(std::string_view accept) {
    if (trimmed(accept).empty()) return wanted_form::json;
    auto best = wanted_form::none;
    int most = 0;
    each_range(accept, [&](const std::string& type, int quality) {
        if (quality <= most) return;
        if (takes_html(type)) {
            best = wanted_form::html;
        } else if (takes_json(type)) {
            best = wanted_form::json;
        } else {
            return;
        }
        most = quality;
    });
    return best;
}

bool accepts_json(std::string_view accept) {
    if (trimmed(accept).empty()) return true;
    bool out = false;
    each_range(accept, [&](const std::string& type, int) { out = out || takes_json(type); });
    return out;
}

bool is_json(std::string_view content_type) {
    auto type = http::lower(trimmed(content_type.substr(0, content_type.find(';'))));
    return type.starts_with("application/") && ends_with_json(std::string_view(type).substr(12));
}

http::server_reply error_reply(const http::server_request& to, int status, wall_time now,
                               const std::vector<std::string>& messages) {
    auto form = form_of(to.header("accept"));
    if (form == wanted_form::none) return {status, "", ""};
    if (form == wanted_form::html) {
        auto time = std::chrono::time_point_cast<std::chrono::seconds>(now);
        http::server_reply out(
            status, "text/html;charset=UTF-8",
            fmt::format("<html><body><h1>Error Page</h1><p>The request could not be answered.</p>"
                        "<div id='created'>{:%a %b %d %H:%M:%S UTC %Y}</div><div>There was an "
                        "error (type={}, status={}).</div></body></html>",
                        std::chrono::system_clock::time_point(time.time_since_epoch()),
                        http::reason_phrase(status), status));
        out.headers.emplace_back("Content-Language", "en");
        return out;
    }
    ordered_json body;
    body["timestamp"] = std::chrono::duration_cast<milliseconds>(now.time_since_epoch()).count();
    body["status"] = status;
    body["error"] = http::reason_phrase(status);
    body["path"] = to.raw_path;
    if (!messages.empty()) body["messages"] = messages;
    return {status, "application/json", text_of(body)};
}

}  // namespace esi::interface::legacy

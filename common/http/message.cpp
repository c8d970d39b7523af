#include "http/message.h"

#include <algorithm>
#include <boost/beast/http/status.hpp>

namespace esi::http {

std::string_view server_request::header(std::string_view lower_name) const {
    const auto found =
        std::ranges::find(headers, lower_name, &std::pair<std::string, std::string>::first);
    return found == headers.end() ? std::string_view() : std::string_view(found->second);
}

bool server_request::has_header(std::string_view lower_name) const {
    return std::ranges::count(headers, lower_name, &std::pair<std::string, std::string>::first) > 0;
}

std::optional<std::string> server_request::parameter(std::string_view name) const {
    const auto found = std::ranges::find(query, name, &std::pair<std::string, std::string>::first);
    return found == query.end() ? std::nullopt : std::optional(found->second);
}

std::string_view reason_phrase(int status) {
    namespace known = boost::beast::http;
    // RFC 9110 has renamed the phrase.
    if (status == 422) return "Unprocessable Content";
    return std::string_view(
        known::obsolete_reason(known::int_to_status(static_cast<unsigned>(status))));
}

}  // namespace esi::http

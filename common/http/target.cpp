#include "http/target.h"

#include <simdjson.h>

#include <boost/url/pct_string_view.hpp>
#include <optional>

namespace esi::http {

namespace {

result<std::string> decode(std::string_view text, bool plus_is_space) {
    const auto valid =
        boost::urls::make_pct_string_view(boost::urls::string_view(text.data(), text.size()));
    if (!valid) return fail(errc::bad_request, "a % is not followed by two hex digits");
    boost::urls::encoding_opts options;
    options.space_as_plus = plus_is_space;
    auto out = valid->decode(options);
    if (!simdjson::validate_utf8(out)) return fail(errc::bad_request, "the address is not UTF-8");
    if (out.find('\0') != std::string::npos) return fail(errc::bad_request, "NUL in the address");
    return out;
}

result<std::vector<std::pair<std::string, std::string>>> decode_query(std::string_view text) {
    std::vector<std::pair<std::string, std::string>> out;
    while (!text.empty()) {
        const auto end = std::min(text.find('&'), text.size());
        const auto part = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (part.empty()) continue;
        if (out.size() == most_parameters) {
            return fail(errc::bad_request,
                        "more than " + std::to_string(most_parameters) + " parameters");
        }
        const auto equals = std::min(part.find('='), part.size());
        auto key = decode(part.substr(0, equals), true);
        if (!key) return std::unexpected(std::move(key).error());
        auto value = decode(part.substr(std::min(equals + 1, part.size())), true);
        if (!value) return std::unexpected(std::move(value).error());
        out.emplace_back(std::move(*key), std::move(*value));
    }
    return out;
}

/// Takes "http://authority" off an absolute form, and returns the authority; nothing for other
/// forms.
std::optional<std::string_view> take_authority(std::string_view& text) {
    for (std::string_view scheme : {"http://", "https://"}) {
        if (!text.starts_with(scheme)) continue;
        text.remove_prefix(scheme.size());
        const auto end = std::min(text.find_first_of("/?"), text.size());
        const auto authority = text.substr(0, end);
        text = end == text.size() ? "/" : text.substr(end);
        return authority;
    }
    return std::nullopt;
}

}  // namespace

result<target> parse_target(std::string_view text) {
    const bool fragment = text.find('#') != std::string_view::npos;
    const auto authority = take_authority(text);
    if (!text.starts_with('/') || fragment) {
        return fail(errc::bad_request, "the address does not start with / or contains #");
    }
    if (authority && authority->empty()) {
        return fail(errc::bad_request, "the address names no host");
    }
    const auto mark = std::min(text.find('?'), text.size());
    auto query = decode_query(text.substr(std::min(mark + 1, text.size())));
    if (!query) return std::unexpected(std::move(query).error());
    return target{std::string(text.substr(0, mark)), std::move(*query),
                  std::string(authority.value_or(std::string_view()))};
}

result<std::vector<std::string>> decode_segments(std::string_view raw_path) {
    if (!raw_path.starts_with('/'))
        return fail(errc::bad_request, "the path does not start with /");
    raw_path.remove_prefix(1);
    std::vector<std::string> out;
    for (;;) {
        const auto end = std::min(raw_path.find('/'), raw_path.size());
        auto segment = decode(raw_path.substr(0, end), false);
        if (!segment) return std::unexpected(std::move(segment).error());
        if (segment->find('/') != std::string::npos) {
            return fail(errc::bad_request, "an encoded slash in the path");
        }
        out.push_back(std::move(*segment));
        if (end == raw_path.size()) return out;
        raw_path.remove_prefix(end + 1);
    }
}

}  // namespace esi::http

// Request targets and routes. Oracles: a decoding written down again, and the answers of a router
// compared with the list of its routes. Input: method, a space, the target.
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <nlohmann/json.hpp>

#include "http/server.h"
#include "http/target.h"
#include "target.h"

namespace esi::fuzz {
namespace {

using nlohmann::json;

/// UTF-8, as nlohmann judges it.
bool is_utf8(const std::string& text) {
    try {
        return !json(text).dump().empty();
    } catch (const json::exception&) {
        return false;
    }
}

std::optional<std::string> decoded(std::string_view text, bool query) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            out += query && text[i] == '+' ? ' ' : text[i];
            continue;
        }
        const std::string digits(text.substr(i + 1, 2));
        if (digits.size() != 2 || !std::isxdigit(static_cast<unsigned char>(digits[0])) ||
            !std::isxdigit(static_cast<unsigned char>(digits[1]))) {
            return std::nullopt;
        }
        out += static_cast<char>(std::stoi(digits, nullptr, 16));
        i += 2;
    }
    if (out.find('\0') != std::string::npos || !is_utf8(out)) return std::nullopt;
    return out;
}

std::vector<std::string_view> split(std::string_view text, char at) {
    std::vector<std::string_view> out;
    for (;;) {
        const auto end = text.find(at);
        out.push_back(text.substr(0, end));
        if (end == std::string_view::npos) return out;
        text.remove_prefix(end + 1);
    }
}

std::optional<std::vector<std::string>> segments_of(std::string_view path) {
    if (!path.starts_with('/')) return std::nullopt;
    std::vector<std::string> out;
    for (const auto part : split(path.substr(1), '/')) {
        auto text = decoded(part, false);
        if (!text || text->find('/') != std::string::npos) return std::nullopt;
        out.push_back(std::move(*text));
    }
    return out;
}

void check_target(std::string_view text, const result<http::target>& got) {
    if (!got) {
        require(got.error().code == errc::bad_request, "refused as {}",
                to_string(got.error().code));
        const bool origin = text.starts_with('/') && text.find('#') == std::string_view::npos;
        if (!origin) return;
    }
    auto origin = text;
    std::string_view authority;
    for (std::string_view scheme : {"http://", "https://"}) {
        if (!text.starts_with(scheme)) continue;
        const auto path = text.find_first_of("/?", scheme.size());
        origin = path == std::string_view::npos ? "/" : text.substr(path);
        authority = text.substr(0, path).substr(scheme.size());
        break;
    }
    const auto mark = std::min(origin.find('?'), origin.size());
    std::optional<std::vector<std::pair<std::string, std::string>>> query;
    query.emplace();
    for (const auto part : split(origin.substr(std::min(mark + 1, origin.size())), '&')) {
        if (part.empty()) continue;
        const auto equals = std::min(part.find('='), part.size());
        auto key = decoded(part.substr(0, equals), true);
        auto value = decoded(part.substr(std::min(equals + 1, part.size())), true);
        if (!key || !value || query->size() == http::most_parameters) {
            query.reset();
            break;
        }
        query->emplace_back(std::move(*key), std::move(*value));
    }
    require(got.has_value() == query.has_value(), "the query is {}", got ? "taken" : "refused");
    if (!got) return;
    require(got->raw_path == origin.substr(0, mark) && got->raw_path.starts_with('/'),
            "the path is \"{}\"", got->raw_path);
    require(got->query == *query, "the query is another");
    require(got->authority == authority, "the authority is \"{}\"", got->authority);
    require(text.find('#') == std::string_view::npos, "a fragment is taken");
}

struct route {
    std::string_view method;
    std::string_view pattern;
};
constexpr route routes[] = {
    {"GET", "/jobs"},      {"GET", "/jobs/{name}"}, {"DELETE", "/jobs/{name}"},
    {"GET", "/jobs/all"},  {"PUT", "/jobs/"},       {"GET", "/a/{x}/b/{y}"},
    {"GET", "/a/{x}/b/c"}, {"HEAD", "/only"},       {"OPTIONS", "/jobs"}};

asio::awaitable<http::server_reply> told(std::string pattern, http::server_request request) {
    http::server_reply out(200, "", pattern);
    for (const auto& [key, value] : request.variables) out.headers.emplace_back(key, value);
    co_return out;
}
asio::awaitable<void> ask(const http::router& of, http::server_request request,
                          http::server_reply& into) {
    into = co_await of.answer(std::move(request));
}

bool is_variable(std::string_view segment) { return segment.starts_with('{'); }
bool matches(std::string_view pattern, const std::vector<std::string>& path) {
    const auto parts = split(pattern.substr(1), '/');
    return std::ranges::equal(parts, path, [](std::string_view part, const std::string& text) {
        return is_variable(part) ? !text.empty() : part == text;
    });
}

void check_routes(const std::string& method, const http::target& where) {
    static const http::router router = [] {
        http::router out;
        for (const auto& each : routes) {
            out.add(std::string(each.method), std::string(each.pattern),
                    [pattern = std::string(each.pattern)](http::server_request request) {
                        return told(pattern, std::move(request));
                    });
        }
        return out;
    }();
    http::server_request request;
    request.method = method;
    request.raw_path = where.raw_path;
    request.query = where.query;
    http::server_reply reply;
    asio::io_context loop;
    asio::co_spawn(loop, ask(router, request, reply), asio::detached);
    loop.run();

    const auto path = segments_of(where.raw_path);
    require((reply.status == 400) == !path, "{} is answered {}", where.raw_path, reply.status);
    if (!path) return;
    std::string_view best;
    bool other_methods = false;
    for (const auto& each : routes) {
        if (!matches(each.pattern, *path)) continue;
        const bool answers = each.method == method || (method == "HEAD" && each.method == "GET");
        other_methods |= !answers;
        if (!answers) continue;
        // Of two the one without a variable in the last place; there are no others here.
        if (best.empty() || is_variable(best.substr(best.rfind('/') + 1))) best = each.pattern;
    }
    const int expected = !best.empty() ? 200 : other_methods ? 405 : 404;
    require(reply.status == expected, "{} {} is answered {}, not {}", method, where.raw_path,
            reply.status, expected);
    if (expected == 200) {
        require(reply.body == best, "{} is answered by {}", where.raw_path, reply.body);
        const auto parts = split(best.substr(1), '/');
        std::map<std::string, std::string> variables;
        for (std::size_t i = 0; i < parts.size(); ++i) {
            if (!is_variable(parts[i])) continue;
            variables[std::string(parts[i].substr(1, parts[i].size() - 2))] = (*path)[i];
        }
        const std::map<std::string, std::string> got(reply.headers.begin(), reply.headers.end());
        require(got == variables, "the variables of {} are others", where.raw_path);
    } else {
        require(json::accept(reply.body), "a refusal that is no JSON: {}", reply.body);
    }
    if (expected == 405) {
        require(reply.headers.size() == 1 && reply.headers[0].first == "Allow", "no Allow");
    }
}

void http_targets(std::string_view text) {
    const auto space = text.find(' ');
    if (space == std::string_view::npos) return;
    const std::string method(text.substr(0, space));
    text.remove_prefix(space + 1);
    const auto got = http::parse_target(text);
    check_target(text, got);
    if (!got) return;
    const auto segments = http::decode_segments(got->raw_path);
    const auto expected = segments_of(got->raw_path);
    require(segments.has_value() == expected.has_value(), "{} is {}", got->raw_path,
            segments ? "taken" : "refused");
    if (segments) require(*segments == *expected, "the segments of {}", got->raw_path);
    check_routes(method, *got);
}

}  // namespace
}  // namespace esi::fuzz

ESI_FUZZ_TARGET(http_targets, esi::fuzz::http_targets)

#include <algorithm>
#include <nlohmann/json.hpp>

#include "http/server.h"
#include "http/target.h"

namespace esi::http {

std::string_view server_request::header(std::string_view lower_name) const {
    const auto found =
        std::ranges::find(headers, lower_name, &std::pair<std::string, std::string>::first);
    return found == headers.end() ? std::string_view() : std::string_view(found->second);
}

std::optional<std::string> server_request::parameter(std::string_view name) const {
    const auto found = std::ranges::find(query, name, &std::pair<std::string, std::string>::first);
    return found == query.end() ? std::nullopt : std::optional(found->second);
}

struct router::entry {
    struct segment {
        std::string text;  ///< the literal, or the variable's name
        bool variable = false;
    };
    std::string method;  ///< of an upgrade: the protocol
    std::vector<segment> segments;
    route_handler handler;

    entry(std::string method_, std::string_view pattern) : method(std::move(method_)) {
        if (pattern.starts_with('/')) pattern.remove_prefix(1);
        for (;;) {
            const auto end = std::min(pattern.find('/'), pattern.size());
            const auto part = pattern.substr(0, end);
            const bool variable = part.size() > 2 && part.front() == '{' && part.back() == '}';
            auto& segment = segments.emplace_back();
            segment.text = variable ? part.substr(1, part.size() - 2) : part;
            segment.variable = variable;
            if (end == pattern.size()) break;
            pattern.remove_prefix(end + 1);
        }
    }

    bool matches(const std::vector<std::string>& path) const {
        return std::ranges::equal(segments, path, [](const segment& own, const std::string& part) {
            return own.variable ? !part.empty() : own.text == part;
        });
    }
    /// Of two patterns for one path, the one that is literal where they first differ.
    bool more_literal_than(const entry& other) const {
        return std::ranges::lexicographical_compare(
            segments, other.segments,
            [](const segment& a, const segment& b) { return !a.variable && b.variable; });
    }
};

namespace {

std::string joined(const std::vector<std::string>& methods) {
    std::string out;
    for (const auto& method : methods) out += (out.empty() ? "" : ", ") + method;
    return out;
}

/// Whether a comma-separated header names `word` (lower case), in any case.
bool lists(std::string_view header, std::string_view word) {
    while (!header.empty()) {
        const auto end = std::min(header.find(','), header.size());
        auto each = header.substr(0, end);
        header.remove_prefix(std::min(end + 1, header.size()));
        while (each.starts_with(' ') || each.starts_with('\t')) each.remove_prefix(1);
        while (each.ends_with(' ') || each.ends_with('\t')) each.remove_suffix(1);
        if (std::ranges::equal(each, word, [](char a, char b) {
                return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b;
            })) {
            return true;
        }
    }
    return false;
}

server_reply default_miss(const server_request& request, const std::vector<std::string>& allowed) {
    if (allowed.empty()) return problem(404, "Not Found", "nothing is at " + request.raw_path);
    return problem(405, "Method Not Allowed",
                   request.raw_path + " takes " + joined(allowed) + ", not " + request.method);
}

}  // namespace

void router::add(std::string method, std::string pattern, route_handler handler) {
    auto made = std::make_shared<entry>(std::move(method), pattern);
    made->handler = std::move(handler);
    entries_.push_back(std::move(made));
}

void router::on_upgrade(std::string protocol, std::string pattern, upgrade_handler handler) {
    upgrades_.emplace_back(std::make_shared<const entry>(std::move(protocol), pattern),
                           std::move(handler));
}

const upgrade_handler* router::upgrade_of(const server_request& request) const {
    if (upgrades_.empty() || request.method != "GET") return nullptr;
    if (!lists(request.header("connection"), "upgrade")) return nullptr;
    const auto path = decode_segments(request.raw_path);
    if (!path) return nullptr;
    for (const auto& [where, handler] : upgrades_) {
        if (where->matches(*path) && lists(request.header("upgrade"), where->method)) {
            return &handler;
        }
    }
    return nullptr;
}

void router::on_miss(std::string prefix, miss_handler handler) {
    // Longest first; of two as long the earlier.
    const auto shorter = std::ranges::find_if(
        misses_, [&](const auto& known) { return known.first.size() < prefix.size(); });
    misses_.emplace(shorter, std::move(prefix), std::move(handler));
}

asio::awaitable<server_reply> router::answer(server_request request) const {
    const auto path = decode_segments(request.raw_path);
    if (!path) {
        request.undecodable_path = true;
        const auto own = std::ranges::find_if(
            misses_, [&](const auto& miss) { return request.raw_path.starts_with(miss.first); });
        if (own != misses_.end()) {
            auto reply = own->second(request, {});
            if (reply.status == 400) co_return reply;
        }
        co_return problem(400, "Bad Request", path.error().text);
    }

    std::shared_ptr<const entry> best;
    std::vector<std::string> allowed;
    const std::string wanted = request.method == "HEAD" ? "GET" : request.method;
    for (const auto& candidate : entries_) {
        if (!candidate->matches(*path)) continue;
        if (candidate->method == wanted || candidate->method == request.method) {
            if (!best || candidate->more_literal_than(*best)) best = candidate;
        } else if (std::ranges::find(allowed, candidate->method) == allowed.end()) {
            allowed.push_back(candidate->method);
        }
    }
    if (!best) {
        const auto at = std::ranges::find_if(
            misses_, [&](const auto& miss) { return request.raw_path.starts_with(miss.first); });
        auto reply =
            at == misses_.end() ? default_miss(request, allowed) : at->second(request, allowed);
        const bool has_allow = std::ranges::any_of(
            reply.headers, [](const auto& header) { return header.first == "Allow"; });
        if (reply.status == 405 && !has_allow) reply.headers.emplace_back("Allow", joined(allowed));
        co_return reply;
    }
    for (std::size_t i = 0; i < path->size(); ++i) {
        const auto& segment = best->segments[i];
        if (segment.variable) request.variables[segment.text] = (*path)[i];
    }
    auto reply = co_await best->handler(std::move(request));
    co_return reply;
}

server_reply problem(int status, std::string_view title, std::string_view detail,
                     const std::vector<std::string>& faults) {
    nlohmann::ordered_json body;
    body["type"] = "about:blank";
    body["title"] = title;
    body["status"] = status;
    body["detail"] = detail;
    if (!faults.empty()) body["faults"] = faults;
    return server_reply(status, "application/problem+json",
                        body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

}  // namespace esi::http

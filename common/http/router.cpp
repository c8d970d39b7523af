#include "http/router.h"

#include <algorithm>

#include "http/problem.h"
#include "http/target.h"

namespace esi::http {

struct router::entry {
    struct segment {
        std::string text;  ///< the literal, or the variable's name
        bool variable = false;
        std::string verb;  ///< ":reset", behind the variable's value

        bool matches(const std::string& part) const {
            if (!variable) return text == part;
            return part.size() > verb.size() && part.ends_with(verb);
        }
        /// The lower, the more literal.
        int rank() const { return variable ? (verb.empty() ? 2 : 1) : 0; }
    };
    std::string method;  ///< of an upgrade: the protocol
    std::string pattern;
    std::vector<segment> segments;
    route_handler handler;
    route_rules rules;
    admission admit;

    entry(std::string method_, std::string_view rest) : method(std::move(method_)), pattern(rest) {
        if (rest.starts_with('/')) rest.remove_prefix(1);
        for (;;) {
            const auto end = std::min(rest.find('/'), rest.size());
            segments.push_back(segment_of(rest.substr(0, end)));
            if (end == rest.size()) break;
            rest.remove_prefix(end + 1);
        }
    }

    static segment segment_of(std::string_view part) {
        const auto close = part.find('}');
        const bool braced =
            part.size() > 2 && part.front() == '{' && close > 1 && close != std::string_view::npos;
        const auto verb = braced ? part.substr(close + 1) : std::string_view();
        if (!braced || (!verb.empty() && (verb.size() < 2 || verb.front() != ':'))) {
            return {std::string(part), false, {}};
        }
        return {std::string(part.substr(1, close - 1)), true, std::string(verb)};
    }

    bool matches(const std::vector<std::string>& path) const {
        return std::ranges::equal(segments, path, [](const segment& own, const std::string& part) {
            return own.matches(part);
        });
    }
    /// Of two patterns for one path, the one that is literal at the first difference wins.
    bool more_literal_than(const entry& other) const {
        return std::ranges::lexicographical_compare(
            segments, other.segments,
            [](const segment& a, const segment& b) { return a.rank() < b.rank(); });
    }
};

struct router::guarded_path {
    std::string prefix;
    std::vector<std::string> segments;
    filter may;

    /// Compares decoded segments, so that an escape in a path does not bypass it. A path that
    /// cannot be decoded is compared as it was sent; no route answers it.
    bool covers(const server_request& head, const std::vector<std::string>* path) const {
        if (path == nullptr) return head.raw_path.starts_with(prefix);
        return path->size() >= segments.size() &&
               std::equal(segments.begin(), segments.end(), path->begin());
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
        if (lower(take_part(header, ',')) == word) return true;
    }
    return false;
}

server_reply default_miss(const server_request& request, const std::vector<std::string>& allowed) {
    if (allowed.empty()) return problem(404, "nothing is at " + request.raw_path);
    return problem(405, request.raw_path + " takes " + joined(allowed) + ", not " + request.method);
}

}  // namespace

void router::add(std::string method, std::string pattern, route_handler handler, route_rules rules,
                 admission admit) {
    auto made = std::make_shared<entry>(std::move(method), pattern);
    made->handler = std::move(handler);
    made->rules = rules;
    made->admit = std::move(admit);
    if (const auto& verb = made->segments.back().verb; !verb.empty()) {
        with_verbs_.insert(pattern.substr(0, pattern.size() - verb.size()));
    }
    entries_.push_back(std::move(made));
}

void router::guard(std::string prefix, filter may) {
    auto made = std::make_shared<guarded_path>();
    // A prefix is written by us and can be decoded.
    made->segments = decode_segments(prefix).value();
    made->prefix = std::move(prefix);
    made->may = std::move(may);
    guards_.push_back(std::move(made));
}

void router::on_upgrade(std::string protocol, std::string pattern, upgrade_handler handler) {
    upgrades_.emplace_back(std::make_shared<const entry>(std::move(protocol), pattern),
                           std::move(handler));
}

void router::on_miss(std::string prefix, miss_handler handler) {
    // Longest first; of two with the same length the earlier.
    const auto shorter = std::ranges::find_if(
        misses_, [&](const auto& known) { return known.first.size() < prefix.size(); });
    misses_.emplace(shorter, std::move(prefix), std::move(handler));
}

bool router::matches(const entry& route, const std::vector<std::string>& path) const {
    if (!route.matches(path)) return false;
    const auto& last = route.segments.back();
    return !last.variable || !last.verb.empty() || !path.back().contains(':') ||
           !with_verbs_.contains(route.pattern);
}

const router::miss_handler* router::miss_of(const server_request& request) const {
    const auto own = std::ranges::find_if(
        misses_, [&](const auto& miss) { return request.raw_path.starts_with(miss.first); });
    return own == misses_.end() ? nullptr : &own->second;
}

void router::find_upgrade(const server_request& request, const std::vector<std::string>& path,
                          decision& into) const {
    if (upgrades_.empty() || request.method != "GET") return;
    if (!lists(request.header("connection"), "upgrade")) return;
    for (const auto& [where, handler] : upgrades_) {
        if (where->matches(path) && lists(request.header("upgrade"), where->method)) {
            into.upgrade = &handler;
            into.route = where->pattern;
            return;
        }
    }
}

server_reply router::miss(const server_request& request,
                          const std::vector<std::string>& path) const {
    std::vector<std::string> allowed;
    for (const auto& candidate : entries_) {
        if (!matches(*candidate, path)) continue;
        if (std::ranges::find(allowed, candidate->method) == allowed.end()) {
            allowed.push_back(candidate->method);
        }
    }
    const auto* own = miss_of(request);
    auto reply = own == nullptr ? default_miss(request, allowed) : (*own)(request, allowed);
    const bool has_allow = std::ranges::any_of(
        reply.headers, [](const auto& header) { return header.first == "Allow"; });
    if (reply.status == 405 && !has_allow) reply.headers.emplace_back("Allow", joined(allowed));
    return reply;
}

router::decision router::decide(server_request& head) const {
    decision out;
    const auto path = decode_segments(head.raw_path);
    head.undecodable_path = !path;
    for (const auto& guard : guards_) {
        if (!guard->covers(head, path ? &*path : nullptr)) continue;
        out.reply = guard->may(head);
        if (out.reply) return out;
    }
    if (!path) {
        if (const auto* own = miss_of(head)) out.reply = (*own)(head, {});
        if (!out.reply || out.reply->status != 400) out.reply = problem(400, path.error().text);
        return out;
    }
    find_upgrade(head, *path, out);

    const entry* best = nullptr;
    for (const auto& candidate : entries_) {
        const bool as_get =
            head.method == "HEAD" && candidate->method == "GET" && !candidate->rules.writes;
        if (candidate->method != head.method && !as_get) continue;
        if (!matches(*candidate, *path)) continue;
        if (best == nullptr || candidate->more_literal_than(*best)) best = candidate.get();
    }
    if (best == nullptr) {
        out.reply = miss(head, *path);
        return out;
    }
    for (std::size_t i = 0; i < path->size(); ++i) {
        const auto& segment = best->segments[i];
        if (!segment.variable) continue;
        const auto& part = (*path)[i];
        head.variables[segment.text] = part.substr(0, part.size() - segment.verb.size());
    }
    out.handler = &best->handler;
    out.rules = best->rules;
    if (best->admit) out.admit = &best->admit;
    out.route = best->pattern;
    return out;
}

asio::awaitable<server_reply> router::answer(server_request request) const {
    auto decided = decide(request);
    if (decided.reply) co_return std::move(*decided.reply);
    if (decided.admit != nullptr) {
        auto refused = co_await (*decided.admit)(request);
        if (refused) co_return std::move(*refused);
    }
    co_return co_await (*decided.handler)(std::move(request));
}

}  // namespace esi::http

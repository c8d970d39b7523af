#include "interface/legacy/stomp.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <random>
#include <type_traits>

#include "base/log.h"
#include "interface/legacy/content.h"
#include "stomp/topic.h"

namespace esi::interface::legacy {

namespace {

/// Changes that are sent in one turn if many wait: their messages to one client go out together.
constexpr std::size_t most_per_turn = 16;
/// A burst (a new list) is sent as fast as clients that read can take it, so that it does not
/// overflow their queues; not if even more changes wait.
constexpr std::size_t burst = 64;
constexpr std::size_t flood = 10'000;
constexpr milliseconds patience_per_turn{20 * most_per_turn};
/// The time of all turns of one burst together: after it a slower client no longer delays the
/// others.
constexpr steady_time::duration most_patience = seconds(5);
constexpr std::size_t most_told = 16;
constexpr std::size_t most_last = 4096;
/// A large Testbed's slots are not in the object itself: they may change without it.
constexpr milliseconds slots_hold{100};

template <class T>
constexpr std::string_view kind_of() {
    if constexpr (std::is_same_v<T, model::testbed>) return "testbeds";
    if constexpr (std::is_same_v<T, model::batchjob>) return "jobs";
    if constexpr (std::is_same_v<T, model::scheduling>) return "schedulings";
}

/// Clients wait for the MODIFIED that shows it.
template <class T>
bool is_usable(const T& of) {
    if constexpr (std::is_same_v<T, model::testbed>) {
        return of.status.state == model::testbed_state::success;
    }
    return false;
}

std::string body_of(std::string_view action, ordered_json resource) {
    ordered_json out;
    out["action"] = action;
    out["resource"] = std::move(resource);
    return text_of(out);
}

/// The original's proxy-aware answers carry it.
std::vector<std::pair<std::string, std::string>> vary() {
    return {{"Vary", "Origin"},
            {"Vary", "Access-Control-Request-Method"},
            {"Vary", "Access-Control-Request-Headers"}};
}

http::server_reply sockjs_info() {
    static std::mt19937 random{std::random_device{}()};
    ordered_json body;
    body["entropy"] = static_cast<std::int32_t>(random() >> 1);
    body["origins"] = {"*:*"};
    body["cookie_needed"] = true;
    body["websocket"] = true;
    http::server_reply out(200, "application/json;charset=UTF-8", body.dump());
    out.headers = vary();
    out.headers.emplace_back("Cache-Control", "no-store, no-cache, must-revalidate, max-age=0");
    return out;
}

asio::awaitable<http::server_reply> at_once(http::server_reply out) { co_return out; }

stomp::endpoint_options limits_of(const stomp_options& from) {
    stomp::endpoint_options out;
    out.most_connections = static_cast<std::size_t>(from.max_connections);
    out.session.most_subscriptions = static_cast<std::size_t>(from.max_subscriptions);
    out.queue.bytes = static_cast<std::size_t>(from.queue_bytes);
    return out;
}

}  // namespace

void stomp_options::add_to(CLI::App& app) {
    app.add_option("--stomp-max-connections", max_connections,
                   "STOMP connections at a time; more are refused with 503")
        ->envname("ESI_STOMP_MAX_CONNECTIONS")
        ->check(CLI::Range(0, 1'000'000))
        ->capture_default_str();
    app.add_option("--stomp-max-subscriptions", max_subscriptions,
                   "subscriptions of one STOMP connection; one more ends it")
        ->envname("ESI_STOMP_MAX_SUBSCRIPTIONS")
        ->check(CLI::Range(1, 1'000'000))
        ->capture_default_str();
    app.add_option(
           "--stomp-queue-bytes", queue_bytes,
           "bytes that may wait for one STOMP client; one that reads more slowly is dropped")
        ->envname("ESI_STOMP_QUEUE_BYTES")
        ->check(CLI::Range(64 << 10, 1 << 30))
        ->capture_default_str();
}

stomp_topics::stomp_topics(stomp_sources from, std::string ns, http::local_access access,
                           stomp_options options)
    : from_(std::move(from)),
      namespace_(std::move(ns)),
      access_(std::move(access)),
      options_(std::move(options)),
      endpoint_(from_.executor, from_.numbers, limits_of(options_)),
      tasks_(from_.executor) {
    endpoint_.on_subscribe([this](const std::string& destination) { return present(destination); });
    follow(from_.testbeds);
    follow(from_.jobs);
    follow(from_.schedulings);
}

void stomp_topics::add_to(http::router& router) {
    router.guard("/scheduler", [this](const request& head) -> std::optional<reply> {
        auto why = access_.refusal(head, "/scheduler");
        if (why.empty()) return std::nullopt;
        return error_reply(head, 403, from_.time.wall(), {std::move(why)});
    });
    const auto add = [&](const std::string& pattern, const std::function<reply()>& make) {
        router.add("GET", pattern, [make](const request&) { return at_once(make()); });
    };
    add("/scheduler", [] { return reply(400, "", "Can \"Upgrade\" only to \"WebSocket\"."); });
    add("/scheduler/info", sockjs_info);
    add("/scheduler/", [] {
        reply out(200, "text/plain;charset=UTF-8", "Welcome to SockJS!\n");
        out.headers = vary();
        return out;
    });
    add("/scheduler/iframe.html", [] {
        reply out(404, "", "");
        out.headers = vary();
        return out;
    });
    using framing = stomp::endpoint::framing;
    const auto upgrade = [&](const std::string& pattern, framing how, bool sockjs) {
        router.on_upgrade("websocket", pattern,
                          [this, how, sockjs](std::shared_ptr<http::upgrade> from) {
                              return talk(std::move(from), how, sockjs);
                          });
    };
    upgrade("/scheduler", framing::plain, false);
    upgrade("/scheduler/websocket", framing::plain, true);
    upgrade("/scheduler/{server}/{session}/websocket", framing::sockjs, true);
}

asio::awaitable<std::optional<stomp_topics::reply>> stomp_topics::talk(
    std::shared_ptr<http::upgrade> from, stomp::endpoint::framing how, bool sockjs) {
    const auto& asked = from->request;
    if (!http::may_come_from(asked.header("origin"), asked.header("host"), access_.origins)) {
        co_return error_reply(asked, 403, from_.time.wall(),
                              {"pages of this origin may not connect; --stomp-allowed-origins "
                               "lets them"});
    }
    if (!from_.testbeds.synced() || !from_.jobs.synced() || !from_.schedulings.synced()) {
        auto out = error_reply(asked, 503, from_.time.wall(), {"the caches are not filled yet"});
        out.headers.emplace_back("Retry-After", "2");
        co_return out;
    }
    std::vector<std::pair<std::string, std::string>> headers;
    if (sockjs) headers = vary();
    co_return co_await endpoint_.serve(std::move(from), how, std::move(headers));
}

asio::awaitable<void> stomp_topics::stop(steady_time deadline) {
    co_await endpoint_.stop(from_.time, deadline);
    co_await tasks_.stop();
}

// --- changes ---

template <class T>
void stomp_topics::follow(kube::store<T>& of) {
    of.on_change([this, &of](const kube::change<T>& what) {
        // The first list is the present state, and no change.
        if (!of.synced()) return;
        const auto& any = what.after ? what.after : what.before;
        if (any->metadata.namespace_ != namespace_) return;
        // Either of two objects of one name may be left out.
        auto shown = what;
        if (shown.before && !is_shown(*shown.before)) shown.before = nullptr;
        if (shown.after && !is_shown(*shown.after)) shown.after = nullptr;
        if (shown.before || shown.after) note(std::move(shown));
    });
}

/// Sent later, so that the watch goes on whatever the number of subscribers is.
void stomp_topics::note(some_change what) {
    if (endpoint_.empty()) return;
    noted_.push_back({++number_, std::move(what)});
    if (std::exchange(telling_, true)) return;
    tasks_.spawn("STOMP changes", tell_noted());
}

asio::awaitable<void> stomp_topics::tell_noted() {
    // Not at once: the caller is in the middle of the watch.
    co_await asio::post(from_.executor, asio::use_awaitable);
    auto patience = most_patience;
    while (!noted_.empty()) {
        for (std::size_t i = 0; i < most_per_turn && !noted_.empty(); ++i) {
            const auto next = std::move(noted_.front());
            noted_.pop_front();
            try {
                std::visit([&](const auto& what) { tell(next.number, what); }, next.what);
            } catch (const std::exception& e) {
                log::error("a change could not be told to STOMP clients", {{"error", e.what()}});
            }
        }
        const bool patient = noted_.size() > burst && noted_.size() < flood;
        const auto longest = std::min<steady_time::duration>(patience, patience_per_turn);
        const auto before = from_.time.now();
        co_await endpoint_.let_them_read(patient ? std::chrono::floor<milliseconds>(longest)
                                                 : milliseconds(0));
        // Counts only time used by clients that were still behind at its end.
        const auto took = from_.time.now() - before;
        if (patient && took >= longest) patience -= std::min(patience, took);
        if (noted_.size() <= burst) patience = most_patience;
    }
    telling_ = false;
}

template <class T>
void stomp_topics::tell(std::uint64_t number, const kube::change<T>& what) {
    // A watch that was interrupted may have missed a deletion between two objects of one name.
    const bool another =
        what.before && what.after && what.before->metadata.uid != what.after->metadata.uid;
    if (what.before && (!what.after || another)) say(number, "DELETED", *what.before);
    if (!what.after) return;
    if (what.before && !another) return say(number, "MODIFIED", *what.after);
    say(number, "ADDED", *what.after);
    if (is_usable(*what.after)) say(number, "MODIFIED", *what.after);
}

template <class T>
void stomp_topics::say(std::uint64_t number, std::string_view action, const T& about) {
    const auto& name = about.metadata.name;
    const auto topic = "/topic/" + std::string(kind_of<T>());
    endpoint_.publish(topic, number, [&] { return body_of(action, name); });
    const auto own = topic + "/" + name;
    endpoint_.publish(own, number, [&] {
        auto body = body_of(action, resource(about));
        if (is_repeat(own, action, body)) body.clear();
        return body;
    });
}

/// Whether the message repeats the last one: the change is in a part that is not shown.
bool stomp_topics::is_repeat(const std::string& destination, std::string_view action,
                             const std::string& body) {
    const auto hash = std::hash<std::string>{}(body);
    const auto known = last_.find(destination);
    if (known != last_.end() && action == "MODIFIED" && known->second == hash) return true;
    if (action == "DELETED") {
        last_.erase(destination);
        return false;
    }
    if (known == last_.end() && last_.size() >= most_last) last_.clear();
    last_.insert_or_assign(destination, hash);
    return false;
}

// --- the present state ---

stomp::endpoint::present stomp_topics::present(const std::string& destination) {
    stomp::endpoint::present out;
    // The cache is ahead of the noted changes: they are in the state that is sent now.
    out.since = number_ + 1;
    // A subscriber to a pattern gets no state now, and has not received what others have.
    if (stomp::is_pattern(destination)) last_.clear();
    constexpr std::string_view root = "/topic/";
    std::string_view rest = destination;
    if (!rest.starts_with(root)) return out;
    rest.remove_prefix(root.size());
    const auto slash = rest.find('/');
    if (slash == std::string_view::npos) return out;
    const auto kind = rest.substr(0, slash);
    const auto name = rest.substr(slash + 1);
    if (kind == kind_of<model::testbed>()) {
        out.state = present_of(from_.testbeds, destination, name);
    } else if (kind == kind_of<model::batchjob>()) {
        out.state = present_of(from_.jobs, destination, name);
    } else if (kind == kind_of<model::scheduling>()) {
        out.state = present_of(from_.schedulings, destination, name);
    }
    return out;
}

template <class T>
stomp::shared_message stomp_topics::present_of(const kube::store<T>& of,
                                               const std::string& destination,
                                               std::string_view name) {
    const auto found = of.find({namespace_, std::string(name)});
    if (!found || !is_shown(*found)) return nullptr;
    // A new subscriber gets this; for it, a repeat of another message is none.
    const auto forget_other = [&](std::size_t hash) {
        const auto last = last_.find(destination);
        if (last != last_.end() && last->second != hash) last_.erase(last);
    };
    const auto now = from_.time.now();
    const auto known = told_.find(destination);
    if (known != told_.end() && known->second.object == found && now < known->second.until) {
        forget_other(known->second.hash);
        return known->second.state;
    }
    const auto body = body_of("MODIFIED", resource(*found));
    const auto hash = std::hash<std::string>{}(body);
    forget_other(hash);
    auto made = stomp::make_message(destination, body);
    auto until = steady_time::max();
    if constexpr (std::is_same_v<T, model::testbed>) {
        if (found->status.slots.empty()) until = now + slots_hold;
    }
    if (known == told_.end() && told_.size() >= most_told) told_.clear();
    told_.insert_or_assign(destination, told{found, made, hash, until});
    return made;
}

}  // namespace esi::interface::legacy

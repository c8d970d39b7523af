#include "stomp/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "stomp/topic.h"

namespace esi::stomp {

namespace {

constexpr int protocol_fault = 1002;
constexpr milliseconds longest_heart_beat = std::chrono::hours(24);

/// Makes a text fit for a sentence in a header of ours.
std::string shown(std::string_view text) {
    std::string out;
    for (const char c : text.substr(0, 60)) {
        out += c > 0x20 && c < 0x7F ? c : '?';
    }
    return out;
}

/// The newest version of the list that is supported here.
std::optional<version> best_of(std::string_view list) {
    std::optional<version> best;
    while (!list.empty()) {
        const auto end = std::min(list.find(','), list.size());
        const auto each = trimmed(list.substr(0, end));
        list.remove_prefix(std::min(end + 1, list.size()));
        for (auto known : {version::v1_0, version::v1_1, version::v1_2}) {
            if (each == text_of(known) && (!best || known > *best)) best = known;
        }
    }
    return best;
}

std::optional<milliseconds> milliseconds_of(std::string_view text) {
    text = trimmed(text);
    // Also a number too far below zero to be read.
    if (text.starts_with('-')) return std::nullopt;
    std::int64_t out = 0;
    const auto [stop, code] = std::from_chars(text.data(), text.data() + text.size(), out);
    if (code == std::errc::result_out_of_range) return longest_heart_beat;
    if (code != std::errc() || stop != text.data() + text.size()) return std::nullopt;
    return std::min(milliseconds(out), longest_heart_beat);
}

}  // namespace

session::session(session_options options, std::string id, steady_time now)
    : options_(options),
      id_(std::move(id)),
      parser_(options.frames),
      since_(now),
      last_heard_(now),
      last_sent_(now) {}

std::vector<action> session::receive(std::string_view bytes, steady_time now) {
    actions out;
    last_heard_ = now;
    if (phase_ == phase::over || phase_ == phase::left) return out;
    const auto before = phase_;
    parser_.feed(bytes);
    while (phase_ == phase::waiting || phase_ == phase::connected) {
        auto next = parser_.next();
        if (!next) {
            refuse(next.error().text, nullptr, out);
            break;
        }
        if (!*next) break;
        if (const auto* got = std::get_if<frame>(&**next)) handle(*got, out);
    }
    if (phase_ != before) since_ = now;
    return out;
}

std::vector<action> session::tick(steady_time now) {
    actions out;
    if (phase_ == phase::over) return out;
    if (phase_ == phase::waiting && now >= since_ + options_.connect_time) {
        phase_ = phase::over;
        out.emplace_back(todo::close{protocol_fault, "no-connect", "no CONNECT came"});
    } else if (phase_ == phase::left && now >= since_ + options_.linger_time) {
        phase_ = phase::over;
        out.emplace_back(todo::close{1000, "left", ""});
    } else if (phase_ == phase::connected && hear_every_.count() > 0 &&
               now >= last_heard_ + 2 * hear_every_) {
        phase_ = phase::over;
        out.emplace_back(
            todo::close{protocol_fault, "silent",
                        fmt::format("no heart-beat for {} ms", 2 * hear_every_.count())});
    } else if (phase_ == phase::connected && send_every_.count() > 0 &&
               now >= last_sent_ + send_every_) {
        last_sent_ = now;
        out.emplace_back(todo::send{"\n"});
    }
    return out;
}

steady_time session::deadline() const {
    auto out = steady_time::max();
    if (phase_ == phase::waiting) out = since_ + options_.connect_time;
    if (phase_ == phase::left) out = since_ + options_.linger_time;
    if (phase_ == phase::connected) {
        if (hear_every_.count() > 0) out = std::min(out, last_heard_ + 2 * hear_every_);
        if (send_every_.count() > 0) out = std::min(out, last_sent_ + send_every_);
    }
    return out;
}

std::string session::message_headers(std::string_view subscription) {
    return "subscription:" + escaped(subscription, version_) + "\nmessage-id:" + id_ + "-" +
           std::to_string(messages_++) + "\n";
}

void session::handle(const frame& got, actions& out) {
    const auto& command = got.command;
    if (command == "CONNECT" || command == "STOMP") return connect(got, out);
    static constexpr std::string_view ignored[] = {"ACK", "NACK", "BEGIN", "COMMIT", "ABORT"};
    const bool passes = std::ranges::find(ignored, command) != std::end(ignored);
    if (!passes && command != "SUBSCRIBE" && command != "UNSUBSCRIBE" && command != "DISCONNECT" &&
        command != "SEND") {
        return refuse("the command " + shown(command) + " is not known", &got, out);
    }
    if (phase_ != phase::connected) return refuse("CONNECT has to come first", &got, out);
    if (command == "SEND") {
        return refuse("SEND is refused, topics tell of changes and take nothing", &got, out);
    }
    if (command == "SUBSCRIBE") return subscribe(got, out);
    if (command == "UNSUBSCRIBE") return unsubscribe(got, out);
    receipt(got, out);
    if (command != "DISCONNECT") return;
    for (const auto& [id, unused] : subscriptions_) out.emplace_back(todo::unsubscribe{id});
    subscriptions_.clear();
    patterns_ = 0;
    phase_ = phase::left;
}

void session::connect(const frame& got, actions& out) {
    const auto wanted = got.header("accept-version");
    if (!wanted) {
        return refuse("accept-version is missing; 1.0, 1.1 and 1.2 are spoken here", &got, out);
    }
    const auto best = best_of(*wanted);
    if (!best) {
        return refuse(
            "of the versions " + shown(*wanted) + " none is spoken here; 1.0, 1.1 and 1.2 are",
            &got, out);
    }
    milliseconds can_send{0};
    milliseconds wants{0};
    if (const auto beats = got.header("heart-beat"); beats && *best != version::v1_0) {
        const auto comma = std::min(beats->find(','), beats->size());
        const auto first = milliseconds_of(beats->substr(0, comma));
        const auto second = milliseconds_of(beats->substr(std::min(comma + 1, beats->size())));
        if (!first || !second) {
            return refuse("heart-beat has to be two numbers of milliseconds", &got, out);
        }
        can_send = *first;
        wants = *second;
    }
    version_ = *best;
    parser_.speak(version_);
    const auto own = options_.heart_beat;
    const bool beats = own.count() > 0;
    hear_every_ = beats && can_send.count() > 0 ? std::max(own, can_send) : milliseconds(0);
    send_every_ = beats && wants.count() > 0 ? std::max(own, wants) : milliseconds(0);
    frame answer;
    answer.command = "CONNECTED";
    answer.headers.emplace_back("version", text_of(version_));
    answer.headers.emplace_back("heart-beat",
                                fmt::format("{},{}", send_every_.count() > 0 ? own.count() : 0,
                                            hear_every_.count() > 0 ? own.count() : 0));
    out.emplace_back(todo::send{encode(answer, version_)});
    phase_ = phase::connected;
}

void session::subscribe(const frame& got, actions& out) {
    const auto id = got.header("id");
    const auto destination = got.header("destination");
    if (!id) return refuse("SUBSCRIBE needs an id", &got, out);
    if (!destination) return refuse("SUBSCRIBE needs a destination", &got, out);
    if (id->size() > options_.longest_header || destination->size() > options_.longest_header) {
        return refuse(
            fmt::format("id and destination have at most {} bytes each", options_.longest_header),
            &got, out);
    }
    const auto known = subscriptions_.find(*id);
    const bool replaces = known != subscriptions_.end();
    if (!replaces && subscriptions_.size() >= options_.most_subscriptions) {
        return refuse(fmt::format("more than {} subscriptions", options_.most_subscriptions), &got,
                      out);
    }
    auto patterns = patterns_;
    if (replaces && is_pattern(known->second)) --patterns;
    if (is_pattern(*destination)) ++patterns;
    if (patterns > options_.most_patterns) {
        return refuse(fmt::format("more than {} patterns", options_.most_patterns), &got, out);
    }
    patterns_ = patterns;
    if (replaces) out.emplace_back(todo::unsubscribe{std::string(*id)});
    subscriptions_[std::string(*id)] = *destination;
    out.emplace_back(todo::subscribe{std::string(*id), std::string(*destination)});
    receipt(got, out);
}

void session::unsubscribe(const frame& got, actions& out) {
    const auto id = got.header("id");
    if (!id) return refuse("UNSUBSCRIBE needs an id", &got, out);
    const auto known = subscriptions_.find(*id);
    if (known != subscriptions_.end()) {
        out.emplace_back(todo::unsubscribe{known->first});
        if (is_pattern(known->second)) --patterns_;
        subscriptions_.erase(known);
    }
    receipt(got, out);
}

void session::receipt(const frame& got, actions& out) {
    const auto wanted = got.header("receipt");
    if (!wanted) return;
    frame answer;
    answer.command = "RECEIPT";
    answer.headers.emplace_back("receipt-id", *wanted);
    out.emplace_back(todo::send{encode(answer, version_)});
}

void session::refuse(std::string why, const frame* about, actions& out) {
    frame answer;
    answer.command = "ERROR";
    answer.headers.emplace_back("message", why);
    if (about != nullptr) {
        if (const auto wanted = about->header("receipt")) {
            answer.headers.emplace_back("receipt-id", *wanted);
        }
    }
    answer.headers.emplace_back("content-length", "0");
    out.emplace_back(todo::send{encode(answer, version_)});
    phase_ = phase::over;
    out.emplace_back(todo::close{protocol_fault, "protocol", std::move(why)});
}

}  // namespace esi::stomp

// Open watches: how late their events are, and what faults do to them.
#include <algorithm>
#include <utility>

#include "base/group_kinds.h"
#include "world/network_state.h"

namespace esi::simulation {

namespace {

using namespace std::chrono_literals;

/// An event is in the watch cache, and on its way, so much later than its write.
constexpr steady_time::duration least_event_way = 500us;
constexpr steady_time::duration most_event_way = 5ms;
/// kube-apiserver sends bookmarks about once a minute.
constexpr auto bookmark_period = 60s;

constexpr std::string_view expired_line =
    R"({"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",)"
    R"("message":"too old resource version","reason":"Expired","code":410}})"
    "\n";

}  // namespace

void network::state::refuse(stream_end& end, kube::response how) {
    end.status = how.status;
    end.retry_after_seconds = how.retry_after_seconds;
    if (!how.body.empty()) end.pieces.push_back(std::move(how.body));
    end.closed = true;
}

void network::state::open(const std::shared_ptr<stream_end>& end, const kube::request& what) {
    if (auto found = refusals.find({end->who.operator_, end->plural});
        found != refusals.end() && found->second > 0) {
        --found->second;
        return refuse(*end, status_answer(410, "Expired"));
    }
    auto opened = in.server.open(what, visible(end->who, end->plural));
    if (auto* refused = std::get_if<kube::response>(&opened))
        return refuse(*end, std::move(*refused));
    end->source = std::move(std::get<std::unique_ptr<watch>>(opened));
    streams.push_back(end);
    arm(end, in.time.now() + way());
    keep_bookmarks(end);
    if (end->source->timeout_seconds() > 0) {
        in.time.after(seconds(end->source->timeout_seconds()), [weak = std::weak_ptr(end)] {
            if (auto there = weak.lock(); there && !there->over()) there->close();
        });
    }
}

void network::state::changed(const change& what) {
    std::erase_if(streams, [](const auto& weak) { return weak.expired(); });
    for (const auto& weak : streams) {
        auto end = weak.lock();
        if (end && !end->over() && end->plural == known_as(*what.type))
            arm(end, what.at + lag_of(end->who, end->plural) +
                         chance.between(least_event_way, most_event_way));
    }
}

void network::state::arm(const std::shared_ptr<stream_end>& end, steady_time when) {
    if (end->armed && *end->armed <= when) return;
    end->armed = when;
    in.time.at(when, [own = weak_from_this(), weak = std::weak_ptr(end), when] {
        auto here = own.lock();
        auto there = weak.lock();
        if (!here || !there || there->armed != when) return;
        there->armed.reset();
        here->pump(there);
    });
}

void network::state::pump(const std::shared_ptr<stream_end>& end) {
    if (end->over() || !end->source) return;
    const auto now = in.time.now();
    if (now < end->held_until) return arm(end, end->held_until);
    end->shown = std::max(end->shown, visible(end->who, end->plural));
    auto text = end->source->read(end->shown);
    if (!text.empty()) {
        const auto line = text.rfind('\n', text.size() - 2);
        end->last_line = line == text.npos ? text : text.substr(line + 1);
        if (end->half_next) {
            text.resize(text.size() / 2);
            end->push(std::move(text));
            return end->close();
        }
        end->push(std::move(text));
    }
    if (end->source->ended()) return end->close();
    // What came later than the state that is shown is still under way.
    const auto& objects = in.server.objects();
    const change* next = objects.next(end->shown);
    while (next && known_as(*next->type) != end->plural) next = objects.next(next->version);
    if (!next) return;
    auto due =
        std::max(now + least_event_way, next->at + lag_of(end->who, end->plural) + least_event_way);
    if (auto old = pasts.find(end->who); old != pasts.end() && now < old->second.until)
        due = std::max(due, old->second.until);
    arm(end, due);
}

void network::state::keep_bookmarks(std::weak_ptr<stream_end> weak) {
    in.time.after(bookmark_period, [own = weak_from_this(), weak] {
        auto here = own.lock();
        auto end = weak.lock();
        if (!here || !end || end->over()) return;
        // Events first: a bookmark says that all before it was sent.
        if (here->in.time.now() >= end->held_until) {
            here->pump(end);
            if (!end->over()) end->push(end->source->bookmark(end->shown));
        }
        here->keep_bookmarks(weak);
    });
}

void network::fail_watches(const std::string& operator_, const watch_fault& how) {
    auto& own = *state_;
    own.each_stream(operator_, how.plural, [&](const std::shared_ptr<stream_end>& end) {
        ++own.effects["watch " + how.what];
        if (how.what == "end") {
            end->close();
        } else if (how.what == "reset") {
            end->cut();
        } else if (how.what == "silent") {
            end->held_until = own.in.time.now() + how.lasts;
            own.in.time.after(how.lasts, [weak = std::weak_ptr(end)] {
                if (auto there = weak.lock(); there && !there->over()) there->cut();
            });
        } else if (how.what == "410-status") {
            own.refusals[{operator_, how.plural}] = 1;
            end->close();
        } else if (how.what == "410-event") {
            end->push(std::string(expired_line));
            end->close();
        } else if (how.what == "duplicate") {
            end->push(end->last_line);
        } else if (how.what == "garbage") {
            end->push("}{ no json \x01\n");
        } else if (how.what == "half-line") {
            end->half_next = true;
        } else if (how.what == "bookmark-only") {
            end->push(end->source->bookmark(end->shown));
            end->held_until = own.in.time.now() + how.lasts;
        }
    });
}

void network::lag(const std::string& operator_, int replica, const std::string& plural,
                  steady_time::duration by, steady_time::duration lasts) {
    const std::tuple key(operator_, replica, plural == "*" ? std::string() : plural);
    auto& own = *state_;
    ++own.effects["lag"];
    own.lags[key].insert(by);
    own.in.time.after(lasts, [weak = std::weak_ptr(state_), key, by] {
        auto here = weak.lock();
        if (!here) return;
        auto& left = here->lags[key];
        left.erase(left.find(by));
        if (left.empty()) here->lags.erase(key);
        // What was held back is due now.
        for (const auto& stream : here->streams) {
            if (auto end = stream.lock()) here->arm(end, here->in.time.now());
        }
    });
}

}  // namespace esi::simulation

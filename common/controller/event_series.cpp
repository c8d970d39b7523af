#include "controller/event_series.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace esi::controller {

namespace {

using namespace std::chrono_literals;

// client-go tools/events/event_broadcaster.go: finishTime, refreshTime.
constexpr auto quiet = 6min;
constexpr auto heartbeat = 30min;

}  // namespace

event_series::event_series(std::function<std::string(const std::string&)> name, std::size_t limit)
    : name_(std::move(name)), limit_(limit) {}

std::optional<event_write> event_series::add(event_note note, steady_time now, wall_time wall) {
    sort key{note.type,         note.action,
             note.reason,       note.api_version,
             note.kind,         note.subject.namespace_,
             note.subject.name, note.uid,
             note.related_kind, note.related.namespace_,
             note.related.name, note.related_uid,
             note.note};
    auto found = sorts_.find(key);
    if (found != sorts_.end() && now - found->second.heard >= quiet) {
        // The old series is over, though due() was not called since.
        sorts_.erase(found);
        found = sorts_.end();
    }
    if (found == sorts_.end()) {
        if (sorts_.size() >= limit_) forget_oldest();
        auto& made = sorts_[std::move(key)];
        made.name = name_(note.subject.name);
        made.what = std::move(note);
        made.first_seen = made.last_seen = wall;
        made.heard = made.wrote = now;
        event_write out;
        out.name = made.name;
        out.what = made.what;
        out.first_seen = out.last_seen = wall;
        return out;
    }
    auto& known = found->second;
    ++known.count;
    known.heard = now;
    known.last_seen = wall;
    if (known.count > 2) return std::nullopt;
    known.written = known.count;
    known.wrote = now;
    return series_write(known);
}

std::vector<event_write> event_series::due(steady_time now) {
    std::vector<event_write> out;
    for (auto at = sorts_.begin(); at != sorts_.end();) {
        auto& known = at->second;
        if (due_at(known) > now) {
            ++at;
            continue;
        }
        if (known.count > known.written) out.push_back(series_write(known));
        known.written = known.count;
        known.wrote = now;
        at = now - known.heard >= quiet ? sorts_.erase(at) : std::next(at);
    }
    return out;
}

std::optional<steady_time> event_series::next_due() const {
    std::optional<steady_time> first;
    for (const auto& [key, known] : sorts_) {
        auto when = due_at(known);
        if (!first || when < *first) first = when;
    }
    return first;
}

steady_time event_series::due_at(const entry& at) const {
    return std::min(at.heard + quiet, at.wrote + heartbeat);
}

event_write event_series::series_write(const entry& at) {
    event_write out;
    out.series_only = true;
    out.name = at.name;
    out.what = at.what;
    out.first_seen = at.first_seen;
    out.last_seen = at.last_seen;
    out.count = at.count;
    return out;
}

void event_series::forget_oldest() {
    std::map<std::string_view, std::size_t> counts;
    for (const auto& [key, known] : sorts_) ++counts[known.what.subject.namespace_];
    const auto most =
        std::ranges::max_element(counts, {}, [](const auto& each) { return each.second; });
    auto oldest = sorts_.end();
    for (auto at = sorts_.begin(); at != sorts_.end(); ++at) {
        if (at->second.what.subject.namespace_ != most->first) continue;
        if (oldest == sorts_.end() || at->second.heard < oldest->second.heard) oldest = at;
    }
    if (oldest != sorts_.end()) sorts_.erase(oldest);
}

}  // namespace esi::controller

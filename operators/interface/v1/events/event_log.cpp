#include "interface/v1/events/event_log.h"

#include <algorithm>
#include <ranges>
#include <utility>

namespace esi::interface::v1::events {

std::string_view word_of(action what) {
    switch (what) {
        case action::added:
            return "ADDED";
        case action::modified:
            return "MODIFIED";
        case action::deleted:
            break;
    }
    return "DELETED";
}

std::size_t change::bytes() const {
    constexpr std::size_t node = 128;
    auto out = sizeof(change) + ns.size() + text.size() + heard.size() * sizeof(version);
    for (const auto* of : {&labels, labels_before ? &*labels_before : nullptr}) {
        if (of == nullptr) continue;
        for (const auto& [name, value] : *of) out += node + name.size() + value.size();
    }
    return out;
}

event_log::event_log(std::size_t feeds, std::size_t most_bytes, std::size_t most_changes)
    : most_bytes_(most_bytes), most_changes_(most_changes), floors_(feeds), positions_(feeds) {}

void event_log::advance(std::size_t feed, version at) {
    positions_[feed] = std::max(positions_[feed], at);
}

void event_log::append(change what) {
    advance(what.feed, what.at);
    what.heard = positions_;
    bytes_ += what.bytes();
    what.appended = appended_ += what.bytes();
    changes_.push_back(std::make_shared<const change>(std::move(what)));
    trim();
}

bool event_log::prepend(std::size_t feed, version from, std::vector<change> older) {
    const auto known = floors_[feed];
    std::erase_if(older, [&](const change& each) { return each.at <= from || each.at > known; });
    std::size_t more = 0;
    for (const auto& each : older) more += each.bytes();
    // At most half of the room, so that the next changes do not push it out at once.
    if (bytes_ + more > most_bytes_ || more > most_bytes_ / 2) return false;
    if (changes_.size() + older.size() > most_changes_) return false;
    for (auto& each : std::ranges::reverse_view(older)) {
        changes_.push_front(std::make_shared<const change>(std::move(each)));
        --first_;
    }
    bytes_ += more;
    floors_[feed] = std::min(known, from);
    return true;
}

void event_log::restart(std::size_t feed, version at) {
    for (auto& each : changes_) {
        if (!each || each->feed != feed) continue;
        bytes_ -= each->bytes();
        each = nullptr;
    }
    floors_[feed] = positions_[feed] = at;
}

void event_log::clear() {
    first_ = end();
    changes_.clear();
    bytes_ = 0;
    floors_ = positions_;
}

void event_log::drop_front() {
    if (const auto& oldest = changes_.front()) {
        bytes_ -= oldest->bytes();
        floors_[oldest->feed] = std::max(floors_[oldest->feed], oldest->at);
    }
    changes_.pop_front();
    ++first_;
}

void event_log::trim() {
    while (changes_.size() > 1 && (bytes_ > most_bytes_ || changes_.size() > most_changes_)) {
        drop_front();
    }
}

}  // namespace esi::interface::v1::events

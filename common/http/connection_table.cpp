#include "http/connection_table.h"

#include <algorithm>
#include <utility>

namespace esi::http {

namespace {

/// Bytes credited to every connection, so that a new one is not slower than an idle one.
constexpr double head_start = 4096;
/// A connection that moves less than this for longer than that may lose memory to others.
constexpr double fair_rate = 16 << 10;
constexpr std::chrono::duration<double> fair_time{1};
/// The same for one that would take longer than this for all that it holds: otherwise a few that
/// read a large answer just fast enough would keep the memory from all others.
constexpr double fair_seconds = 10;

}  // namespace

connection_table::place::place(connection_table& table, std::string peer,
                               std::function<void()> close, steady_time now)
    : table_(table), peer_(std::move(peer)), close_(std::move(close)), since_(now) {
    at_ = table_.places_.insert(table_.places_.end(), this);
}

connection_table::place::~place() {
    table_.bytes_ -= counted();
    table_.places_.erase(at_);
}

void connection_table::place::enter(phase next, steady_time now) {
    phase_ = next;
    since_ = now;
    moved_ = 0;
}

bool connection_table::place::begin_stream(steady_time now) {
    if (table_.streams() >= static_cast<std::size_t>(table_.limits_.streams)) return false;
    enter(phase::streaming, now);
    return true;
}

double connection_table::place::slowness(steady_time now) const {
    return std::chrono::duration<double>(now - since_).count() /
           (static_cast<double>(moved_) + head_start);
}

bool connection_table::place::slow(steady_time now) const {
    const std::chrono::duration<double> taken = now - since_;
    const double rate = std::max(fair_rate, static_cast<double>(held_) / fair_seconds);
    return taken > fair_time && static_cast<double>(moved_) < taken.count() * rate;
}

std::size_t connection_table::place::counted() const {
    if (cut_) return 0;
    return held_ > table_.limits_.free_bytes ? held_ - table_.limits_.free_bytes : 0;
}

void connection_table::place::cut() {
    table_.bytes_ -= counted();
    cut_ = true;
    close_();
}

bool connection_table::place::hold(std::size_t bytes, steady_time now) {
    if (cut_) return false;
    auto& table = table_;
    const auto before = counted();
    const auto held = std::exchange(held_, bytes);
    const auto after = counted();
    table.bytes_ += after;
    table.bytes_ -= before;
    if (after <= before) return true;
    const auto room = [&] { return table.bytes_ - (after - before) < table.limits_.bytes; };
    while (!room() && table.cut_slowest(
                          [&](const place& each) {
                              return &each != this && each.counted() > 0 && each.slow(now) &&
                                     each.phase_ != phase::working;
                          },
                          now)) {
    }
    if (room()) return true;
    held_ = held;
    table.bytes_ -= after - before;
    return false;
}

bool connection_table::has_room(steady_time now) {
    const auto may_lose = [&](const place& each) {
        return each.counted() > 0 && each.slow(now) && each.phase_ != phase::working;
    };
    while (bytes_ >= limits_.bytes && cut_slowest(may_lose, now)) {
    }
    return bytes_ < limits_.bytes;
}

template <class Which>
bool connection_table::cut_slowest(Which which, steady_time now) {
    place* slowest = nullptr;
    for (auto* each : places_) {
        if (each->cut_ || !which(*each)) continue;
        if (slowest == nullptr || each->slowness(now) > slowest->slowness(now)) slowest = each;
    }
    if (slowest == nullptr) return false;
    slowest->cut();
    return true;
}

template <class Which>
std::size_t connection_table::count(Which which) const {
    return static_cast<std::size_t>(std::ranges::count_if(places_, [&](const place* each) {
        return !each->cut_ && each->phase_ != phase::streaming && each->phase_ != phase::upgraded &&
               which(*each);
    }));
}

std::size_t connection_table::streams() const {
    return static_cast<std::size_t>(std::ranges::count_if(
        places_, [](const place* each) { return each->phase_ == phase::streaming; }));
}

std::unique_ptr<connection_table::place> connection_table::admit(std::string peer,
                                                                 std::function<void()> close,
                                                                 steady_time now) {
    const auto may_go = [](const place& each) {
        return each.phase_ != phase::working && each.phase_ != phase::streaming &&
               each.phase_ != phase::upgraded;
    };
    const auto of_peer = [&](const place& each) { return each.peer_ == peer; };
    if (!peer.empty() && count(of_peer) >= static_cast<std::size_t>(limits_.per_peer)) {
        const bool room =
            cut_slowest([&](const place& each) { return may_go(each) && of_peer(each); }, now);
        if (!room) return nullptr;
    }
    auto others = count([](const place&) { return true; });
    const auto most = static_cast<std::size_t>(limits_.connections);
    if (others >= most && cut_slowest(may_go, now)) --others;
    if (others >= most + static_cast<std::size_t>(limits_.reserved)) return nullptr;
    std::unique_ptr<place> out(new place(*this, std::move(peer), std::move(close), now));
    out->reserved_ = others >= most;
    return out;
}

void connection_table::close_waiting() {
    for (auto* each : places_) {
        if (each->phase_ == phase::waiting) each->close_();
    }
}

void connection_table::close_all() {
    for (auto* each : places_) each->close_();
}

}  // namespace esi::http

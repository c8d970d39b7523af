#include "controller/work_queue.h"

#include <algorithm>

namespace esi::controller {

namespace {

using namespace std::chrono_literals;

constexpr auto first_retry = 5ms;
constexpr steady_time::duration longest_retry = 5min;
/// 5 ms x 2^16 exceeds the longest retry.
constexpr int doublings = 16;

}  // namespace

void work_queue::add(const std::string& key, steady_time) {
    if (!dirty_.insert(key).second) return;
    ++adds_;
    // A key that is being worked on comes again at done(): one worker per key.
    if (!processing_.contains(key)) queue_.push_back(key);
}

void work_queue::add_at(const std::string& key, steady_time when) {
    auto [at, added] = waiting_.try_emplace(key, when);
    if (!added) {
        if (at->second <= when) return;
        auto [from, to] = by_time_.equal_range(at->second);
        by_time_.erase(std::find_if(from, to, [&](const auto& e) { return e.second == key; }));
        at->second = when;
    }
    by_time_.emplace(when, key);
}

void work_queue::retry(const std::string& key, steady_time now) {
    ++retries_;
    int& failures = failures_[key];
    auto delay = std::min<steady_time::duration>(first_retry * (1 << std::min(failures, doublings)),
                                                 longest_retry);
    ++failures;
    add_at(key, now + delay);
}

void work_queue::forget(const std::string& key) { failures_.erase(key); }

int work_queue::failures(const std::string& key) const {
    auto found = failures_.find(key);
    return found == failures_.end() ? 0 : found->second;
}

void work_queue::release_due(steady_time now) {
    while (!by_time_.empty() && by_time_.begin()->first <= now) {
        auto key = std::move(by_time_.begin()->second);
        by_time_.erase(by_time_.begin());
        waiting_.erase(key);
        add(key, now);
    }
}

std::optional<std::string> work_queue::take(steady_time now) {
    release_due(now);
    if (queue_.empty()) return std::nullopt;
    auto key = std::move(queue_.front());
    queue_.pop_front();
    dirty_.erase(key);
    processing_.insert(key);
    return key;
}

void work_queue::done(const std::string& key, steady_time) {
    if (processing_.erase(key) == 0) return;
    if (dirty_.contains(key)) queue_.push_back(key);
}

std::optional<steady_time> work_queue::next_ready() const {
    if (by_time_.empty()) return std::nullopt;
    return by_time_.begin()->first;
}

}  // namespace esi::controller

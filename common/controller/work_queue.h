// The order of work: keys to reconcile, each at most once at a time. I/O-free: the time is an
// argument, and the adapter (controller.h) sleeps until next_ready().
// Source of the rules: client-go util/workqueue (queue, dirty set, processing set).
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/clock.h"

namespace esi::controller {

class work_queue {
public:
    /// Adds a key unless it is queued already. A key that is being worked on comes again at done().
    void add(const std::string& key, steady_time now);
    /// Adds at a later time; of two times for one key the earlier wins.
    void add_at(const std::string& key, steady_time when);
    /// After a failure: 5 ms x 2^failures, at most 5 minutes.
    void retry(const std::string& key, steady_time now);
    /// Resets the failure count.
    void forget(const std::string& key);
    int failures(const std::string& key) const;

    /// The next key that is due, now being worked on; nothing when none is.
    std::optional<std::string> take(steady_time now);
    /// The work on `key` has ended.
    void done(const std::string& key, steady_time now);
    /// When the next delayed key falls due; nothing when there is none.
    std::optional<steady_time> next_ready() const;

    std::size_t depth() const { return queue_.size(); }
    std::uint64_t adds() const { return adds_; }
    std::uint64_t retries() const { return retries_; }

private:
    void release_due(steady_time now);

    std::deque<std::string> queue_;
    std::set<std::string> dirty_;
    std::set<std::string> processing_;
    std::map<std::string, steady_time> waiting_;
    std::multimap<steady_time, std::string> by_time_;
    std::map<std::string, int> failures_;
    std::uint64_t adds_ = 0;
    std::uint64_t retries_ = 0;
};

}  // namespace esi::controller

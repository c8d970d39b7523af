// Which connection a request takes: the newest idle one, a new one, or none yet. Pure bookkeeping
// on numbers; the transport keeps the sockets. The time is an argument.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/clock.h"

namespace esi::kube {

struct pool_limits {
    pool_limits() = default;
    std::size_t in_flight = 64;
    std::size_t idle = 16;
    /// Below the API server's 90 s, so that we close first.
    steady_time::duration idle_age = std::chrono::seconds(60);
};

class connection_pool {
public:
    /// Number of a connection, or of a place in the queue; never used twice.
    using number = std::uint64_t;

    struct grant {
        enum class kind {
            reuse,   ///< take the idle connection `id`
            open,    ///< open a connection, known as `id`
            wait,    ///< the queue's ticket is `id`: redeem() it when woken
            expired  ///< waited too long
        };
        kind what = kind::wait;
        number id = 0;
        bool operator==(const grant&) const = default;
    };

    explicit connection_pool(pool_limits bounds = pool_limits()) : limits_(bounds) {}

    grant acquire(steady_time now, steady_time deadline);
    /// The present state of a ticket. Reuse, open and expired end it.
    grant redeem(number ticket, steady_time now);
    /// A waiter has gone. A connection that was granted to it meanwhile goes to the next.
    void abandon(number ticket, steady_time now);
    /// A request has ended. `keep`: the connection may serve another.
    void release(number id, bool keep, steady_time now);
    /// The connection is taken out for good (a watch); it no longer counts.
    void detach(number id, steady_time now);
    /// Closes idle connections; those in flight are closed at their release. For new credentials.
    void drain();

    /// Connections to close, and whether a waiter can go on, since the last call.
    std::vector<number> take_closed() { return std::exchange(closed_, {}); }
    bool take_wake() { return std::exchange(wake_, false); }

    std::size_t in_flight() const { return in_flight_.size(); }
    std::size_t idle() const { return idle_.size(); }
    std::size_t waiting() const { return waiters_.size(); }

private:
    struct idle_entry {
        number id;
        steady_time since;
    };
    struct waiter {
        number ticket;
        steady_time deadline;
        std::optional<grant> granted;
    };

    grant take();
    void close_old(steady_time now);
    void serve_waiters(steady_time now);

    pool_limits limits_;
    number next_ = 1;
    std::uint64_t generation_ = 0;
    /// Connection -> generation in which it was made.
    std::map<number, std::uint64_t> in_flight_;
    std::vector<idle_entry> idle_;  ///< newest last
    std::deque<waiter> waiters_;
    std::vector<number> closed_;
    bool wake_ = false;
};

}  // namespace esi::kube

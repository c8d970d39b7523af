// Time that moves only when told: tests and simulations wait hours in microseconds, and wake in the
// same order on every run. Owned by the test; must be used from one loop. Never reads the system's
// clocks.
#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "base/clock.h"

namespace esi {

class virtual_clock final : public clock {
public:
    /// Starts at steady time 1,000 s and at the wall time given.
    explicit virtual_clock(wall_time wall_start = default_wall_start());
    ~virtual_clock() override;

    steady_time now() const override;
    wall_time wall() const override;
    asio::awaitable<void> sleep_until(steady_time when) override;

    /// When the earliest sleeper wakes; nothing if there is none.
    std::optional<steady_time> next() const;
    std::size_t sleepers() const;
    /// Moves the time (never back) and wakes the sleepers that are due, in the order of their
    /// times, then of their arrival. They run when the loop is polled.
    void advance_to(steady_time when);

    /// 2026-01-02T03:04:05.000006Z
    static wall_time default_wall_start();

private:
    struct state;
    std::shared_ptr<state> state_;
};

/// Runs what is ready, then moves the time from sleeper to sleeper until `time` has passed.
void run_for(asio::io_context& loop, virtual_clock& time, steady_time::duration passed);
/// The same until `reached` holds, checked after each step; false if `limit` passed before.
bool run_until(asio::io_context& loop, virtual_clock& time, const std::function<bool()>& reached,
               steady_time::duration limit = std::chrono::hours(1));

}  // namespace esi

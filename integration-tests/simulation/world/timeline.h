// What happens when: the queue of everything in the world that is not a coroutine of an operator
// (requests that arrive, neighbours that act, faults). Owned by the world, which alone runs it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "base/virtual_clock.h"

namespace esi::simulation {

class timeline {
public:
    steady_time now() const { return clock_.now(); }
    wall_time wall() const { return clock_.wall(); }
    virtual_clock& clock() { return clock_; }

    /// Runs `what` at `when` (at once where that is past); of one time, in the order of these
    /// calls. It cannot be taken back: what may have become void looks for itself.
    void at(steady_time when, std::function<void()> what);
    void after(steady_time::duration time, std::function<void()> what) {
        at(now() + time, std::move(what));
    }

    /// When the next entry, or the next sleeper of the clock, is due.
    std::optional<steady_time> next() const;
    /// Moves the time to `when` and wakes the sleepers that are due.
    void advance_to(steady_time when) { clock_.advance_to(when); }
    /// Takes the first entry that is due now; empty when there is none.
    std::function<void()> take();

private:
    virtual_clock clock_;
    std::map<std::pair<steady_time, std::uint64_t>, std::function<void()>> entries_;
    std::uint64_t added_ = 0;
};

}  // namespace esi::simulation

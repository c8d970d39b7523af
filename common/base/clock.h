// The clock half of the seam: production waits in real time, a simulation in virtual time.
// Everything above takes a clock& and never asks the system.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>

namespace esi {

namespace asio = boost::asio;

using std::chrono::milliseconds;
using std::chrono::seconds;

/// Monotonic: deadlines, leases, back-off.
using steady_time = std::chrono::steady_clock::time_point;
/// Wall time with the resolution that Kubernetes' MicroTime has: what is written for people.
using wall_time = std::chrono::sys_time<std::chrono::microseconds>;

class clock {
public:
    virtual ~clock() = default;
    virtual steady_time now() const = 0;
    virtual wall_time wall() const = 0;
    /// Waits until `when`. Throws boost::system::system_error(operation_aborted) when the calling
    /// coroutine is cancelled.
    virtual asio::awaitable<void> sleep_until(steady_time when) = 0;

    asio::awaitable<void> sleep_for(steady_time::duration time) {
        return sleep_until(now() + time);
    }
};

/// The system's clocks. One per process is enough.
class system_clock final : public clock {
public:
    steady_time now() const override;
    wall_time wall() const override;
    asio::awaitable<void> sleep_until(steady_time when) override;
};

}  // namespace esi

// The API server's time, as far as a process can know it. Objects carry the API server's times, so
// times compared with them (deadlines above all) must be its time, too, and not that of this
// machine, which may be minutes off. Each answer carries a Date; between answers the monotonic
// clock counts on, so that a jump of this machine's clock changes nothing. This machine's clock is
// trusted until a Date contradicts it. Owned by the process's life; used from its one loop.
#pragma once

#include <optional>
#include <string_view>

#include "base/clock.h"
#include "kube/transport.h"

namespace esi::kube {

/// "Sun, 22 Nov 2026 19:11:29 GMT" (RFC 9110, 5.6.7); nothing for any other text.
std::optional<wall_time> parse_http_date(std::string_view text);

class server_clock final : public clock {
public:
    /// `base`: this machine's clocks; outlives it.
    explicit server_clock(clock& base);

    steady_time now() const override { return base_.now(); }
    /// The API server's time.
    wall_time wall() const override;
    asio::awaitable<void> sleep_until(steady_time when) override { return base_.sleep_until(when); }

    /// Takes the Date of the answer to a request sent at `sent`. The Date was written in between,
    /// in the second that it names: this bounds the difference from both sides, more closely the
    /// sooner the answer came.
    void heard(wall_time date, steady_time sent);

    /// This machine's clock minus the API server's, as far as answers prove it; above 0: this
    /// machine is ahead.
    std::chrono::microseconds skew() const;

private:
    using difference = std::chrono::microseconds;
    difference since_start(steady_time when) const;
    void tell();

    clock& base_;
    /// The API server's time minus the monotonic clock's.
    difference offset_;
    /// The possible range by all answers so far.
    struct range {
        difference least;
        difference most;
        steady_time at;
    };
    std::optional<range> known_;
    bool told_ = false;
};

/// Records the Date of every answer on its way to the caller. Owned by the process's life, in front
/// of a transport that outlives it.
class dated_transport final : public transport {
public:
    dated_transport(transport& next, server_clock& time) : next_(next), time_(time) {}

    asio::awaitable<result<response>> send(request what, steady_time deadline) override;
    asio::awaitable<result<std::unique_ptr<stream>>> open(request what,
                                                          steady_time deadline) override;

private:
    transport& next_;
    server_clock& time_;
};

}  // namespace esi::kube

// A transport that sends no more than so many requests per second (--kube-api-qps). Off by default:
// the API server's priority and fairness, back-off and one worker per key do that better. Watches
// are not counted. Owned by the process, in front of the real transport.
#pragma once

#include "kube/transport.h"

namespace esi::kube {

class rate_limited final : public transport {
public:
    /// `per_second` > 0. After a pause, requests of one second may go out at once, at least one.
    rate_limited(transport& next, clock& time, double per_second);

    /// Waits for its turn; fails with errc::timeout, unsent, when that comes after `deadline`.
    asio::awaitable<result<response>> send(request what, steady_time deadline) override;
    asio::awaitable<result<std::unique_ptr<stream>>> open(request what,
                                                          steady_time deadline) override;

private:
    transport& next_;
    clock& time_;
    steady_time::duration interval_;
    steady_time::duration burst_;
    /// When the request after the last one would be due at the even rate (GCRA).
    steady_time due_{};
};

}  // namespace esi::kube

#include "kube/connection/rate_limit.h"

#include <algorithm>
#include <utility>

namespace esi::kube {

rate_limited::rate_limited(transport& next, clock& time, double per_second)
    : next_(next),
      time_(time),
      interval_(std::chrono::duration_cast<steady_time::duration>(
          std::chrono::duration<double>(1.0 / per_second))),
      burst_(std::max<steady_time::duration>(std::chrono::seconds(1) - interval_,
                                             steady_time::duration::zero())) {}

asio::awaitable<result<response>> rate_limited::send(request what, steady_time deadline) {
    const auto due = std::max(due_, time_.now());
    const auto turn = due - burst_;
    if (turn > deadline) {
        co_return fail(errc::timeout, "not sent: too many requests for --kube-api-qps");
    }
    due_ = due + interval_;
    if (turn > time_.now()) co_await time_.sleep_until(turn);
    co_return co_await next_.send(std::move(what), deadline);
}

asio::awaitable<result<std::unique_ptr<stream>>> rate_limited::open(request what,
                                                                    steady_time deadline) {
    co_return co_await next_.open(std::move(what), deadline);
}

}  // namespace esi::kube

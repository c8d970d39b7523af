#include "base/clock.h"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace esi {

steady_time system_clock::now() const { return std::chrono::steady_clock::now(); }

wall_time system_clock::wall() const {
    return std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now());
}

asio::awaitable<void> system_clock::sleep_until(steady_time when) {
    auto executor = co_await asio::this_coro::executor;
    asio::steady_timer timer(executor, when);
    co_await timer.async_wait(asio::use_awaitable);
}

}  // namespace esi

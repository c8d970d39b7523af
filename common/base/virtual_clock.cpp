#include "base/virtual_clock.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>
#include <utility>

namespace esi {

namespace {

constexpr steady_time start{std::chrono::seconds(1000)};

}  // namespace

struct virtual_clock::state {
    // A sleeper is an Asio timer that never expires and is cancelled to wake its coroutine: wakes
    // are then completions of the loop like any other, in the order in which they were given.
    // Equal keys of a multimap keep the order of insertion.
    std::multimap<steady_time, asio::steady_timer*> sleepers;
    steady_time now = start;
    wall_time wall_start;
};

virtual_clock::virtual_clock(wall_time wall_start) : state_(std::make_shared<state>()) {
    state_->wall_start = wall_start;
}
virtual_clock::~virtual_clock() = default;

wall_time virtual_clock::default_wall_start() {
    using namespace std::chrono;
    return sys_days(2026y / January / 2) + hours(3) + minutes(4) + seconds(5) + microseconds(6);
}

steady_time virtual_clock::now() const { return state_->now; }

wall_time virtual_clock::wall() const {
    return state_->wall_start + std::chrono::floor<std::chrono::microseconds>(state_->now - start);
}

asio::awaitable<void> virtual_clock::sleep_until(steady_time when) {
    auto own = state_;
    auto executor = co_await asio::this_coro::executor;
    if (when <= own->now) {
        // Still one turn of the loop, as with a real timer.
        co_await asio::post(executor, asio::use_awaitable);
        co_return;
    }
    asio::steady_timer timer(executor, steady_time::max());
    struct registration {
        state& in;
        steady_time when;
        asio::steady_timer* timer;
        ~registration() {
            // advance_to() has removed it already if it woke this sleeper.
            for (auto [found, end] = in.sleepers.equal_range(when); found != end; ++found) {
                if (found->second == timer) {
                    in.sleepers.erase(found);
                    return;
                }
            }
        }
    };
    own->sleepers.emplace(when, &timer);
    registration here{*own, when, &timer};
    boost::system::error_code ignored;
    co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
    auto cancellation = co_await asio::this_coro::cancellation_state;
    if (cancellation.cancelled() != asio::cancellation_type::none) {
        throw boost::system::system_error(asio::error::operation_aborted);
    }
}

std::optional<steady_time> virtual_clock::next() const {
    if (state_->sleepers.empty()) return std::nullopt;
    return state_->sleepers.begin()->first;
}

std::size_t virtual_clock::sleepers() const { return state_->sleepers.size(); }

void virtual_clock::advance_to(steady_time when) {
    state_->now = std::max(state_->now, when);
    while (!state_->sleepers.empty() && state_->sleepers.begin()->first <= state_->now) {
        auto* timer = state_->sleepers.begin()->second;
        state_->sleepers.erase(state_->sleepers.begin());
        timer->cancel();
    }
}

namespace {

void settle(asio::io_context& loop) {
    loop.restart();
    loop.poll();
}

}  // namespace

void run_for(asio::io_context& loop, virtual_clock& time, steady_time::duration passed) {
    const auto end = time.now() + passed;
    settle(loop);
    while (true) {
        auto next = time.next();
        if (!next || *next > end) break;
        time.advance_to(*next);
        settle(loop);
    }
    time.advance_to(end);
    settle(loop);
}

bool run_until(asio::io_context& loop, virtual_clock& time, const std::function<bool()>& reached,
               steady_time::duration limit) {
    const auto end = time.now() + limit;
    settle(loop);
    while (!reached()) {
        auto next = time.next();
        if (!next || *next > end) return false;
        time.advance_to(*next);
        settle(loop);
    }
    return true;
}

}  // namespace esi

#include "base/wait.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>
#include <utility>

namespace esi {

namespace {

bool is_aborted(const std::exception_ptr& failure) {
    try {
        std::rethrow_exception(failure);
    } catch (const boost::system::system_error& e) {
        return e.code() == asio::error::operation_aborted;
    } catch (...) {
        return false;
    }
}

}  // namespace

asio::awaitable<bool> ends_by(clock& time, steady_time deadline, asio::awaitable<void> task) {
    auto executor = co_await asio::this_coro::executor;
    // Both children run on the caller's executor: parallel_group is not safe across executors
    // (chriskohlhoff/asio#1348).
    auto race = asio::experimental::make_parallel_group(
        asio::co_spawn(executor, std::move(task), asio::deferred),
        asio::co_spawn(executor, time.sleep_until(deadline), asio::deferred));
    auto [order, task_failure, timer_failure] =
        co_await race.async_wait(asio::experimental::wait_for_one(), asio::use_awaitable);
    auto cancellation = co_await asio::this_coro::cancellation_state;
    if (cancellation.cancelled() != asio::cancellation_type::none) {
        throw boost::system::system_error(asio::error::operation_aborted);
    }
    if (!task_failure) co_return true;
    if (order[0] == 1 && is_aborted(task_failure)) co_return false;
    std::rethrow_exception(task_failure);
}

asio::awaitable<void> run_together(std::vector<asio::awaitable<void>> tasks) {
    // An empty group would never end.
    if (tasks.empty()) co_return;
    auto executor = co_await asio::this_coro::executor;
    auto start = [&](asio::awaitable<void> task) {
        return asio::co_spawn(executor, std::move(task), asio::deferred);
    };
    std::vector<decltype(start(std::declval<asio::awaitable<void>>()))> starts;
    for (auto& task : tasks) starts.push_back(start(std::move(task)));
    auto [order, failures] =
        co_await asio::experimental::make_parallel_group(std::move(starts))
            .async_wait(asio::experimental::wait_for_one_error(), asio::use_awaitable);
    // In the order in which they ended: the first failure is the cause of the others.
    for (auto at : order) {
        if (failures[at] && !is_aborted(failures[at])) std::rethrow_exception(failures[at]);
    }
    auto cancellation = co_await asio::this_coro::cancellation_state;
    if (cancellation.cancelled() != asio::cancellation_type::none) {
        throw boost::system::system_error(asio::error::operation_aborted);
    }
}

}  // namespace esi

#include "base/task_group.h"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>
#include <cstdint>
#include <list>
#include <vector>

#include "base/log.h"

namespace esi {

namespace {

/// Waits for the next cancel() of `timer`; an own cancellation of the waiter throws.
asio::awaitable<void> wait_for_signal(asio::steady_timer& timer) {
    boost::system::error_code ignored;
    co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
    auto state = co_await asio::this_coro::cancellation_state;
    if (state.cancelled() != asio::cancellation_type::none) {
        throw boost::system::system_error(asio::error::operation_aborted);
    }
}

}  // namespace

struct task_group::state {
    struct child {
        std::string name;
        asio::cancellation_signal signal;
    };

    explicit state(asio::any_io_executor e)
        : executor(e), ended(e, asio::steady_timer::time_point::max()) {}

    asio::any_io_executor executor;
    std::list<child> children;
    asio::steady_timer ended;  ///< cancelled whenever a child ends: wakes join()
    bool stopping = false;
};

task_group::task_group(asio::any_io_executor executor)
    : state_(std::make_shared<state>(std::move(executor))) {}

task_group::~task_group() { cancel(); }

asio::any_io_executor task_group::executor() const { return state_->executor; }

void task_group::spawn(std::string name, asio::awaitable<void> task) {
    if (state_->stopping) return;
    auto& child = state_->children.emplace_back();
    child.name = std::move(name);
    auto at = std::prev(state_->children.end());
    asio::co_spawn(state_->executor, std::move(task),
                   asio::bind_cancellation_slot(
                       child.signal.slot(), [group = state_, at](std::exception_ptr failure) {
                           std::string who = std::move(at->name);
                           group->children.erase(at);
                           group->ended.cancel();
                           if (!failure) return;
                           try {
                               std::rethrow_exception(failure);
                           } catch (const boost::system::system_error& e) {
                               if (e.code() == asio::error::operation_aborted) return;
                               log::error("task failed", {{"task", who}, {"error", e.what()}});
                           } catch (const std::exception& e) {
                               log::error("task failed", {{"task", who}, {"error", e.what()}});
                           }
                           std::abort();
                       }));
}

std::size_t task_group::size() const { return state_->children.size(); }

void task_group::cancel() {
    state_->stopping = true;
    // emit() may end children at once, which removes them from the list: take the signals first.
    std::vector<std::list<state::child>::iterator> all;
    for (auto at = state_->children.begin(); at != state_->children.end(); ++at) all.push_back(at);
    for (auto at : all) {
        // Posted: a child may not have reached its first wait, and the slot is served on the loop.
        asio::post(state_->executor, [group = state_, at] {
            for (auto now = group->children.begin(); now != group->children.end(); ++now) {
                if (now == at) {
                    now->signal.emit(asio::cancellation_type::terminal);
                    return;
                }
            }
        });
    }
}

asio::awaitable<void> task_group::stop() {
    cancel();
    co_await join();
}

asio::awaitable<void> task_group::join() {
    auto group = state_;
    while (!group->children.empty()) {
        co_await wait_for_signal(group->ended);
    }
}

struct notifier::state {
    explicit state(asio::any_io_executor e) : timer(e, asio::steady_timer::time_point::max()) {}
    asio::steady_timer timer;
    std::uint64_t notified = 0;
    bool raised = false;
    int waiting = 0;
};

notifier::notifier(asio::any_io_executor executor)
    : state_(std::make_shared<state>(std::move(executor))) {}
notifier::~notifier() { state_->timer.cancel(); }

void notifier::notify() {
    ++state_->notified;
    if (state_->waiting == 0) {
        state_->raised = true;
        return;
    }
    state_->timer.cancel();
}

namespace {

/// A waiter counts from the call of wait() on, also before its coroutine first runs: a notify() in
/// between is meant for it.
template <class State>
struct waiter {
    explicit waiter(std::shared_ptr<State> at) : state(std::move(at)), since(state->notified) {
        ++state->waiting;
    }
    waiter(waiter&& other) noexcept : state(std::move(other.state)), since(other.since) {}
    waiter& operator=(waiter&&) = delete;
    ~waiter() {
        if (state) --state->waiting;
    }
    std::shared_ptr<State> state;
    std::uint64_t since;
};

template <class State>
asio::awaitable<void> wait_as(waiter<State> own) {
    auto& at = *own.state;
    if (at.raised) {
        at.raised = false;
        co_return;
    }
    while (at.notified == own.since) co_await wait_for_signal(at.timer);
}

}  // namespace

asio::awaitable<void> notifier::wait() { return wait_as(waiter<state>(state_)); }

}  // namespace esi

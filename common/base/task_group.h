// The children of one long-lived part. The part spawns them here, cancels and awaits them when it
// stops; nothing in ESI is ever detached.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <memory>
#include <string>

namespace esi {

namespace asio = boost::asio;

/// Not thread safe: lives on the process' one loop. `stop` must have been awaited before the group
/// is destroyed (destructors cannot wait); a group that never spawned may just go.
/// An exception that leaves a child is a programming error: it is logged and ends the process,
/// except operation_aborted, which is how a cancelled child unwinds.
class task_group {
public:
    explicit task_group(asio::any_io_executor executor);
    ~task_group();
    task_group(const task_group&) = delete;
    task_group& operator=(const task_group&) = delete;

    /// Starts `task`. `name` appears in logs. After stop() has begun the task is dropped unstarted.
    void spawn(std::string name, asio::awaitable<void> task);
    /// Number of children that have not ended.
    std::size_t size() const;
    /// Cancels all children, without waiting.
    void cancel();
    /// Cancels all children and waits until each has ended.
    asio::awaitable<void> stop();
    /// Waits until every child has ended by itself.
    asio::awaitable<void> join();

    asio::any_io_executor executor() const;

private:
    struct state;
    std::shared_ptr<state> state_;
};

/// A place to wait for "something happened": notify() wakes all waiters, and one notify() without
/// waiters is remembered for the next. The waiter reads the state again after it is woken.
class notifier {
public:
    explicit notifier(asio::any_io_executor executor);
    ~notifier();
    void notify();
    /// Returns at the next notify().
    asio::awaitable<void> wait();

private:
    struct state;
    std::shared_ptr<state> state_;
};

}  // namespace esi

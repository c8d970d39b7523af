// Waiting with a limit, or for several tasks: the one place where waits run concurrently.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <vector>

#include "base/clock.h"

namespace esi {

/// Runs `task` until it ends or `deadline` comes. True when it ended by itself; false when the
/// deadline came first: the task is then cancelled, and has ended when this returns.
/// An exception of the task passes through. Cancelling the caller cancels the task and throws
/// operation_aborted.
asio::awaitable<bool> ends_by(clock& time, steady_time deadline, asio::awaitable<void> task);

/// Runs all of them concurrently until each has ended. An exception of one cancels the others and
/// passes through; cancelling the caller cancels all.
asio::awaitable<void> run_together(std::vector<asio::awaitable<void>> tasks);

}  // namespace esi

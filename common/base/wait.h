// Waiting with a limit: the one place where two waits are raced.
#pragma once

#include <boost/asio/awaitable.hpp>

#include "base/clock.h"

namespace esi {

/// Runs `task` until it ends or `deadline` comes. True when it ended by itself; false when the
/// deadline came first: the task is then cancelled, and has ended when this returns.
/// An exception of the task passes through. Cancelling the caller cancels the task and throws
/// operation_aborted.
asio::awaitable<bool> ends_by(clock& time, steady_time deadline, asio::awaitable<void> task);

}  // namespace esi

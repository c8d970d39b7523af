// What is wrong with an installation, and the command that mends it.
#pragma once

#include "kubectl-esi/session.h"

namespace esi::kubectl::doctor {

/// Ends with 1 where something is wrong.
asio::awaitable<result<reply>> examine(session& in);

}  // namespace esi::kubectl::doctor

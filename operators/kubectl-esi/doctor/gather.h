// Reads what doctor looks at, with the user's own rights.
#pragma once

#include "kubectl-esi/doctor/facts.h"
#include "kubectl-esi/read/session.h"

namespace esi::kubectl::doctor {

/// What may not be read is marked as hidden; the error is one of the way to the API server itself.
asio::awaitable<result<facts>> gather(session& in);

}  // namespace esi::kubectl::doctor

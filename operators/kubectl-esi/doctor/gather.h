// Reads the facts for doctor, with the user's own rights.
#pragma once

#include "kubectl-esi/doctor/facts.h"
#include "kubectl-esi/read/session.h"

namespace esi::kubectl::doctor {

/// Facts that the user may not read are marked as hidden; an error means that the API server itself
/// was not reached.
asio::awaitable<result<facts>> gather(session& in);

}  // namespace esi::kubectl::doctor

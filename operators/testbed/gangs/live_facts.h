// Reads what the caches do not have and a plan needs (needs_of): pods of namespaces as whole as the
// API server has them, and the volumes of claims.
#pragma once

#include "kube/client.h"
#include "testbed/gangs/fit.h"
#include "testbed/gangs/request_slots.h"

namespace esi::testbed::gangs {

/// facts::namespaces is left to the caller. A claim that is not there is one that is not bound. All
/// or nothing: a plan made of a part of it would be a wrong one.
asio::awaitable<result<facts>> read_live(kube::client& api, request_slots& slots, needs what);

}  // namespace esi::testbed::gangs

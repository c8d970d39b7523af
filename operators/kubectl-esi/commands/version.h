// Shows the versions of this program, of the API server and of the operators.
#pragma once

#include "kubectl-esi/read/session.h"

namespace esi::kubectl {

asio::awaitable<result<reply>> version_of_all(session& in);
reply version_of_client(form output);

}  // namespace esi::kubectl

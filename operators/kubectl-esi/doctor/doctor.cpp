#include "kubectl-esi/doctor/doctor.h"

namespace esi::kubectl::doctor {

asio::awaitable<result<reply>> examine(session& in) { co_return reply{in.own_namespace(), "", 0}; }

}  // namespace esi::kubectl::doctor

#include "batchjob/decide.h"

#include "batchjob/decider.h"

namespace esi::batchjob {

decision decide(const view& seen, wall_time now) { return decider(seen, now).run(); }

}  // namespace esi::batchjob

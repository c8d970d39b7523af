#include "gangs/decide.h"

#include "gangs/pass.h"

namespace esi::gangs {

decision decide(const view& seen, memory& known, cluster_room& room) {
    pass at{seen, known, room};
    ++known.passes;
    forget_gone(at);
    for (const auto& [key, of] : seen.gangs) keep(at, of, known.gangs[key]);
    adopt(at);
    keep_within(at);
    plan_all(at);
    start_all(at);
    for (auto& [key, own] : known.gangs) {
        see_to_ends(at, *own.seen, own);
        stand(at, *own.seen, own);
        report_status(at, *own.seen, own);
        own.changed = false;
    }
    return std::move(at.out);
}

}  // namespace esi::gangs

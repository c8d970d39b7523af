#include "gangs/decide.h"

#include <utility>

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
        const auto before = std::exchange(own.at, next_standing(at, own));
        own.changed = own.changed || own.at != before;
        report_standing(at, *own.seen, own, before);
        own.status = report_status(at, *own.seen, own, std::move(own.status), own.events);
        own.changed = false;
    }
    return std::move(at.out);
}

}  // namespace esi::gangs

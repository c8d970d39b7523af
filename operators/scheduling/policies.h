// The table of policies: the one place that names them all. If the layout has coordinator places, a
// job needs a free one of them beside its slots, whatever the policy; it gets the lowest.
#pragma once

#include "scheduling/policy.h"

namespace esi::scheduling {

/// queueBased: the entry at place i of the remaining queue takes the i-th free slot, in slot order;
/// a job starts when all its entries have one and every job before it has started, so several may
/// start at once, from one common list. Jobs that are not acquired delay none.
const policy& queue_policy();
/// slotBased, mode strict: in the given order, each when all its slots are free. A job that is not
/// acquired delays those after it.
const policy& strict_policy();
/// slotBased, mode relaxed: any job whose slots are free.
const policy& relaxed_policy();
/// poolBased: each job, in the given order, takes the lowest free slots if there are enough for it.
/// One that waits delays none after it.
const policy& pool_policy();

/// All of them; if a spec asks for several, the first counts.
inline policy_table known_policies() {
    static const policy* const table[] = {&queue_policy(), &strict_policy(), &relaxed_policy(),
                                          &pool_policy()};
    return table;
}

}  // namespace esi::scheduling

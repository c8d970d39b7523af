// Which jobs start next, and in which slots. A pure function: the same input gives the same starts.
//
// Queue: the entry at place i of the remaining queue takes the i-th free slot, in slot order; a job
// starts when all its entries have one and every job before it has started, so several may start in
// one pass, from one common list. Strict: in the given order, each when all its slots are free.
// Relaxed: any job whose slots are free.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "scheduling/plan.h"

namespace esi::scheduling {

struct start {
    model::object_key job;
    std::vector<int> slot_ids;  ///< ascending
    bool operator==(const start&) const = default;
};

/// Why a job does not start in this pass.
struct hindrance {
    enum class kind {
        too_few_free,  ///< queue: fewer free slots than entries up to its last
        slots_taken,   ///< slot-based: `slots` are not free
        job_before,    ///< `before` has to start first
        not_ready,     ///< strict: not acquired, nothing after it may start
    };
    model::object_key job;
    kind why = kind::too_few_free;
    std::vector<int> slots;
    model::object_key before;
    bool operator==(const hindrance&) const = default;
};

struct next_starts {
    std::vector<start> starts;
    std::vector<hindrance> waits;
};

/// `startable`: jobs that are acquired and have not started. `started`: jobs that have, ended or
/// not. Jobs of the plan in neither set are not acquired: in a queue and in relaxed mode they hold
/// up nobody, in strict mode those after them wait.
next_starts plan_next(const plan& of, const std::set<model::object_key>& startable,
                      const std::set<model::object_key>& started, const std::set<int>& free);

}  // namespace esi::scheduling

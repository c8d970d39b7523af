// What everything in the world acts in and through, and who is told what only the actor knows.
// Owned by the world; outlives all that hold a reference to it.
#pragma once

#include <string_view>

#include "base/random.h"
#include "server/api_server.h"
#include "world/story.h"
#include "world/timeline.h"

namespace esi::simulation {

/// Told what only the one who did it knows; the invariants judge by it.
class witness {
public:
    virtual ~witness() = default;
    /// A scheduler deleted `victim` to make room for `by` (pods as JSON).
    virtual void preempted(const json& victim, const json& by) = 0;
    /// A kubelet refused a bound pod: OutOfcpu, OutOfmemory, OutOfpods, NodeAffinity, ...
    virtual void refused(const json& pod, std::string_view reason) = 0;
    /// A scheduler ("default-scheduler") began, with an empty memory.
    virtual void scheduler_started(std::string_view name) = 0;
    /// A person or a fault did what may change outcomes ("node gone", "executor killed", ...).
    virtual void meddled(std::string_view what) = 0;
};

/// What every neighbour needs; outlives it.
struct surroundings {
    timeline& time;
    api_server& server;
    witness& seen;
    story& told;
    random_source chance;
};

}  // namespace esi::simulation

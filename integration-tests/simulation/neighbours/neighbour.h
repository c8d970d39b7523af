// Those who live in a cluster beside ESI. Each reads the storage with a delay of its own, acts
// through the timeline and a desk, may crash at any time and loses its memory then.
#pragma once

#include <string>
#include <string_view>

#include "server/api_server.h"
#include "server/desk.h"
#include "world/random.h"
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

/// How long a reaction takes.
struct pace {
    steady_time::duration least = milliseconds(1);
    steady_time::duration most = milliseconds(20);
};

class neighbour {
public:
    virtual ~neighbour() = default;
    virtual std::string_view name() const = 0;
    /// Loses its memory and does nothing until restart(). Both may come at any time, also twice.
    virtual void crash() = 0;
    virtual void restart() = 0;
    virtual void set_pace(pace speed) = 0;
};

}  // namespace esi::simulation

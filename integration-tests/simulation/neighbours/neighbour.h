// What lives in a cluster beside ESI. Each neighbour reads the storage with a delay of its own,
// acts through the timeline and a desk, may crash at any time and loses its memory then.
#pragma once

#include <string_view>

#include "server/desk.h"
#include "world/surroundings.h"

namespace esi::simulation {

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

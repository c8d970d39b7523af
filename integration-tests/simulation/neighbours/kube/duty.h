// What each duty of the controller manager works with. Owned by the controller manager; a duty
// keeps a reference and is asked to forget when it crashes.
#pragma once

#include <functional>

#include "neighbours/neighbour.h"

namespace esi::simulation {

struct duty {
    surroundings& in;
    desk& api;
    random_source& chance;
    /// Runs later, unless the controller manager has crashed until then.
    std::function<void(steady_time::duration, std::function<void()>)> later;

    /// After a short while, as a work queue and a request take.
    void soon(std::function<void()> what) {
        later(chance.between(milliseconds(2), milliseconds(40)), std::move(what));
    }
};

}  // namespace esi::simulation

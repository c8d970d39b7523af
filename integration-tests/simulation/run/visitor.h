// Somebody who comes into a run at a time of his own. He sees every object and every change, acts
// as a person does, and ends the run when he has seen enough.
#pragma once

#include <functional>

#include "plan/plan.h"
#include "world/surroundings.h"

namespace esi::simulation {

class visitor {
public:
    /// What the run lets him do.
    struct house {
        surroundings& in;
        /// One of plan/happenings.md, at once.
        std::function<void(const happening&)> act;
        /// From now on people do nothing that they have not begun, and faults in wait strike
        /// nobody.
        std::function<void()> calm;
    };

    virtual ~visitor() = default;
    /// From the start of the run.
    virtual milliseconds arrival() const = 0;
    /// Once. `of` outlives the visitor's stay.
    virtual void arrives(house& of) = 0;
    /// After all that was due at one point in time: true ends the run.
    virtual bool leaves() = 0;
};

}  // namespace esi::simulation

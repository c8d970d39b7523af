// A state of the simulation to ask about: the plan of a seed up to a time, and what a person does
// then. Pure functions of the seed and of the objects at that time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/random.h"
#include "foresee/picture.h"
#include "plan/plan.h"

namespace esi::simulation::foresee {

/// From the visitor's arrival to the time that is asked about: what operators have seen last.
inline constexpr milliseconds before{3000};

struct moment {
    plan up_to;          ///< without what begins after `at`, and without faults that go on then
    milliseconds at{0};  ///< from the start of the run
    int dropped = 0;     ///< faults that would go on at that time
};

/// The seed's plan, with some BatchJobs more that nobody has started, cut at a time of its own.
moment moment_of(std::uint64_t seed);

/// What a person is about to do, and the Scheduling that there would be then.
struct intent {
    enum class kind { create, change, nothing };
    kind what = kind::nothing;
    model::object_key key;
    happening deed;
    self_pointer draft;
};

/// A new plan, a change of one that exists, or nothing.
intent intent_at(const picture& seen, random_source& chance, wall_time now);

}  // namespace esi::simulation::foresee

// Faults by chance, each of one class. Pure functions of their arguments and the chance.
#pragma once

#include <string>
#include <vector>

#include "base/application_kinds.h"
#include "base/random.h"
#include "plan/cast.h"
#include "plan/plan.h"

namespace esi::simulation {

/// What there is to meddle with.
struct stage {
    std::vector<job_name> jobs;
    std::vector<std::string> schedulings;
    std::vector<bed> beds;
    std::vector<std::string> nodes;
    int replicas = 1;
    bool extender = false;
    /// The API server knows no streaming lists.
    bool paged = false;
    /// What its jobs become; never empty, in the order of the table.
    std::vector<const application_kind*> applications{&application_kinds().front()};
};

/// The classes, those of infrastructure and those of people. Rarer ones, of which a plan has one at
/// most, are not among them: "long-lag", "extender", "namespaces", "precedence" and "hostile".
const std::vector<std::string>& fault_families();
const std::vector<std::string>& meddling_families();

/// One fault of a family (or a few that belong together) at about that time.
std::vector<happening> draw_fault(const std::string& family, milliseconds at, const stage& on,
                                  random_source& chance);

/// For how long it goes on: for the sum of those of a plan.
milliseconds duration_of(const happening& fault);

}  // namespace esi::simulation

// How the applications of one name go, whoever runs them: read from plan::scripts. Plain data.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/fields.h"

namespace esi::simulation {

/// By "namespace/name" or name of the application:
///   {"seconds": 20, "end": "succeeds", "executorsVanish": [{"after": 5, "nth": 0, "code": 137}]}
/// seconds: how long it works, from the moment all its workers (executors, TaskManagers) run. end:
/// succeeds; fails (the program ends badly); dies (the process of its driver or JobManager is
/// killed); submission-fails. executorsVanish: so many seconds after the start of the work the
/// container of the nth worker ends with that code; without a code its pod is deleted. Each applies
/// to every application of that name.
struct job_script {
    struct vanishing {
        steady_time::duration after{};
        int nth = 0;
        std::optional<int> code;
    };

    steady_time::duration work = seconds(20);
    std::string end = "succeeds";
    std::vector<vanishing> vanishings;

    static job_script of(const json& scripts, std::string_view ns, std::string_view name);
};

}  // namespace esi::simulation

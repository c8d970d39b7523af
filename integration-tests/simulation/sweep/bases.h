// The good states that the sweep starts from: a small cluster, one object whose spec is changed at
// a point of its life (idle, waiting, in use), and what becomes of it afterwards. Constant.
#pragma once

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "kube/resource.h"
#include "plan/plan.h"

namespace esi::simulation {

struct sweep_base {
    /// "testbed-idle", "scheduling-running", ...
    std::string name;
    const kube::resource_type* type = nullptr;
    /// The object that is swept, as a user creates it.
    json object;
    /// Its spec when it is changed: what the operators have added by then is in it, too.
    json live_spec;
    /// Good values of properties that the object does not have, for the properties inside of them.
    json examples = json::object();
    /// Properties whose inside the schema leaves open ("flinkSpec"), with a schema of what ESI
    /// reads there: that is tried as well, though no schema forbids anything there.
    json inside = json::object();
    bool only_inside = false;
    /// Without a change. The first happening of the object creates it.
    plan undisturbed;
    /// When the spec is changed, and when the good one is restored.
    milliseconds change{60'000};
    milliseconds restore{120'000};

    /// It may be created with the bad value as well as changed to it.
    bool from_the_start = false;
    /// Properties (the first name of the path) whose change no operator has to notice.
    std::set<std::string, std::less<>> unread;
    /// Properties that are not the user's: a change is taken back by the operators.
    std::set<std::string, std::less<>> taken_back;
    /// Properties from whose change no way leads back: it ends the run under way, as it should, or
    /// they cannot be changed a second time.
    std::set<std::string, std::less<>> final_;
};

const std::vector<sweep_base>& sweep_bases();

}  // namespace esi::simulation

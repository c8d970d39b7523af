#include "gangs/gang_options.h"

#include <CLI/CLI.hpp>

#include "controller/duration_flag.h"

namespace esi::gangs {

namespace {

std::string not_a_lease(const std::string& text) {
    const auto slash = text.find('/');
    const bool right = slash != std::string::npos && slash > 0 && slash + 1 < text.size() &&
                       text.find('/', slash + 1) == std::string::npos;
    return right ? std::string() : text + " is not NAMESPACE/NAME";
}

}  // namespace

void gang_options::add_to(CLI::App& app) {
    app.add_flag("--gangs", enabled,
                 "Start the pods of a group together or not at all, in namespaces labelled "
                 "esi.tu-berlin.de/gangs=enabled")
        ->envname("ESI_GANGS");
    controller::add_duration(app, "--gang-reserve-after", reserve_after,
                             "How long others may go before a group that does not fit; then what "
                             "becomes free is kept for it",
                             seconds(1));
    controller::add_duration(app, "--gang-reserve-for", reserve_for,
                             "How long room is kept for such a group at a time", seconds(1));
    app.add_option("--gang-packing", packing,
                   "Pack: the members of a group are on few nodes; Spread: on many")
        ->envname("ESI_GANG_PACKING")
        ->check(CLI::IsMember({"Pack", "Spread"}))
        ->capture_default_str();
    app.add_option("--gang-scheduler-name", scheduler_name,
                   "schedulerName of the pods of groups: nominations count for that scheduler only")
        ->envname("ESI_GANG_SCHEDULER_NAME")
        ->capture_default_str();
    app.add_option("--gang-scheduler-lease", scheduler_lease,
                   "Lease of that scheduler, as NAMESPACE/NAME: it shows when the scheduler was "
                   "started anew")
        ->envname("ESI_GANG_SCHEDULER_LEASE")
        ->check(not_a_lease)
        ->capture_default_str();
}

}  // namespace esi::gangs

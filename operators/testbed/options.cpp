#include "testbed/options.h"

#include <CLI/CLI.hpp>

namespace esi::testbed {

void options::add_to(CLI::App& app) {
    app.add_option("--ghost-image", ghosts.image, "Image of ghost pods: one that only waits")
        ->envname("ESI_GHOST_IMAGE")
        ->capture_default_str();
    app.add_option("--ghost-priority-class", ghosts.priority_class,
                   "PriorityClass of ghost pods; its preemptionPolicy must be Never")
        ->envname("ESI_GHOST_PRIORITY_CLASS")
        ->capture_default_str();
    app.add_flag("--metrics-by-testbed", metrics_by_testbed,
                 "Show slots in /metrics by the Testbeds' namespaces and names, which everybody "
                 "reads who reaches the port; else their sums")
        ->envname("ESI_METRICS_BY_TESTBED");
    app.add_flag("--compact-layouts", compact_layouts,
                 "Write the nodes of status.layout as one line each, which operators of 0.1.0 "
                 "cannot read. A layout that a hold freezes keeps its form until the release")
        ->envname("ESI_COMPACT_LAYOUTS");
    app.add_option("--most-listed-slots", most_listed_slots,
                   "A Testbed with more slots has its rows in TestbedSlotSlices in place of "
                   "status.slots")
        ->envname("ESI_MOST_LISTED_SLOTS")
        ->check(CLI::Range(0, grid::most_listed_slots))
        ->capture_default_str();
    app.add_flag("--tell-nodes", tell_nodes,
                 "Name the node on which most is left for a group or claim that does not fit, in "
                 "PodGroups, Testbeds and Events; else amounts alone are told: their readers may "
                 "be people who may not list nodes")
        ->envname("ESI_TELL_NODES");
    claims.add_to(app);
    controller::add_legacy_namespace(app, legacy_namespace,
                                     "in which the original's /debug endpoints look for names",
                                     "--enable-debug-endpoints");
    controller::add_access_flags(app, access, "/debug");
}

}  // namespace esi::testbed

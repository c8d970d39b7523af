// The testbed operator's own flags; those that all operators have are in controller/process.h.
#pragma once

#include <string>

#include "controller/process.h"
#include "testbed/claims/claim_options.h"
#include "testbed/room/ghosts.h"
#include "testbed/status.h"

namespace esi::testbed {

struct options {
    ghost_options ghosts;
    /// The namespaces in which /debug/node-set-up and /debug/reset-all-jobs look for names.
    std::string legacy_namespace = "default";
    /// The peers that may use /debug.
    http::local_access access;
    /// Metrics name the Testbeds.
    bool metrics_by_testbed = false;
    /// Layouts are written as one line for each node (model/testbed.h); both forms are read.
    bool compact_layouts = false;
    /// Above this many slots the rows of a Testbed are in slices; 0 to 4,000, what a status can
    /// hold.
    int most_listed_slots = grid::most_listed_slots;
    /// Messages to tenants name nodes with the room that is left on them.
    bool tell_nodes = false;
    claims::claim_options claims;

    // Options without a flag.
    /// True: another part of the process needs the room of all nodes, which is kept current for it.
    bool shared_room = false;
    bool needs_room() const { return shared_room || claims.enabled; }

    // Options for tests.
    /// Above this many slots the report is written beside the work.
    int many_slots = testbed::many_slots;
    /// Compares the ledger with a rebuilt one at each reconcile, and logs what differs.
    bool check_ledger = false;
    int rows_per_slice = model::most_slice_rows;

    void add_to(CLI::App& app);
};

}  // namespace esi::testbed

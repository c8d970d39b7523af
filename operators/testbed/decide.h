// What is to be done next for a Testbed. Pure: what is known of it, what the process remembers, and
// the time in; actions and the report out. The reconcile takes the actions and looks again.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "testbed/ledger/action.h"
#include "testbed/ledger/ledger.h"
#include "testbed/status.h"

namespace esi::testbed {

struct decision {
    /// Independent of each other: may be taken side by side.
    std::vector<action> actions;
    model::testbed_status status;
    /// Events that are due.
    std::vector<note> notes;
    /// Subjects that notes are about now, told before or not.
    std::set<std::string> subjects;
    /// Uids of committed pods whose room is free and which are not bound.
    std::set<std::string> unbound;
    /// Pods that have been given a slot and are not bound in it yet.
    int pods_waiting = 0;
    /// Slots without room, as place_key.
    std::set<std::string> strangers;
    /// Look again then, though nothing happens.
    std::optional<steady_time::duration> again;

    void look_again(steady_time::duration wait) {
        wait = std::max<steady_time::duration>(wait, milliseconds(10));
        if (!again || wait < *again) again = wait;
    }
};

/// The layout differs from the one that nodes and spec ask for, or has the other form than
/// `compact` names, and nothing is in the way of writing it.
bool may_change_layout(const overview& of, bool compact);

/// The next actions, but for the layout's; without the status.
decision decide(const overview& of, const ledger& all, const hints& known, steady_time now);
/// The layout that is to be written; `next` is the ledger of it.
decision decide_layout(const overview& of, const ledger& next, wall_time wall);

/// All at once: every node, pod and job of a whole view, and the status. For tests, and to compare
/// with what is kept up node by node. `compact_layouts`: the option of that name.
decision decide(const view& seen, const hints& known, steady_time now, wall_time wall,
                bool compact_layouts = false);

/// The names under which a whole view has nodes to look at.
std::set<std::string> nodes_of(const view& seen, const grid::places& places);
/// The ledger of a whole view.
ledger ledger_of(const view& seen, const ground& on, const hints& known, steady_time now,
                 wall_time wall);

}  // namespace esi::testbed

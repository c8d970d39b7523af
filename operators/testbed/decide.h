// Decides what is to be done next for a Testbed. Pure: input are the view, the hints and the time;
// output are actions and the report. The reconcile takes the actions and looks again.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "testbed/ledger/action.h"
#include "testbed/ledger/ledger.h"
#include "testbed/status.h"

namespace esi::testbed {

struct decision {
    /// They are independent of each other and may be taken side by side.
    std::vector<action> actions;
    model::testbed_status status;
    /// Events that are due.
    std::vector<note> notes;
    /// Subjects of the current notes, reported before or not.
    std::set<std::string> subjects;
    /// Uids of committed pods whose room is free and which are not bound.
    std::set<std::string> unbound;
    /// Pods that have a slot and are not bound in it yet.
    int pods_waiting = 0;
    /// Slots without room, by place_key.
    std::set<std::string> strangers;
    /// Look again after this time even if no event comes.
    std::optional<steady_time::duration> again;

    void look_again(steady_time::duration wait) {
        wait = std::max<steady_time::duration>(wait, milliseconds(10));
        if (!again || wait < *again) again = wait;
    }
};

/// True: the layout differs from the one that nodes and spec ask for, or from the form that
/// `compact` names, and nothing prevents its write.
bool may_change_layout(const overview& of, bool compact);

/// The next actions, except the layout's; without the status.
decision decide(const overview& of, const ledger& all, const hints& known, steady_time now);
/// The write of the next layout; `next` is its ledger.
decision decide_layout(const overview& of, const ledger& next, wall_time wall);

/// Decides all at once: every node, pod and job of a whole view, and the status. For tests, and to
/// compare with the ledger that is updated node by node. `compact_layouts`: the option of that
/// name.
decision decide(const view& seen, const hints& known, steady_time now, wall_time wall,
                bool compact_layouts = false);

/// The names of all nodes of a whole view that need an assessment.
std::set<std::string> nodes_of(const view& seen, const grid::places& places);
/// The ledger of a whole view.
ledger ledger_of(const view& seen, const ground& on, const hints& known, steady_time now,
                 wall_time wall);

}  // namespace esi::testbed

// The state of one node of a Testbed, the steps to be taken there, and its share of the Testbed's
// report: all that the ledger keeps of it. A pure function of a view of that node works it out.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/packed.h"
#include "testbed/ledger/action.h"

namespace esi::testbed {

/// Bound of the CRD: problems of a Testbed, and of one node.
inline constexpr std::size_t most_problems = 64;

/// The purpose for which a Testbed's nodes are assessed.
enum class purpose {
    keep,   ///< slots are kept
    leave,  ///< the Testbed is being deleted, no hold is in the way: what it set is removed
};

/// The layout to which the slots belong.
struct ground {
    const model::testbed_layout& layout;
    const grid::places& places;
    purpose what_for = purpose::keep;
    /// A larger Testbed has no rows; if `lines` is set it has lines for its slices instead.
    int most_listed = grid::most_listed_slots;
    bool lines = false;
};

/// The line of a slot in a slice of a Testbed whose slots are not listed (grid::slot_line).
struct row_line {
    int position = 0;
    std::string text;
    bool operator==(const row_line&) const = default;
};

/// Another Testbed whose layout has the node, as the report names it.
struct sharer {
    std::string name;
    auto operator<=>(const sharer&) const = default;
};

/// The node's share of the report.
struct node_report {
    bool member = false;
    model::slot_counts counts;
    /// Slots whose ghost is under way.
    int under_way = 0;
    /// The rows of its slots, by position; empty in a Testbed whose slots are not listed.
    std::vector<model::slot_status> rows;
    /// Why none of its slots can be used; else empty.
    std::string problem;
    /// The problems of slots in ERROR, each sentence once, by position.
    std::vector<std::string> slot_problems;
    int without_room = 0;
    /// The room that is missing for its slots, as text; empty if none is.
    std::string shortage;
    /// Ghosts that hold their room and do not run, by cause.
    std::map<std::string, int> failing;
    bool open = false;
    std::string taint_problem;
    /// The node has our taint.
    bool tainted = false;
    /// Foreign live pods on it; some of those of the Testbed's own namespace by name.
    int beside = 0;
    int beside_elsewhere = 0;
    std::vector<std::string> beside_names;
    /// Schedulers of live pods on it, except default-scheduler.
    std::set<std::string> schedulers;
    std::vector<dispute> disputes;
    std::set<sharer> sharers;

    bool operator==(const node_report&) const = default;
};

struct node_state : node_report {
    /// The lines of its slots, by position; empty in a Testbed whose slots are listed.
    std::vector<row_line> lines;

    // The next steps.
    std::optional<taint_change> taint;
    std::vector<remove_ghost> clears;
    /// By position of the slot.
    std::vector<std::pair<int, action>> steps;
    /// Ghosts of another image. Packed: with a new image these are all ghosts.
    std::vector<std::shared_ptr<const model::packed>> old_images;
    /// Notes that are due or were reported before.
    std::vector<note> notes;
    /// Subjects whose earlier report stays valid though there is no note now.
    std::set<std::string> kept_subjects;
    std::set<std::string> unbound;
    int pods_waiting = 0;
    /// Slots without room, by place_key.
    std::set<std::string> strangers;
    /// A ghost has ended, or waits though the node has its room.
    bool ghost_in_vain = false;

    // For other parts of the operator.
    /// Pods that are recorded for a slot here and not refused, and those that are in a slot or
    /// recorded for one.
    std::set<model::object_key> accepted;
    std::set<model::object_key> inside;
    /// True: a change of the hold may change the node: pods, orders or records of jobs are here.
    bool uses_hold = false;
    deadlines changes;

    bool has_actions() const { return taint || !clears.empty() || !steps.empty(); }
    /// True: it adds nothing, so the ledger need not keep it.
    bool empty() const;
    /// The whole state as text, without times, for comparison.
    std::string text() const;
};

node_state assess_node(const view& seen, const std::string& node, const ground& on,
                       const hints& known, steady_time now, wall_time wall);

}  // namespace esi::testbed

// What one node of a Testbed is, what is to be done there, and what it adds to the Testbed's
// report: all that the ledger keeps of it. Worked out by a pure function of a view of that node.
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

/// What a Testbed's nodes are worked out for.
enum class purpose {
    keep,   ///< slots are kept
    leave,  ///< the Testbed is being deleted, and no hold is in the way: what it set is taken away
};

/// The layout that the slots are of.
struct ground {
    const model::testbed_layout& layout;
    const grid::places& places;
    purpose what_for = purpose::keep;
    /// A Testbed of more slots has no rows, but lines for its slices where `lines` is set.
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

/// What it adds to the report.
struct node_report {
    bool member = false;
    model::slot_counts counts;
    /// Slots whose ghost is under way.
    int under_way = 0;
    /// Of its slots, in position order; empty in a Testbed whose slots are not listed.
    std::vector<model::slot_status> rows;
    /// Why no slot of it can be used; else empty.
    std::string problem;
    /// Of slots in ERROR, each sentence once, in position order.
    std::vector<std::string> slot_problems;
    int without_room = 0;
    /// What is missing; empty where nothing is.
    std::string shortage;
    /// Ghosts that hold their room and do not run, by cause.
    std::map<std::string, int> failing;
    bool open = false;
    std::string taint_problem;
    /// Our taint is on it.
    bool tainted = false;
    /// Live pods of others on it; those of the Testbed's own namespace by name, some of them.
    int beside = 0;
    int beside_elsewhere = 0;
    std::vector<std::string> beside_names;
    /// Schedulers of live pods on it, but for default-scheduler.
    std::set<std::string> schedulers;
    std::vector<dispute> disputes;
    std::set<sharer> sharers;

    bool operator==(const node_report&) const = default;
};

struct node_state : node_report {
    /// Of its slots, in position order; empty in a Testbed whose slots are listed.
    std::vector<row_line> lines;

    // What is to be done.
    std::optional<taint_change> taint;
    std::vector<remove_ghost> clears;
    /// By position.
    std::vector<std::pair<int, action>> steps;
    /// Ghosts of another image. Packed: with a new image these are all ghosts.
    std::vector<std::shared_ptr<const model::packed>> old_images;
    /// Those that are due or were told before.
    std::vector<note> notes;
    /// Subjects that keep what was told of them though there is no note now.
    std::set<std::string> kept_subjects;
    std::set<std::string> unbound;
    int pods_waiting = 0;
    /// Slots without room, as place_key.
    std::set<std::string> strangers;
    /// A ghost has ended, or waits though the node has its room.
    bool ghost_in_vain = false;

    // For others.
    /// Pods that are recorded for a slot here and not refused, and those that are in a slot or
    /// recorded for one.
    std::set<model::object_key> accepted;
    std::set<model::object_key> inside;
    /// A change of the hold may change it: pods, orders or records of jobs are here.
    bool uses_hold = false;
    deadlines changes;

    bool has_actions() const { return taint || !clears.empty() || !steps.empty(); }
    /// It adds nothing: the ledger need not know it.
    bool empty() const;
    /// All of it but times, for comparison.
    std::string text() const;
};

node_state assess_node(const view& seen, const std::string& node, const ground& on,
                       const hints& known, steady_time now, wall_time wall);

}  // namespace esi::testbed

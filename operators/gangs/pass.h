// The parts of one pass (decide.h), in the order in which decide() calls them, and what they share.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "gangs/order.h"
#include "gangs/view.h"

namespace esi::gangs {

/// More plans are not tried in one pass; the next one follows at once.
inline constexpr int most_fits = 64;

/// Whom a plan, or being let in, has not brought to its node by then waits for something else, and
/// is counted no more.
inline constexpr seconds longest_way{15};

/// A pass that has cost so much (board::work) tries no further plan: about a tenth of a second.
inline constexpr std::int64_t most_fit_work = 20'000'000;

/// By a plan that is older somebody has been let in, or nobody will be.
inline constexpr seconds longest_plan{300};

/// Members that have places and are not bound yet.
struct on_their_way {
    int all = 0;
    std::map<std::string, int, std::less<>> by_namespace = {};
    /// When the first of them is counted no more.
    steady_time ends = steady_time::max();

    void add(const gang_key& of, std::size_t members, steady_time until) {
        all += static_cast<int>(members);
        by_namespace[of.namespace_] += static_cast<int>(members);
        ends = std::min(ends, until);
    }
};

struct pass {
    const view& seen;
    memory& known;
    cluster_room& room;
    decision out = {};
    int fits = 0;
    /// What they have cost.
    std::int64_t work = 0;
    on_their_way coming = {};
    /// Some were not tried, as there were too many.
    bool some_left = false;
    /// What was read for plans of this pass: a reservation of the same pass uses it again.
    std::map<gang_key, facts> read = {};
    /// Shapes that did not fit in this pass: what was said of the first of each.
    std::map<placement::gang_shape, std::pair<gang_key, no_fit>> failed = {};

    bool under_way(const std::string& name) const { return known.under_way.contains(name); }
    void give(action what);
    void again_at(steady_time when) {
        if (when > seen.now) out.look_again(when - seen.now);
    }
};

/// Its look is under way: nothing may be changed of its places.
bool looks(const pass& at, const gang_key& of);
/// Nothing keeps pods from running there for now.
bool node_stands(const cluster_room& room, std::string_view node);

/// Places of a plan, and what its members ask of each node.
std::map<std::string, demand, std::less<>> wanted_on(const gang_memory& own);
/// More is promised of what `wanted` asks for than the node has.
bool lacks(const cluster_room& room, const placement::node_ledger& entry, const demand& wanted);

/// Tells, if the words are others than those told last about the subject; words with the same
/// reason wait for ten minutes.
void tell(pass& at, const gang& of, gang_memory& own, const std::string& subject, note what);

// keep.cpp: what is remembered is brought up to the gang as it is now; places that cannot be kept
// are given up.
void keep(pass& at, const gang_pointer& of, gang_memory& own);
void give_up(pass& at, gang_memory& own);
/// Gives a plan its mark: a new one, or one of which the places are firm now. `members`:
/// muster::enough.
void name_plan(pass& at, plan& made, std::int64_t members);
/// The plan with this mark is not gone by any more.
void drop(const gang& of, gang_memory& own, std::string_view mark);
/// Of a plan that is not dropped: open and made by another process, or begun.
bool is_of_another(const pass& at, const gang& of, const gang_memory& own, std::string_view mark);
/// Places of gangs that are gone.
void forget_gone(pass& at);
/// No more is promised of a node than it has: who has the last turn gives up.
void keep_within(pass& at);

// adopt.cpp: the places of the process before, by nominations; and the plans of another one that
// believes to lead, too.
void adopt(pass& at);

// reserve.cpp: order, plans, the reservation.
void plan_all(pass& at);
turn turn_of(const pass& at, const gang_key& key);
fit_options options_for(const pass& at, const gang& of);

// start.cpp: the requests that bring members to their places and in.
void start_all(pass& at);

// ends.cpp: members that the scheduler refuses, attempts that are over.
void see_to_ends(pass& at, const gang& of, gang_memory& own);

// standing.cpp: where each gang stands, and Events.
void stand(pass& at, const gang& of, gang_memory& own);

// write_status.cpp
void report_status(pass& at, const gang& of, gang_memory& own);

}  // namespace esi::gangs

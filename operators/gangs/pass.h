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

/// No more plans are tried in one pass; the next one follows at once.
inline constexpr int most_fits = 64;

/// A member that is not bound this long after its plan, or after being let in, waits for another
/// cause; it no longer counts as on its way.
inline constexpr seconds longest_way{15};

/// A pass with this much work (board::work) tries no further plan: about a tenth of a second.
inline constexpr std::int64_t most_fit_work = 20'000'000;

/// A plan older than this has either let in a member, or never will.
inline constexpr seconds longest_plan{300};

/// Members that have places and are not bound yet.
struct on_their_way {
    int all = 0;
    std::map<std::string, int, std::less<>> by_namespace = {};
    /// When the first of them no longer counts.
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
    /// Work done for the plans of this pass.
    std::int64_t work = 0;
    on_their_way coming = {};
    /// Some gangs were not tried, as there were too many.
    bool some_left = false;
    /// Facts read for plans of this pass: a reservation of the same pass uses them again.
    std::map<gang_key, facts> read = {};
    /// Shapes that did not fit in this pass, with the first gang of each and its answer.
    std::map<placement::gang_shape, std::pair<gang_key, no_fit>> failed = {};

    bool under_way(const std::string& name) const { return known.under_way.contains(name); }
    void give(action what);
    void again_at(steady_time when) {
        if (when > seen.now) out.look_again(when - seen.now);
    }
};

/// The gang's look is under way: its places must not be changed.
bool looks(const pass& at, const gang_key& of);
/// The node can take pods now: it exists, is ready and not cordoned.
bool node_stands(const cluster_room& room, std::string_view node);

/// The places of a plan by node, and what its members ask of each.
std::map<std::string, demand, std::less<>> wanted_on(const gang_memory& own);
/// More of what `wanted` asks for is promised than the node has.
bool lacks(const cluster_room& room, const placement::node_ledger& entry, const demand& wanted);

// events.cpp
/// Emits the Event if its text differs from the last one about the subject; a text with the same
/// reason waits for ten minutes.
void tell(pass& at, const gang& of, event_memory& last, std::string_view subject, note what);
/// Forgets those about pods that are no members any more.
void forget_events_of_gone_pods(event_memory& last, const gang_memory& own);
/// Tells where the gang stands now; `before`: where it stood.
void report_standing(pass& at, const gang& of, gang_memory& own, const standing& before);

// keep.cpp: brings the memory of the gang up to date, and gives up places that cannot be kept.
void keep(pass& at, const gang_pointer& of, gang_memory& own);
void give_up(pass& at, gang_memory& own);
/// Gives a plan its mark: a new plan, or one whose places have become firm. `members`:
/// muster::enough.
void name_plan(pass& at, plan& made, std::int64_t members);
/// The plan with this mark is not followed any more.
void drop(const gang& of, gang_memory& own, std::string_view mark);
/// Whether a plan that is not dropped is open and made by another process, or begun.
bool is_of_another(const pass& at, const gang& of, const gang_memory& own, std::string_view mark);
/// Releases the places of gangs that are gone.
void forget_gone(pass& at);
/// Promises no more of a node than it has: the gang with the last turn gives up.
void keep_within(pass& at);

// adopt.cpp: takes over the places of the process before, by nominations, and the plans of another
// process that also believes it leads.
void adopt(pass& at);

// reserve.cpp: order, plans, the reservation.
void plan_all(pass& at);
turn turn_of(const pass& at, const gang_key& key);
fit_options options_for(const pass& at, const gang& of);

// start.cpp: the requests that bring members to their places and in.
void start_all(pass& at);

// ends.cpp: handles members that the scheduler refuses, and attempts that are over.
void see_to_ends(pass& at, const gang& of, gang_memory& own);

// standing.cpp: where the gang stands.
standing next_standing(const pass& at, const gang_memory& own);

// write_status.cpp: the request that writes the status of the group's object, if it is due.
/// @param last  gang_memory::status, which is moved out of `own` for the time of the call
status_memory report_status(pass& at, const gang& of, const gang_memory& own, status_memory last,
                            event_memory& events);

}  // namespace esi::gangs

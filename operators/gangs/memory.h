// What the process remembers of gangs between two passes: places, times of waiting, actions under
// way. Losing it (a restart, another leader) loses no promise: places are rebuilt from the
// nominations and annotations of pods (adopt.cpp), and clocks start again.
//
// The memory of a gang has a part for each phase of a pass that remembers something; each says
// which phase changes it. The others only read it.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "gangs/action.h"
#include "gangs/muster.h"

namespace esi::gangs {

/// The state of a gang, for people, metrics and the status. One word each, as show() gives it.
enum class state : std::uint8_t {
    members_missing,  ///< fewer members than the minimum
    group_missing,    ///< no object and no minimum
    invalid,          ///< a minimum that is none, or too many members
    suspended,
    not_enabled,  ///< its namespace is not
    waiting,      ///< ready to start, in the order
    reserving,    ///< the same, and what becomes free on its places is kept for it
    reserved,     ///< it has room and places; nominations or the look are under way
    starting,     ///< members were let in, fewer than the minimum are bound
    running,      ///< the minimum was reached
    partial,      ///< its attempt is over, and fewer than the minimum are bound
    ended,        ///< all members have ended
};
std::string_view show(state at);
inline constexpr state all_states[] = {
    state::members_missing, state::group_missing, state::invalid,   state::suspended,
    state::not_enabled,     state::waiting,       state::reserving, state::reserved,
    state::starting,        state::running,       state::partial,   state::ended};

/// The answer to "why does it wait?".
struct standing {
    state at = state::members_missing;
    /// One CamelCase word: NoRoom, NeverFits, ConstraintNotPlanned, MembersMissing, Suspended ...
    std::string reason;
    /// A sentence for people.
    std::string message;
    /// When `at` or `reason` became so, as far as this process knows.
    std::optional<wall_time> since;

    bool operator==(const standing&) const = default;
};

/// The text of wait_memory::in_line, for people.
inline constexpr std::string_view in_line_text =
    "its namespace has its share of the members that are on their way to their nodes; the group is "
    "planned when some of them are bound";

/// An own write that the cache does not show after this time is no longer waited for.
inline constexpr seconds longest_await{5};
/// A member counts as refused when its scheduler has said Unschedulable for this time.
inline constexpr seconds refusal_time{10};

struct member_memory {
    /// Scheduler (view::scheduler) to which its nomination was shown by this process.
    std::optional<std::string> shown_to;
    /// An own write that the cache does not show yet.
    std::string awaited;
    steady_time awaited_since{};
    /// Failed writes in a row; the next one waits.
    int failures = 0;
    steady_time next{};
    std::string failure;
    /// Since when the scheduler says Unschedulable about the member, which is let in.
    std::optional<steady_time> refused_since;
    /// How many earlier pods in its place were refused and deleted.
    int refusals = 0;
    /// It is counted in gang_memory::followers.
    bool counted = false;
    /// When it was first seen let in and not bound.
    std::optional<steady_time> let_in_since;
    /// How often its nomination was set again since, and when it may be set again.
    int kept = 0;
    steady_time next_kept{};
};

/// Places of members that are to be let in together.
struct plan {
    /// By uid.
    std::map<std::string, std::string> places;
    /// See plan_mark.h; a plan that is changed gets another mark.
    std::string mark;
    /// The first member has been seen with the mark.
    bool shown = false;
    /// A reservation, piece by piece: made before there is room.
    bool reservation = false;
    /// Since when it is a reservation, or was one until its room was there.
    std::optional<steady_time> reserved_since;
    /// cluster_room::changes() when it was last checked, as a reservation.
    std::optional<std::uint64_t> checked_at;
    /// When all its members were first at their places.
    std::optional<steady_time> whole_at;
    /// The look has said go, or a member that was let in proves that one has.
    bool looked = false;
    /// When its places were taken.
    steady_time since{};
};

inline constexpr int looks_per_plan = 5;

/// How far the gang has come. next_attempt (keep.cpp) gives the next one in each pass.
struct attempt_memory {
    /// The minimum when it was reached; nothing: never reached.
    std::optional<std::int64_t> reached;
    /// When the first member was let in, in an attempt that has not reached the minimum.
    std::optional<steady_time> since;
    /// For metrics: when a plan was first whole, members were let in, the minimum was bound.
    std::optional<steady_time> reserved_at, let_in_at, bound_at;
};

/// What was done about attempts that did not become whole in time. see_to_partial (ends.cpp) gives
/// the next one.
struct partial_memory {
    /// The time of the present attempt is over.
    bool over = false;
    /// Its members were deleted.
    bool deleted = false;
    /// How often in a row that was done, and when the gang may start again.
    int rounds = 0;
    steady_time next_start{};
};

/// How long the gang waits, and for what: its place in the order and its last try. Only plan_all
/// (reserve.cpp) changes it, and the answer to read_facts.
struct wait_memory {
    /// Since when it is ready to start.
    std::optional<wall_time> since;
    /// The same, for metrics; it stays when the wait is over.
    std::optional<steady_time> ready_at;
    /// How many groups are before it in the order, and the next of them.
    int before = 0;
    std::optional<gang_key> behind;
    /// Why a member beyond the minimum waits.
    std::string surplus;
    /// It is not planned while so many members are on their way.
    bool in_line = false;
    /// cluster_room::freed() (changes() for shapes that depend on facts) when it did not fit.
    std::optional<std::uint64_t> failed_at;
    no_fit_reason failed_by = no_fit_reason::no_room;
    /// Why it did not fit, or why its facts could not be read.
    std::string failed_text;
    /// no_fit::most_left_on at that time.
    std::string most_left_on;
    /// memory::sweep and gang_memory::musters when it was tried last.
    std::uint64_t tried_in = 0;
    std::uint64_t tried_muster = 0;
    /// fnv1a of the shape that was tried last.
    std::uint64_t tried_shape = 0;
    /// That shape depends on facts.
    bool depends_on_facts = false;
    /// Facts read for its next plan, used once.
    std::optional<facts> read;
    steady_time read_at{};
    steady_time next_read{};
    int reads = 0;
    /// Shape of the members needed next, and gang_memory::musters of it. Empty if not computed yet,
    /// or if it also depends on other pods.
    std::optional<placement::gang_shape> shape;
    std::uint64_t shape_muster = 0;

    void forget_failure() {
        failed_at.reset();
        failed_text.clear();
    }
};

/// Its claims to the one reservation. Only plan_all changes it, and the end of a plan.
struct reservation_memory {
    /// Since when it waits, for the order of reservations: the time starts again when a reservation
    /// has ended.
    std::optional<wall_time> counted_since;
    std::optional<wall_time> ended;
    /// freed_by_others when a reservation failed: as long as it is unchanged, another reservation
    /// would fail, too.
    std::optional<std::uint64_t> vain_at;
    /// For how long places were reserved for it, the present ones aside, since it waits or since
    /// its last reservation ended.
    steady_time::duration used{};
};

/// What other writers of pods do to its plans.
struct others_memory {
    /// Marks of plans that this process does not follow, until they are over; true: it knew that
    /// the gang has begun by them. A plan that begins after it was dropped is followed all the
    /// same.
    std::map<std::string, bool, std::less<>> dropped;
    /// How long it waits for plans of another process with members that are not nominated yet.
    std::optional<steady_time> yields_until;
    bool yields = false;
    /// How often in a row the mark of its first member was taken away; the gang is planned again
    /// then, not before next_plan.
    int marks_lost = 0;
    steady_time next_plan{};
};

/// Plans and looks by which no member was let in.
struct vain_memory {
    /// Plans in a row, and the members of the last one; after two the gang is not planned until
    /// put_off_until, and other gangs may have its room.
    int plans = 0;
    std::set<std::string> members;
    start how = start::none;
    steady_time put_off_until{};
    /// Refused looks in a row; each waits, and after some another plan is made.
    int looks = 0;
    int looks_to_replan = looks_per_plan;
    steady_time next_look{};
    /// Why the look refused its last plan.
    std::string refused;

    /// A member was let in, or the next members are others.
    void forget_plans() {
        plans = 0;
        members.clear();
        put_off_until = {};
        refused.clear();
    }
};

/// The status that was written last, and whether another controller writes it. report_status
/// (write_status.cpp) gives the next one; the answer to a write is taken up into it.
struct status_memory {
    /// The last write as one text, and its object; empty: nothing yet.
    std::string written;
    std::string uid;
    /// The resourceVersion that the write gave.
    std::string version;
    std::optional<steady_time> at;
    /// Failed writes in a row; the next one waits.
    int failures = 0;
    steady_time next{};
    /// How often another status was found afterwards.
    int overwritten = 0;
    steady_time overwritten_at{};
    bool foreign = false;
    /// It has to be compared with the object's status.
    bool due = true;
};

struct told_event {
    std::string reason;
    std::string text;
    steady_time at{};
};
/// The last Event about each subject. Only events.cpp changes it.
using event_memory = std::map<std::string, told_event, std::less<>>;

struct gang_memory {
    /// The gang, what follows from it, and how often that was worked out; `mustered_for`: the
    /// minimum that was reached then.
    gang_pointer seen;
    muster what;
    std::uint64_t musters = 0;
    std::optional<std::int64_t> mustered_for;
    std::map<std::string, member_memory> members;  ///< by uid
    /// How many pods in a row were deleted after a refusal, by their controller's uid, until a
    /// follower comes.
    std::multimap<std::string, int> followers;
    /// A write of one of its pods failed, and not by chance.
    bool refused_writes = false;

    std::optional<plan> has;
    others_memory others;
    vain_memory vain;

    attempt_memory attempt;
    partial_memory partial;
    wait_memory wait;
    reservation_memory reservation;
    status_memory status;
    event_memory events;
    /// Where it stands. next_standing (standing.cpp) gives the next one.
    standing at;
    /// Something that its status may show has changed in this pass.
    bool changed = true;

    /// It starts again after a pause, as its last attempt did not become whole.
    bool pauses(steady_time now) const {
        return what.how == start::whole && now < partial.next_start;
    }
    /// It is planned again after a pause, as its plans were in vain.
    bool is_put_off(steady_time now) const {
        return what.how != start::none && now < vain.put_off_until;
    }
};

struct memory {
    /// controller::environment::identity; and how many plans it has made.
    std::string process;
    std::uint64_t plans = 0;
    std::map<gang_key, gang_memory> gangs;
    /// name_of actions that are under way.
    std::set<std::string> under_way;
    /// Pods that name no group and have a nomination, by uid.
    std::map<std::string, member_memory> loose;
    /// The gang that has a reservation.
    std::optional<gang_key> reserving;
    /// When a group of the namespace was given its last reservation; for so many namespaces, so
    /// that one that creates and deletes groups keeps its place in the order.
    std::map<std::string, wall_time, std::less<>> reserved_in;
    static constexpr std::size_t most_reserved_in = 1000;
    /// The last pass has not tried all gangs: namespaces take turns until one has.
    bool left_some = false;
    /// The part of cluster_room::freed() that reservations released.
    std::uint64_t let_go = 0;
    /// The places of the process before are adopted.
    bool adopted = false;
    std::uint64_t passes = 0;
    /// Counts how often all waiting gangs have been tried. One pass tries a limited number: the
    /// next one goes on with those that were not tried yet, whatever has changed in between.
    std::uint64_t sweep = 1;
};

/// Takes up how an action went; to be called for every action that decide gave.
void take_outcome(memory& known, const action& what, const outcome& how, steady_time now);

}  // namespace esi::gangs

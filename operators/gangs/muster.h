// Which members of a gang are there, and which it needs next: what follows from the gang alone,
// without room, order or time. Pure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gangs/gang.h"

namespace esi::gangs {

/// A gang with more members, or a greater minimum, is refused.
inline constexpr std::int64_t most_members = 5000;

/// The kind of start for `next`.
enum class start : std::uint8_t {
    none,     ///< no member is to be let in now
    whole,    ///< the first start: as many as the minimum needs, together
    refill,   ///< it has begun, and members are missing to the minimum: those that are there
    surplus,  ///< the minimum runs, and this one member is beyond it
};

/// Why no member is to be let in, though members wait.
enum class hindrance : std::uint8_t {
    none,
    group_missing,
    minimum_missing,
    minimum_invalid,
    too_many,
    not_enabled,
    suspended,
    members_missing,
};

struct muster {
    std::optional<std::int64_t> minimum;
    /// By stage of their pods. `running`: bound with phase Running; `well`: ended well.
    int gated = 0, reserved = 0, held = 0, let_in = 0, bound = 0, leaving = 0, not_gated = 0;
    int running = 0, well = 0, badly = 0;
    /// The part of `leaving` for which leaves_nominated holds.
    int leaving_nominated = 0;
    /// The part of `well` with a controller that has members which have not ended, so of the same
    /// run.
    int well_now = 0;
    /// Members of the same run that were let in and are bound, or were when they ended; and what
    /// the gang needed as their marks say, at most and at least. 0: none says it.
    int had_a_node = 0;
    std::int64_t most_needed = 0, least_needed = 0;
    /// Some member of the same run was let in.
    bool begun = false;
    /// The minimum; for a gang that has begun, no more than it was then. A growth since then is not
    /// enforced, and gets no room before other gangs.
    std::int64_t enough = 0;

    hindrance by = hindrance::none;
    /// For people; empty if `by` is none.
    std::string text;
    start how = start::none;
    /// Uids of the members that are to be let in next, together, in the order of members.
    std::vector<std::string> next;

    int waiting() const { return gated + reserved; }
    /// How many have their places or need none.
    int placed() const { return let_in + bound + well_now; }
    /// How many run, ran well, or are bound.
    int reached() const { return bound + well_now; }
    /// The number of members needed that a plan for `next` records: a minimum that has grown, once
    /// it is reached with them.
    std::int64_t enough_with_next() const {
        const auto then = placed() + static_cast<std::int64_t>(next.size());
        return minimum && then >= *minimum ? *minimum : enough;
    }
    bool all_ended() const {
        return well + badly > 0 && waiting() + held + let_in + bound + not_gated == 0;
    }
};

/// `reached`: the minimum that was reached once, as far as is remembered. If none was, the marks of
/// members that were let in say how many the gang needed. `scheduler_name`: members with another
/// one count as not gated; empty: any.
muster muster_of(const gang& of, std::optional<std::int64_t> reached,
                 std::string_view scheduler_name = {});

}  // namespace esi::gangs

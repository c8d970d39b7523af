// Which plan a member's nomination belongs to. The members of a plan bear its mark, the annotation
// gang-plan: the uid of the plan's first member, the process and number of the plan, and how many
// members the gang needed then: a minimum that grows later gets no room before others, also after a
// restart (muster.h).
//
// The first member decides for all, also if two processes believe that they lead: it is nominated
// before the others, and let in before them. As long as it waits with the mark of its plan, a
// process may be about to let the plan's members in, so no process changes the nomination of
// another member of the plan. To do that, a process first takes away the first member's nomination:
// that write and the one that lets it in have the same resourceVersion as their guard, and one of
// them fails. If the first member no longer bears the mark, no member is ever let in by that plan,
// as no process gives one mark to a first member twice. If it was let in, the gang has begun.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "gangs/gang.h"

namespace esi::gangs {

/// `first`: uid of the first member; empty: a reservation, which lets no member in. `process`:
/// controller::environment::identity. `members`: how many the gang needs to be whole, with those
/// that it has (muster::enough).
std::string plan_mark(std::string_view first, std::string_view process, std::uint64_t number,
                      std::int64_t members);
/// How many members the gang needed when the plan was made; nothing: the mark does not say it.
std::optional<std::int64_t> members_of(std::string_view mark);
/// The mark that the pod bears; empty: none.
std::string_view mark_of(const model::pod& pod);
/// The first member's uid; empty where the mark is no plan's.
std::string_view first_of(std::string_view mark);
bool is_made_by(std::string_view mark, std::string_view process);

enum class plan_state : std::uint8_t {
    none,   ///< no mark, or that of a reservation: it lets no member in
    over,   ///< its first member is gone, or bears another mark or none
    open,   ///< its first member waits: its process may let it in at any moment
    begun,  ///< its first member was let in
};
/// The state of the plan with this mark, as the gang's pods show it.
plan_state state_of(const gang& of, std::string_view mark);

/// The nomination of this member may be changed or taken away (see above).
bool may_change(const gang& of, const model::pod& pod);

/// Guarded: nominates the pod by the plan with this mark; an empty node takes both away.
nlohmann::json plan_patch(const model::pod& pod, const std::string& node, std::string_view mark);

}  // namespace esi::gangs

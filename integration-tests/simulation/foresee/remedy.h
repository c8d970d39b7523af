// What people do to take away what an explanation names. Pure: out of one blocker, the objects and
// the plan that the cluster was made of.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "foresee/picture.h"
#include "plan/plan.h"

namespace esi::simulation::foresee {

/// What waits.
struct waiting {
    enum class kind { plan, job, pod };
    kind what = kind::plan;
    object_key scheduling;
    std::string uid;  ///< of the Scheduling
    object_key job;   ///< of kind job and pod
    object_key pod;   ///< of kind pod

    std::string text() const;
};

/// One thing that an explanation names, as far as people act on it.
struct named {
    std::string reason;
    answers::blocking what;

    /// The same for the same thing.
    std::string text() const;
};

/// Beside the reasons of blockers.
namespace named_reason {
inline constexpr std::string_view problem = "Problem";  ///< the plan itself is wrong
}

/// Says that something else is in the way, which is named as well.
bool is_summary(std::string_view reason);

struct remedy {
    std::vector<happening> deeds;
    /// Nobody has to do anything: an operator, a scheduler or the time frees it.
    bool by_itself = false;
    /// Nobody can do anything about it here: there is no job left for another plan.
    bool impossible = false;
};
remedy remedy_for(const named& what, const waiting& who, const picture& seen, const plan& made_of);

/// Something that `in_the_way` does not name and `who` does not need.
happening unrelated_deed(const std::vector<named>& in_the_way, const waiting& who,
                         const picture& seen, random_source& chance);

}  // namespace esi::simulation::foresee

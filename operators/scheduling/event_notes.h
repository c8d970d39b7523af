// The traces of the operator's actions for people: Events on the Scheduling and its jobs, a line in
// the log, numbers. Owned by the actor.
#pragma once

#include <string>
#include <string_view>

#include "controller/process.h"
#include "model/scheduling.h"
#include "scheduling/action.h"

namespace esi::scheduling {

class event_notes {
public:
    /// `env` outlives it.
    explicit event_notes(controller::environment& env);

    /// Reports a step of the Scheduling as a whole, or why it waits.
    void tell(const model::scheduling& about, std::string_view reason, const std::string& note,
              bool bad = false);
    /// Reports a step of one job: an Event on the Scheduling and one on the job, each related to
    /// the other.
    void tell_job(const model::scheduling& about, std::string_view reason, const job_note& what);
    void tell_completed(const model::scheduling& about);
    /// Reports an accepted commit, with its Events and numbers. `before`, `after`: the Scheduling.
    void tell_commit(const model::scheduling& before, const commit& what,
                     const model::scheduling& after);
    /// Reports an accepted report: an Event if the reason to wait has changed, or all has ended.
    void tell_report(const model::scheduling& before, const model::scheduling& after);
    void count_action(const action& what);

private:
    controller::environment& env_;
    prometheus::Histogram& waited_;
};

}  // namespace esi::scheduling

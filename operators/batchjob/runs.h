// The lines of status.runs and status.scheduledEvents: the record of a run. Pure changes of a
// status; each run has one line, or one for each attempt, and the last line is that of the present
// run.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "batchjob/backends/backend.h"
#include "model/testbed.h"

namespace esi::batchjob {

namespace run_outcome = model::run_outcome;

/// The last line, if it is of `run`; else null.
model::run_record* line_of(model::batchjob_status& status, std::string_view run);
const model::run_record* line_of(const model::batchjob_status& status, std::string_view run);
/// The last line, if its outcome is still Running; else null.
model::run_record* running_line(model::batchjob_status& status);
/// True: the run has a line and its last one is closed: the run is never started again.
bool has_ended(const model::batchjob_status& status, std::string_view run);

/// Adds a line for the request's run, outcome Running; keeps the last 20 lines. `layout` gives the
/// names of the nodes; may be null.
model::run_record& add_line(model::batchjob_status& status, const model::creation_request& request,
                            const model::testbed_layout* layout,
                            std::optional<model::timestamp> submitted);

/// Adds an event (status.scheduledEvents) for the line, unless one without stop exists.
void open_event(model::batchjob_status& status, const model::run_record& line);

struct closing {
    std::string_view outcome;
    std::string reason;
    std::string message;
    model::timestamp stopped;
};
/// Sets the outcome of the last line, closes its event (and adds one if none is open), and sets
/// lastResult. Nothing happens without a line.
void close_line(model::batchjob_status& status, const closing& how);

/// Takes the times of the job in the application, by the application's clock; an end before the
/// start is ignored.
void note_job_times(model::run_record& line, const application& app);

}  // namespace esi::batchjob

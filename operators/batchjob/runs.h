// The lines of status.runs and status.scheduledEvents: what a run was. Pure changes of a status.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "batchjob/view.h"

namespace esi::batchjob {

namespace run_outcome = model::run_outcome;

/// The last line, if it is of `run`; null without one.
model::run_record* line_of(model::batchjob_status& status, std::string_view run);
const model::run_record* line_of(const model::batchjob_status& status, std::string_view run);
/// The last line, if it has not ended.
model::run_record* open_line(model::batchjob_status& status);
/// The run has a line and it has ended: it is never started again.
bool has_ended(const model::batchjob_status& status, std::string_view run);

/// A new line for the request's run; keeps the last 20 lines.
/// `layout` gives the nodes' names; may be null.
model::run_record& begin_line(model::batchjob_status& status,
                              const model::creation_request& request,
                              const model::testbed_layout* layout,
                              std::optional<model::timestamp> submitted);

/// Opens an event for the line, if none is open.
void open_event(model::batchjob_status& status, const model::run_record& line);

/// How a line ends.
struct ending {
    std::string_view outcome;
    std::string reason;
    std::string message;
    model::timestamp stopped;
};
/// Ends the last line and its event (one is added where none was open), and sets lastResult.
void end_line(model::batchjob_status& status, const ending& how);

/// Adds jobs with pods on the nodes of `own` to the line's neighbours; never takes one out.
void note_neighbours(model::run_record& line, std::span<const pod_pointer> own,
                     std::span<const pod_pointer> others);

}  // namespace esi::batchjob

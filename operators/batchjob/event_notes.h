// The Kubernetes Events and log lines for a change of a BatchJob's status. The scheduling operator
// reports, on both objects, that a job was acquired, ordered and released.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "controller/events.h"
#include "model/batchjob.h"

namespace esi::batchjob {

struct event_note {
    /// True: it is a failure, or a wait that a person has to end.
    bool warning = false;
    std::string reason;
    std::string action;
    /// The text for people; it stays the same as long as its cause.
    std::string note;
    /// The message of the log line.
    std::string words;
    /// The Scheduling concerned: the other object of the Event.
    std::optional<model::active_scheduling_ref> scheduling;
    /// The line of the run that it belongs to; nothing if it belongs to none.
    std::optional<model::run_record> run;
    /// Pods that were given their slots.
    std::vector<model::placement> pods;
};

/// The notes for the change, in the order in which it happened. Pure.
std::vector<event_note> event_notes(const model::batchjob_status& before,
                                    const model::batchjob_status& after);

/// Logs one line for it, or one for each pod that was given its slot; a warning if it is one.
void log_note(const model::object_key& job, const event_note& note);

/// Puts the Event about `job` into the recorder's queue.
void send(controller::event_recorder& events, const model::object_meta& job, event_note note);

}  // namespace esi::batchjob

// The Kubernetes Events and log lines that a change of a BatchJob's status is worth. The scheduling
// operator reports, on both objects, that a job was acquired, ordered and released.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "controller/events.h"
#include "model/batchjob.h"

namespace esi::batchjob {

struct event_note {
    /// A failure, or a wait that a person has to end.
    bool warning = false;
    std::string reason;
    std::string action;
    /// For people; unchanged for as long as its cause is.
    std::string note;
    /// The message of the log line.
    std::string words;
    /// The Scheduling that it is about: the other object of the Event.
    std::optional<model::active_scheduling_ref> scheduling;
    /// The line of the run that it belongs to; nothing where it belongs to none.
    std::optional<model::run_record> run;
    /// Pods that were given their slots.
    std::vector<model::placement> pods;
};

/// What the change is worth, in the order in which it happened. Pure.
std::vector<event_note> event_notes(const model::batchjob_status& before,
                                    const model::batchjob_status& after);

/// One line for it, or one for each pod that was given its slot; a warning where it is one.
void log_note(const model::object_key& job, const event_note& note);

/// Puts the Event about `job` into the recorder's queue.
void send(controller::event_recorder& events, const model::object_meta& job, event_note note);

}  // namespace esi::batchjob

// What a running process remembers about BatchJobs between two reconciles. Hints only: they save
// requests and writes, date what the API has no time for, and keep a result that its object takes
// with it. All of it may be lost at any moment (a restart, another leader); each member says what
// the loss costs. Owned by the operator; written by the listeners of its caches and by its actor.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/clock.h"
#include "batchjob/backends/backend.h"
#include "batchjob/deaths.h"
#include "kube/watch/store.h"
#include "model/batchjob.h"
#include "model/cluster.h"

namespace esi::batchjob {

/// The answer of the dry run for one spec.
struct check_answer {
    bool accepted = false;
    /// If not accepted: the same spec may be accepted later (5xx, 429, a silent webhook).
    bool transient = false;
    std::string text;
};

/// The last dry run for a job.
struct check_memory {
    std::string hash;  ///< of the spec that was checked
    check_answer answer;
    int failures = 0;   ///< transient failures in a row
    steady_time due{};  ///< earliest time of the next one, after a transient failure
};

/// The refusal of a write that would have made a pod a member of a run.
struct refused_mark {
    std::string why;
    steady_time due{};  ///< earliest time of the next one
};

/// How long a pod that could not be marked is not tried again.
inline constexpr seconds mark_pause{30};

struct hints {
    /// By job. The status may not have the answer yet, because its write failed with a conflict.
    /// Lost: the dry run is sent once more, and its back-off starts at 1 s.
    std::map<model::object_key, check_memory> checks;
    /// By uid: when this process first saw a live, unbound pod without scheduling gates. Lost:
    /// reason SchedulerAbsent comes later by as much.
    std::map<std::string, wall_time, std::less<>> ungated_since;
    /// Applications and pods whose deletion the API server has accepted, by uid, with their job.
    /// Lost: they are deleted again, with the same uid as precondition.
    std::map<std::string, model::object_key, std::less<>> deletion_answered;
    /// By job: its application in the last final state that the watch has shown. Lost: if the
    /// application is deleted before the result is recorded, the run fails as ApplicationDeleted.
    std::map<model::object_key, std::shared_ptr<const application>> last_final;
    /// Lost: the message of a failed run does not count its dead pods.
    death_register deaths;
    /// By job: when the watch showed that a Scheduling had acquired it. Lost: the status is written
    /// once more, before the order comes.
    std::map<model::object_key, steady_time> acquired_at;
    /// By uid: when the watch first showed a pod that is not bound yet. Lost: pods that come in
    /// quick succession are placed by several writes instead of one.
    std::map<std::string, steady_time, std::less<>> seen_at;

    /// By uid: pods that the API server refuses to mark as members of their run. Lost: each is
    /// tried once more.
    std::map<std::string, refused_mark, std::less<>> refused_marks;

    void job_changed(const kube::change<model::batchjob>& what, steady_time now);
    /// `job`: the one that the pod's label names; null if there is none.
    void pod_changed(const kube::change<model::pod>& what, const model::batchjob* job,
                     const clock& time);
    /// `shown`: the application named `key`, null if it does not exist any more. `job`: the
    /// BatchJob of that name; null if there is none, or if the application is not its own.
    void application_changed(const model::object_key& key, std::shared_ptr<const application> shown,
                             const model::batchjob* job);
};

}  // namespace esi::batchjob

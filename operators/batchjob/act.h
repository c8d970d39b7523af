// Takes the actions of a decision and writes the status. Every write names the object that the
// decision saw (its uid, and its resourceVersion where the decision depends on it); none is assumed
// to have worked. What an action has found out is put into the view, so that the next decision of
// the same reconcile knows it. Owned by the operator, stopped with its controller.
#pragma once

#include <memory>

#include "batchjob/caches.h"
#include "batchjob/decision.h"
#include "batchjob/job_numbers.h"
#include "controller/process.h"
#include "controller/write_gate.h"

namespace esi::batchjob {

class actor {
public:
    /// All outlive the actor.
    actor(controller::environment& env, const caches& from, hints& known,
          controller::write_gate& gate, job_numbers& numbers);

    /// `seen` outlives the call. An error ends the reconcile; it is tried again with back-off. A
    /// refused create is none: the next decision finds it in `seen.live`.
    asio::awaitable<result<void>> take(view& seen, action what);
    /// Writes the difference between the status that was seen and `wanted`, guarded by the
    /// resourceVersion; `seen.job` is then the job as written. With the write go Events, log lines
    /// and metrics. Nothing happens where there is no difference. One that is too large is written
    /// shorter (fit_status.h).
    asio::awaitable<result<void>> write_status(view& seen, model::batchjob_status wanted);
    /// Deletes what a BatchJob that does not exist any more has left behind. The garbage collector
    /// deletes applications and pods of a deleted BatchJob. But where it was deleted with
    /// propagationPolicy Orphan, its application has lost its owner and would keep its slots.
    /// Another BatchJob of that name, which the cache does not show yet, could not take the
    /// application over: one without owner is no job's.
    asio::awaitable<result<void>> delete_orphans(model::object_key key);
    /// Deletes a driver that runs, and was taken over by an earlier BatchJob of the name of `job`:
    /// nothing else would end it.
    asio::awaitable<result<void>> delete_driver_of_earlier(
        std::shared_ptr<const model::batchjob> job);

private:
    using done = asio::awaitable<result<void>>;

    done read(view& seen);
    done read_scheduling(view& seen);
    done read_recorded(view& seen, read_pods what);
    done dry_run(view& seen, check_spec what);
    done create(view& seen, create_application what);
    done adopt(view& seen, adopt_application what);
    done mark(view& seen, mark_pods what);
    done remove(view& seen, delete_application what);
    done remove_pods(view& seen, delete_pods what);
    done remove_driver(const backend& kind, model::object_key key, const application& left);
    asio::awaitable<result<std::shared_ptr<const application>>> read_as(const backend& kind,
                                                                        model::object_key key);
    done remove_application(const backend& kind, model::object_key job, delete_application what);

    controller::environment& env_;
    const caches& caches_;
    hints& hints_;
    controller::write_gate& gate_;
    job_numbers& numbers_;
};

}  // namespace esi::batchjob

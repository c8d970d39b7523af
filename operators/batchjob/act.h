// Takes the actions of a decision and writes the status. Every write names the object that the
// decision saw (its uid, and its resourceVersion where the decision depends on it); none is assumed
// to have worked. The result of an action is put into the view for the next decision of the same
// reconcile. Owned by the operator, stopped with its controller.
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

    /// `seen` must outlive the call. An error ends the reconcile; it is tried again with back-off.
    /// A refused create is no error: the next decision finds it in `seen.live`.
    asio::awaitable<result<void>> take(view& seen, action what);
    /// Writes the difference between the status that was seen and `wanted`, guarded by the
    /// resourceVersion; `seen.job` is then the job as written. The write also makes Events, log
    /// lines and metrics. Without a difference nothing is written. A status that is too large is
    /// shortened (fit_status.h).
    asio::awaitable<result<void>> write_status(view& seen, model::batchjob_status wanted);
    /// Deletes what a deleted BatchJob has left behind. The garbage collector deletes applications
    /// and pods of a deleted BatchJob. But if it was deleted with propagationPolicy Orphan, its
    /// application has lost its owner and would keep its slots. Another BatchJob of that name,
    /// which the cache does not show yet, could not take the application over: one without owner
    /// belongs to no job.
    asio::awaitable<result<void>> delete_orphans(model::object_key key);
    /// Deletes a running driver that an earlier BatchJob of the name of `job` took over: nothing
    /// else would end it.
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

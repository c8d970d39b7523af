// Carries out one step of a decision against the API server, and keeps the answers for the next
// look. Owned by the operator; has no state of its own but references to the process' parts, and
// never decides anything.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "controller/process.h"
#include "controller/write_gate.h"
#include "kube/client.h"
#include "scheduling/decide.h"

namespace esi::scheduling {

class executor {
public:
    executor(controller::environment& in, controller::write_gate& gate);

    /// One step. After a conflict of a guarded write (errc::conflict) the object has been read live
    /// into `fresh`, so that the next decision can be made from it at once. Errors: of the API
    /// server.
    asio::awaitable<result<void>> perform(std::shared_ptr<const model::scheduling> self,
                                          decision what, newer& fresh);
    /// Writes the wanted status when it differs from the one in `self`.
    asio::awaitable<result<void>> settle(std::shared_ptr<const model::scheduling> self,
                                         model::scheduling_status wanted, newer& fresh);

    // Live reads, also for orphans. Null where the server has none.
    asio::awaitable<result<std::shared_ptr<const model::testbed>>> read_testbed(
        model::object_key key);
    asio::awaitable<result<std::shared_ptr<const model::batchjob>>> read_job(model::object_key key);
    asio::awaitable<result<std::shared_ptr<const model::scheduling>>> read_scheduling(
        model::object_key key);
    /// Job pods of a Testbed, in all namespaces that the process may see.
    asio::awaitable<result<std::vector<grid::pod_pointer>>> read_job_pods(
        model::object_key testbed);

    /// Clears activeScheduling and creationRequest; guarded. Gives the job as it is then.
    asio::awaitable<result<model::batchjob>> clear_job(model::object_key key, std::string uid,
                                                       std::string resource_version);
    /// Takes the hold away; guarded.
    asio::awaitable<result<model::testbed>> clear_hold(model::object_key key, std::string uid,
                                                       std::string resource_version);

private:
    /// A guarded merge patch of the Scheduling itself.
    asio::awaitable<result<void>> write_self(std::shared_ptr<const model::scheduling> self,
                                             kube::json patch, std::string subresource,
                                             newer& fresh);
    asio::awaitable<result<void>> write_status(std::shared_ptr<const model::scheduling> self,
                                               model::scheduling_status wanted, newer& fresh);
    asio::awaitable<result<void>> write_finalizers(std::shared_ptr<const model::scheduling> self,
                                                   std::vector<std::string> finalizers,
                                                   newer& fresh);
    asio::awaitable<result<model::testbed>> write_hold(model::object_key key, kube::json patch,
                                                       std::string uid,
                                                       std::string resource_version);
    /// Takes up what the API server said to write_hold or clear_hold.
    asio::awaitable<result<void>> take_hold_answer(std::shared_ptr<const model::scheduling> self,
                                                   model::object_key key,
                                                   result<model::testbed> answer, newer& fresh);
    asio::awaitable<result<void>> write_job(std::shared_ptr<const model::scheduling> self,
                                            model::object_key key, kube::json patch, newer& fresh);
    asio::awaitable<result<void>> refresh_testbed(model::object_key key, newer& fresh);
    asio::awaitable<result<void>> refresh_job(model::object_key key, newer& fresh);
    asio::awaitable<result<void>> refresh_pods(step::read_pods what, newer& fresh);
    asio::awaitable<result<void>> refresh_release(step::read_release what, newer& fresh);
    asio::awaitable<result<void>> refresh_self(std::shared_ptr<const model::scheduling> self,
                                               newer& fresh);

    /// A step of the Scheduling as a whole: an Event, and a line in the log.
    void tell(const model::scheduling& about, std::string_view reason, const std::string& note,
              bool bad = false);
    /// Into the metrics, once the commit stands.
    void count(const model::scheduling& before, const step::commit& what,
               const model::scheduling& after);
    void tell_completed(const model::scheduling& about);
    /// A step of one job: an Event on the Scheduling and one on the job, each related to the other,
    /// and a line in the log.
    void tell_job(const model::scheduling& about, std::string_view reason,
                  const step::job_note& what);

    controller::environment& in_;
    controller::write_gate& gate_;
    prometheus::Histogram& waited_;
};

}  // namespace esi::scheduling

// Carries out one action of a decision against the API server, and keeps the answers for the next
// decision. Owned by the operator; has no state of its own but references to the process' parts,
// and never decides anything.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "controller/process.h"
#include "controller/write_gate.h"
#include "kube/client.h"
#include "kube/watch/store.h"
#include "scheduling/decide.h"
#include "scheduling/event_notes.h"
#include "scheduling/live_reader.h"

namespace esi::scheduling {

class actor {
public:
    /// All outlive it. `testbeds`: the cache.
    actor(controller::environment& env, controller::write_gate& gate,
          const kube::store<model::testbed>& testbeds);

    /// Performs one action; for `wait`, it writes the wanted status if that differs from the one in
    /// `self`. After a conflict of a guarded write (errc::conflict) the object has been read live
    /// into `live`, so that the next decision can be made from it at once. `live` outlives the
    /// call. Errors: those of the API server.
    asio::awaitable<result<void>> perform(std::shared_ptr<const model::scheduling> self,
                                          decision what, live_facts& live);

    /// Clears activeScheduling and creationRequest; guarded. Returns the job after the write.
    asio::awaitable<result<model::batchjob>> clear_job(model::object_key key, std::string uid,
                                                       std::string resource_version);
    /// Removes the hold; guarded.
    asio::awaitable<result<model::testbed>> clear_hold(model::object_key key, std::string uid,
                                                       std::string resource_version);

private:
    using self_pointer = std::shared_ptr<const model::scheduling>;
    using done = asio::awaitable<result<void>>;

    // One for each alternative of `action`.
    done report(self_pointer self, model::scheduling_status wanted, live_facts& live);
    done take(self_pointer self, commit what, model::scheduling_status wanted, live_facts& live);
    done take(self_pointer self, read_testbed what, live_facts& live);
    done take(self_pointer self, read_job what, live_facts& live);
    done take(self_pointer self, read_pods what, live_facts& live);
    done take(self_pointer self, read_release what, live_facts& live);
    done take(self_pointer self, add_finalizer what, live_facts& live);
    done take(self_pointer self, remove_finalizer what, live_facts& live);
    done take(self_pointer self, hold_testbed what, live_facts& live);
    done hold(self_pointer self, hold_testbed what, live_facts& live);
    done take(self_pointer self, remove_hold what, live_facts& live);
    done take(self_pointer self, acquire_job what, live_facts& live);
    done take(self_pointer self, request_creation what, live_facts& live);
    done take(self_pointer self, release_job what, live_facts& live);
    done take(self_pointer self, reset_job what, live_facts& live);
    done take(self_pointer self, delete_self what, live_facts& live);
    done take(self_pointer self, make_testbed what, live_facts& live);
    done take(self_pointer self, steer_claim what, live_facts& live);
    done take(self_pointer self, remove_testbed what, live_facts& live);

    /// False if the status is as wanted already and no request was sent.
    asio::awaitable<result<bool>> write_status(self_pointer self, write kind,
                                               model::scheduling_status wanted, live_facts& live);
    done write_finalizers(self_pointer self, std::vector<std::string> finalizers, live_facts& live);
    /// Returns the Testbed after the write.
    asio::awaitable<result<model::testbed>> write_hold(model::object_key key, kube::json patch,
                                                       std::string uid,
                                                       std::string resource_version);
    /// Processes the API server's answer to a write of the Testbed.
    done take_testbed_answer(self_pointer self, write kind, model::object_key key,
                             result<model::testbed> answer, live_facts& live);
    done write_job(self_pointer self, write kind, model::object_key key, kube::json patch,
                   live_facts& live);
    done refresh_testbed(model::object_key key, live_facts& live);
    done refresh_job(model::object_key key, live_facts& live);
    done refresh_self(self_pointer self, live_facts& live);

    controller::environment& env_;
    controller::write_gate& gate_;
    const kube::store<model::testbed>& testbeds_;
    live_reader reads_;
    event_notes notes_;
};

/// The result of a reconcile that `why` ended: it is tried again, with back-off unless that is a
/// conflict.
result<controller::outcome> tried_again(error why);

}  // namespace esi::scheduling

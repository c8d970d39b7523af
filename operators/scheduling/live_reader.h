// Reads past the caches: the present state of the server (quorum reads). Owned by the parts that
// act; has no state of its own. A reader requests only what the decision needs: the pods of some
// jobs, not all pods of a Testbed. Errors: those of the client.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "grid/grid.h"
#include "kube/client.h"
#include "model/scheduling.h"

namespace esi::scheduling {

class live_reader {
public:
    /// `namespaces`: the only ones that the process may read; none: all. Both outlive it.
    live_reader(kube::client& api, const std::vector<std::string>& namespaces)
        : api_(api), namespaces_(namespaces) {}

    // Null where the server has none.
    asio::awaitable<result<std::shared_ptr<const model::testbed>>> fetch_testbed(
        model::object_key key);
    asio::awaitable<result<std::shared_ptr<const model::batchjob>>> fetch_job(
        model::object_key key);
    asio::awaitable<result<std::shared_ptr<const model::scheduling>>> fetch_scheduling(
        model::object_key key);

    /// All job pods of a Testbed.
    asio::awaitable<result<std::vector<grid::pod_pointer>>> fetch_job_pods(
        model::object_key testbed);
    /// Pods with the label of one of these jobs.
    asio::awaitable<result<std::vector<grid::pod_pointer>>> fetch_pods_of(
        model::object_key testbed, std::vector<model::object_key> jobs);
    /// Adds the pods of `known` that still exist and are not in `into`, which outlives the call.
    asio::awaitable<result<void>> find_missed_pods(std::vector<grid::pod_pointer> known,
                                                   std::vector<grid::pod_pointer>& into);

private:
    struct pod_selector {
        std::string labels;
        std::string fields;
    };
    /// Adds the live pods that the selector finds in the namespace.
    asio::awaitable<result<void>> list_pods(std::string ns, pod_selector which,
                                            std::vector<grid::pod_pointer>& into);

    kube::client& api_;
    const std::vector<std::string>& namespaces_;
};

}  // namespace esi::scheduling

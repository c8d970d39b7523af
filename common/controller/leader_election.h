// Holds the Lease of this process, or waits for it. Has a client (and transport) of its own, so
// that renewals never queue behind other requests (kueue#6256). Owned by the process. run() ends
// when it is cancelled, or when the lease is lost: the process must then end at once, without an
// orderly stop (cilium#42920: a leader with slow stop hooks is a second leader).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "controller/lease_machine.h"
#include "controller/metrics.h"
#include "kube/client.h"
#include "kube/trouble.h"

namespace esi::controller {

struct election_options {
    election_options() = default;
    /// Namespace and name of the Lease.
    std::string lease_namespace;
    std::string lease_name;
    /// Unique to this process.
    std::string identity;
    /// See lease_machine.
    std::string pod;
    lease_times times;
};

class leader_election {
public:
    /// `api` must not limit writes. `on_leading` is called once, when this process leads.
    leader_election(kube::client& api, clock& time, metrics& numbers, election_options options,
                    std::function<void()> on_leading);
    ~leader_election();

    /// Returns when leading was lost.
    asio::awaitable<void> run();
    /// Orderly stop, after run() was cancelled and all writers have ended: gives the lease away so
    /// that a standby takes it at once.
    asio::awaitable<void> release(steady_time deadline);

    bool leading() const;
    /// For kube::client::limit_writes: in the past while this process does not lead.
    steady_time may_write_until() const;
    std::string holder() const;
    /// Why requests for the Lease fail; nothing while they are answered.
    const std::optional<kube::trouble>& present_trouble() const;
    /// A Lease was read or written, ever.
    bool known() const;

private:
    struct state;
    std::unique_ptr<state> state_;
};

struct process_names {
    /// Unique to this process.
    std::string identity;
    /// How the identities of all processes of its pod begin; empty outside of a pod.
    std::string pod;
};
/// "POD_UID_RANDOM" where the environment has POD_NAME and POD_UID (the downward API), else
/// "HOSTNAME_RANDOM": on a host there may be several processes at once.
process_names name_process();

/// spec and resourceVersion of a Lease.
result<lease_record> read_lease(const nlohmann::json& object);
/// Puts `record` into a Lease, leaving what others wrote in it.
void write_lease(const lease_record& record, nlohmann::json& object);

}  // namespace esi::controller

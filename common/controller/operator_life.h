// One operator between its start and its end, over any transport and clock: clients, events,
// election, caches, the part that leads, and the way back in the reverse order. A process
// (controller/process.h) runs it over sockets and adds flags, signals and the HTTP server; a
// simulation runs it over a model API server in virtual time. Never ends the process itself.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/task_group.h"
#include "controller/leader_election.h"
#include "controller/process.h"
#include "controller/status_routes.h"
#include "kube/client.h"
#include "kube/server_clock.h"

namespace esi::controller {

/// What an operator needs; outlives it.
struct ground {
    asio::any_io_executor executor;
    clock& time;
    kube::transport& wire;
    /// Only for the lease, so that renewals never queue behind other requests; null: no election,
    /// it leads from the start.
    kube::transport* lease_wire;
    metrics& numbers;
    http::router& routes;
    const process_options& options;
    /// "esi-testbed": lease, events, log.
    std::string component;
    /// Unique among all processes.
    std::string identity;
    /// See lease_machine.
    std::string pod;
    /// The API server's host, for metrics.
    std::string host;
    /// Called once, when the caches are full; may be empty.
    std::function<void()> on_synced;
};

class operator_life {
public:
    /// `on_lost`: the lease is gone, another leads or may at any moment. Nothing of this operator
    /// may write again; the callback ends it at once, without an orderly stop.
    operator_life(ground on, const operator_factory& make, std::function<void()> on_lost);

    /// Fills the caches, waits for the lease, fills them again, leads. Returns true after
    /// ask_to_stop(), false if the caches did not fill in two minutes.
    asio::awaitable<bool> run();
    void ask_to_stop();
    /// Controllers first, while the lease is still held; then the lease, so that a standby takes
    /// over at once.
    asio::awaitable<void> stop();

    std::vector<readiness_check> checks() const;
    const std::vector<operator_part::cache>& caches() const { return caches_; }
    bool leading() const;
    /// This machine's clock minus the API server's.
    std::chrono::microseconds clock_skew() const { return time_.skew(); }

private:
    asio::awaitable<void> hold_lease(leader_election& election);
    void run_caches();
    bool all(std::function<bool()> operator_part::cache::* holds) const;
    void count_requests(kube::client& api) const;

    ground on_;
    kube::server_clock time_;
    kube::dated_transport wire_;
    std::optional<kube::dated_transport> lease_wire_;
    std::function<void()> on_lost_;
    notifier changed_;
    /// Events, the election.
    task_group background_;
    /// Runs the caches; a new one when this process has become the leader.
    std::unique_ptr<task_group> running_caches_;
    kube::client api_;
    kube::client open_api_;
    std::optional<kube::client> lease_api_;
    std::optional<leader_election> election_;
    event_recorder events_;
    environment around_;
    std::unique_ptr<operator_part> part_;
    std::vector<operator_part::cache> caches_;
    bool elected_ = false;
    /// The caches show what was there after the lease was taken.
    bool renewed_ = false;
    bool led_ = false;
    bool stop_asked_ = false;
};

}  // namespace esi::controller

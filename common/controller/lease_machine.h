// Decides who leads: client-go's leader election as a state machine without I/O. resume(event) ->
// step; the adapter (leader_election.h) sends the requests. Owned by the election, one per process.
//
// Only the local clock counts: another's lease ends when one whole duration has passed since THIS
// process saw the record change (client-go#448); the times in the record are for people. There is
// no fencing: two processes may believe that they lead, so every write is guarded besides.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>

#include "base/clock.h"
#include "base/result.h"

namespace esi::controller {

struct lease_times {
    lease_times() = default;
    seconds duration{15};
    /// A leader whose renewals fail for this long, counted from the START of the last one that
    /// succeeded, stops. Shorter than the duration: it has stopped before another can take over.
    seconds renew_deadline{10};
    seconds retry_period{2};
};

/// spec of coordination.k8s.io/v1 Lease.
struct lease_record {
    std::string holder;
    int duration_seconds = 0;
    std::optional<wall_time> acquired;
    std::optional<wall_time> renewed;
    int transitions = 0;
    /// metadata.resourceVersion: guards the next update.
    std::string version;

    bool operator==(const lease_record&) const = default;
};

namespace lease {

struct started {};
struct waited {};
/// Answer to a get.
struct found {
    lease_record record;
};
/// Answer to a create or update: the record as the server has it now.
struct written {
    lease_record record;
};
/// A request failed; not_found of a get means that there is no lease yet.
struct failed {
    error why;
};
/// The process stops in order: give the lease away.
struct stopping {};

using event = std::variant<started, waited, found, written, failed, stopping>;

}  // namespace lease

struct lease_step {
    enum class kind {
        get,
        create,  ///< with `record`
        update,  ///< with `record`, guarded by its version
        wait,    ///< for `delay`
        lost,    ///< leads no more: the process must end at once
        done,    ///< released, or nothing to release
    };
    kind what = kind::wait;
    steady_time::duration delay{};
    lease_record record;
};

class lease_machine {
public:
    /// `random`: uniform in [0, 1). `pod`: how the identities of all processes of this one's pod
    /// begin; empty outside of a pod. The previous process of a pod has ended when the next one
    /// starts (the kubelet restarts a container only then): its lease is taken over as soon as it
    /// has not been renewed for two retry periods, which no running process lets pass.
    lease_machine(std::string identity, lease_times times, std::function<double()> random,
                  std::string pod = {});

    lease_step resume(const lease::event& event, steady_time now, wall_time wall);

    bool leading() const { return leading_; }
    /// Until when this process may begin and finish writes. Nothing while it does not lead.
    std::optional<steady_time> may_write_until() const;
    /// The known leader; empty if there is none.
    const std::string& holder() const { return observed_.holder; }
    /// Renewals that had to read the lease first.
    std::uint64_t slow_paths() const { return slow_paths_; }

private:
    lease_step decide(steady_time now, wall_time wall);
    lease_step write(lease_step::kind what, steady_time now, wall_time wall);
    lease_step release(wall_time wall);
    lease_step get(steady_time now);
    lease_step pause(steady_time now);
    lease_step lose();
    void observe(const lease_record& record, steady_time now);
    bool overdue(steady_time now) const;
    /// How long the lease counts after its last change.
    seconds patience() const;

    std::string identity_;
    std::string pod_;
    lease_times times_;
    std::function<double()> random_;

    lease_record observed_;
    steady_time observed_at_{};
    bool exists_ = false;
    bool leading_ = false;
    bool releasing_ = false;
    int release_attempts_ = 0;
    lease_step::kind asked_ = lease_step::kind::wait;
    steady_time asked_at_{};
    steady_time renewed_at_{};  ///< start of the last renewal that succeeded
    std::uint64_t slow_paths_ = 0;
};

}  // namespace esi::controller

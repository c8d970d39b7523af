// The rules that hold at every change of the cluster, and those that hold at the end. One object of
// it watches one run: the storage's changes, what its neighbours tell, and the writes that
// operators send. It keeps typed records of what it has seen and trusts nothing that an operator
// says of itself but the fields that are truth (layout, hold, assignments, placements). Owned by
// the run; it never changes anything. What people edited by hand is told to it (meddled) and not
// judged.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/outcome.h"
#include "kube/transport.h"
#include "server/api_server.h"
#include "world/surroundings.h"
#include "world/timeline.h"

namespace esi::simulation {

class invariants final : public witness {
public:
    /// Looks at what the storage holds already, then at each change at once. Both outlive it; it
    /// has to live as long as the storage changes.
    invariants(api_server& server, const timeline& time);
    /// The same over a storage alone.
    invariants(storage& objects, const timeline& time);
    ~invariants() override;
    invariants(const invariants&) = delete;
    invariants& operator=(const invariants&) = delete;

    void preempted(const json& victim, const json& by) override;
    void refused(const json& pod, std::string_view reason) override;
    void scheduler_started(std::string_view name) override;
    /// "edited KIND NS/NAME ...": that object is judged no more by what the edit may have broken
    /// (KIND: the kind or the plural, in any case). "node ... NAME": a node that went, shrank or
    /// was relabelled. "bound NS/NAME ...": a person's pod that came to its node without a
    /// scheduler.
    void meddled(std::string_view what) override;

    /// The transport seam reports a write of an operator (leases, Events aside) when it is SENT:
    /// `may_until` = lease seen + renew deadline by the replica's own clock; nothing: it never led.
    void wrote(std::string_view operator_, int replica, const kube::request& what, steady_time sent,
               std::optional<steady_time> may_until);

    /// A replica of the operator leads from now on.
    void leads(std::string_view operator_);
    /// The operator was shown that object ("namespace/name") as it is now.
    void looked(std::string_view operator_, std::string_view plural, const std::string& object);

    /// The operator was shown the pods of that node as they are now.
    void listed_node(std::string_view operator_, const std::string& node);

    /// The rules of gangs are judged from here on; before the first pod.
    void judge_gangs();
    /// The default scheduler is down or slow until then.
    void scheduler_hindered(steady_time until);
    /// A member of a gang waits: a reservation may begin or end.
    bool gangs_under_way() const;
    /// A claim may be planned anew, or say something else, when a time is over.
    bool claims_under_way() const;

    /// Some rules take it that an operator acts by what is, and at once ("ended-with-pods",
    /// "queue-overtaken", "application-twice", ...). They are judged only after this was called, by
    /// a run that tells of every disturbance:
    void all_disturbances_are_told();
    /// An operator ("testbed", "batchjob", "scheduling") is down, paused, cut off, without a leader
    /// or behind the world (late watches, refused or delayed requests) until then.
    void disturbed(std::string_view operator_, steady_time until);

    /// The first 20.
    const std::vector<violation>& violations() const;
    /// Single looks at a rule.
    std::uint64_t checks() const;
    /// After the faults have ended and all is still: what must hold at the end.
    void at_end();

private:
    struct state;
    std::unique_ptr<state> state_;
};

}  // namespace esi::simulation

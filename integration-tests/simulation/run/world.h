// The world of one run: time, API server, network, neighbours, people, the replicas of the three
// operators, and the faults that reach into all of them. Made for one plan, plays it once.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "check/invariants.h"
#include "check/quiet.h"
#include "neighbours/gangs/member_sets.h"
#include "neighbours/gangs/programs.h"
#include "neighbours/kube/controller_manager.h"
#include "neighbours/kube/extender_line.h"
#include "neighbours/kube/kube_scheduler.h"
#include "neighbours/kube/kubelet.h"
#include "neighbours/people/people.h"
#include "run/run.h"
#include "run/visitor.h"
#include "world/network.h"
#include "world/replica.h"

namespace esi::simulation {

class world final : private network::listener {
public:
    /// `guest`: null where nobody comes.
    world(const plan& what, const run_options& how, visitor* guest = nullptr);
    ~world() override;

    outcome play();

private:
    // network::listener
    fate sends(const replica_name& who, const kube::request& what) override;
    void arrived(const replica_name& who, const kube::request& what, int status) override;
    void dies(const replica_name& who) override;
    void lease_written(const replica_name& who, const std::string& holder,
                       steady_time sent) override;
    void lease_given_back(const replica_name& who) override;
    void struck(std::string_view operator_, steady_time::duration takes) override;
    void looked(const replica_name& who, std::string_view plural,
                const std::string& object) override;
    void listed_node(const replica_name& who, const std::string& node) override;

    void people_the_cluster();
    void start_operators();
    replica& add_replica(const replica_name& who);
    void start_later(replica& one, milliseconds down);
    /// SIGTERM, and SIGKILL to what still lives after `patience`. Without `down` it is gone then.
    void terminate(replica& one, milliseconds patience, std::optional<milliseconds> down);
    /// A new one starts; the old one is terminated when the new one is ready.
    void replace(replica& old, milliseconds patience);
    void terminate_when_ready(replica& old, replica& next, milliseconds patience);
    void schedule(const std::vector<happening>& all, std::string_view by);
    /// True when it is one of ours; else people do it.
    bool strike(const happening& what);
    /// The rules that hold only for an operator that is not hindered are told until when it is.
    void tell_disturbance(const happening& what);
    /// Act on the one that has this place now.
    void with_replica(const json& with, const std::function<void(replica&)>& act);
    /// The API server itself is away: for everybody.
    void take_away();
    void bring_back();
    neighbour* find_neighbour(std::string_view name);
    void end_faults_in_wait();
    void await_guest();
    void ask_extender(const std::string& verb, json body,
                      std::function<void(int status, json answer)> done);

    /// Everything that is due now, until nothing is ready.
    void settle();
    /// Replicas that ended are killed, and start again later.
    void bury();
    void take_log(log::level at, std::string_view line);
    void note(const change& what);
    /// Rest: the faults have ended, no object changes, and no operator sends a write, be it refused
    /// or without effect (leases aside).
    bool finished();
    /// No operator has a reason to write at rest, however long it lasts.
    void watch_rest();
    /// The sets of members and the PodGroups of a plan with gangs.
    bool strike_gangs(const happening& what);
    /// Something of a run is under way: time-outs may still speak.
    bool under_way() const;
    /// The toleration of a pod for the taint of its node ends at some time. Who made the pod may
    /// make another one then: also for a pod that has ended.
    bool evictions_are_due() const;
    milliseconds since_start() const;
    void blame(std::string rule, std::string text);

    const plan& plan_;
    const run_options& how_;
    visitor* guest_;
    std::unique_ptr<visitor::house> open_to_guest_;
    timeline time_;
    story told_;
    api_server server_;
    invariants rules_;
    quiet quiet_;
    surroundings around_;
    network network_;
    extender_line extender_;
    controller::process_options flags_;

    std::vector<std::unique_ptr<neighbour>> neighbours_;
    std::unique_ptr<people> people_;
    /// Null without gangs; members_ is one of neighbours_.
    member_sets* members_ = nullptr;
    std::unique_ptr<programs> programs_;
    /// Index modulo the replicas of the plan: the place. A place has one, or while it is replaced
    /// the old one and the new one, and those that are gone for good.
    std::vector<std::unique_ptr<replica>> replicas_;
    std::map<std::string, controller::operator_factory> makers_;
    std::set<replica_name> gone_for_good_;

    struct pending_crash {
        crash_point at;
        milliseconds down;
        /// By a fault of the plan.
        bool of_plan;
    };
    std::vector<pending_crash> crashes_;
    std::map<replica_name, milliseconds> down_for_;
    std::map<std::string, int> sent_;
    /// Outages under way: of the operators' way to the API server, and of itself.
    int cut_off_ = 0;
    int away_ = 0;
    /// Faults of a neighbour that have not ended.
    std::map<const neighbour*, int> down_;
    std::map<const neighbour*, int> slowed_;
    /// How long an operator may be behind after something has happened to it: a new leader waits a
    /// whole lease, back-offs double up to 30 s and more.
    static constexpr auto aftermath = std::chrono::seconds(90);
    struct lease_right {
        steady_time until;
        bool given_back = false;
    };
    /// Of the present lives.
    std::map<replica_name, lease_right> rights_;
    std::string speaking_;
    steady_time start_;
    steady_time over_;  ///< the last fault has ended
    steady_time last_change_;
    outcome out_;
};

}  // namespace esi::simulation

// The world of one run: time, API server, network, neighbours, people, the replicas of the three
// operators, and the faults that reach into all of them. Made for one plan, plays it once.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "check/invariants.h"
#include "check/quiet.h"
#include "neighbours/controller_manager.h"
#include "neighbours/deployments.h"
#include "neighbours/flink_operator.h"
#include "neighbours/kube_scheduler.h"
#include "neighbours/kubelet.h"
#include "neighbours/people.h"
#include "neighbours/spark_operator.h"
#include "run/run.h"
#include "world/network.h"
#include "world/replica.h"

namespace esi::simulation {

class world final : private network::listener {
public:
    world(const plan& what, const run_options& how);
    ~world() override;

    outcome play();

private:
    // network::listener
    fate sends(const replica_name& who, const kube::request& what) override;
    void arrived(const replica_name& who, const kube::request& what, int status) override;
    void dies(const replica_name& who) override;
    void lease_written(const replica_name& who, steady_time sent) override;
    void looked(const replica_name& who, std::string_view plural,
                const std::string& object) override;

    void people_the_cluster();
    void start_operators();
    void schedule(const std::vector<happening>& all, std::string_view by);
    /// True when it is one of ours; else people do it.
    bool strike(const happening& what);
    /// The rules that hold only for an operator that is not hindered are told until when it is.
    void tell_disturbance(const happening& what);
    void with_replica(const json& with, const std::function<void(replica&)>& act);
    neighbour* find_neighbour(std::string_view name);
    void ask_extender(const std::string& verb, json body,
                      std::function<void(int status, json answer)> done);

    /// Everything that is due now, until nothing is ready.
    void settle();
    /// Replicas that ended are killed, and start again later.
    void bury();
    void take_log(log::level at, std::string_view line);
    void note(const change& what);
    bool finished();
    /// Something of a run is under way: time-outs may still speak.
    bool under_way() const;
    milliseconds since_start() const;
    void blame(std::string rule, std::string text);

    const plan& plan_;
    const run_options& how_;
    timeline time_;
    story told_;
    api_server server_;
    invariants rules_;
    quiet quiet_;
    surroundings around_;
    network network_;
    controller::process_options flags_;

    std::vector<std::unique_ptr<neighbour>> neighbours_;
    std::unique_ptr<people> people_;
    std::vector<std::unique_ptr<replica>> replicas_;

    struct pending_crash {
        crash_point at;
        milliseconds down;
        /// By a fault of the plan.
        bool of_plan;
    };
    std::vector<pending_crash> crashes_;
    std::map<replica_name, milliseconds> down_for_;
    std::map<std::string, int> sent_;
    std::map<replica_name, steady_time> may_write_until_;
    std::string speaking_;
    steady_time start_;
    steady_time over_;  ///< the last fault has ended
    steady_time last_change_;
    outcome out_;
};

}  // namespace esi::simulation

// The Apache Flink operator (FlinkDeployments with one job, mode standalone). It deploys new
// FlinkDeployments (two Deployments, which make the pods), observes their JobManagers at intervals
// and tells in their status what it saw, late; at a deletion it cancels the job and deletes the
// Deployments before it lets the object go. Everything it knows is on the objects. Facts:
// flink-kubernetes-operator 1.7. Owned by the world. It never looks at ESI's keys, but passes them
// on as the real one does.
#pragma once

#include <memory>
#include <string_view>

#include "neighbours/kube/deployments.h"
#include "neighbours/kube/kubelet.h"
#include "neighbours/neighbour.h"

namespace esi::simulation {

class flink_operator : public neighbour {
public:
    /// `scripts`: plan::scripts (job_script.h). With "dies" the process of the JobManager is
    /// killed, and comes back in its pod; submission-fails: the operator's validator refuses it.
    /// executorsVanish: a TaskManager whose container ends comes back in its pod, one that is
    /// deleted is replaced; both are lost to the job.
    flink_operator(surroundings& in, kubelet& nodes, deployment_controller& deployments,
                   json scripts);
    ~flink_operator() override;

    std::string_view name() const override { return "flink-operator"; }
    /// Of the operator; JobManagers run in their pods and go on.
    void crash() override;
    void restart() override;
    void set_pace(pace speed) override;

    /// What a user does with `flink cancel`. False: no JobManager answers, or the job has ended.
    bool cancel(std::string_view ns, std::string_view name);
    /// Versions from 1.8 on let a FlinkDeployment go when its Deployments are gone (or after a
    /// minute), older ones as soon as they are asked to go. Chosen by chance else.
    void set_waits_for_shutdown(bool waits);

private:
    struct state;
    std::shared_ptr<state> state_;
};

}  // namespace esi::simulation

// The Spark operator (kubeflow 2.x, without its webhook) and the Spark programs that it starts. The
// operator submits new SparkApplications, which makes their driver pods, and tells in their status
// how the drivers fare; everything it knows is on the objects. A driver, as long as its pod runs,
// makes the executors, replaces lost ones, works for the time that the script gives it once all of
// them run, then deletes them and ends. Facts: kubeflow/spark-operator v2.5 and Spark 4.0 on
// Kubernetes. Owned by the world. It never looks at ESI's keys, but passes them on as Spark does.
#pragma once

#include <memory>
#include <string_view>

#include "neighbours/kube/kubelet.h"
#include "neighbours/neighbour.h"

namespace esi::simulation {

class spark_operator : public neighbour {
public:
    /// `scripts`: plan::scripts (job_script.h). With "fails" the driver deletes its executors
    /// before it ends; with "dies" they lose it and end badly, and those that do not run stay.
    spark_operator(surroundings& in, kubelet& nodes, json scripts);
    ~spark_operator() override;

    std::string_view name() const override { return "spark-operator"; }
    /// Of the operator; drivers run in their pods and go on.
    void crash() override;
    void restart() override;
    void set_pace(pace speed) override;

private:
    struct state;
    std::shared_ptr<state> state_;
};

}  // namespace esi::simulation

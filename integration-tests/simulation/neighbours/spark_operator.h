// The Spark operator (kubeflow 2.x, without its webhook) and the Spark programs that it starts. The
// operator submits new SparkApplications, which makes their driver pods, and tells in their status
// how the drivers fare; everything it knows is on the objects. A driver, as long as its pod runs,
// makes the executors, replaces lost ones, works for the time that the script gives it once all of
// them run, then deletes them and ends. Facts: kubeflow/spark-operator v2.5 and Spark 4.0 on
// Kubernetes. Owned by the world. It never looks at ESI's keys, but passes them on as Spark does.
#pragma once

#include <memory>
#include <string_view>

#include "neighbours/kubelet.h"
#include "neighbours/neighbour.h"

namespace esi::simulation {

class spark_operator : public neighbour {
public:
    /// `scripts` (plan::scripts): by "namespace/name" or name of the application
    ///   {"seconds": 20, "end": "succeeds", "executorsVanish": [{"after": 5, "nth": 0, "code":
    ///   137}]}
    /// seconds: how long it works, from the moment all its executors run. end: succeeds; fails (the
    /// program ends badly, its executors are deleted); dies (the driver's container is killed: the
    /// executors lose it and end badly, those that do not run stay); submission-fails.
    /// executorsVanish: so many seconds after the start of the work the container of the nth
    /// executor ends with that code; without a code its pod is deleted. Each applies to every
    /// application of that name.
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

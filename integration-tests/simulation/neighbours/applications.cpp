#include "neighbours/applications.h"

#include <stdexcept>

#include "neighbours/flink/operator.h"
#include "neighbours/spark/operator.h"

namespace esi::simulation {

namespace {

application_runner run_spark(surroundings& in, kubelet& nodes, const json& scripts) {
    application_runner out;
    out.neighbours.push_back(std::make_unique<spark_operator>(in, nodes, scripts));
    return out;
}

application_runner run_flink(surroundings& in, kubelet& nodes, const json& scripts) {
    application_runner out;
    auto deployments = std::make_unique<deployment_controller>(in);
    auto made = std::make_unique<flink_operator>(in, nodes, *deployments, scripts);
    out.cancel = [jobs = made.get()](std::string_view ns, std::string_view name) {
        return jobs->cancel(ns, name);
    };
    out.neighbours.push_back(std::move(deployments));
    out.neighbours.push_back(std::move(made));
    return out;
}

struct row {
    std::string_view kind;
    application_runner (*run)(surroundings& in, kubelet& nodes, const json& scripts);
};

constexpr row rows[] = {{"spark", run_spark}, {"flink", run_flink}};

}  // namespace

application_runner run_applications(const application_kind& kind, surroundings& in, kubelet& nodes,
                                    const json& scripts) {
    for (const auto& each : rows) {
        if (each.kind == kind.name) return each.run(in, nodes, scripts);
    }
    throw std::logic_error("no neighbour runs applications of the kind " + std::string(kind.name));
}

}  // namespace esi::simulation

// The request of a Spark driver without an operator, read from its labels, which are those of
// cosmin-ionita/kubernetes-gang-scheduler (cmd/scheduler/main.go), and the BatchJob and Scheduling
// that are made of it. Pure.
#pragma once

#include <expected>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "model/cluster.h"
#include "model/quantity.h"

namespace esi::batchjob::drivers {

using json = nlohmann::json;

/// Upper bound of executors: with the place of the driver a claim has model::most_claimed_places.
inline constexpr int most_executors = 999;

struct driver_request {
    int executors = 0;
    /// The size of one executor.
    model::resource_list executor;
    model::resource_list driver;
};

/// Why a driver cannot be started; `reason` is CamelCase, `text` for people, with the remedy.
struct request_problem {
    std::string_view reason;
    std::string text;
};

/// True: the driver waits at the gate, and no run has taken it over.
bool waits(const model::pod& pod);

/// Reads the labels executors, exec-cpu and exec-mem, and the requests of the pod; a request that
/// is missing is read from the labels driver-cpu and driver-mem. A memory that is a bare whole
/// number counts GiB, as in the original: cmd/scheduler/cache.go compares it with getMemoryInGb
/// (utils.go), which divides by 1024^3. Other amounts are Kubernetes' quantities.
std::expected<driver_request, request_problem> read_request(const model::pod& driver);

/// Both have the driver's name and are owned by it, so that they go with it.
json make_batchjob(const model::pod& driver);
json make_scheduling(const model::pod& driver, const driver_request& of);

}  // namespace esi::batchjob::drivers

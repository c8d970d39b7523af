// The size of a driver or an executor as the user asks for it, in the spec or in sparkConf. Pure.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "batchjob/backends/spark/memory.h"
#include "model/quantity.h"

namespace esi::batchjob::spark {

/// One kind of pod of a Spark job.
struct spark_role {
    std::string name;       ///< its member of the spec: "executor"
    std::string container;  ///< its main container
    /// True: off-heap and PySpark memory are added to what it requests.
    bool has_memory_beside = false;
};

const spark_role& executor_role();
const spark_role& driver_role();

/// Spark's own share of overhead for this kind of program, in thousandths of the heap.
std::int64_t usual_overhead_share(const json& spec);

/// What the user asks for one pod; what he leaves out is ESI's to decide.
struct asked_size {
    std::optional<model::quantity> cpu;  ///< coreRequest, else cores
    std::optional<std::int64_t> cores;   ///< tasks at a time
    std::optional<std::int64_t> heap_mib;
    std::optional<std::int64_t> overhead_mib;
    std::int64_t beside_mib = 0;  ///< off-heap and PySpark memory
    /// Overhead where none is asked for, in thousandths of the heap.
    std::int64_t overhead_share = overhead_in_jvm;

    /// The least memory of its main container, with Spark's own floors.
    std::int64_t least_mib() const;
};

/// The fields of the spec count before sparkConf, as the Spark operator passes them.
std::expected<asked_size, spec_problem> read_asked(const json& spec, const spark_role& role);

/// The heap stays as it is asked for, and the overhead gets what is left; without a heap the
/// overhead stays, and the heap gets what is left. Without both as split_memory() does. Refused
/// below least_mib().
std::expected<memory_split, spec_problem> split_as_asked(const asked_size& asked,
                                                         std::int64_t bytes,
                                                         const spark_role& role);

/// The parts of the pod that the role's member of the spec adds to its template: with the
/// operator's webhook sidecars and init containers, and the resources of GPUs.
json pod_of(const json& spec, const spark_role& role);

}  // namespace esi::batchjob::spark

// Specs of Spark and Flink as caches keep them.
#pragma once

#include "model/batchjob.h"

namespace esi::model {

/// Forgets the text of the Spark or Flink spec (up to 1 MiB), but not which of them it is: for the
/// caches of operators that submit no job. That of a driver is a uid, and is kept.
inline void drop_application_specs(batchjob& job) {
    for (auto* spec : {&job.spec.spark_spec, &job.spec.flink_spec}) {
        if (*spec) spec->emplace();
    }
}

}  // namespace esi::model

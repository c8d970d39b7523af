// The kinds of applications, for the targets that take each: a further kind is a header beside this
// one, and its lines here.
#pragma once

#include "application_flink.h"
#include "application_flink_cluster.h"
#include "application_spark.h"

namespace esi::fuzz {

/// Calls `compare.operator()<RECORD>(KIND)` for the record of each kind.
template <class Compare>
void for_each_application(Compare compare) {
    compare.template operator()<model::spark_application>("SparkApplication");
    compare.template operator()<model::flink_deployment>("FlinkDeployment");
    compare.template operator()<model::flink_cluster>("FlinkCluster");
}

/// What `text` becomes as the spec of each kind.
inline void map_to_applications(std::string_view text, bool extender) {
    map_spark(text, extender);
    map_flink(text, extender);
}

}  // namespace esi::fuzz

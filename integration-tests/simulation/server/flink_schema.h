// What the API server knows of a FlinkDeployment: the members and types of its spec as the
// CustomResourceDefinition of the Apache operator has them (1.7; the versions of Flink are those
// that its releases up to now know). Of the pod templates the members of metadata and spec are
// known and their types, not what is inside of them. Written down here in short, because the
// definition itself belongs to others. Constant.
#pragma once

#include <memory>

#include "server/schema.h"

namespace esi::simulation {

std::unique_ptr<schema> schema_of_flink_deployment();

}  // namespace esi::simulation

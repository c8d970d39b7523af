#include "model/cluster.h"

#include "model/names.h"

namespace esi::model {

bool pod::is_ghost() const { return metadata.label(names::ghost) == "true"; }

object_key pod::testbed() const {
    return {std::string(metadata.label(names::testbed_namespace)),
            std::string(metadata.label(names::testbed))};
}

std::string_view pod::run() const { return metadata.annotation(names::run); }

}  // namespace esi::model

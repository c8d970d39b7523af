#include "model/testbed.h"

#include "model/names.h"

namespace esi::model {

std::string_view testbed::hold() const { return metadata.annotation(names::hold); }

object_key testbed::holder() const {
    return {std::string(metadata.label(names::active_scheduling_namespace)),
            std::string(metadata.label(names::active_scheduling_name))};
}

}  // namespace esi::model

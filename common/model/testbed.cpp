#include "model/testbed.h"

#include <algorithm>

#include "model/names.h"

namespace esi::model {

std::string_view testbed::hold() const { return metadata.annotation(names::hold); }

object_key testbed::holder() const {
    return {std::string(metadata.label(names::active_scheduling_namespace)),
            std::string(metadata.label(names::active_scheduling_name))};
}

bool testbed::is_offered_to(std::string_view ns) const {
    return ns == metadata.namespace_ ||
           std::ranges::any_of(spec.allowed_namespaces,
                               [&](const auto& each) { return each == ns || each == "*"; });
}

}  // namespace esi::model

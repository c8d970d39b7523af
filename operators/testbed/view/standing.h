// Why a claim has no places.
#pragma once

#include <string>

namespace esi::testbed::claims {

/// The progress of a claim that has no places, for the condition Formed. Without a reason: nothing
/// is known yet.
struct standing {
    std::string reason;  ///< see model::condition_reason, "Of a claim"
    std::string message;
    bool operator==(const standing&) const = default;
};

}  // namespace esi::testbed::claims

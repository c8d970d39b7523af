// The object that a blocker, or a wait, is about: for programs, as sentences are for people.
#pragma once

#include <string_view>

#include "model/meta.h"

namespace esi::scheduling {

namespace object_kind {
inline constexpr std::string_view testbed = "Testbed";
inline constexpr std::string_view batchjob = "BatchJob";
inline constexpr std::string_view scheduling = "Scheduling";
inline constexpr std::string_view pod = "Pod";
}  // namespace object_kind

struct subject {
    std::string_view kind;  ///< of object_kind
    model::object_key key;
    bool operator==(const subject&) const = default;
};

}  // namespace esi::scheduling

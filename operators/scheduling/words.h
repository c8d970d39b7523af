// Sentences for people: conditions, waitingFor, problems. Bounded, and the same for the same facts,
// so that a status is not written again while nothing changes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/meta.h"

namespace esi::scheduling {

/// "a, b, c and 7 more": at most `limit` items are named.
std::string enumerate(const std::vector<std::string>& items, std::size_t limit = 10,
                      std::string_view separator = ", ");
/// "BatchJob ns/a", "Testbed ns/x", "Scheduling ns/s".
std::string job_text(const model::object_key& key);
std::string testbed_text(const model::object_key& key);
std::string scheduling_text(const model::object_key& key);
/// "slot 3", "slots 1, 4".
std::string slots_text(const std::vector<int>& slots);

}  // namespace esi::scheduling

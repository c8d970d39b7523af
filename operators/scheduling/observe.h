// How the view of one decision is taken out of the caches.
#pragma once

#include <memory>

#include "scheduling/caches.h"
#include "scheduling/view.h"

namespace esi::scheduling {

/// Takes the view of the Scheduling `key` out of the caches. Drops from `live` what the caches have
/// passed; `live` outlives the view. `self` of the view is null where there is no such Scheduling.
view observe(const caches& from, const model::object_key& key, live_facts& live);

/// The view of a Scheduling that need not exist on the server, as it would be.
view observe(const caches& from, std::shared_ptr<const model::scheduling> self, live_facts& live);

}  // namespace esi::scheduling

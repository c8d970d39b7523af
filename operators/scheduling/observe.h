// How the view of one decision is made from the caches.
#pragma once

#include <memory>

#include "scheduling/caches.h"
#include "scheduling/view.h"

namespace esi::scheduling {

/// Makes the view of the Scheduling `key` from the caches. Drops objects from `live` of which the
/// caches have a newer version; `live` outlives the view. `self` of the view is null if there is no
/// such Scheduling.
view observe(const caches& from, const model::object_key& key, live_facts& live);

/// The view of a Scheduling that need not exist on the server, as it would be.
view observe(const caches& from, std::shared_ptr<const model::scheduling> self, live_facts& live);

}  // namespace esi::scheduling

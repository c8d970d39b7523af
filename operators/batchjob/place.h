// Which pod of a run takes which of its slots. Pure.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "batchjob/view.h"

namespace esi::batchjob {

struct placing {
    std::vector<model::placement> placements;  ///< sorted by slot
    /// Recorded pods that the cache does not have: only a live read tells whether they are gone.
    /// When not empty, nothing was decided.
    std::vector<model::placement> to_read;
    /// Waiting pods for which there is no slot, oldest first.
    std::vector<pod_pointer> surplus;
};

/// Oldest waiting pod, lowest free slot; a slot whose recorded pod is gone goes first, so that a
/// replacement takes the place of the one that died also where other slots were never filled.
/// A slot passes to another pod only when its recorded one is proven gone: terminal in the cache (a
/// phase never goes back) or in live.gone_pods. Entries of pods that have died stand until somebody
/// takes their slot.
/// `pods`: the run's pods that need slots, whatever their phase.
placing place(std::span<const int> slots, std::span<const model::placement> recorded,
              std::span<const pod_pointer> pods, const live_facts& live);

/// Order of age: creation, then the name with its numbers compared as numbers (creation times have
/// whole seconds only; "exec-2" is before "exec-10"), then uid.
bool came_before(const model::object_meta& a, const model::object_meta& b);

}  // namespace esi::batchjob

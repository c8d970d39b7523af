// Assigns the pods of a run to its slots. Pure.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "batchjob/observe.h"

namespace esi::batchjob {

struct filled_slots {
    std::vector<model::placement> placements;  ///< sorted by slot
    /// Pods in `recorded` that the cache does not have: only a live read shows whether they are
    /// gone. If it is not empty, nothing was decided.
    std::vector<model::placement> to_read;
    /// Waiting pods for which there is no slot, oldest first.
    std::vector<pod_pointer> surplus;
};

/// Gives the slots of a run to its pods. The oldest waiting pod takes the lowest free slot; slots
/// whose recorded pod is gone are filled before slots that never had one, so that a replacement
/// takes the slot of the pod that died. A slot passes to another pod only when its recorded pod is
/// proven gone: terminal in the cache (a phase never goes back), or in live.gone_pods. The entry of
/// a pod that has died is kept until another pod takes its slot.
/// `recorded`: status.placements. `pods`: the run's pods that need slots, whatever their phase.
filled_slots fill_slots(std::span<const int> slots, std::span<const model::placement> recorded,
                        std::span<const pod_pointer> pods, const live_facts& live);

/// Orders by age: creation, then the name with its numbers compared as numbers (creation times have
/// whole seconds only; "exec-2" is before "exec-10"), then uid.
bool came_before(const model::object_meta& a, const model::object_meta& b);

}  // namespace esi::batchjob

// What a node has left for slots beside the pods that are not the testbed's, and who takes the room
// that is missing. Pure; all amounts in thousandths.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "grid/node_room.h"
#include "testbed/room/layout.h"
#include "testbed/view/view.h"

namespace esi::testbed {

struct consumer {
    /// "namespace/name" of a pod, "testbed namespace/name" for all slots of an older Testbed; those
    /// of other namespaces together, without their names.
    std::string name;
    model::amounts takes;
};

/// Slots of older Testbeds in which no pod is yet: they get the room first.
struct slots_before {
    std::string name;  ///< as a consumer's
    std::int64_t slots = 0;
    model::amounts takes;
};

struct node_room {
    model::amounts allocatable;
    /// Requests of live pods that are not the testbed's, with the demand of older Testbeds.
    model::amounts foreign;
    /// Who takes it now, and who will.
    std::vector<consumer> consumers;
    std::vector<slots_before> before;
    /// What they leave of the node for slots; below zero where they take more than there is.
    model::amounts left;
    /// A slot of an older Testbed there has neither its ghost nor a pod: its ghost is to come.
    bool elder_lacks = false;
    /// A pod in a slot of the testbed requests more than the slot has.
    bool has_growth = false;
    /// A ghost of an older Testbed waits for room there that nobody is about to free.
    bool elder_waits = false;
};

using grid::left_after;
using grid::missing_resource;
using grid::slot_amounts;
using grid::taken_by;

/// What the slots of one layout take, each size worked out once.
class slot_sizes {
public:
    /// `layout` lives as long as this.
    explicit slot_sizes(const model::testbed_layout& layout) : layout_(layout) {}
    const model::amounts& of(int position);

private:
    const model::testbed_layout& layout_;
    std::map<const model::resource_list*, model::amounts> known_;
};

/// The other Testbeds as far as they touch one Testbed's room.
struct rivals {
    struct elder {
        testbed_pointer testbed;
        /// Its layout, and which job pods its operator has seen in its slots. Of the view.
        const testbed_index* index = nullptr;
        /// Its next layout has slots at all.
        bool wants_slots = false;
    };
    /// By "namespace/name". They have the right of way.
    std::map<std::string, elder> older;
    std::map<std::string, testbed_pointer> younger;
};
rivals rivals_of(const view& seen);

/// Pods of the testbed that stand in its slots (its ghosts, and `in_slots`: uids of one job pod for
/// each slot) do not count, nor do ghosts of younger Testbeds; of older ones their whole demand
/// counts, in place of their ghosts and of the pods that their status has in a slot. What a pod
/// only says of itself does not make it one of these.
node_room room_on(const view& seen, const rivals& others, const node_view& node,
                  const std::set<std::string_view>& in_slots);

/// "room for 1 of 2 slots: 400m cpu missing (2 slots need 1200m, others take 1200m of 2); largest
/// consumers: default/fat (1 cpu)". `positions`: all slots of the layout on the node.
std::string describe_shortage(const node_room& room, const model::testbed_layout& layout,
                              std::span<const int> positions);

}  // namespace esi::testbed

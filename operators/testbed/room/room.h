// What a node has left for slots beside the pods that are not the testbed's, and which pods take
// the room that is missing. Pure; all amounts in thousandths.
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
    /// "namespace/name" of a pod, "testbed namespace/name" for all slots of an older Testbed; pods
    /// of other namespaces together, without their names.
    std::string name;
    model::amounts takes;
};

/// Slots of older Testbeds in which no pod is yet: these get the room first.
struct slots_before {
    std::string name;  ///< as in consumer
    std::int64_t slots = 0;
    model::amounts takes;
};

struct node_room {
    model::amounts allocatable;
    /// Requests of live pods that are not the testbed's, with the demand of older Testbeds.
    model::amounts foreign;
    /// The pods and Testbeds that take it now, and those that will.
    std::vector<consumer> consumers;
    std::vector<slots_before> before;
    /// The amounts left for slots; below zero where others take more than there is.
    model::amounts left;
    /// A slot of an older Testbed there has neither its ghost nor a pod: its ghost will come.
    bool elder_lacks = false;
    /// A pod in a slot of the testbed requests more than the slot has.
    bool has_growth = false;
    /// A ghost of an older Testbed waits there for room that nothing is about to free.
    bool elder_waits = false;
};

using grid::left_after;
using grid::missing_resource;
using grid::slot_amounts;
using grid::taken_by;

/// The amounts of each slot of one layout; each size is worked out once.
class slot_sizes {
public:
    /// `layout` must live as long as this.
    explicit slot_sizes(const model::testbed_layout& layout) : layout_(layout) {}
    const model::amounts& of(int position);

private:
    const model::testbed_layout& layout_;
    std::map<const model::resource_list*, model::amounts> known_;
};

/// The other Testbeds, as far as they affect one Testbed's room.
struct rivals {
    struct elder {
        testbed_pointer testbed;
        /// The index of the view: its layout, and the job pods that its operator has seen in its
        /// slots.
        const testbed_index* index = nullptr;
        /// True: its next layout has slots.
        bool wants_slots = false;
    };
    /// By "namespace/name". These have the right of way.
    std::map<std::string, elder> older;
    std::map<std::string, testbed_pointer> younger;
};
rivals rivals_of(const view& seen);

/// Pods of the testbed in its slots (its ghosts, and `in_slots`: uids of one job pod for each slot)
/// do not count, nor do ghosts of younger Testbeds. An older Testbed counts with its whole demand,
/// in place of its ghosts and of the pods that its status has in a slot. A pod's own claim to be
/// one of these has no effect.
node_room room_on(const view& seen, const rivals& others, const node_view& node,
                  const std::set<std::string_view>& in_slots);

/// "room for 1 of 2 slots: 400m cpu missing (2 slots need 1200m, others take 1200m of 2); largest
/// consumers: default/fat (1 cpu)". `positions`: all slots of the layout on the node.
std::string describe_shortage(const node_room& room, const model::testbed_layout& layout,
                              std::span<const int> positions);

}  // namespace esi::testbed

// The part of an assessment (assess.h) that comes after pods and orders are matched to slots: which
// slots have room, which ghost gives way, what state each slot is in. Pure.
#pragma once

#include <set>
#include <string_view>
#include <vector>

#include "testbed/ledger/assessment.h"

namespace esi::testbed {

/// The pods that take the room of the slot in which they are bound. A second pod in the same slot
/// takes room beside the slots, as any pod does.
std::set<std::string_view> takers_of(const std::vector<slot_assessment>& slots);
/// Counts what a pod requests above its slot, since it was resized there, as room taken by others.
void count_growth(assessment& out, const model::testbed_layout& layout,
                  const model::testbed& testbed);
/// Gives room to the slots in the order in which they take it.
void give_room(assessment& out, const model::testbed_layout& layout);
/// Marks the ghost that gives way. `given`: slots that the holder has assigned.
void give_way(assessment& out, const model::testbed_layout& layout, const std::set<int>& given);
/// The positions of all slots of the node.
std::vector<int> positions_of(const std::vector<slot_assessment>& slots);

struct standard {
    const view& seen;
    const model::testbed_layout& layout;
    const hints& known;
    steady_time now;
    wall_time wall;
};
void judge_slots(assessment& out, const standard& by);

}  // namespace esi::testbed

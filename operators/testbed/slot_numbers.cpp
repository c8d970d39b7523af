#include "testbed/slot_numbers.h"

namespace esi::testbed {

namespace slot_state = model::slot_state;

namespace {

using controller::metrics;

constexpr const char* slots_name = "esi_slots";
constexpr const char* waiting_name = "esi_testbed_pods_waiting";

metrics::labels labels_of(const model::object_key& testbed) {
    return {{"namespace", testbed.namespace_}, {"testbed", testbed.name}};
}

metrics::labels with_state(metrics::labels of, std::string_view state) {
    of.emplace("state", state);
    return of;
}

}  // namespace

void slot_numbers::show(const model::object_key& testbed, const model::slot_counts& slots,
                        int pods_waiting) {
    known_[testbed] = {slots, pods_waiting};
    if (by_testbed_) {
        show_one(known_.at(testbed), labels_of(testbed));
    } else {
        show_sums();
    }
}

void slot_numbers::forget(const model::object_key& testbed) {
    if (known_.erase(testbed) == 0) return;
    if (!by_testbed_) return show_sums();
    for (const auto state :
         {slot_state::free, slot_state::reserved, slot_state::occupied, slot_state::error}) {
        numbers_.drop_gauge(slots_name, with_state(labels_of(testbed), state));
    }
    numbers_.drop_gauge(waiting_name, labels_of(testbed));
}

void slot_numbers::show_sums() {
    counts sum;
    for (const auto& [testbed, each] : known_) {
        sum.slots.free += each.slots.free;
        sum.slots.reserved += each.slots.reserved;
        sum.slots.occupied += each.slots.occupied;
        sum.slots.error += each.slots.error;
        sum.waiting += each.waiting;
    }
    show_one(sum, {});
}

void slot_numbers::show_one(const counts& what, const metrics::labels& of) {
    const std::pair<std::string_view, int> states[] = {{slot_state::free, what.slots.free},
                                                       {slot_state::reserved, what.slots.reserved},
                                                       {slot_state::occupied, what.slots.occupied},
                                                       {slot_state::error, what.slots.error}};
    for (const auto& [state, count] : states) {
        numbers_.gauge(slots_name, "Slots by state.", with_state(of, state)).Set(count);
    }
    numbers_
        .gauge(waiting_name, "Pods that have been given a slot and are not bound in it yet.", of)
        .Set(what.waiting);
}

}  // namespace esi::testbed

#include "testbed/slot_numbers.h"

namespace esi::testbed {

namespace slot_state = model::slot_state;

namespace {

constexpr const char* slots_name = "esi_slots";
constexpr const char* waiting_name = "esi_testbed_pods_waiting";

controller::metrics::labels labels_of(const model::object_key& testbed) {
    return {{"namespace", testbed.namespace_}, {"testbed", testbed.name}};
}

controller::metrics::labels labels_of(const model::object_key& testbed, std::string_view state) {
    auto out = labels_of(testbed);
    out.emplace("state", state);
    return out;
}

}  // namespace

void slot_numbers::show(const model::object_key& testbed, const model::slot_counts& slots,
                        int pods_waiting) {
    const std::pair<std::string_view, int> counts[] = {{slot_state::free, slots.free},
                                                       {slot_state::reserved, slots.reserved},
                                                       {slot_state::occupied, slots.occupied},
                                                       {slot_state::error, slots.error}};
    for (const auto& [state, count] : counts) {
        numbers_.gauge(slots_name, "Slots by Testbed and state.", labels_of(testbed, state))
            .Set(count);
    }
    numbers_
        .gauge(waiting_name, "Pods that have been given a slot and are not bound in it yet.",
               labels_of(testbed))
        .Set(pods_waiting);
}

void slot_numbers::forget(const model::object_key& testbed) {
    for (const auto state :
         {slot_state::free, slot_state::reserved, slot_state::occupied, slot_state::error}) {
        numbers_.drop_gauge(slots_name, labels_of(testbed, state));
    }
    numbers_.drop_gauge(waiting_name, labels_of(testbed));
}

}  // namespace esi::testbed

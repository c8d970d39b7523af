#include "batchjob/fitting.h"

#include <fmt/format.h>

#include "grid/slot_room.h"

namespace esi::batchjob {

std::optional<spec_problem> fitting::worker(const model::resource_list& slot) {
    if (auto why = kind_.too_small(spec_, slot)) return why;
    return larger_than(slot, pod_role::slot, kind_.worker(), worker_);
}

std::optional<spec_problem> fitting::coordinator(const model::resource_list& place) {
    if (auto why = kind_.coordinator_too_small(spec_, place)) return why;
    return larger_than(place, pod_role::coordinator, kind_.coordinator(), coordinator_);
}

std::optional<spec_problem> fitting::larger_than(const model::resource_list& slot, pod_role role,
                                                 std::string_view pod,
                                                 std::optional<model::amounts>& least) const {
    if (!least) least = kind_.least_size(spec_, role, by_slot_);
    const auto text = grid::larger_than_slot(*least, slot);
    if (text.empty()) return std::nullopt;
    return spec_problem{
        "LargerThanSlot",
        fmt::format("one {} is larger than the slot: {}; ask for less, or take larger slots{}", pod,
                    text,
                    by_slot_ ? ""
                             : ", or set spec.sizing to Slot, which gives each pod the numbers "
                               "of its slot")};
}

}  // namespace esi::batchjob

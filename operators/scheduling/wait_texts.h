// Sentences of a Scheduling's status that need more than one object: why slots are not free, and
// which Schedulings wait for each other. For people; nothing is decided by them. Pure.
#pragma once

#include <string>
#include <vector>

#include "scheduling/view.h"

namespace esi::scheduling {

/// Why jobs of `v.self` get no slots of `testbed`. Refers to both for as long as it lives.
class slot_texts {
public:
    /// `free`: how many slots of workers are free. The Testbed has a layout.
    slot_texts(const view& v, const model::testbed& testbed, std::size_t free)
        : v_(v), testbed_(testbed), free_(free) {}

    std::string of(const slot_blocker& what) const;

private:
    std::string busy_text() const;
    std::string detail_of(const std::vector<int>& slots) const;
    std::string pod_in(const grid::slot_table::row& slot) const;
    std::string node_problem(const std::string& node) const;

    const view& v_;
    const model::testbed& testbed_;
    std::size_t free_;
};

/// The cycle of waits that `v.self` is in, from its smallest member on, so that all in it report
/// the same; empty: it is in none.
std::vector<model::object_key> wait_cycle_of(const view& v);
std::string cycle_text(const std::vector<model::object_key>& cycle);

}  // namespace esi::scheduling

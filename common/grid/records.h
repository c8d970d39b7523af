// Which pod takes which slot, by what ESI's operators have written. Pure.
#pragma once

#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "grid/grid.h"
#include "grid/slot_slices.h"

namespace esi::grid {

/// Which pod takes which slot of a Testbed by what ESI's operators have written: the placements of
/// its jobs, and the rows of the Testbed's own status or slices, which outlive a deleted job. A
/// pod's own claims are no record. Refers to the objects that it was made of.
class records {
public:
    explicit records(model::object_key testbed) : of_(std::move(testbed)) {}
    void add(const model::testbed& testbed);
    /// Adds the slices that the Testbed believes.
    void add(const slice_list& slices);
    void add(const model::batchjob& job);
    void add(std::string_view pod_uid, int position) { entries_.emplace(pod_uid, position); }
    bool has(const model::pod& pod) const;
    bool has(const model::pod& pod, int position) const;

private:
    model::object_key of_;
    std::set<std::pair<std::string_view, int>> entries_;
};

/// The pods among `pods` that are the Testbed's own ghosts, or job pods on record for the slot that
/// they name. All others are strangers, whatever they carry.
std::vector<pod_pointer> members_of(const model::testbed& testbed, const records& known,
                                    std::span<const pod_pointer> pods);

}  // namespace esi::grid

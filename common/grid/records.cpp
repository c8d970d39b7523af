#include "grid/records.h"

#include <limits>

namespace esi::grid {

void records::add(const model::testbed& testbed) {
    if (testbed.metadata.key() != of_) return;
    for (const auto& row : testbed.status.slots) entries_.emplace(row.pod_u_id, row.position);
}

void records::add(const slice_list& slices) {
    for (const auto& slice : slices.all()) {
        each_line(*slice, [&](int position, const slot_line& line) {
            if (!line.record().empty()) entries_.emplace(line.record(), position);
        });
    }
}

void records::add(const model::batchjob& job) {
    if (placed_in(job) != of_) return;
    for (const auto& entry : job.status.placements) entries_.emplace(entry.pod_uid, entry.slot);
}

bool records::has(const model::pod& pod) const {
    auto found = entries_.lower_bound({pod.metadata.uid, std::numeric_limits<int>::min()});
    return found != entries_.end() && found->first == pod.metadata.uid;
}

bool records::has(const model::pod& pod, int position) const {
    return entries_.contains({pod.metadata.uid, position});
}

std::vector<pod_pointer> members_of(const model::testbed& testbed, const records& known,
                                    std::span<const pod_pointer> pods) {
    std::vector<pod_pointer> out;
    for (const auto& pod : pods) {
        const auto position = slot_of_pod(*pod);
        const bool recorded = !pod->is_ghost() && position && known.has(*pod, *position);
        if (recorded || is_own_ghost(*pod, testbed)) out.push_back(pod);
    }
    return out;
}

}  // namespace esi::grid

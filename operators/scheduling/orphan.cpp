#include "scheduling/orphan.h"

#include <algorithm>

#include "grid/records.h"
#include "scheduling/words.h"

namespace esi::scheduling {

bool may_be_orphan(const model::testbed& testbed, const objects<model::scheduling>& schedulings) {
    // Hold and labels are written and removed together, so labels alone are an orphan's.
    if (testbed.hold().empty()) return !testbed.holder().name.empty();
    const auto named = schedulings.find(testbed.holder());
    if (named != schedulings.end() && held_by(testbed, named->second->metadata.uid)) return false;
    return std::ranges::none_of(schedulings, [&](const auto& entry) {
        return held_by(testbed, entry.second->metadata.uid);
    });
}

bool may_be_orphan(const model::batchjob& job, const objects<model::scheduling>& schedulings) {
    const auto& active = job.spec.active_scheduling;
    if (!active) return job.spec.creation_request.has_value();
    auto found = schedulings.find(active->key());
    return !is_holder(found == schedulings.end() ? nullptr : found->second.get(), active->uid);
}

bool is_holder(const model::scheduling* found, std::string_view uid) {
    return found != nullptr && (uid.empty() || found->metadata.uid == uid);
}

std::vector<std::string> orphan_waits(const model::testbed& testbed,
                                      const objects<model::batchjob>& jobs,
                                      const std::vector<grid::pod_pointer>& pods,
                                      const grid::slice_list& slices) {
    auto uid = grid::scheduling_uid_of_hold(testbed.hold());
    std::vector<std::string> out;
    // A hold made by hand, of which no run can be.
    if (uid.empty()) return out;
    grid::records known(testbed.metadata.key());
    known.add(testbed);
    known.add(slices);
    for (const auto& [key, job] : jobs) {
        known.add(*job);
        const auto& application = job->status.application;
        const auto& active = job->spec.active_scheduling;
        if ((active && active->uid == uid) || requested_by(*job, uid)) {
            out.push_back("the release of " + job_text(key));
        } else if (application && owner_of_run(application->run) == uid) {
            out.push_back("the end of the application of " + job_text(key));
        }
    }
    for (const auto& pod : pods) {
        if (pod->may_run() && owner_of_run(pod->run()) == uid && known.has(*pod)) {
            out.push_back("the end of Pod " + pod->metadata.key().text());
        }
    }
    return out;
}

}  // namespace esi::scheduling

#include "batchjob/deaths.h"

#include <algorithm>

#include "batchjob/runs.h"
#include "model/names.h"

namespace esi::batchjob {

namespace {

constexpr std::size_t most_of_one_job = 1024;

}  // namespace

void death_register::note(const model::batchjob& job, const model::pod& pod) {
    const std::string run(pod.metadata.annotation(model::names::run));
    if (pod.died_of.empty() || pod.metadata.deleting() || !line_of(job.status, run)) return;
    const auto& placements = job.status.placements;
    const auto placed = std::ranges::find(placements, pod.metadata.uid, &model::placement::pod_uid);
    if (placed == placements.end()) return;
    auto& known = by_job_[job.metadata.key()];
    if (!known.empty() && known.begin()->second.run != run) known.clear();
    if (known.size() >= most_of_one_job) return;
    known.try_emplace(pod.metadata.uid,
                      death{run, pod.metadata.creation_timestamp, pod.died_of, placed->slot});
}

void death_register::job_changed(const model::batchjob& job) {
    const auto& runs = job.status.runs;
    if (runs.empty() || runs.back().outcome != run_outcome::running) forget(job.metadata.key());
}

std::vector<death> death_register::of(const model::object_key& job) const {
    std::vector<death> out;
    const auto known = by_job_.find(job);
    if (known == by_job_.end()) return out;
    for (const auto& [uid, each] : known->second) out.push_back(each);
    return out;
}

}  // namespace esi::batchjob

#include "batchjob/observe.h"

#include <algorithm>
#include <utility>

#include "batchjob/backends/kind.h"
#include "batchjob/caches.h"
#include "grid/rights.h"

namespace esi::batchjob {

namespace {

/// The length of "a moment ago" in a view: since a job was acquired; since the newest and the
/// oldest pod without a slot came.
constexpr milliseconds acquired_moment{100};
constexpr milliseconds newest_pod_moment{10};
constexpr milliseconds oldest_pod_moment{40};

bool is_on_record(const model::batchjob& job, const std::string& uid) {
    return std::ranges::find(job.status.placements, uid, &model::placement::pod_uid) !=
           job.status.placements.end();
}

bool are_pods_coming(const view& seen, const hints& known, steady_time now) {
    std::optional<steady_time> oldest;
    std::optional<steady_time> newest;
    for (const auto& pod : seen.pods) {
        const auto& uid = pod->metadata.uid;
        const auto at = known.seen_at.find(uid);
        if (at == known.seen_at.end() || pod->bound() || !pod->live() ||
            is_on_record(*seen.job, uid)) {
            continue;
        }
        oldest = oldest ? std::min(*oldest, at->second) : at->second;
        newest = newest ? std::max(*newest, at->second) : at->second;
    }
    return newest && now - *newest < newest_pod_moment && now - *oldest < oldest_pod_moment;
}

}  // namespace

void observe_as(view& seen, const application_source& source, const caches& from,
                const hints& known) {
    const auto key = seen.job->metadata.key();
    seen.kind = &source.kind();
    seen.served = source.served();
    seen.application = source.find(key);
    seen.pods.clear();
    seen.neighbours.clear();
    for (const auto& pod : from.pods_of_job(key)) {
        if (seen.kind->role_of(*pod, key.name) == pod_role::none) continue;
        seen.pods.push_back(pod);
        const auto at = known.ungated_since.find(pod->metadata.uid);
        if (at != known.ungated_since.end()) seen.ungated_since.insert(*at);
    }
    std::set<std::string> nodes;
    for (const auto& pod : seen.pods) {
        if (pod->bound()) nodes.insert(pod->node_name);
    }
    for (const auto& node : nodes) {
        for (const auto& job : from.jobs_placed_on(node)) {
            if (job != key) seen.neighbours[node].insert(job);
        }
    }
}

view observe(std::shared_ptr<const model::batchjob> job, const caches& from, const hints& known,
             steady_time now) {
    view seen;
    seen.job = job;
    const auto key = job->metadata.key();
    seen.spec_kind = from.kind_of(job->spec);
    if (const auto* source = from.source_of(*job)) observe_as(seen, *source, from, known);
    if (job->spec.creation_request) seen.testbed = from.find_testbed(grid::testbed_of(*job));
    if (job->spec.active_scheduling) {
        seen.scheduling = from.find_scheduling(
            grid::in_namespace(job->spec.active_scheduling->key(), key.namespace_));
    }
    for (const auto& [name, bed] : from.testbeds()) {
        if (bed->is_offered_to(key.namespace_) && !bed->metadata.deleting()) {
            seen.usable.push_back(bed);
        }
    }
    seen.deaths = known.deaths.of(key);
    for (const auto& entry : job->status.placements) {
        const auto pod = from.find_pod({key.namespace_, entry.pod_name});
        if (pod && pod->metadata.uid == entry.pod_uid && pod->may_run()) {
            seen.placed_alive.insert(entry.pod_uid);
        }
    }
    for (const auto& [uid, of] : known.deletion_answered) {
        if (of == key) seen.deletion_answered.insert(uid);
    }
    for (const auto& pod : seen.pods) {
        const auto at = known.refused_marks.find(pod->metadata.uid);
        if (at == known.refused_marks.end() || now >= at->second.due) continue;
        seen.unmarked[at->first] = at->second.why;
    }
    if (const auto at = known.checks.find(key);
        at != known.checks.end() && at->second.hash == hash_of(seen.spec_kind, job->spec)) {
        seen.check = at->second.answer;
        seen.check_due = now >= at->second.due;
    }
    if (const auto at = known.last_final.find(key); at != known.last_final.end()) {
        seen.last_final = at->second;
    }
    const auto acquired = known.acquired_at.find(key);
    seen.just_acquired =
        acquired != known.acquired_at.end() && now - acquired->second < acquired_moment;
    seen.pods_coming = are_pods_coming(seen, known, now);
    return seen;
}

}  // namespace esi::batchjob

#include "batchjob/hints.h"

#include <utility>

namespace esi::batchjob {

void hints::job_changed(const kube::change<model::batchjob>& what, steady_time now) {
    const auto key = (what.after ? what.after : what.before)->metadata.key();
    if (!what.after) {
        checks.erase(key);
        last_final.erase(key);
        deaths.forget(key);
    } else {
        deaths.job_changed(*what.after);
    }
    const bool held = what.after && what.after->spec.active_scheduling;
    if (!held) {
        acquired_at.erase(key);
    } else if (what.before && !what.before->spec.active_scheduling) {
        acquired_at[key] = now;
    }
}

void hints::pod_changed(const kube::change<model::pod>& what, const model::batchjob* job,
                        const clock& time) {
    const auto& pod = what.after ? *what.after : *what.before;
    const auto& uid = pod.metadata.uid;
    if (what.after && pod.live() && !pod.bound() && pod.scheduling_gates.empty()) {
        ungated_since.try_emplace(uid, time.wall());
    } else {
        ungated_since.erase(uid);
    }
    if (!what.after) {
        deletion_answered.erase(uid);
        refused_marks.erase(uid);
    }
    if (what.after && job) deaths.note(*job, pod);
    if (!what.before) {
        seen_at.try_emplace(uid, time.now());
    } else if (!what.after || pod.bound()) {
        seen_at.erase(uid);
    }
}

void hints::application_changed(const model::object_key& key,
                                std::shared_ptr<const application> shown,
                                const model::batchjob* job) {
    std::erase_if(deletion_answered, [&](const auto& each) {
        return each.second == key && (!shown || shown->metadata.uid != each.first);
    });
    if (!job || !shown || !shown->owned_by(job->metadata)) return;
    if (shown->final()) {
        last_final[key] = std::move(shown);
    } else {
        last_final.erase(key);
    }
}

}  // namespace esi::batchjob

#include "scheduling/release.h"

#include <set>

#include "scheduling/words.h"

namespace esi::scheduling {

namespace {

bool of_self(const model::batchjob& job, const model::scheduling& self) {
    if (acquired_by(job, self)) return true;
    return !job.spec.active_scheduling && requested_by(job, self.metadata.uid);
}

}  // namespace

std::vector<model::object_key> jobs_of_release(const view& v, const plan& wants) {
    std::set<model::object_key> keys(v.named.begin(), v.named.end());
    for (const auto& job : wants.jobs) {
        // In a namespace that is not watched nothing was ever acquired, and it may not be readable.
        // Foreign jobs count if they name us, or were assigned.
        if (v.watches(job.name.namespace_) && v.may_start(v.self->metadata.namespace_, job.name)) {
            keys.insert(job.name);
        }
    }
    for (const auto& assigned : v.self->status.assignments) keys.insert(assigned.job.key());
    return {keys.begin(), keys.end()};
}

std::shared_ptr<const model::batchjob> job_to_release(const view& v, const plan& wants) {
    for (const auto& key : jobs_of_release(v, wants)) {
        auto job = v.find_job(key);
        if (job && of_self(*job, *v.self)) return job;
    }
    return nullptr;
}

std::string wait_for_job(const model::batchjob& job, bool with_application) {
    const auto key = job.metadata.key();
    const auto& application = job.status.application;
    if (with_application && application) {
        return "the end of " + application->kind + " " +
               model::object_key{key.namespace_, application->name}.text();
    }
    if (!job.spec.active_scheduling && job.status.observed_generation != job.metadata.generation) {
        return job_text(key) + " to look at its release";
    }
    return {};
}

std::vector<release_wait> waits_of_release(const view& v, const plan& wants) {
    const auto& uid = v.self->metadata.uid;
    std::vector<release_wait> out;
    for (const auto& key : jobs_of_release(v, wants)) {
        auto job = v.find_job(key);
        if (!job) continue;
        const auto& application = job->status.application;
        auto text = wait_for_job(*job, application && owner_of_run(application->run) == uid);
        if (!text.empty()) out.push_back({{object_kind::batchjob, key}, std::move(text)});
    }
    for (const auto& pod : v.pods_of_self()) {
        const auto key = pod->metadata.key();
        out.push_back({{object_kind::pod, key}, "the end of Pod " + key.text()});
    }
    return out;
}

std::vector<std::string> release_waits(const view& v, const plan& wants) {
    std::vector<std::string> out;
    for (auto& each : waits_of_release(v, wants)) out.push_back(std::move(each.text));
    return out;
}

bool owns_anything(const view& v, const plan& wants) {
    if (!v.self->status.assignments.empty()) return true;
    if (job_to_release(v, wants)) return true;
    auto testbed = v.find_testbed(testbed_of(*v.self));
    return testbed && held_by(*testbed, v.self->metadata.uid);
}

}  // namespace esi::scheduling

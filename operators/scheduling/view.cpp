#include "scheduling/view.h"

#include <algorithm>

#include "model/names.h"
#include "scheduling/plan.h"
#include "scheduling/words.h"

namespace esi::scheduling {

namespace {

template <class T>
std::shared_ptr<const T> find_in(const objects<T>* cache, const objects<T>* newer,
                                 const model::object_key& key) {
    if (newer != nullptr) {
        if (auto found = newer->find(key); found != newer->end()) return found->second;
    }
    if (cache == nullptr) return nullptr;
    auto found = cache->find(key);
    return found == cache->end() ? nullptr : found->second;
}

}  // namespace

const proofs& view::proven() const {
    static const proofs none;
    return live != nullptr ? live->proven : none;
}

const refusals& view::refused() const {
    static const refusals none;
    return live != nullptr ? live->refused : none;
}

bool view::watches(const std::string& ns) const {
    return namespaces.empty() || std::ranges::find(namespaces, ns) != namespaces.end();
}

bool view::may_start(std::string_view scheduling_ns, const model::object_key& job) const {
    return cross_namespace_jobs || scheduling_ns == job.namespace_;
}

std::string view::absence(const model::object_key& key) const {
    if (watches(key.namespace_)) return " does not exist";
    return " is in a namespace that this installation does not watch (--namespace)";
}

std::shared_ptr<const model::testbed> view::find_testbed(const model::object_key& key) const {
    return find_in(testbeds, live ? &live->newer.testbeds : nullptr, key);
}

std::shared_ptr<const model::batchjob> view::find_job(const model::object_key& key) const {
    return find_in(jobs, live ? &live->newer.jobs : nullptr, key);
}

std::shared_ptr<const model::scheduling> view::find_scheduling(const model::object_key& key) const {
    if (self && self->metadata.key() == key) return self;
    return find_in<model::scheduling>(schedulings, nullptr, key);
}

std::vector<std::shared_ptr<const model::batchjob>> view::jobs_of_self() const {
    std::set<model::object_key> keys(named.begin(), named.end());
    if (live != nullptr) {
        for (const auto& [key, unused] : live->newer.jobs) keys.insert(key);
    }
    std::vector<std::shared_ptr<const model::batchjob>> out;
    for (const auto& key : keys) {
        auto job = find_job(key);
        if (job && acquired_by(*job, *self)) out.push_back(std::move(job));
    }
    return out;
}

std::vector<grid::pod_pointer> view::pods_of_self() const {
    const auto& uid = self->metadata.uid;
    const auto& read = proven().pods_of_release;
    auto out = read ? on_record(*read) : slots->recorded_pods_of(uid);
    std::erase_if(
        out, [&](const auto& pod) { return !pod->may_run() || owner_of_run(pod->run()) != uid; });
    return out;
}

bool view::has_pods(std::string_view run) const {
    const auto can_run = [&](const auto& pod) { return pod->may_run() && pod->run() == run; };
    if (std::ranges::any_of(slots->recorded_pods_of_run(run), can_run)) return true;
    // A cache far behind shows no pod yet of a run that has ended meanwhile.
    const auto& read = proven().pods;
    return read && std::ranges::any_of(on_record(read->pods), can_run);
}

std::vector<grid::pod_pointer> view::on_record(const std::vector<grid::pod_pointer>& of) const {
    if (of.empty()) return {};
    const auto key = testbed_of(*self);
    grid::slice_list rows;
    grid::records known(key);
    if (const auto testbed = find_testbed(key)) {
        known.add(*testbed);
        rows = slots->slices_of(*testbed);
        known.add(rows);
    }
    std::set<model::object_key> seen;
    for (const auto& pod : of) {
        model::object_key job{pod->metadata.namespace_,
                              std::string(pod->metadata.label(model::names::job))};
        if (pod->is_ghost() || job.name.empty() || !seen.insert(job).second) continue;
        if (const auto found = find_job(job)) known.add(*found);
    }
    std::vector<grid::pod_pointer> out;
    for (const auto& pod : of) {
        if (!pod->is_ghost() && known.has(*pod)) out.push_back(pod);
    }
    return out;
}

std::set<int> view::in_error() const {
    const auto key = testbed_of(*self);
    const auto testbed = find_testbed(key);
    if (!testbed || testbed == slots->testbed()) return slots->in_error();
    return slots->in_error(*testbed);
}

scheduling::free_slots view::free_slots() const {
    std::set<int> taken;
    for (const auto& a : self->status.assignments) {
        if (!a.ended) taken.insert(a.slot_ids.begin(), a.slot_ids.end());
    }
    const auto key = testbed_of(*self);
    if (const auto testbed = find_testbed(key); testbed && testbed != slots->testbed()) {
        taken.merge(slots->in_error(*testbed));
    }
    if (live != nullptr) {
        for (const auto& [name, job] : live->newer.jobs) {
            if (!job || grid::placed_in(*job) != key) continue;
            for (const auto& entry : job->status.placements) {
                if (slots->job_pod(entry.pod_uid)) taken.insert(entry.slot);
            }
        }
    }
    return scheduling::free_slots(*slots, std::move(taken));
}

bool acquired_by(const model::batchjob& job, const model::scheduling& whom) {
    const auto& active = job.spec.active_scheduling;
    if (!active) return false;
    if (!active->uid.empty()) return active->uid == whom.metadata.uid;
    return active->key() == whom.metadata.key();
}

bool requested_by(const model::batchjob& job, std::string_view scheduling_uid) {
    return job.spec.creation_request &&
           owner_of_run(job.spec.creation_request->run) == scheduling_uid;
}

bool held_by(const model::testbed& testbed, std::string_view scheduling_uid) {
    return !testbed.hold().empty() &&
           grid::scheduling_uid_of_hold(testbed.hold()) == scheduling_uid;
}

std::string holder_text(const model::testbed& testbed) {
    auto holder = testbed.holder();
    if (holder.name.empty()) return "hold " + std::string(testbed.hold());
    return scheduling_text(holder);
}

}  // namespace esi::scheduling

#include "foresee/picture.h"

#include <set>
#include <string_view>

#include "model/json.h"
#include "model/names.h"
#include "model/parse.h"

namespace esi::simulation::foresee {

namespace {

template <class T>
std::shared_ptr<const T> read(const object& from) {
    simdjson::dom::parser parser;
    const auto root = model::parse(parser, from.text());
    if (!root) return nullptr;
    auto out = model::decode<T>(*root);
    return out ? std::make_shared<const T>(std::move(*out)) : nullptr;
}

/// True where `of` is about this kind.
template <class T>
bool take(std::map<object_key, std::shared_ptr<const T>>& into, const kube::resource_type& type,
          const change& what) {
    if (what.type->plural != type.plural) return false;
    const object_key key{what.after->ns(), what.after->name()};
    auto now = what.what == change_type::deleted ? nullptr : read<T>(*what.after);
    if (now) {
        into[key] = std::move(now);
    } else {
        into.erase(key);
    }
    return true;
}

template <class T>
void take_all(std::map<object_key, std::shared_ptr<const T>>& into, const storage& from,
              const kube::resource_type& type) {
    for (const auto& each : from.all(type)) {
        if (auto now = read<T>(*each)) into[{each->ns(), each->name()}] = std::move(now);
    }
}

template <class T>
std::shared_ptr<const T> find_in(const std::map<object_key, std::shared_ptr<const T>>& all,
                                 const object_key& key) {
    const auto found = all.find(key);
    return found == all.end() ? nullptr : found->second;
}

}  // namespace

bool is_about_slots(std::string_view reason) {
    using namespace answers::blocking_reason;
    static const std::set<std::string_view> all{
        too_few_free_slots, slots_not_free, job_before,    not_acquired, slot_of_job,
        slot_in_error,      slot_occupied,  ghost_missing, run_ending,   coordinator_busy};
    return all.contains(reason);
}

picture::picture(const storage& objects, bool cross_namespace_jobs) {
    all_.cross_namespace_jobs = cross_namespace_jobs;
    take_all(all_.schedulings, objects, kinds::scheduling);
    take_all(all_.testbeds, objects, kinds::testbed);
    take_all(all_.jobs, objects, kinds::batchjob);
    take_all(pods_, objects, kinds::pod);
    take_all(slices_, objects, kinds::slot_slice);
    take_pods();
}

bool picture::follow(const change& what) {
    if (take(all_.schedulings, kinds::scheduling, what)) return true;
    if (take(all_.testbeds, kinds::testbed, what)) return true;
    if (take(all_.jobs, kinds::batchjob, what)) return true;
    if (!take(pods_, kinds::pod, what) && !take(slices_, kinds::slot_slice, what)) return false;
    take_pods();
    return true;
}

void picture::take_pods() {
    all_.pods.clear();
    all_.slices.clear();
    of_jobs_.clear();
    for (const auto& [key, pod] : pods_) {
        if (!pod->metadata.label(model::names::testbed).empty()) all_.pods.push_back(pod);
        if (!pod->metadata.label(model::names::job).empty()) of_jobs_.push_back(pod);
    }
    for (const auto& [key, slice] : slices_) all_.slices.push_back(slice);
}

self_pointer picture::scheduling(const object_key& key) const {
    return find_in(all_.schedulings, key);
}
std::shared_ptr<const model::batchjob> picture::job(const object_key& key) const {
    return find_in(all_.jobs, key);
}
std::shared_ptr<const model::testbed> picture::testbed(const object_key& key) const {
    return find_in(all_.testbeds, key);
}
grid::pod_pointer picture::pod(const object_key& key) const { return find_in(pods_, key); }

answers::preview picture::preview_of(self_pointer self, wall_time now) const {
    return answers::preview_of(answers::view_of(all_, std::move(self)), now);
}

answers::explanation picture::explain(self_pointer self, wall_time now) const {
    return answers::explain(answers::view_of(all_, std::move(self)), now, of_jobs_);
}

}  // namespace esi::simulation::foresee

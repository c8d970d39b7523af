#include "foresee/watcher.h"

#include <algorithm>
#include <set>

#include "base/fields.h"
#include "model/names.h"

namespace esi::simulation::foresee {

namespace {

namespace names = model::names;

/// What is left of an object once that which such a step may write is taken away.
json rest_of_testbed(json body) {
    for (const char* key :
         {"resourceVersion", "managedFields", "labels", "annotations", "finalizers"}) {
        body["metadata"].erase(key);
    }
    return body;
}

json rest_of_job(json body) {
    body["metadata"].erase("resourceVersion");
    body["metadata"].erase("managedFields");
    body["metadata"].erase("generation");
    body["spec"].erase("activeScheduling");
    body.erase("status");
    return body;
}

json rest_of_scheduling(json body) {
    body["metadata"].erase("resourceVersion");
    body["metadata"].erase("managedFields");
    body["metadata"].erase("finalizers");
    body.erase("status");
    return body;
}

std::string_view holder_of(const json& testbed) {
    return grid::scheduling_uid_of_hold(fields::annotation(testbed, names::hold));
}

/// Its right is this Scheduling's, and it is about to be started or comes to that.
bool is_acquired(const json& job, const std::string& uid) {
    const auto state = fields::text(job, {"status", "state"});
    return fields::text(job, {"spec", "activeScheduling", "uid"}) == uid &&
           (state == "ReadyState" || state == "InQueueState");
}

bool has_no_holder(const json& job) {
    return fields::find(job, {"spec", "activeScheduling"}) == nullptr;
}

}  // namespace

std::map<object_key, std::vector<int>> new_assignments(const model::scheduling* before,
                                                       const object& after) {
    std::set<std::string_view> known;
    if (before != nullptr && before->metadata.uid == after.uid()) {
        for (const auto& a : before->status.assignments) known.insert(a.run);
    }
    std::map<object_key, std::vector<int>> out;
    const auto* list = fields::find(after.body(), {"status", "assignments"});
    if (!list || !list->is_array()) return out;
    for (const auto& a : *list) {
        if (known.contains(fields::text(a, {"run"})) || fields::find(a, {"ended"})) continue;
        std::vector<int> slots;
        if (const auto* ids = fields::find(a, {"slotIds"}); ids && ids->is_array()) {
            slots = ids->get<std::vector<int>>();
        }
        std::ranges::sort(slots);
        out[{std::string(fields::text(a, {"job", "namespace"})),
             std::string(fields::text(a, {"job", "name"}))}] = std::move(slots);
    }
    return out;
}

std::string holder_in(const object& testbed) { return std::string(holder_of(testbed.body())); }

bool is_own_step(const picture& seen, const change& what, const std::string& uid) {
    if (what.what != change_type::modified) return false;
    const auto& old = what.before->body();
    const auto& now = what.after->body();
    const auto& plural = what.type->plural;
    if (plural == kinds::scheduling.plural) {
        const auto self = seen.scheduling({what.after->ns(), what.after->name()});
        return what.after->uid() == uid && self && self->status.assignments.empty() &&
               rest_of_scheduling(old) == rest_of_scheduling(now);
    }
    if (plural == kinds::testbed.plural) {
        return holder_of(old).empty() && holder_of(now) == uid &&
               rest_of_testbed(old) == rest_of_testbed(now);
    }
    if (plural == kinds::batchjob.plural) {
        const bool ready = fields::text(old, {"status", "state"}) == "ReadyState";
        return ((has_no_holder(old) && ready) || is_acquired(old, uid)) && is_acquired(now, uid) &&
               rest_of_job(old) == rest_of_job(now);
    }
    return false;
}

}  // namespace esi::simulation::foresee

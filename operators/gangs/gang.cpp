#include "gangs/gang.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "base/contains.h"
#include "model/names.h"

namespace esi::gangs {

namespace names = model::names;

stage stage_of(const model::pod& pod) {
    if (pod.terminal()) return stage::ended;
    if (pod.metadata.deleting()) return stage::leaving;
    if (pod.bound()) return stage::bound;
    if (is_gated(pod)) {
        if (pod.scheduling_gates.size() > 1) return stage::held;
        return pod.nominated_node_name.empty() ? stage::gated : stage::reserved;
    }
    return was_let_in(pod) ? stage::let_in : stage::not_gated;
}

bool is_gated(const model::pod& pod) { return contains(pod.scheduling_gates, names::gang); }

bool was_let_in(const model::pod& pod) {
    return !pod.metadata.annotation(names::gang_node).empty();
}

bool leaves_nominated(const model::pod& pod) {
    const bool is_ours = is_gated(pod) || was_let_in(pod);
    return is_ours && stage_of(pod) == stage::leaving && !pod.bound() &&
           !pod.nominated_node_name.empty();
}

int gang::count(stage at) const {
    return static_cast<int>(std::ranges::count(members, at, &member::at));
}

std::optional<std::int64_t> gang::minimum() const {
    if (group) return group.object->spec.min_member;
    std::optional<std::int64_t> out;
    if (key.by != way::kube_batch) return out;
    for (const auto& each : members) {
        // A pod that has ended or is being deleted may be of an earlier run, with another number.
        if (each.at == stage::ended || each.at == stage::leaving) continue;
        const auto own = minimum_on(*each.pod);
        if (own && (!out || *own > *out)) out = own;
    }
    return out;
}

bool gang::suspended() const {
    if (group) return group.object->suspended();
    return std::ranges::any_of(members, [](const member& each) {
        return each.pod->metadata.annotation(names::suspend) == "true";
    });
}

std::optional<model::timestamp> gang::created() const {
    if (group) return group.object->metadata.creation_timestamp;
    return members.empty() ? std::nullopt : members.front().pod->metadata.creation_timestamp;
}

const std::string& gang::uid() const {
    static const std::string none;
    if (group) return group.object->metadata.uid;
    return members.empty() ? none : members.front().uid();
}

const member* gang::find(std::string_view uid) const {
    if (by_uid.size() == members.size()) {
        const auto uid_of = [&](std::uint32_t i) { return std::string_view(members[i].uid()); };
        const auto at = std::ranges::lower_bound(by_uid, uid, {}, uid_of);
        return at == by_uid.end() || uid_of(*at) != uid ? nullptr : &members[*at];
    }
    const auto found = std::ranges::find(members, uid, &member::uid);
    return found == members.end() ? nullptr : &*found;
}

gang make_gang(gang_key key, group_object group, const std::vector<pod_pointer>& pods,
               bool enabled) {
    gang out{std::move(key), std::move(group), {}, enabled, {}};
    out.members.reserve(pods.size());
    for (const auto& pod : pods) out.members.push_back({pod, stage_of(*pod)});
    std::ranges::sort(out.members, [](const member& a, const member& b) {
        const auto& one = a.pod->metadata;
        const auto& two = b.pod->metadata;
        return std::tie(one.creation_timestamp, one.name, one.uid) <
               std::tie(two.creation_timestamp, two.name, two.uid);
    });
    out.by_uid.resize(out.members.size());
    std::iota(out.by_uid.begin(), out.by_uid.end(), 0U);
    std::ranges::sort(out.by_uid, {},
                      [&](std::uint32_t i) -> const std::string& { return out.members[i].uid(); });
    return out;
}

}  // namespace esi::gangs

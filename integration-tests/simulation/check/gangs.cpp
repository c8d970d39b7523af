// What is known of gangs, and who is let in.
#include "check/gangs.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/fields.h"
#include "base/group_kinds.h"

namespace esi::simulation::checks {

namespace {

constexpr std::string_view gate = "esi.tu-berlin.de/gang";
constexpr std::string_view node_annotation = "esi.tu-berlin.de/gang-node";
constexpr std::string_view minimum_annotation = "scheduling.k8s.io/group-min-member";

const json* list_at(const json& from, std::initializer_list<std::string_view> path) {
    const auto* found = fields::find(from, path);
    return found && found->is_array() ? found : nullptr;
}

std::optional<std::int64_t> whole(std::string_view text) {
    std::int64_t out = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), out);
    if (text.empty() || read.ec != std::errc() || read.ptr != text.data() + text.size()) return {};
    return out;
}

bool says_unschedulable(const json& pod) {
    const auto* list = list_at(pod, {"status", "conditions"});
    return list && std::ranges::any_of(*list, [](const json& one) {
               return fields::text(one, {"type"}) == "PodScheduled" &&
                      fields::text(one, {"status"}) == "False" &&
                      fields::text(one, {"reason"}) != "SchedulingGated";
           });
}

bool names_node(const json& term, const std::string& node) {
    const auto* list = list_at(term, {"matchFields"});
    return list && std::ranges::any_of(*list, [&](const json& one) {
               return fields::text(one, {"key"}) == "metadata.name" &&
                      fields::text(one, {"operator"}) == "In" &&
                      one.value("values", json()) == json::array({node});
           });
}

const json* terms_of(const json& pod) {
    return list_at(pod, {"spec", "affinity", "nodeAffinity",
                         "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms"});
}

}  // namespace

const std::string& gang_rules::member::promised() const {
    static const std::string nothing;
    if (ended || !bound.empty()) return nothing;
    if (let_in) return let_in_node;
    return gated ? nominated : nothing;
}

std::string gang_rules::text_of(const key& which) {
    const auto& [way, ns, name] = which;
    return fmt::format("{}/{} ({})", ns, name, way);
}

gang_rules::gang_rules(context& here, const storage& objects, gang_times times)
    : here_(here),
      all_(here.all),
      out_(here.out),
      objects_(objects),
      times_(times),
      hindered_until_(here.now() - seconds(3600)),
      next_sample_(here.now()) {}

void gang_rules::take(member& into, const pod_record& from) {
    const auto& body = from.raw->body();
    into.raw = from.raw;
    into.uid = from.raw->uid();
    into.name = from.name();
    into.needs = demand_of(*from.pod);
    into.priority = from.priority;
    into.scheduler = from.pod->scheduler_name;
    bool gated = false;
    into.other_gate = false;
    for (const auto& each : from.pod->scheduling_gates) {
        (each == gate ? gated : into.other_gate) = true;
    }
    into.gated = gated;
    into.let_in_node = fields::annotation(body, node_annotation);
    into.bound = from.pod->node_name;
    into.deleting = from.pod->metadata.deleting();
    into.ended = from.pod->terminal();
    into.unschedulable = says_unschedulable(body);
    const auto& nominated = from.pod->nominated_node_name;
    if (nominated.empty()) {
        into.nominated_since.reset();
        into.kept_since.reset();
        into.touched.reset();
    } else {
        if (nominated != into.nominated) into.nominated_since = here_.now();
        if (!into.kept_since) into.kept_since = here_.now();
        into.touched = here_.now();
    }
    into.nominated = nominated;
}

void gang_rules::pod_changed(const std::string& uid, const pod_record* after) {
    const auto known = members_.find(uid);
    if (!after) {
        if (known == members_.end()) return;
        auto& of = gangs_[known->second.group];
        of.members.erase(uid);
        members_.erase(known);
        return;
    }
    const auto& body = after->raw->body();
    const auto named = simulation::group_of(body);
    if (named.name.empty() || after->ghost()) {
        // One that was bound just now.
        if (after->bound_at == here_.now() && after->pod->bound()) promises_are_kept(*after);
        return;
    }
    const key which{std::string(named.way), after->raw->ns(), std::string(named.name)};
    if (known == members_.end()) {
        auto& made = members_[uid];
        made.group = which;
        made.created = here_.now();
        take(made, *after);
        gangs_[which].members.insert(uid);
        if (after->pod->bound()) came(after->pod->node_name);
        return;
    }
    const member before = known->second;
    auto& now = known->second;
    take(now, *after);
    if (before.gated && !now.gated && !now.let_in_node.empty() && !now.let_in) {
        now.let_in = true;
        now.let_in_at = here_.now();
        let_in(before, now);
    }
    auto& of = gangs_[now.group];
    if (!now.bound.empty() && before.bound.empty()) {
        if (now.let_in) {
            out_.require(now.bound == now.let_in_node, "gang-bound-elsewhere", {uid}, [&] {
                return fmt::format("member {} was let in to {} and is bound to {}", now.name,
                                   now.let_in_node, now.bound);
            });
        } else {
            came(now.bound);
        }
        if (see_reached(now.group, group_of_key(now.group), of)) of.started = true;
    }
    const bool somebody = std::ranges::any_of(of.members, [&](const auto& each) {
        const auto& one = members_.at(each);
        return one.live() && (one.let_in || !one.bound.empty());
    });
    if (!somebody) of.started = false;
}

bool gang_rules::see_reached(const key& which, const group_view& seen, gang& of) const {
    const auto there = count(which);
    const bool reaches = seen.least && there.bound + there.well >= *seen.least;
    if (reaches) of.reached = seen.least;
    if (there.placed() == 0) of.reached.reset();
    return reaches;
}

gang_rules::group_view gang_rules::group_of_key(const key& which) const {
    const auto& [way, ns, name] = which;
    group_view out;
    out.enabled = namespace_enabled(ns);
    std::string oldest;
    for (const auto& kind : group_kinds()) {
        if (kind.way != way || !kind.type) continue;
        const auto found = objects_.find(*kind.type, ns, name);
        if (!found || fields::deleting(found->body())) continue;
        const std::string made(fields::text(found->body(), {"metadata", "creationTimestamp"}));
        if (out.kept && made >= oldest) continue;
        oldest = made;
        out.kept = found;
    }
    if (out.kept) {
        const auto& body = out.kept->body();
        out.object = &body;
        const auto* least = fields::find(body, {"spec", "minMember"});
        if (least && least->is_number_integer()) out.least = least->get<std::int64_t>();
        out.suspended = fields::annotation(body, "esi.tu-berlin.de/suspend") == "true";
        out.deletes_partial = fields::annotation(body, "esi.tu-berlin.de/on-partial") == "Delete";
        return out;
    }
    const auto found = gangs_.find(which);
    if (found == gangs_.end()) return out;
    for (const auto& uid : found->second.members) {
        const auto& body = members_.at(uid).raw->body();
        if (way == "kube-batch") {
            const auto said = whole(fields::annotation(body, minimum_annotation));
            if (said && *said > out.least.value_or(0)) out.least = said;
        }
        if (fields::annotation(body, "esi.tu-berlin.de/suspend") == "true") out.suspended = true;
    }
    return out;
}

bool gang_rules::namespace_enabled(const std::string& ns) const {
    const auto found = objects_.find(kinds::name_space, {}, ns);
    return found && fields::label(found->body(), "esi.tu-berlin.de/gangs") == "enabled";
}

std::vector<const gang_rules::member*> gang_rules::members_of(const key& which) const {
    std::vector<const member*> out;
    const auto found = gangs_.find(which);
    if (found == gangs_.end()) return out;
    for (const auto& uid : found->second.members) out.push_back(&members_.at(uid));
    return out;
}

gang_rules::tally gang_rules::count(const key& which, std::string_view except) const {
    tally out;
    const auto all = members_of(which);
    std::set<std::string_view> controllers;
    for (const auto* one : all) {
        const auto controller = fields::controller(one->raw->body());
        if (one->live() && !controller.empty()) controllers.insert(controller);
    }
    for (const auto* one : all) {
        if (one->uid == except) continue;
        const bool was_let_in = !one->let_in_node.empty();
        if (one->ended) {
            if (!controllers.contains(fields::controller(one->raw->body()))) continue;
            if (fields::phase(one->raw->body()) == "Succeeded") ++out.well;
            out.begun = out.begun || was_let_in;
        } else if (one->live()) {
            out.begun = out.begun || was_let_in;
            if (!one->bound.empty()) {
                ++out.bound;
            } else if (one->let_in) {
                ++out.coming;
            } else if (one->waits() && one->scheduler == "default-scheduler") {
                ++out.waiting;
            }
        }
    }
    return out;
}

std::optional<model::amounts> gang_rules::free_on(const std::string& node,
                                                  std::optional<steady_time> since) const {
    const auto found = all_.nodes.find(node);
    if (found == all_.nodes.end() || !found->second.node) return std::nullopt;
    auto out = found->second.node->allocatable;
    const auto there = all_.on_node.find(node);
    if (there == all_.on_node.end()) return out;
    for (const auto& uid : there->second) {
        const auto& pod = all_.pods.at(uid);
        if (since && pod.bound_at && *pod.bound_at > *since) continue;
        model::take(out, demand_of(*pod.pod));
    }
    return out;
}

model::amounts gang_rules::promised_on(const std::string& node, const std::set<key>& except) const {
    model::amounts out;
    for (const auto& [uid, one] : members_) {
        if (one.promised() == node && !except.contains(one.group)) model::add(out, one.needs);
    }
    return out;
}

void gang_rules::let_in(const member& before, const member& after) {
    pinned_everywhere(after);
    out_.require(before.nominated == after.let_in_node, "let-in-elsewhere", {after.uid}, [&] {
        return fmt::format("member {} was let in to {}, and nominated to \"{}\"", after.name,
                           after.let_in_node, before.nominated);
    });
    // Another one that was let in while this one was there proves that the look was passed.
    const bool proof = std::ranges::any_of(members_of(after.group), [&](const member* one) {
        return one->uid != after.uid && one->live() && one->let_in_at &&
               *one->let_in_at >= after.created;
    });
    if (proof) return;
    const auto& of = gangs_.at(after.group);
    if (of.suspended_since && group_of_key(after.group).suspended && here_.fresh("testbed")) {
        out_.require(here_.now() < *of.suspended_since + cache_is_behind, "let-in-suspended",
                     {after.uid}, [&] {
                         return fmt::format("member {} of the suspended group {} was let in",
                                            after.name, text_of(after.group));
                     });
    }
    minimum_was_seen(after);
}

void gang_rules::pinned_everywhere(const member& after) {
    const auto* terms = terms_of(after.raw->body());
    const bool all = terms && !terms->empty() && std::ranges::all_of(*terms, [&](const json& one) {
                         return names_node(one, after.let_in_node);
                     });
    out_.require(all, "gang-not-pinned", {after.uid}, [&] {
        return fmt::format("member {} was let in to {} without it in every required term",
                           after.name, after.let_in_node);
    });
}

/// Its taints, labels and cordon keep no member away that is about to be let in to it.
void gang_rules::node_takes(const member& who, const std::string& node) {
    const auto found = all_.nodes.find(node);
    const auto now = objects_.find(kinds::node, {}, node);
    if (!here_.fresh("testbed") || !now || found == all_.nodes.end()) return;
    const auto& changed = found->second.changed;
    if (changed && here_.now() < *changed + cache_is_behind) return;
    out_.require(takes(now->body(), who.raw->body()), "let-in-unfit", {who.uid}, [&] {
        return fmt::format("a member of {} was let in, and {} does not take its member {}",
                           text_of(who.group), node, who.name);
    });
}

/// The first of a start (or one more of a gang that has started): the operator has been shown each
/// node concerned after the nominations to it, and there was room then for all of them.
void gang_rules::minimum_was_seen(const member& after) {
    const auto seen = group_of_key(after.group);
    const auto there = count(after.group, after.uid);
    std::map<std::string, model::amounts> needed;
    std::map<std::string, steady_time> nominated;
    std::int64_t places = there.placed();
    for (const auto* one : members_of(after.group)) {
        const bool self = one->uid == after.uid;
        // One that is made anew, or is beyond the minimum, is let in alone.
        if (!self && (there.begun || !one->waits() || one->nominated.empty())) continue;
        ++places;
        const auto& node = self ? after.let_in_node : one->nominated;
        node_takes(*one, node);
        model::add(needed[node], one->needs);
        auto& last = nominated[node];
        if (one->nominated_since) last = std::max(last, *one->nominated_since);
    }
    if (!there.begun && seen.least && here_.fresh("testbed")) {
        out_.require(places >= *seen.least, "let-in-in-part", {after.uid}, [&] {
            return fmt::format("member {} of {} was let in with {} places of the {} that it needs",
                               after.name, text_of(after.group), places, *seen.least);
        });
    }
    for (const auto& [node, amounts] : needed) {
        if (here_.disturbed_node(node)) continue;
        const auto found = looks_.find(node);
        const look* good = nullptr;
        const look* newest = nullptr;
        if (found != looks_.end()) {
            for (const auto& each : found->second) {
                if (each.at < nominated[node]) continue;
                newest = &each;
                auto needs = amounts;
                // Who was let in to it since then will be there, too.
                for (const auto& [uid, one] : members_) {
                    if (one.coming() && one.let_in_node == node && one.group != after.group &&
                        one.let_in_at && *one.let_in_at > each.at) {
                        model::add(needs, one.needs);
                    }
                }
                if (fits(needs, each.free)) good = &each;
            }
        }
        out_.require(newest != nullptr, "let-in-unseen", {after.uid}, [&] {
            return fmt::format(
                "member {} of {} was let in, and nobody had looked at {} since its "
                "members were nominated to it",
                after.name, text_of(after.group), node);
        });
        if (!newest) continue;
        out_.require(good != nullptr, "let-in-without-room", {after.uid}, [&] {
            return fmt::format(
                "member {} of {} was let in, the look showed {} on {}, its members "
                "need {}",
                after.name, text_of(after.group), show(newest->free), node, show(amounts));
        });
    }
}

}  // namespace esi::simulation::checks

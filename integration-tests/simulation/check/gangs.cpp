#include "check/gangs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <tuple>

#include "base/fields.h"
#include "base/group_kinds.h"

namespace esi::simulation::checks {

namespace {

constexpr std::string_view gate = "esi.tu-berlin.de/gang";
constexpr std::string_view node_annotation = "esi.tu-berlin.de/gang-node";
constexpr std::string_view minimum_annotation = "scheduling.k8s.io/group-min-member";
/// A pod that was bound so short ago may be unknown to the operator's cache.
constexpr seconds cache_is_behind{3};
/// A nomination of that age is known to an undisturbed scheduler, and what it had begun is bound.
constexpr seconds nomination_is_known{10};
/// A leader that is undisturbed has shown its nominations to a new scheduler by then.
constexpr seconds shown_again{15};
/// From room to the first let-in where nobody keeps anything.
constexpr seconds prompt{45};
constexpr seconds sample_period{5};
constexpr std::size_t looks_kept = 8;

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

bool meets(const json& requirement, const json& node) {
    const auto value = fields::label(node, fields::text(requirement, {"key"}));
    const auto how = fields::text(requirement, {"operator"});
    const auto* values = list_at(requirement, {"values"});
    const bool listed = values && std::ranges::any_of(*values, [&](const json& one) {
                            return one == json(std::string(value));
                        });
    if (how == "In") return listed;
    if (how == "NotIn") return !listed;
    return how == "Exists" && !value.empty();
}

const json* terms_of(const json& pod) {
    return list_at(pod, {"spec", "affinity", "nodeAffinity",
                         "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms"});
}

bool tolerated(const json& pod, const json& taint) {
    if (fields::text(taint, {"effect"}) == "PreferNoSchedule") return true;
    const auto* list = list_at(pod, {"spec", "tolerations"});
    return list && std::ranges::any_of(*list, [&](const json& one) {
               const auto effect = fields::text(one, {"effect"});
               if (!effect.empty() && effect != fields::text(taint, {"effect"})) return false;
               const auto key = fields::text(one, {"key"});
               const bool exists = fields::text(one, {"operator"}) == "Exists";
               if (key.empty()) return exists;
               return key == fields::text(taint, {"key"}) &&
                      (exists || fields::text(one, {"value"}) == fields::text(taint, {"value"}));
           });
}

/// How many of `size` fit into `free`.
std::int64_t how_many(const model::amounts& size, const model::amounts& free) {
    std::int64_t out = 1000;
    for (const auto& [name, amount] : size) {
        if (amount <= 0) continue;
        const auto found = free.find(name);
        const auto have = found == free.end() ? 0 : found->second;
        out = std::min(out, std::max<std::int64_t>(have, 0) / amount);
    }
    return out;
}

std::string text_of(const std::tuple<std::string, std::string, std::string>& key) {
    const auto& [way, ns, name] = key;
    return fmt::format("{}/{} ({})", ns, name, way);
}

}  // namespace

const std::string& gang_rules::member::promised() const {
    static const std::string nothing;
    if (ended || !bound.empty()) return nothing;
    if (let_in) return let_in_node;
    return gated ? nominated : nothing;
}

gang_rules::gang_rules(context& here, const storage& objects, gang_times times)
    : here_(here),
      all_(here.all),
      out_(here.out),
      objects_(objects),
      times_(times),
      hindered_until_(here.now() - seconds(3600)),
      next_sample_(here.now()) {}

// What is known.

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
        into.ever_nominated.insert(nominated);
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
        if (after->pod->bound()) came_[after->pod->node_name] = here_.now();
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
    if (now.gated && !now.nominated.empty() && now.nominated != before.nominated &&
        !before.ever_nominated.contains(now.nominated)) {
        promise_has_room(now);
    }
    auto& of = gangs_[now.group];
    if (!now.bound.empty() && before.bound.empty()) {
        if (now.let_in) {
            out_.require(now.bound == now.let_in_node, "gang-bound-elsewhere", {uid}, [&] {
                return fmt::format("member {} was let in to {} and is bound to {}", now.name,
                                   now.let_in_node, now.bound);
            });
        } else {
            came_[now.bound] = here_.now();
        }
        const auto seen = group_of_key(now.group);
        if (seen.least && bound_of(now.group) >= *seen.least) of.started = true;
    }
    const bool somebody = std::ranges::any_of(of.members, [&](const auto& each) {
        const auto& one = members_.at(each);
        return one.live() && (one.let_in || !one.bound.empty());
    });
    if (!somebody) of.started = false;
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

int gang_rules::bound_of(const key& which) const {
    return static_cast<int>(std::ranges::count_if(
        members_of(which), [](const member* one) { return one->live() && !one->bound.empty(); }));
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

model::amounts gang_rules::promised_on(const std::string& node, const key* except) const {
    model::amounts out;
    for (const auto& [uid, one] : members_) {
        if (one.promised() == node && (!except || one.group != *except)) {
            model::add(out, one.needs);
        }
    }
    return out;
}

// One change each.

void gang_rules::let_in(const member& before, const member& after) {
    pinned_everywhere(after);
    out_.require(before.nominated == after.let_in_node, "let-in-elsewhere", {after.uid}, [&] {
        return fmt::format("member {} was let in to {}, and nominated to \"{}\"", after.name,
                           after.let_in_node, before.nominated);
    });
    const auto seen = group_of_key(after.group);
    const auto& of = gangs_.at(after.group);
    if (of.suspended_since && here_.fresh("testbed")) {
        out_.require(here_.now() < *of.suspended_since + cache_is_behind, "let-in-suspended",
                     {after.uid}, [&] {
                         return fmt::format("member {} of the suspended group {} was let in",
                                            after.name, text_of(after.group));
                     });
    }
    // Another one that was let in proves that the look was passed.
    const bool proof = !of.started && std::ranges::any_of(members_of(after.group), [&](auto* one) {
        return one->uid != after.uid && one->let_in && one->live();
    });
    if (!proof) minimum_was_seen(after);
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

/// The first of a start (or one more of a gang that has started): the operator has been shown each
/// node concerned after the nominations to it, and there was room then for all of them.
void gang_rules::minimum_was_seen(const member& after) {
    const auto seen = group_of_key(after.group);
    const bool started = gangs_.at(after.group).started;
    std::map<std::string, model::amounts> needed;
    std::map<std::string, steady_time> nominated;
    std::int64_t count = 0;
    for (const auto* one : members_of(after.group)) {
        if (one->live() && !one->bound.empty()) ++count;
        const bool self = one->uid == after.uid;
        if (!self && !(one->waits() && !one->nominated.empty())) continue;
        // A member beyond the minimum is let in alone.
        if (!self && started) continue;
        ++count;
        const auto& node = self ? after.let_in_node : one->nominated;
        model::add(needed[node], one->needs);
        auto& last = nominated[node];
        if (one->nominated_since) last = std::max(last, *one->nominated_since);
    }
    if (!started && seen.least && here_.fresh("testbed")) {
        out_.require(count >= *seen.least, "let-in-in-part", {after.uid}, [&] {
            return fmt::format("member {} of {} was let in with {} places of the {} that it needs",
                               after.name, text_of(after.group), count, *seen.least);
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
                if (fits(amounts, each.free)) good = &each;
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

void gang_rules::listed(const std::string& node) {
    const auto free = free_on(node);
    if (!free) return;
    auto left = *free;
    for (const auto& [uid, one] : members_) {
        if (one.coming() && one.let_in_node == node) model::take(left, one.needs);
    }
    auto& of = looks_[node];
    of.push_back({here_.now(), std::move(left)});
    if (of.size() > looks_kept) of.pop_front();
}

/// All promises of a node fit into what is free of it. One gang at a time, which has waited long,
/// keeps what is not free yet.
void gang_rules::promise_has_room(const member& after) {
    const auto& node = after.nominated;
    if (!here_.fresh("testbed") || here_.disturbed_node(node)) return;
    const auto free = free_on(node, here_.now() - cache_is_behind);
    if (!free || fits(promised_on(node), *free)) {
        out_.require(true, "promised-twice", {after.uid}, [] { return std::string(); });
        return;
    }
    std::set<key> there;
    for (const auto& [uid, one] : members_) {
        if (one.promised() == node) there.insert(one.group);
    }
    const bool kept_for_one = std::ranges::any_of(there, [&](const key& which) {
        const auto all = members_of(which);
        const bool waited = std::ranges::any_of(all, [&](const member* one) {
            return one->gated && here_.now() >= one->created + times_.reserve_after - seconds(5);
        });
        return waited && fits(promised_on(node, &which), *free);
    });
    out_.require(kept_for_one, "promised-twice", {after.uid}, [&] {
        std::vector<std::string> names;
        for (const auto& [uid, one] : members_) {
            if (one.promised() == node) names.push_back(one.name);
        }
        return fmt::format("{} is promised to {}, free are {} of the {} needed", node,
                           fmt::join(names, ", "), show(*free), show(promised_on(node)));
    });
}

bool gang_rules::somebody_came(const std::string& node, steady_time since) const {
    const auto came = came_.find(node);
    if (came != came_.end() && came->second >= since) return true;
    const auto last = preempted_on_.find(node);
    return last != preempted_on_.end() && last->second >= since;
}

/// A pod that is no gang's, or nobody's that ESI let in, was bound.
void gang_rules::promises_are_kept(const pod_record& stranger) {
    const auto& node = stranger.pod->node_name;
    const auto now = here_.now();
    came_[node] = now;
    if (stranger.by_name || here_.disturbed_node(node)) return;
    if (!here_.fresh("testbed") || !scheduler_quiet()) return;
    const auto last = preempted_on_.find(node);
    if (last != preempted_on_.end() && now < last->second + nomination_is_known) return;
    const auto began = here_.scheduler_began.find(stranger.pod->scheduler_name);
    model::amounts needed;
    std::vector<std::string> whose;
    for (const auto& [uid, one] : members_) {
        if (one.promised() != node || one.nominated != node || !one.live()) continue;
        if (one.scheduler != stranger.pod->scheduler_name || stranger.priority > one.priority) {
            continue;
        }
        if (!one.nominated_since || now < *one.nominated_since + nomination_is_known) continue;
        const bool unknown =
            began != here_.scheduler_began.end() && one.touched && began->second >= *one.touched;
        if (unknown && now < began->second + shown_again) continue;
        model::add(needed, one.needs);
        whose.push_back(one.name);
    }
    if (needed.empty()) return;
    auto free = free_on(node);
    if (!free) return;
    auto before = *free;
    model::add(before, demand_of(*stranger.pod));
    // Room that was not there before was not taken by this one.
    if (!fits(needed, before)) return;
    out_.require(fits(needed, *free), "promise-broken", {stranger.pod->metadata.uid}, [&] {
        return fmt::format("pod {} was bound to {} into room that was promised to {}; left is {}",
                           stranger.name(), node, fmt::join(whose, ", "), show(*free));
    });
}

void gang_rules::preempted(const json& victim, const json& by) {
    const std::string node(fields::text(victim, {"spec", "nodeName"}));
    const auto found = members_.find(fields::text(by, {"metadata", "uid"}));
    if (found == members_.end() || !found->second.let_in) {
        preempted_on_[node] = here_.now();
        return;
    }
    const auto& one = found->second;
    const auto since = one.nominated_since.value_or(*one.let_in_at);
    const auto began = here_.scheduler_began.find(one.scheduler);
    const bool restarted = began != here_.scheduler_began.end() && began->second >= since;
    const bool excused =
        restarted || !scheduler_quiet() || here_.disturbed_node(node) || somebody_came(node, since);
    preempted_on_[node] = here_.now();
    out_.require(excused, "evicted-for-a-gang", {one.uid}, [&] {
        return fmt::format(
            "pod {} was preempted on {} for member {}, though nobody had come there "
            "since its nomination",
            fields::text(victim, {"metadata", "name"}), node, one.name);
    });
}

void gang_rules::sent(const kube::request& what) {
    constexpr std::string_view head = "/api/v1/namespaces/";
    std::string_view path = what.target;
    path = path.substr(0, path.find('?'));
    if (!path.starts_with(head)) return;
    path.remove_prefix(head.size());
    const auto slash = path.find("/pods/");
    if (slash == path.npos) return;
    const std::string ns(path.substr(0, slash));
    auto name = path.substr(slash + 6);
    name = name.substr(0, name.find('/'));
    const auto pod = objects_.find(kinds::pod, ns, name);
    if (!pod || !fields::label(pod->body(), "esi.tu-berlin.de/ghost").empty()) return;
    const auto known = members_.find(pod->uid());
    if (!fields::label(pod->body(), "esi.tu-berlin.de/testbed").empty()) return;
    if (known == members_.end()) {
        out_.require(false, "stranger-written", {pod->uid()}, [&] {
            return fmt::format("esi-testbed sent {} {}, which is neither a ghost nor a gang's",
                               what.method, what.target);
        });
        return;
    }
    const auto& one = known->second;
    out_.require(ever_enabled_.contains(ns) || namespace_enabled(ns), "not-enabled", {one.uid},
                 [&] {
                     return fmt::format("esi-testbed sent {} {} in a namespace that is not enabled",
                                        what.method, what.target);
                 });
    if (what.method != "DELETE" || !here_.fresh("testbed")) return;
    const auto seen = group_of_key(one.group);
    const bool refused = one.coming() && one.unschedulable;
    out_.require(refused || seen.deletes_partial || one.ended, "deleted-for-a-gang", {one.uid},
                 [&] {
                     return fmt::format(
                         "esi-testbed deletes member {}, which was not refused, and its group "
                         "does not say Delete",
                         one.name);
                 });
}

void gang_rules::scheduler_hindered(steady_time until) {
    hindered_until_ = std::max(hindered_until_, until);
}

// As time passes.

void gang_rules::time_passes() {
    if (here_.now() < next_sample_) return;
    next_sample_ = here_.now() + sample_period;
    for (const auto& space : objects_.all(kinds::name_space)) {
        if (namespace_enabled(space->name())) ever_enabled_.insert(space->name());
    }
    for (auto& [which, one] : gangs_) {
        const bool suspended = group_of_key(which).suspended;
        if (!suspended) one.suspended_since.reset();
        if (suspended && !one.suspended_since) one.suspended_since = here_.now();
    }
    reserves_end();
    gangs_start_in_time();
}

void gang_rules::reserves_end() {
    if (!here_.fresh("testbed")) return;
    auto since = here_.now() - times_.reserve_for - seconds(60);
    const auto leads = here_.leads_since.find("testbed");
    if (leads == here_.leads_since.end() || leads->second >= since) return;
    const auto until = here_.disturbed_until.find("testbed");
    if (until != here_.disturbed_until.end() && until->second >= since) return;
    for (const auto& [uid, one] : members_) {
        if (!one.waits() || !one.kept_since) continue;
        out_.require(*one.kept_since >= since, "reserve-without-end", {uid}, [&] {
            return fmt::format(
                "member {} has kept room on {} at its gate for {} s", one.name, one.nominated,
                std::chrono::duration_cast<seconds>(here_.now() - *one.kept_since).count());
        });
    }
}

bool gang_rules::waits_for_room(const key& which, const group_view& seen) const {
    if (!seen.enabled || seen.suspended || !seen.least || *seen.least < 1) return false;
    if (gangs_.at(which).started) return false;
    std::int64_t ready = 0;
    bool waiting = false;
    for (const auto* one : members_of(which)) {
        if (one->live() && one->let_in && one->bound.empty()) return false;
        if (one->waits() && one->scheduler == "default-scheduler") {
            ++ready;
            waiting = true;
        } else if (one->live() && !one->bound.empty()) {
            ++ready;
        }
    }
    return waiting && ready >= *seen.least;
}

bool gang_rules::takes(const json& node, const json& pod) const {
    const auto* cordoned = fields::find(node, {"spec", "unschedulable"});
    if (cordoned && *cordoned == true) return false;
    if (const auto* taints = list_at(node, {"spec", "taints"})) {
        for (const auto& taint : *taints) {
            if (!tolerated(pod, taint)) return false;
        }
    }
    if (const auto* wanted = fields::find(pod, {"spec", "nodeSelector"})) {
        for (const auto& [key, value] : wanted->items()) {
            if (!value.is_string() || fields::label(node, key) != value.get<std::string>()) {
                return false;
            }
        }
    }
    const auto* terms = terms_of(pod);
    if (!terms) return true;
    return std::ranges::any_of(*terms, [&](const json& term) {
        if (list_at(term, {"matchFields"})) return false;
        const auto* list = list_at(term, {"matchExpressions"});
        return list &&
               std::ranges::all_of(*list, [&](const json& one) { return meets(one, node); });
    });
}

bool gang_rules::surely_fits(const key& which, const group_view& seen) const {
    model::amounts largest;
    std::vector<const member*> waiting;
    for (const auto* one : members_of(which)) {
        if (!one->waits()) continue;
        model::raise(largest, one->needs);
        waiting.push_back(one);
    }
    const auto missing = *seen.least - bound_of(which);
    std::int64_t places = 0;
    for (const auto& [name, record] : all_.nodes) {
        if (!record.node || !record.node->ready || here_.disturbed_node(name)) continue;
        // Places of Testbeds are not counted here.
        if (!all_.testbeds_on(name).empty()) continue;
        const auto node = objects_.find(kinds::node, {}, name);
        if (!node || !fields::label(node->body(), "example.com/slots").empty()) continue;
        const bool all = std::ranges::all_of(
            waiting, [&](const member* one) { return takes(node->body(), one->raw->body()); });
        auto free = free_on(name);
        if (!all || !free) continue;
        model::take(*free, promised_on(name, &which));
        for (const auto& [uid, pod] : all_.pods) {
            // Room that was made for somebody by preemption.
            if (!pod.pod->bound() && pod.live() && pod.pod->nominated_node_name == name &&
                !members_.contains(uid)) {
                model::take(*free, demand_of(*pod.pod));
            }
        }
        places += how_many(largest, *free);
    }
    return places >= missing;
}

void gang_rules::gangs_start_in_time() {
    const auto now = here_.now();
    const auto leads = here_.leads_since.find("testbed");
    const bool undisturbed = here_.fresh("testbed") && scheduler_quiet() &&
                             leads != here_.leads_since.end() && now > leads->second + seconds(20);
    for (auto& [which, one] : gangs_) {
        const auto seen = group_of_key(which);
        if (!undisturbed || !waits_for_room(which, seen) || !surely_fits(which, seen)) {
            one.fits_since.reset();
            continue;
        }
        if (!one.fits_since) one.fits_since = now;
        const bool kept = std::ranges::any_of(members_, [&](const auto& each) {
            return each.second.waits() && each.second.kept_since && each.second.group != which;
        });
        const auto most = kept ? times_.reserve_after + times_.reserve_for + prompt : prompt;
        out_.require(now <= *one.fits_since + most, "gang-late", {}, [&] {
            return fmt::format("{} could run for {} s and was not let in", text_of(which),
                               std::chrono::duration_cast<seconds>(now - *one.fits_since).count());
        });
    }
}

// The end.

bool gang_rules::under_way() const {
    return std::ranges::any_of(members_, [&](const auto& each) {
        const auto& one = each.second;
        return (one.waits() || one.coming()) && namespace_enabled(std::get<1>(one.group));
    });
}

void gang_rules::at_end() {
    for (const auto& [uid, one] : members_) {
        if (!one.live()) continue;
        out_.require(!one.gated || one.nominated.empty(), "left-behind", {}, [&] {
            return fmt::format("member {} waits at its gate at the end and keeps room on {}",
                               one.name, one.nominated);
        });
        if (!one.coming()) continue;
        // Only one whose room somebody else has taken still waits for it.
        const auto free = free_on(one.let_in_node);
        if (!free || here_.disturbed_node(one.let_in_node)) continue;
        out_.require(!fits(one.needs, *free) || !all_.nodes.at(one.let_in_node).node->ready,
                     "let-in-and-unbound", {}, [&] {
                         return fmt::format(
                             "member {} was let in to {}, has room there and is not "
                             "bound",
                             one.name, one.let_in_node);
                     });
    }
    for (const auto& [which, one] : gangs_) {
        const auto seen = group_of_key(which);
        out_.require(
            !waits_for_room(which, seen) || !surely_fits(which, seen), "gang-waits", {},
            [&] { return fmt::format("{} waits at the end, and has room", text_of(which)); });
        const int bound = bound_of(which);
        const bool part =
            seen.least && seen.enabled && !one.started && bound > 0 && bound < *seen.least &&
            std::ranges::any_of(members_of(which), [](const member* each) { return each->let_in; });
        out_.require(!part || !seen.deletes_partial, "in-part", {}, [&] {
            return fmt::format("{} says Delete and runs in part: {} of {}", text_of(which), bound,
                               *seen.least);
        });
    }
}

}  // namespace esi::simulation::checks

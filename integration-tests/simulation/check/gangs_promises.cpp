// What is promised of a node, and who gets it.
#include "check/gangs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/fields.h"

namespace esi::simulation::checks {

namespace {

/// A nomination of that age is known to an undisturbed scheduler, and what it had begun is bound.
constexpr seconds nomination_is_known{10};
/// From a scheduler's choice of a node, or of victims there, until it is written.
constexpr milliseconds chosen_is_written{500};
/// A leader that is undisturbed has shown its nominations to a new scheduler by then.
constexpr seconds shown_again{15};
/// From a stranger's coming until promises that have no room any more are taken back.
constexpr seconds gives_way{30};
constexpr std::size_t looks_kept = 8;

}  // namespace

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
bool gang_rules::promises_fit(const std::string& node) const {
    const auto free = free_on(node, here_.now() - cache_is_behind);
    if (!free || fits(promised_on(node), *free)) return true;
    return std::ranges::any_of(members_, [&](const auto& each) {
        const auto& one = each.second;
        return one.promised() == node && one.gated &&
               here_.now() >= one.created + times_.reserve_after - seconds(5) &&
               fits(promised_on(node, {one.group}), *free);
    });
}

/// Of a node where no nomination is fresh: places change hands by requests that cross.
void gang_rules::promises_have_room() {
    if (!here_.fresh("testbed")) return;
    const auto then = here_.now() - cache_is_behind;
    std::set<std::string> nodes;
    for (const auto& [uid, one] : members_) {
        if (one.waits() && !one.nominated.empty()) nodes.insert(one.nominated);
    }
    for (const auto& [uid, one] : members_) {
        if (one.nominated_since && *one.nominated_since > then) nodes.erase(one.nominated);
    }
    for (const auto& node : nodes) {
        // Who came of a higher priority is given way to.
        if (here_.disturbed_node(node) || somebody_came(node, here_.now() - gives_way)) continue;
        out_.require(promises_fit(node), "promised-twice", {}, [&] {
            std::vector<std::string> names;
            for (const auto& [uid, one] : members_) {
                if (one.promised() == node) names.push_back(one.name);
            }
            return fmt::format("{} is promised to {}: {}; free are {}", node,
                               fmt::join(names, ", "), show(promised_on(node)),
                               show(*free_on(node)));
        });
    }
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
    came(node);
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
        chosen_before(node);
        return;
    }
    const auto& one = found->second;
    // An attempt that fails takes its nomination off, the next one sets it again.
    const auto since = std::min(one.nominated_since.value_or(*one.let_in_at), *one.let_in_at);
    const auto began = here_.scheduler_began.find(one.scheduler);
    const bool restarted = began != here_.scheduler_began.end() && began->second >= since;
    const bool excused =
        restarted || !scheduler_quiet() || here_.disturbed_node(node) || somebody_came(node, since);
    preempted_on_[node] = here_.now();
    if (excused) return;
    evictions_.push_back({node, one.uid, here_.now(),
                          fmt::format("pod {} was preempted on {} for member {}, though nobody had "
                                      "come there since its nomination",
                                      fields::text(victim, {"metadata", "name"}), node, one.name)});
}

void gang_rules::came(const std::string& node) {
    came_[node] = here_.now();
    chosen_before(node);
}

/// The scheduler had chosen the node for another pod before the member's turn.
void gang_rules::chosen_before(const std::string& node) {
    std::erase_if(evictions_, [&](const auto& each) {
        return each.node == node && here_.now() <= each.at + chosen_is_written;
    });
}

void gang_rules::evictions_have_reasons(steady_time until) {
    std::erase_if(evictions_, [&](const auto& each) {
        if (each.at + chosen_is_written > until) return false;
        out_.require(false, "evicted-for-a-gang", {each.uid}, [&] { return each.text; });
        return true;
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
    const bool part = seen.deletes_partial && !gangs_.at(one.group).started;
    out_.require(refused || part || one.ended, "deleted-for-a-gang", {one.uid}, [&] {
        return fmt::format(
            "esi-testbed deletes member {}, which was not refused, and its group "
            "does not say Delete",
            one.name);
    });
}

void gang_rules::scheduler_hindered(steady_time until) {
    hindered_until_ = std::max(hindered_until_, until);
}

}  // namespace esi::simulation::checks

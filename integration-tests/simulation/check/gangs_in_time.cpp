// How long gangs wait and reserve, and what is left of them at the end.
#include "check/gangs.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/fields.h"

namespace esi::simulation::checks {

namespace {

/// From room to the first let-in where nobody keeps anything.
constexpr seconds prompt{45};
constexpr seconds sample_period{5};

const json* list_at(const json& from, std::initializer_list<std::string_view> path) {
    const auto* found = fields::find(from, path);
    return found && found->is_array() ? found : nullptr;
}

/// `value`: null where there is none.
bool meets(const json& requirement, const json* value) {
    const auto how = fields::text(requirement, {"operator"});
    const auto* values = list_at(requirement, {"values"});
    const bool listed = value && values && std::ranges::find(*values, *value) != values->end();
    if (how == "In") return listed;
    if (how == "NotIn") return !listed;
    if (how == "Exists") return value != nullptr;
    return how == "DoesNotExist" && value == nullptr;
}

/// A term without any requirement matches no node.
bool matches(const json& term, const json& node) {
    const auto* names = list_at(term, {"matchFields"});
    const auto* labels = list_at(term, {"matchExpressions"});
    const auto has = [](const json* list) { return list && !list->empty(); };
    if (!has(names) && !has(labels)) return false;
    const bool named = !has(names) || std::ranges::all_of(*names, [&](const json& one) {
        return fields::text(one, {"key"}) == "metadata.name" &&
               meets(one, fields::find(node, {"metadata", "name"}));
    });
    return named && (!has(labels) || std::ranges::all_of(*labels, [&](const json& one) {
               return meets(one,
                            fields::find(node, {"metadata", "labels", fields::text(one, {"key"})}));
           }));
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

}  // namespace

void gang_rules::time_passes() {
    if (here_.now() < next_sample_) return;
    next_sample_ = here_.now() + sample_period;
    for (const auto& space : objects_.all(kinds::name_space)) {
        if (namespace_enabled(space->name())) ever_enabled_.insert(space->name());
    }
    for (auto& [which, one] : gangs_) {
        const auto seen = group_of_key(which);
        if (!seen.suspended) one.suspended_since.reset();
        if (seen.suspended && !one.suspended_since) one.suspended_since = here_.now();
        see_reached(which, seen, one);
    }
    promises_have_room();
    evictions_have_reasons(here_.now());
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
    const auto there = count(which);
    const auto least = gangs_.at(which).reached.value_or(*seen.least);
    const auto missing = std::min(*seen.least, least) - there.placed();
    if (there.coming > 0 || missing <= 0 || there.waiting == 0) return false;
    return there.begun || there.waiting >= missing;
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
    return std::ranges::any_of(*terms, [&](const json& term) { return matches(term, node); });
}

bool gang_rules::surely_fits(const key& which, const group_view& seen) const {
    model::amounts largest;
    std::vector<const member*> waiting;
    for (const auto* one : members_of(which)) {
        if (!one->waits()) continue;
        model::raise(largest, one->needs);
        waiting.push_back(one);
    }
    const auto there = count(which);
    const auto missing = std::min(*seen.least - there.placed(), there.waiting);
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
        model::take(*free, promised_on(name, {which}));
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

bool gang_rules::under_way() const {
    return std::ranges::any_of(members_, [&](const auto& each) {
        const auto& one = each.second;
        return (one.waits() || one.coming()) && namespace_enabled(std::get<1>(one.group));
    });
}

void gang_rules::at_end() {
    evictions_have_reasons(steady_time::max());
    for (const auto& [uid, one] : members_) {
        if (!one.live()) continue;
        out_.require(!one.gated || one.nominated.empty(), "left-behind", {}, [&] {
            return fmt::format("member {} waits at its gate at the end and keeps room on {}",
                               one.name, one.nominated);
        });
        if (!one.coming()) continue;
        // Only one whose room somebody else has taken still waits for it, or whose node does not
        // take it any more: that it did then is judged when it is let in.
        const auto free = free_on(one.let_in_node);
        const auto node = objects_.find(kinds::node, {}, one.let_in_node);
        if (!free || !node || here_.disturbed_node(one.let_in_node)) continue;
        const bool could_be_bound = fits(one.needs, *free) &&
                                    takes(node->body(), one.raw->body()) &&
                                    all_.nodes.at(one.let_in_node).node->ready;
        out_.require(!could_be_bound, "let-in-and-unbound", {}, [&] {
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
        const auto bound = count(which).bound;
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

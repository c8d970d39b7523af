#include "gangs/muster.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "gangs/plan_mark.h"
#include "model/names.h"

namespace esi::gangs {

namespace names = model::names;

namespace {

std::string_view controller_of(const member& of) {
    const auto* owner = of.pod->metadata.controller_owner();
    return owner ? std::string_view(owner->uid) : std::string_view{};
}

/// Advice by the kind of controller: it creates all its pods at once, or each after the one before
/// runs.
std::string cure_for(const gang& of) {
    for (const auto& each : of.members) {
        const auto* owner = each.pod->metadata.controller_owner();
        if (!owner || owner->kind != "StatefulSet") continue;
        return fmt::format(
            "; StatefulSet {} makes its next pod only when the one before is ready, unless its "
            "spec.podManagementPolicy is Parallel",
            owner->name);
    }
    return "";
}

std::string missing_text(const gang& of, const muster& all) {
    auto out = fmt::format("{} of {} members are there", all.waiting() + all.placed(),
                           all.minimum.value_or(0));
    if (all.held > 0) {
        out += fmt::format("; {} more wait for scheduling gates of others", all.held);
        const auto one = std::ranges::find(of.members, stage::held, &member::at);
        for (const auto& gate : one->pod->scheduling_gates) {
            if (gate == names::gang) continue;
            out += fmt::format(" ({} on pod {})", gate, one->pod->metadata.name);
            break;
        }
    }
    if (all.not_gated > 0) {
        out += fmt::format(
            "; {} more are not ESI's to start, as they have no gate {} or another "
            "scheduler",
            all.not_gated, names::gang);
    }
    return out + cure_for(of);
}

void count(const gang& of, muster& out, std::string_view scheduler_name) {
    std::set<std::string_view> controllers;
    for (const auto& each : of.members) {
        if (each.at != stage::ended && each.at != stage::leaving) {
            controllers.insert(controller_of(each));
        }
    }
    controllers.erase(std::string_view{});
    const auto note_node = [&](const member& each) {
        ++out.had_a_node;
        const auto needed = members_of(mark_of(*each.pod));
        if (!needed) return;
        out.most_needed = std::max(out.most_needed, *needed);
        out.least_needed = out.least_needed > 0 ? std::min(out.least_needed, *needed) : *needed;
    };
    for (const auto& each : of.members) {
        const bool other = !scheduler_name.empty() && !each.pod->scheduler_name.empty() &&
                           each.pod->scheduler_name != scheduler_name;
        switch (each.at) {
            case stage::gated:
                other ? ++out.not_gated : ++out.gated;
                break;
            case stage::reserved:
                other ? ++out.not_gated : ++out.reserved;
                break;
            case stage::held:
                ++out.held;
                break;
            case stage::let_in:
                ++out.let_in;
                out.begun = true;
                break;
            case stage::bound:
                ++out.bound;
                if (each.pod->phase == "Running") ++out.running;
                if (was_let_in(*each.pod)) {
                    out.begun = true;
                    note_node(each);
                }
                break;
            case stage::ended: {
                const bool well = each.pod->phase == "Succeeded";
                well ? ++out.well : ++out.badly;
                const bool same_run = controllers.contains(controller_of(each));
                if (well && same_run) ++out.well_now;
                if (same_run && was_let_in(*each.pod)) {
                    out.begun = true;
                    if (each.pod->bound()) note_node(each);
                }
                break;
            }
            case stage::leaving:
                ++out.leaving;
                if (leaves_nominated(*each.pod)) ++out.leaving_nominated;
                break;
            case stage::not_gated:
                ++out.not_gated;
                break;
        }
    }
}

/// Finds what keeps it out of the order, with the text.
void find_hindrance(const gang& of, muster& out) {
    const auto say = [&](hindrance by, std::string text) {
        out.by = by;
        out.text = std::move(text);
    };
    if (!of.group && of.key.by != way::kube_batch) {
        return say(hindrance::group_missing, fmt::format("there is no PodGroup {}", of.key.name));
    }
    if (!out.minimum) {
        return say(of.group ? hindrance::minimum_missing : hindrance::group_missing,
                   of.group ? "spec.minMember is no whole number"
                            : fmt::format("there is no PodGroup {}, and no pod of the group has a "
                                          "whole number in its annotation {}",
                                          of.key.name, names::group_min_member));
    }
    const std::string_view where =
        of.group ? std::string_view("spec.minMember") : names::group_min_member;
    if (*out.minimum <= 0) {
        return say(hindrance::minimum_invalid,
                   fmt::format("{} is {}; it must be 1 or more", where, *out.minimum));
    }
    if (*out.minimum > most_members) {
        return say(hindrance::too_many, fmt::format("{} is {}; at most {} are started together",
                                                    where, *out.minimum, most_members));
    }
    const int live = out.waiting() + out.held + out.let_in + out.bound + out.not_gated;
    if (live > most_members) {
        return say(hindrance::too_many,
                   fmt::format("it has {} members; groups may have {}", live, most_members));
    }
    if (of.group && of.group.object->metadata.deleting()) {
        return say(hindrance::group_missing,
                   fmt::format("PodGroup {} is being deleted", of.key.name));
    }
    if (!of.enabled) {
        return say(hindrance::not_enabled, fmt::format("namespace {} has not the label {}=enabled",
                                                       of.key.namespace_, names::gangs));
    }
    if (of.suspended()) {
        return say(hindrance::suspended,
                   fmt::format("the annotation {} is \"true\"", names::suspend));
    }
}

/// How many members the gang needed when it began to be let in. Marks can be taken away: without
/// any mark it is the number of members that are in.
std::int64_t begun_with(const gang& of, const muster& all) {
    std::int64_t out = 0;
    for (const auto& each : of.members) {
        if (each.waits() || !was_let_in(*each.pod)) continue;
        out = std::max(out, members_of(mark_of(*each.pod)).value_or(0));
    }
    return out > 0 ? out : all.placed();
}

bool may_go(const member& each, std::string_view scheduler_name) {
    return each.waits() && (scheduler_name.empty() || each.pod->scheduler_name.empty() ||
                            each.pod->scheduler_name == scheduler_name);
}

}  // namespace

muster muster_of(const gang& of, std::optional<std::int64_t> reached,
                 std::string_view scheduler_name) {
    muster out;
    out.minimum = of.minimum();
    count(of, out, scheduler_name);
    if (reached && out.placed() > 0) out.begun = true;
    out.enough = out.minimum.value_or(0);
    if (out.begun) out.enough = std::min(out.enough, reached ? *reached : begun_with(of, out));
    find_hindrance(of, out);
    if (out.by != hindrance::none) return out;
    const int missing = static_cast<int>(out.enough) - out.placed();
    int wanted = 0;
    if (missing > 0) {
        if (!out.begun && out.waiting() < missing) {
            out.by = hindrance::members_missing;
            out.text = missing_text(of, out);
            return out;
        }
        wanted = std::min(missing, out.waiting());
        out.how = out.begun ? start::refill : start::whole;
        if (wanted < missing) out.text = missing_text(of, out);
    } else if (out.waiting() > 0 && out.let_in == 0) {
        // One by one: the next when the one before is bound.
        wanted = 1;
        out.how = start::surplus;
    }
    if (wanted == 0) out.how = start::none;
    // Nominated members first: a standing plan is not made again for a member that came later.
    for (const auto at : {stage::reserved, stage::gated}) {
        for (const auto& each : of.members) {
            if (static_cast<int>(out.next.size()) == wanted) break;
            if (each.at == at && may_go(each, scheduler_name)) out.next.push_back(each.uid());
        }
    }
    return out;
}

}  // namespace esi::gangs

#include "kubectl-esi/commands/gates.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "base/contains.h"
#include "kubectl-esi/shown/words.h"
#include "model/names.h"

namespace esi::kubectl {

namespace {

namespace names = model::names;
using scheduling::answers::reference;

void say(gated_pod& out, std::string_view reason, std::string text, std::string freed_by) {
    out.reason = reason;
    out.text = std::move(text);
    out.freed_by = std::move(freed_by);
}

/// The members of a group by what they count for.
struct counts {
    int there = 0;      ///< at the gate, let in or bound
    int held = 0;       ///< other gates, too
    int not_gated = 0;  ///< ESI has no part in them
    bool begun = false;
};

counts count(const gate_facts& of) {
    counts out;
    for (const auto& pod : of.members) {
        if (pod->terminal() || pod->metadata.deleting()) continue;
        const bool let_in = !pod->metadata.annotation(names::gang_node).empty();
        const bool gated = contains(pod->scheduling_gates, names::gang);
        if (let_in) out.begun = true;
        if (pod->bound() || let_in || (gated && pod->scheduling_gates.size() == 1)) {
            ++out.there;
        } else {
            ++(gated ? out.held : out.not_gated);
        }
    }
    return out;
}

std::string missing_text(const counts& all, std::int64_t minimum) {
    auto out = fmt::format("{} of {} members are there", all.there, minimum);
    if (all.held > 0) {
        out += fmt::format("; {} more wait for scheduling gates of others", all.held);
    }
    if (all.not_gated > 0) {
        out += fmt::format("; {} more have no gate {}: they were made before gangs were enabled",
                           all.not_gated, names::gang);
    }
    return out;
}

/// What ends the state that an Event of esi-testbed reports; docs/gangs.md has all reasons.
std::string end_of_told(std::string_view reason) {
    struct row {
        std::string_view reason;
        const char* end;
    };
    static constexpr row rows[] = {
        {"NoRoom", "there is room for all its members together: pods end, or nodes are added"},
        {"NeverFits", "its members ask for less, or nodes are added"},
        {"ConstraintNotPlanned",
         "the members are made again without the constraint, or the group has the annotation "
         "esi.tu-berlin.de/best-effort-constraints: \"true\""},
        {"Started", "members beyond minMember are let in one by one, when there is room for each"},
        {"InLine", "members of its namespace that are on their way are bound"},
        {"Reserving", "what becomes free on its places is kept for it"},
    };
    const auto found = std::ranges::find(rows, reason, &row::reason);
    return found == std::end(rows) ? "what the message says has changed (docs/gangs.md)"
                                   : found->end;
}

/// The newest Event whose reason may still hold; null if there is none. explain_group() itself sees
/// whether the other reasons hold.
const told_event* newest_of(const std::vector<told_event>& events) {
    static constexpr std::string_view seen[] = {"GroupMissing", "MinMemberInvalid", "NotEnabled",
                                                "Suspended", "MembersMissing"};
    for (auto each = events.rbegin(); each != events.rend(); ++each) {
        if (std::ranges::find(seen, each->reason) == std::end(seen)) return &*each;
    }
    return nullptr;
}

void explain_group(gated_pod& out, const model::pod& pod, const named_group& group,
                   const gate_facts& of) {
    const auto& ns = pod.metadata.namespace_;
    const auto object = fmt::format("{} {} -n {}", group.resource, group.name, ns);
    const auto* told = newest_of(of.events);
    if (group.hidden) {
        return say(out, told != nullptr ? told->reason : "Unknown",
                   told != nullptr ? told->text : "you may not read its PodGroup",
                   "kubectl auth can-i get " + group.resource + " -n " + ns);
    }
    if (!group.exists && !group.minimum) {
        return say(out, "GroupMissing", "there is no PodGroup " + group.name,
                   "a PodGroup of this name is created, with spec.minMember");
    }
    if (group.deleting) {
        return say(out, "GroupMissing", "its PodGroup is being deleted",
                   "the PodGroup is created again once it is gone");
    }
    if (!group.minimum || *group.minimum <= 0) {
        return say(out, "MinMemberInvalid", "spec.minMember is no whole number above 0",
                   "kubectl edit " + object);
    }
    if (of.enabled && !*of.enabled) {
        return say(out, "NotEnabled",
                   fmt::format("namespace {} has not the label {}=enabled", ns, names::gangs),
                   fmt::format("kubectl label namespace {} {}=enabled", ns, names::gangs));
    }
    if (group.suspended) {
        return say(out, "Suspended", fmt::format("the annotation {} is \"true\"", names::suspend),
                   group.exists
                       ? fmt::format("kubectl annotate {} {}-", object, names::suspend)
                       : fmt::format("its members lose the annotation {}", names::suspend));
    }
    if (pod.scheduling_gates.size() > 1) {
        const auto other = std::ranges::find_if(
            pod.scheduling_gates, [](const auto& each) { return each != names::gang; });
        return say(out, "OtherGate", fmt::format("it has the scheduling gate {}, too", *other),
                   "the controller that set this gate takes it away");
    }
    const auto all = count(of);
    if (!all.begun && all.there < *group.minimum) {
        return say(
            out, "MembersMissing", missing_text(all, *group.minimum),
            fmt::format("{} more pods of the group are created{}", *group.minimum - all.there,
                        group.exists ? ", or: kubectl edit " + object : std::string()));
    }
    if (told != nullptr) return say(out, told->reason, told->text, end_of_told(told->reason));
    say(out, "InOrder", "no Event of esi-testbed about its group says yet why it waits",
        fmt::format("esi-testbed (--gangs) plans it: kubectl events -n {} --types=Warning", ns));
}

void explain_gang(gated_pod& out, const model::pod& pod, const gate_facts& of) {
    out.gate = names::gang;
    if (!of.group) {
        return say(out, "GroupNameInvalid",
                   fmt::format("it names no PodGroup: it has no value that can be a name in the "
                               "labels {} and {}, and in the annotation {}",
                               names::tenstack_group, names::pod_group, names::group_name),
                   "the pod is deleted, and made again with the name of its group");
    }
    out.waits_for = {"PodGroup", pod.metadata.namespace_, of.group->name};
    explain_group(out, pod, *of.group, of);
}

void explain_driver(gated_pod& out, const model::pod& pod, const gate_facts& of) {
    const auto& meta = pod.metadata;
    out.gate = names::gate;
    if (of.plan) {
        out.waits_for = {"Scheduling", meta.namespace_, of.plan->metadata.name};
        const auto& status = of.plan->status;
        return say(out, status.reason.empty() ? status.state : status.reason,
                   status.waiting_for.empty() ? "its Scheduling has not let it in yet"
                                              : status.waiting_for,
                   fmt::format("kubectl esi explain scheduling {} -n {}", of.plan->metadata.name,
                               meta.namespace_));
    }
    if (const auto* owner = meta.controller_owner(); owner != nullptr && owner->kind == "Pod") {
        out.waits_for = {"BatchJob", meta.namespace_, owner->name};
        return say(
            out, "NotPlaced",
            fmt::format("no place is recorded for it as an executor of driver {}", owner->name),
            fmt::format("kubectl describe batchjob {} -n {}", owner->name, meta.namespace_));
    }
    out.waits_for = {"BatchJob", meta.namespace_, meta.name};
    if (!of.events.empty()) {
        const auto& told = of.events.back();
        return say(out, told.reason, told.text, "the pod is made again as the message says");
    }
    say(out, "NotTakenOver", "esi-batchjob has made no BatchJob for it",
        "it has the labels spark-role=driver, executors, exec-cpu and exec-mem, its namespace has "
        "the label esi.tu-berlin.de/gangs=enabled, and esi-batchjob runs with --spark-drivers");
}

}  // namespace

bool is_at_gate(const model::pod& pod) {
    if (pod.bound() || pod.terminal() || pod.is_ghost()) return false;
    if (contains(pod.scheduling_gates, names::gang)) return true;
    return contains(pod.scheduling_gates, names::gate) && pod.run().empty();
}

gated_pod explain_gate(const model::pod& pod, const gate_facts& of) {
    gated_pod out;
    out.namespace_ = pod.metadata.namespace_;
    out.name = pod.metadata.name;
    out.created = pod.metadata.creation_timestamp;
    contains(pod.scheduling_gates, names::gang) ? explain_gang(out, pod, of)
                                                : explain_driver(out, pod, of);
    return out;
}

std::string gated_pod_text(const gated_pod& of, wall_time now) {
    shown::facts lines;
    lines.add("Pod", of.name);
    lines.add("Namespace", of.namespace_);
    lines.add("Gate", of.gate);
    lines.add("Waits for", of.waits_for.kind.empty() ? std::string(shown::none)
                                                     : of.waits_for.kind + "/" + of.waits_for.name);
    lines.add("Reason", of.reason);
    lines.add("Age", shown::age_text(of.created, now));
    lines.add("Message", of.text);
    lines.add("Freed by", of.freed_by);
    return lines.text();
}

}  // namespace esi::kubectl

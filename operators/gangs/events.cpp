// The Events that report where a gang stands, and which of all Events of a pass are sent.
#include <fmt/format.h>

#include <algorithm>

#include "gangs/pass.h"
#include "gangs/report.h"
#include "model/names.h"

namespace esi::gangs {

namespace names = model::names;

namespace {

/// The subject of where the gang stands.
constexpr std::string_view where_it_stands = "standing";

/// Events with the same reason as the last one about the subject wait.
bool is_due(const event_memory& last, std::string_view subject, std::string_view reason,
            steady_time now) {
    constexpr seconds pause{600};
    const auto found = last.find(subject);
    return found == last.end() || found->second.reason != reason || now - found->second.at >= pause;
}

/// A state that is reported at once; others last a moment in any start.
bool told_at_once(std::string_view reason) {
    return reason != "MembersMissing" && reason != "GroupMissing" && reason != "ReadingFacts" &&
           reason != "LookRefused" && reason != "InLine" && reason != "MembersWait" &&
           reason != "MembersLost";
}

bool is_warning(const standing& of) { return of.at != state::running && of.at != state::suspended; }

void tell_standing(pass& at, const gang& of, gang_memory& own) {
    const auto& now = own.at;
    // A reservation is reported by its own Events.
    if (now.at == state::ended || now.at == state::reserving || now.reason == "Reserved" ||
        now.reason == "InOrder" || now.reason == "Starting") {
        return;
    }
    constexpr seconds lasting{30};
    if (!told_at_once(now.reason)) {
        const auto due = now.since.value_or(at.seen.wall) + lasting;
        if (at.seen.wall < due) return at.out.look_again(due - at.seen.wall);
    }
    if (!is_due(own.events, where_it_stands, now.reason, at.seen.now)) return;
    auto text = now.message;
    if (now.at == state::running) {
        text = fmt::format("{} of {} members are bound", own.what.reached(),
                           own.what.minimum.value_or(0));
    } else if (now.reason == "NotEnabled") {
        text += "; who may label namespaces enables it";
    }
    if (now.at == state::waiting && own.wait.behind) {
        text += before_text(of, own.wait);
    }
    tell(at, of, own.events, where_it_stands,
         {is_warning(now), now.reason, "Start", std::move(text), {}, {}, {}});
}

void tell_more(pass& at, const gang& of, gang_memory& own) {
    if (own.attempt.reached && own.what.minimum && *own.what.minimum > *own.attempt.reached &&
        own.what.reached() < *own.what.minimum) {
        tell(at, of, own.events, "minimum",
             {true,
              "MinMemberGrew",
              "Start",
              fmt::format("it was started with {} members; that {} are needed since is not "
                          "enforced on those that run",
                          *own.attempt.reached, *own.what.minimum),
              {},
              {},
              {}});
    }
    if (!own.changed) return;
    if (own.what.not_gated > 0) {
        const auto pod = std::ranges::find_if(of.members, [&](const member& each) {
            return each.at == stage::not_gated ||
                   (each.waits() && !at.seen.scheduler_name.empty() &&
                    each.pod->scheduler_name != at.seen.scheduler_name);
        });
        tell(at, of, own.events, "not gated",
             {true,
              "NotGated",
              "Start",
              fmt::format("{} pods of the group are not ESI's to start, as they were made without "
                          "the gate {} or for another scheduler; pod {} is one of them",
                          own.what.not_gated, names::gang,
                          pod == of.members.end() ? "" : pod->pod->metadata.name),
              {},
              {},
              {}});
    }
    if (of.group.doubled) {
        tell(at, of, own.events, "doubled",
             {true,
              "GroupDoubled",
              "Start",
              fmt::format("there are two objects of this name; the older one counts, {} {}",
                          of.group.kind->type.api_version(), of.group.kind->type.kind),
              {},
              {},
              {}});
    }
    const auto several = std::ranges::find_if(
        of.members, [](const member& each) { return names_several(*each.pod); });
    if (several != of.members.end()) {
        tell(at, of, own.events, fmt::format("pod {} groups", several->uid()),
             {true,
              "NamesSeveralGroups",
              "Start",
              fmt::format("pod {} names groups in several ways; it counts for {}",
                          several->pod->metadata.name, of.key.text()),
              {},
              {},
              several->pod});
    }
}

/// Reports requests that the API server refuses again and again for good reason.
void tell_failures(pass& at, const gang& of, gang_memory& own) {
    constexpr int some = 3;
    if (!own.refused_writes) return;
    own.refused_writes = false;
    for (const auto& [uid, member] : own.members) {
        if (member.failure.empty()) continue;
        own.refused_writes = true;
        if (member.failures < some) continue;
        const auto* refused = of.find(uid);
        if (!refused) continue;
        tell(at, of, own.events, fmt::format("pod {} write", uid),
             {true,
              "WriteRefused",
              "Start",
              fmt::format("pod {}: {}", refused->pod->metadata.name, member.failure),
              {},
              {},
              refused->pod});
    }
}

}  // namespace

void tell(pass& at, const gang& of, event_memory& last, std::string_view subject, note what) {
    if (!is_due(last, subject, what.reason, at.seen.now)) return;
    const auto found = last.find(subject);
    if (found != last.end() && found->second.text == what.text &&
        found->second.reason == what.reason) {
        return;
    }
    last.insert_or_assign(std::string(subject), told_event{what.reason, what.text, at.seen.now});
    what.of = of.key;
    what.group = of.group;
    if (!what.pod && !of.group && !of.members.empty()) what.pod = of.members.front().pod;
    at.out.notes.push_back(std::move(what));
}

void forget_events_of_gone_pods(event_memory& last, const gang_memory& own) {
    std::erase_if(last, [&](const auto& entry) {
        constexpr std::string_view pod = "pod ";
        if (!entry.first.starts_with(pod)) return false;
        const auto end = entry.first.find(' ', pod.size());
        return !own.members.contains(entry.first.substr(pod.size(), end - pod.size()));
    });
}

void report_standing(pass& at, const gang& of, gang_memory& own, const standing& before) {
    const auto& now = own.at;
    if ((before.at == state::running || now.at == state::waiting) && before.at != now.at) {
        const auto told = own.events.find(where_it_stands);
        if (told != own.events.end() && told->second.reason != now.reason) own.events.erase(told);
    }
    // If gangs are not enabled, groups are left to others, unless a pod has ESI's gate.
    const auto& all = own.what;
    if (!of.enabled && all.waiting() + all.held + all.let_in == 0) return;
    tell_standing(at, of, own);
    tell_more(at, of, own);
    tell_failures(at, of, own);
}

}  // namespace esi::gangs

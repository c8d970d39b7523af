// The state of a gang and its reason, in words; and the Events that report it.
#include <fmt/format.h>

#include <algorithm>

#include "gangs/pass.h"
#include "gangs/report.h"
#include "gangs/status.h"
#include "model/names.h"

namespace esi::gangs {

namespace names = model::names;

namespace {

struct words {
    state at;
    std::string_view reason;
    std::string message;
};

std::string_view reason_of(no_fit_reason why) {
    switch (why) {
        case no_fit_reason::no_room:
            return "NoRoom";
        case no_fit_reason::never_fits:
            return "NeverFits";
        case no_fit_reason::constraint_not_planned:
            return "ConstraintNotPlanned";
        case no_fit_reason::facts_missing:
            return "ReadingFacts";
    }
    return "";
}

words hindered(const gang_memory& own) {
    const auto& all = own.what;
    switch (all.by) {
        case hindrance::group_missing:
            return {state::group_missing, "GroupMissing", all.text};
        case hindrance::minimum_missing:
        case hindrance::minimum_invalid:
            return {state::invalid, "MinMemberInvalid", all.text};
        case hindrance::too_many:
            return {state::invalid, "TooManyMembers", all.text};
        case hindrance::not_enabled:
            return {state::not_enabled, "NotEnabled", all.text};
        case hindrance::suspended:
            return {state::suspended, "Suspended", all.text};
        case hindrance::members_missing:
        case hindrance::none:
            break;
    }
    return {state::members_missing, "MembersMissing", all.text};
}

/// Words for a gang without any place.
words before_start(const gang_memory& own) {
    if (own.what.by != hindrance::none) return hindered(own);
    if (own.has && !own.has->reservation) {
        if (own.look_refused.empty()) return {state::reserved, "Reserved", "it has room"};
        return {state::reserved, "LookRefused", own.look_refused};
    }
    if (own.has) return {state::reserving, "Reserving", own.failed_text};
    if (own.paused) {
        return {state::waiting, "PartialStart",
                "its last attempt did not become whole in time and its members were deleted; it "
                "starts again after a pause, which doubles each time up to 600 s"};
    }
    if (own.put_off) {
        return {state::waiting, "LookRefused",
                own.look_refused +
                    "; its room is open to others, and it is planned again after a pause, which "
                    "doubles each time up to 600 s"};
    }
    if (own.in_line) return {state::waiting, "InLine", std::string(in_line_text)};
    if (own.failed_at) return {state::waiting, reason_of(own.failed_by), own.failed_text};
    if (!own.failed_text.empty()) return {state::waiting, "ReadingFacts", own.failed_text};
    // Its next plan is made at once.
    if (own.vain_plans > 0) return {state::reserved, "LookRefused", own.look_refused};
    return {state::waiting, "InOrder",
            own.at.surplus.empty() ? "it has not been tried yet" : own.at.surplus};
}

/// Words for members that were let in, or that fill up the gang.
std::string progress(const gang_memory& own) {
    const auto& all = own.what;
    auto out = fmt::format("{} of {} members are bound", all.reached(), all.minimum.value_or(0));
    if (all.let_in > 0) out += fmt::format(", {} are let in", all.let_in);
    if (own.has && !own.has->reservation && !own.has->looked) {
        out += own.look_refused.empty() ? "; the others have room" : "; " + own.look_refused;
    } else if (own.put_off) {
        out += "; " + own.look_refused;
    } else if (!own.has && all.how == start::refill && !own.failed_text.empty()) {
        out += fmt::format("; {}: {}", reason_of(own.failed_by), own.failed_text);
    } else if (!all.text.empty()) {
        out += "; " + all.text;
    }
    return out;
}

words after_start(const gang_memory& own) {
    const auto& all = own.what;
    const auto minimum = all.minimum.value_or(0);
    if (all.reached() >= minimum ||
        (own.reached && minimum > *own.reached && all.reached() >= *own.reached)) {
        return {state::running, "Started", ""};
    }
    if (own.over) return {state::partial, "PartialStart", progress(own)};
    if (!own.reached || own.has || all.let_in > 0) {
        return {state::starting, "Starting", progress(own)};
    }
    // It ran, and lost members.
    return {state::partial, all.waiting() > 0 ? "MembersWait" : "MembersLost", progress(own)};
}

words words_of(const gang_memory& own) {
    if (own.what.all_ended() || is_over(*own.seen)) return {state::ended, "Ended", ""};
    const auto& all = own.what;
    // If some members have succeeded and none runs, the rest starts like a new gang.
    const bool runs = all.let_in + all.bound > 0 || all.reached() >= all.minimum.value_or(1);
    return all.begun && runs ? after_start(own) : before_start(own);
}

/// A state that is reported at once; others last a moment in any start.
bool told_at_once(std::string_view reason) {
    return reason != "MembersMissing" && reason != "GroupMissing" && reason != "ReadingFacts" &&
           reason != "LookRefused" && reason != "InLine" && reason != "MembersWait" &&
           reason != "MembersLost";
}

/// Words with the same reason as the last ones wait.
bool is_due(const pass& at, const gang_memory& own, const std::string& subject,
            std::string_view reason) {
    constexpr seconds pause{600};
    const auto last = own.told.find(subject);
    return last == own.told.end() || last->second.reason != reason ||
           at.seen.now - last->second.at >= pause;
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
    if (!is_due(at, own, "standing", now.reason)) return;
    auto text = now.message;
    if (now.at == state::running) {
        text = fmt::format("{} of {} members are bound", own.what.reached(),
                           own.what.minimum.value_or(0));
    } else if (now.reason == "NotEnabled") {
        text += "; who may label namespaces enables it";
    }
    if (now.at == state::waiting && now.behind) {
        text += before_text(of, now);
    }
    tell(at, of, own, "standing",
         {is_warning(now), now.reason, "Start", std::move(text), {}, {}, {}});
}

void tell_more(pass& at, const gang& of, gang_memory& own) {
    if (own.reached && own.what.minimum && *own.what.minimum > *own.reached &&
        own.what.reached() < *own.what.minimum) {
        tell(at, of, own, "minimum",
             {true,
              "MinMemberGrew",
              "Start",
              fmt::format("it was started with {} members; that {} are needed since is not "
                          "enforced on those that run",
                          *own.reached, *own.what.minimum),
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
        tell(at, of, own, "not gated",
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
        tell(at, of, own, "doubled",
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
        tell(at, of, own, fmt::format("pod {} groups", several->uid()),
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
        tell(at, of, own, fmt::format("pod {} write", uid),
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

void tell(pass& at, const gang& of, gang_memory& own, const std::string& subject, note what) {
    if (!is_due(at, own, subject, what.reason)) return;
    auto [entry, first] = own.told.try_emplace(subject);
    auto& last = entry->second;
    if (!first && last.text == what.text && last.reason == what.reason) return;
    last = {what.reason, what.text, at.seen.now};
    what.of = of.key;
    what.group = of.group;
    if (!what.pod && !of.group && !of.members.empty()) what.pod = of.members.front().pod;
    at.out.notes.push_back(std::move(what));
}

void stand(pass& at, const gang& of, gang_memory& own) {
    auto now = words_of(own);
    auto& known = own.at;
    if (!known.since || known.at != now.at || known.reason != now.reason) {
        if ((known.at == state::running || now.at == state::waiting) && known.at != now.at) {
            const auto told = own.told.find("standing");
            if (told != own.told.end() && told->second.reason != now.reason) own.told.erase(told);
        }
        known.at = now.at;
        known.reason = now.reason;
        known.since = at.seen.wall;
        own.changed = true;
    }
    if (known.message != now.message) {
        known.message = std::move(now.message);
        own.changed = true;
    }
    // If gangs are not enabled, groups are left to others, unless a pod has ESI's gate.
    const auto& all = own.what;
    if (!of.enabled && all.waiting() + all.held + all.let_in == 0) return;
    tell_standing(at, of, own);
    tell_more(at, of, own);
    tell_failures(at, of, own);
}

}  // namespace esi::gangs

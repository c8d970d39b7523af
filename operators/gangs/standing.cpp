// The state of a gang and its reason, in words.
#include <fmt/format.h>

#include <algorithm>

#include "gangs/pass.h"
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
words before_start(const gang_memory& own, steady_time now) {
    if (own.what.by != hindrance::none) return hindered(own);
    if (own.has && !own.has->reservation) {
        if (own.vain.refused.empty()) return {state::reserved, "Reserved", "it has room"};
        return {state::reserved, "LookRefused", own.vain.refused};
    }
    if (own.has) return {state::reserving, "Reserving", own.wait.failed_text};
    if (own.pauses(now)) {
        return {state::waiting, "PartialStart",
                "its last attempt did not become whole in time and its members were deleted; it "
                "starts again after a pause, which doubles each time up to 600 s"};
    }
    if (own.is_put_off(now)) {
        return {state::waiting, "LookRefused",
                own.vain.refused +
                    "; its room is open to others, and it is planned again after a pause, which "
                    "doubles each time up to 600 s"};
    }
    if (own.wait.in_line) return {state::waiting, "InLine", std::string(in_line_text)};
    if (own.wait.failed_at)
        return {state::waiting, reason_of(own.wait.failed_by), own.wait.failed_text};
    if (!own.wait.failed_text.empty())
        return {state::waiting, "ReadingFacts", own.wait.failed_text};
    // Its next plan is made at once.
    if (own.vain.plans > 0) return {state::reserved, "LookRefused", own.vain.refused};
    return {state::waiting, "InOrder",
            own.wait.surplus.empty() ? "it has not been tried yet" : own.wait.surplus};
}

/// Words for members that were let in, or that fill up the gang.
std::string progress(const gang_memory& own, steady_time now) {
    const auto& all = own.what;
    auto out = fmt::format("{} of {} members are bound", all.reached(), all.minimum.value_or(0));
    if (all.let_in > 0) out += fmt::format(", {} are let in", all.let_in);
    if (own.has && !own.has->reservation && !own.has->looked) {
        out += own.vain.refused.empty() ? "; the others have room" : "; " + own.vain.refused;
    } else if (own.is_put_off(now)) {
        out += "; " + own.vain.refused;
    } else if (!own.has && all.how == start::refill && !own.wait.failed_text.empty()) {
        out += fmt::format("; {}: {}", reason_of(own.wait.failed_by), own.wait.failed_text);
    } else if (!all.text.empty()) {
        out += "; " + all.text;
    }
    return out;
}

words after_start(const gang_memory& own, steady_time now) {
    const auto& all = own.what;
    const auto minimum = all.minimum.value_or(0);
    if (all.reached() >= minimum || (own.attempt.reached && minimum > *own.attempt.reached &&
                                     all.reached() >= *own.attempt.reached)) {
        return {state::running, "Started", ""};
    }
    if (own.partial.over) return {state::partial, "PartialStart", progress(own, now)};
    if (!own.attempt.reached || own.has || all.let_in > 0) {
        return {state::starting, "Starting", progress(own, now)};
    }
    // It ran, and lost members.
    return {state::partial, all.waiting() > 0 ? "MembersWait" : "MembersLost", progress(own, now)};
}

words words_of(const gang_memory& own, steady_time now) {
    if (own.what.all_ended() || is_over(*own.seen)) return {state::ended, "Ended", ""};
    const auto& all = own.what;
    // If some members have succeeded and none runs, the rest starts like a new gang.
    const bool runs = all.let_in + all.bound > 0 || all.reached() >= all.minimum.value_or(1);
    return all.begun && runs ? after_start(own, now) : before_start(own, now);
}

}  // namespace

standing next_standing(const pass& at, const gang_memory& own) {
    auto now = words_of(own, at.seen.now);
    auto out = own.at;
    if (!out.since || out.at != now.at || out.reason != now.reason) {
        out.at = now.at;
        out.reason = now.reason;
        out.since = at.seen.wall;
    }
    out.message = std::move(now.message);
    return out;
}

}  // namespace esi::gangs

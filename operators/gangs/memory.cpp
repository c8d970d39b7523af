#include "gangs/memory.h"

#include <algorithm>

#include "base/overloaded.h"

namespace esi::gangs {

namespace {

constexpr milliseconds first_wait{100};

/// `first` doubled for each failure before this one, at most `longest`.
steady_time::duration wait_after(int failures, milliseconds first, milliseconds longest) {
    return std::min<steady_time::duration>(first * (1 << std::min(failures - 1, 16)), longest);
}

bool everyday(errc code) { return code == errc::conflict || code == errc::not_found; }

void wrote(member_memory& of, const outcome& how, const std::string& uid, steady_time now) {
    if (!how.failed) {
        of.failures = 0;
        of.failure.clear();
        if (const auto found = how.written.find(uid); found != how.written.end()) {
            of.awaited = found->second;
            of.awaited_since = now;
        }
        return;
    }
    ++of.failures;
    const bool soon = everyday(how.failed->code);
    of.next = now + wait_after(of.failures, first_wait, soon ? milliseconds(1000) : seconds(30));
    of.failure = soon ? "" : how.failed->text;
    // The write may have come through or not.
    of.shown_to.reset();
}

void looked(gang_memory& own, const look_and_let_in& what, const outcome& how, steady_time now) {
    for (const auto& [uid, version] : how.written) {
        const auto found = own.members.find(uid);
        if (found == own.members.end()) continue;
        found->second.awaited = version;
        found->second.awaited_since = now;
    }
    if (!how.written.empty()) {
        // If the gang has another plan by now, this look says nothing about it.
        if (own.has && own.has->mark == what.mark) own.has->looked = true;
        own.vain.looks = 0;
        own.vain.looks_to_replan = looks_per_plan;
        own.vain.forget_plans();
        return;
    }
    ++own.vain.looks;
    own.vain.next_look = now + wait_after(own.vain.looks, first_wait, seconds(5));
    own.vain.refused = how.failed ? how.failed->text : how.refused;
}

}  // namespace

std::string_view show(state at) {
    switch (at) {
        case state::members_missing:
            return "MembersMissing";
        case state::group_missing:
            return "GroupMissing";
        case state::invalid:
            return "Invalid";
        case state::suspended:
            return "Suspended";
        case state::not_enabled:
            return "NotEnabled";
        case state::waiting:
            return "Waiting";
        case state::reserving:
            return "Reserving";
        case state::reserved:
            return "Reserved";
        case state::starting:
            return "Starting";
        case state::running:
            return "Running";
        case state::partial:
            return "Partial";
        case state::ended:
            return "Ended";
    }
    return "";
}

void take_outcome(memory& known, const action& what, const outcome& how, steady_time now) {
    known.under_way.erase(name_of(what));
    const auto found = known.gangs.find(gang_of(what));
    if (found == known.gangs.end()) {
        if (const auto* back = std::get_if<give_back>(&what)) {
            const auto loose = known.loose.find(back->pod->metadata.uid);
            if (loose != known.loose.end()) wrote(loose->second, how, loose->first, now);
        }
        return;
    }
    auto& own = found->second;
    std::visit(overloaded{
                   [&](const look_and_let_in& of) { looked(own, of, how, now); },
                   [&](const write_status& of) {
                       auto& status = own.status;
                       status.at = now;
                       if (how.failed) {
                           ++status.failures;
                           status.next = now + wait_after(status.failures, first_wait, seconds(60));
                           // Unknown whether the write came through.
                           status.version.clear();
                           status.written.clear();
                           status.due = true;
                           return;
                       }
                       status.failures = 0;
                       const auto& uid = of.group.object->metadata.uid;
                       const auto version = how.written.find(uid);
                       status.uid = uid;
                       status.version = version == how.written.end() ? "" : version->second;
                   },
                   [&](const read_facts&) {
                       if (how.failed) {
                           ++own.wait.reads;
                           own.wait.next_read = now + seconds(5);
                           own.wait.failed_text = how.failed->text;
                       } else {
                           own.wait.read = how.read;
                           own.wait.read_at = now;
                       }
                   },
                   [&](const delete_pod& of) {
                       const auto& uid = of.pod->metadata.uid;
                       const auto member = own.members.find(uid);
                       if (member == own.members.end()) return;
                       wrote(member->second, how, uid, now);
                       if (!member->second.failure.empty()) own.refused_writes = true;
                       if (how.failed && how.failed->code != errc::not_found) return;
                       member->second.next = now + longest_await;
                   },
                   [&](const auto& of) {
                       const auto& uid = of.pod->metadata.uid;
                       const auto member = own.members.find(uid);
                       if (member == own.members.end()) return;
                       wrote(member->second, how, uid, now);
                       if (!member->second.failure.empty()) own.refused_writes = true;
                   },
               },
               what);
}

}  // namespace esi::gangs

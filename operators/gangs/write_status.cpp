// When the status of a group's object is written, and when it is left to another controller.
#include <fmt/format.h>

#include <algorithm>

#include "gangs/pass.h"
#include "gangs/status.h"

namespace esi::gangs {

namespace {

/// What this operator's status says: all that it writes, without the sentences.
std::string meaning(const pod_group_status& of) {
    auto out =
        fmt::format("{} {} {} {} {} {}", of.phase, of.running.value_or(0), of.succeeded.value_or(0),
                    of.failed.value_or(0), of.scheduled.value_or(0), of.occupied_by);
    for (const auto& each : of.conditions) {
        if (each.type == "Unschedulable") out += " " + each.status + " " + each.reason;
    }
    return out;
}

/// The object's status differs from the last write, in a later version.
bool was_overwritten(const gang& of, const status_memory& own) {
    const auto& meta = of.group.object->metadata;
    return !own.written.empty() && own.uid == meta.uid && !own.version.empty() &&
           meta.resource_version != own.version &&
           model::version_at_least(meta.resource_version, own.version) &&
           meaning(of.group.object->status) != own.written;
}

/// How often sentences alone are written: many gangs wait for the same reason, and the API server
/// is not to be busy with such writes.
constexpr seconds pause_of_words{60};
/// How many groups may do so per second, together.
constexpr std::size_t words_per_second = 4;
/// The same for numbers alone, which change with each pod.
constexpr seconds pause_of_numbers{1};
/// A new group is reported when it is known how its start goes on.
constexpr seconds first_report{1};

/// Overwriting counts if it happens again within this time.
constexpr seconds overwritten_lasts{600};
/// How long a status is left to another controller.
constexpr seconds foreign_lasts{3600};

/// No write before this time.
steady_time wait_for(const pass& at, const gang& of, const gang_memory& own,
                     const status_memory& last, const pod_group_status& want) {
    const auto& have = of.group.object->status;
    if (have.phase.empty() && want.phase == "Pending" && own.at.since) {
        return at.seen.now + (*own.at.since + first_report - at.seen.wall);
    }
    if (!last.at || want.phase != have.phase) return at.seen.now;
    if (meaning(want) != meaning(have)) return *last.at + pause_of_numbers;
    const auto all = seconds(at.known.gangs.size() / words_per_second);
    return *last.at + std::max(pause_of_words, all);
}

}  // namespace

status_memory report_status(pass& at, const gang& of, const gang_memory& own, status_memory status,
                            event_memory& events) {
    if (!of.group || (!of.enabled && !own.what.begun)) return status;
    if (!own.changed && !status.due) return status;
    if (status.uid != of.group.object->metadata.uid) status = {};
    if (status.foreign && at.seen.now - status.overwritten_at >= foreign_lasts) {
        // The other controller may have gone.
        status.foreign = false;
        status.overwritten = 0;
    }
    if (status.foreign) at.again_at(status.overwritten_at + foreign_lasts);
    if (status.foreign || of.group.object->metadata.deleting()) return status;
    const auto name = "status " + of.key.text();
    status.due = true;
    if (at.under_way(name)) return status;
    const auto& meta = of.group.object->metadata;
    if (!status.version.empty() &&
        !model::version_at_least(meta.resource_version, status.version)) {
        // Its own write is not seen yet. The cache may have lost it, but not for long.
        const auto due = status.at.value_or(at.seen.now) + longest_await;
        if (at.seen.now < due) {
            at.again_at(due);
            return status;
        }
    }
    if (was_overwritten(of, status)) {
        constexpr int some = 3;
        status.written.clear();
        // Occasional replacement of the object is not another controller.
        if (at.seen.now - status.overwritten_at >= overwritten_lasts) status.overwritten = 0;
        status.overwritten_at = at.seen.now;
        if (++status.overwritten >= some) {
            status.foreign = true;
            tell(at, of, events, "foreign",
                 {true,
                  "ForeignController",
                  "Report",
                  fmt::format("another controller writes the status of this group; its pods are "
                              "started all the same, the status is left to the other"),
                  {},
                  {},
                  {}});
            return status;
        }
    }
    if (at.seen.now < status.next) {
        at.again_at(status.next);
        return status;
    }
    const auto want = wanted_status(of, own, at.seen.wall);
    auto patch = status_patch(*of.group.kind, of.group.object->status, want);
    const auto means = meaning(want);
    if (patch.is_null()) {
        status.due = false;
        status.uid = meta.uid;
        status.written = means;
        return status;
    }
    if (means == status.written && meta.resource_version == status.version &&
        means != meaning(of.group.object->status)) {
        // The kind has no such fields: the API server has dropped them.
        status.due = false;
        return status;
    }
    if (const auto due = wait_for(at, of, own, status, want); at.seen.now < due) {
        at.again_at(due);
        return status;
    }
    status.due = false;
    status.uid = meta.uid;
    status.written = means;
    status.version.clear();
    at.give(write_status{of.key, of.group, std::move(patch)});
    return status;
}

}  // namespace esi::gangs

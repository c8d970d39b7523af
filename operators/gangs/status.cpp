#include "gangs/status.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "gangs/report.h"
#include "model/text.h"

namespace esi::gangs {

using nlohmann::json;

namespace {

constexpr std::string_view unschedulable = "Unschedulable";

/// How many members can still succeed when all that live go well.
int within_reach(const muster& all) {
    return all.placed() + all.waiting() + all.held + all.not_gated + (all.well - all.well_now);
}

/// It ran, and has lost members: Unknown, also while they are replaced. After a restart nothing
/// else tells that it ran (keep.cpp).
bool lacks_some(const gang_memory& own) {
    return own.attempt.reached && own.at.at != state::running && own.at.at != state::ended;
}

/// Its members are deleted, as its attempt is over and on-partial is Delete; not Unknown.
bool starts_anew(const gang_memory& own) {
    const auto& group = own.seen->group;
    return own.at.at == state::partial && own.partial.over && group &&
           group.object->deletes_partial();
}

/// kube-batch: Pending until the minimum has its places; Unknown when some run and others cannot.
std::string_view phase_of_kube_batch(const gang_memory& own) {
    if (lacks_some(own)) return "Unknown";
    if (starts_anew(own)) return "Pending";
    switch (own.at.at) {
        case state::running:
        case state::ended:
            return "Running";
        case state::partial:
            return "Unknown";
        default:
            return "Pending";
    }
}

/// The final phase of both other projects; empty: it has not ended.
std::string_view end_of(const gang_memory& own) {
    const auto& all = own.what;
    const auto minimum = all.minimum.value_or(0);
    if (minimum <= 0) return "";
    const int well = std::max(all.well_now, all.all_ended() ? all.well : 0);
    if (well >= minimum) return "Finished";
    // A member that is created again may still succeed where the failed one did not.
    if (all.badly > 0 && within_reach(all) < minimum) return "Failed";
    return "";
}

bool running_enough(const muster& all) {
    return all.minimum && all.running + all.well_now >= all.enough;
}

std::string_view phase_of_coscheduling(const gang_memory& own) {
    if (const auto end = end_of(own); !end.empty()) return end;
    if (lacks_some(own)) return "Unknown";
    if (starts_anew(own)) return "Scheduling";
    switch (own.at.at) {
        case state::partial:
        case state::ended:
            return "Unknown";
        case state::reserved:
        case state::starting:
            return "Scheduling";
        case state::running:
            return running_enough(own.what) ? "Running" : "Scheduling";
        default:
            return "Pending";
    }
}

std::string_view phase_of_tenstack(const gang_memory& own) {
    if (const auto end = end_of(own); !end.empty()) return end;
    if (lacks_some(own)) return "Unknown";
    if (starts_anew(own)) return "Scheduling";
    switch (own.at.at) {
        case state::partial:
        case state::ended:
            return "Unknown";
        case state::waiting:
        case state::reserving:
        case state::reserved:
            return "PreScheduling";
        case state::starting:
            return "Scheduling";
        case state::running:
            return running_enough(own.what) ? "Running" : "Scheduled";
        default:
            return "Pending";
    }
}

/// "lab/train": the owners of its first member that has one.
std::string occupied_by(const gang& of) {
    for (const auto& each : of.members) {
        if (each.at == stage::leaving || each.pod->metadata.owner_references.empty()) continue;
        std::set<std::string> owners;
        for (const auto& owner : each.pod->metadata.owner_references) {
            owners.insert(of.key.namespace_ + "/" + owner.name);
        }
        return fmt::format("{}", fmt::join(owners, ","));
    }
    return "";
}

/// The reasons that kube-batch has.
std::string_view reason_for_kube_batch(const standing& now) {
    return now.at == state::waiting || now.at == state::reserving || now.at == state::partial ||
                   now.at == state::reserved
               ? "NotEnoughResources"
               : "NotEnoughTasks";
}

std::string message_of(const gang& of, const gang_memory& own) {
    const auto& now = own.at;
    auto out = now.reason;
    if (!now.message.empty()) out += ": " + now.message;
    if (now.at == state::reserving) {
        out += "; what becomes free on its places is kept for it for a limited time";
    }
    if ((now.at == state::waiting || now.at == state::reserving) && own.wait.behind) {
        out += before_text(of, own.wait);
    }
    if ((now.at == state::waiting || now.at == state::reserving) && own.wait.since) {
        out += "; it waits since " + model::timestamp{*own.wait.since}.whole_seconds();
    }
    return model::cut(out);
}

/// Sets kube-batch's condition; others stay.
void set_unschedulable(const gang& of, const gang_memory& own, std::vector<group_condition>& list,
                       wall_time wall) {
    const auto at = own.at.at;
    const bool has_room = at == state::reserved && own.at.reason != "LookRefused";
    const bool well =
        at == state::running || at == state::ended || at == state::starting || has_room;
    auto found = std::ranges::find(list, unschedulable, &group_condition::type);
    if (found == list.end()) {
        if (well) return;
        // States that last a moment in any start, or in a burst of starts, are not written.
        if (own.at.reason == "InOrder" || own.at.reason == "InLine") return;
        found = list.insert(list.end(), {std::string(unschedulable), "", "", {}, "", ""});
    }
    const std::string status = well ? "False" : "True";
    if (found->status != status) {
        const auto second = std::chrono::floor<std::chrono::seconds>(wall);
        found->last_transition_time = model::timestamp{second};
        found->transition_id = model::timestamp{wall}.micro();
        found->status = status;
    }
    found->reason = well ? "Started" : std::string(reason_for_kube_batch(own.at));
    found->message = well ? "" : message_of(of, own);
}

}  // namespace

bool is_over(const gang& of) {
    if (!of.group || !of.members.empty()) return false;
    const auto& phase = of.group.object->status.phase;
    return phase == "Finished" || phase == "Failed";
}

pod_group_status wanted_status(const gang& of, const gang_memory& known, wall_time wall) {
    const auto& all = known.what;
    auto out = of.group.object->status;
    if (is_over(of)) return out;
    out.running = all.running;
    out.succeeded = all.well;
    out.failed = all.badly;
    if (of.key.by == way::kube_batch) {
        out.phase = phase_of_kube_batch(known);
        set_unschedulable(of, known, out.conditions, wall);
        return out;
    }
    out.phase =
        of.key.by == way::tenstack ? phase_of_tenstack(known) : phase_of_coscheduling(known);
    if (of.key.by == way::tenstack) out.scheduled = all.bound + all.well + all.badly;
    if (const auto owners = occupied_by(of); !owners.empty()) out.occupied_by = owners;
    const bool begins = known.at.at == state::reserved || known.at.at == state::starting;
    const bool new_attempt =
        begins && all.placed() == 0 && out.phase != of.group.object->status.phase;
    if (begins && (!out.schedule_start_time || new_attempt)) {
        out.schedule_start_time = model::timestamp{std::chrono::floor<std::chrono::seconds>(wall)};
    }
    return out;
}

json status_patch(const group_kind& kind, const pod_group_status& have,
                  const pod_group_status& want) {
    json status = json::object();
    const auto put = [&](const char* name, const auto& is, const auto& should) {
        if (is != should) status[name] = should;
    };
    const auto put_number = [&](const char* name, const auto& is, const auto& should) {
        // Zero and absent are the same.
        if (is.value_or(0) != should.value_or(0)) status[name] = should.value_or(0);
    };
    put("phase", have.phase, want.phase);
    put_number("running", have.running, want.running);
    put_number("succeeded", have.succeeded, want.succeeded);
    put_number("failed", have.failed, want.failed);
    if (kind.by == way::tenstack) put_number("scheduled", have.scheduled, want.scheduled);
    if (kind.by != way::kube_batch) {
        put("occupiedBy", have.occupied_by, want.occupied_by);
        if (have.schedule_start_time != want.schedule_start_time && want.schedule_start_time) {
            status["scheduleStartTime"] = want.schedule_start_time->whole_seconds();
        }
    } else if (have.conditions != want.conditions) {
        auto& list = status["conditions"] = json::array();
        for (const auto& each : want.conditions) {
            json one = {{"type", each.type}, {"status", each.status}};
            if (!each.transition_id.empty()) one["transitionID"] = each.transition_id;
            if (each.last_transition_time) {
                one["lastTransitionTime"] = each.last_transition_time->whole_seconds();
            }
            if (!each.reason.empty()) one["reason"] = each.reason;
            if (!each.message.empty()) one["message"] = each.message;
            list.push_back(std::move(one));
        }
    }
    if (status.empty()) return nullptr;
    return {{"status", std::move(status)}};
}

}  // namespace esi::gangs

#include "scheduling/claim.h"

#include <algorithm>
#include <set>

#include "scheduling/words.h"

namespace esi::scheduling {

namespace {

using model::object_key;
namespace job_state = model::job_state;
namespace states = model::scheduling_state;

void look_at_testbed(claim& out, const view& v, const model::scheduling& who, const plan& wants) {
    auto key = testbed_of(who);
    auto testbed = v.find_testbed(key);
    if (!testbed) {
        out.obstacles.push_back({"TestbedMissing", testbed_text(key) + v.absence(key), {}});
        return;
    }
    const auto& status = testbed->status;
    if (held_by(*testbed, who.metadata.uid)) {
        out.holds_something = true;
    } else {
        if (!testbed->hold().empty()) {
            out.obstacles.push_back({"TestbedHeld",
                                     testbed_text(key) + " is held by " + holder_text(*testbed),
                                     testbed->holder()});
        }
        if (testbed->metadata.deleting()) {
            out.obstacles.push_back(
                {"TestbedDeleting", testbed_text(key) + " is being deleted", {}});
            return;
        }
        const auto* current = model::find_condition(status.conditions, "LayoutCurrent");
        if (!status.layout || status.observed_generation < testbed->metadata.generation) {
            out.obstacles.push_back(
                {"TestbedNotReady", testbed_text(key) + " has no layout for its spec yet", {}});
            return;
        }
        if (current != nullptr && current->status == "False" && testbed->hold().empty()) {
            out.obstacles.push_back(
                {"TestbedNotReady", testbed_text(key) + " has a layout that is not current", {}});
            return;
        }
    }
    if (!status.layout || status.layout->nodes.empty()) {
        out.obstacles.push_back({"TestbedEmpty", testbed_text(key) + " has no nodes", {}});
        return;
    }
    out.wrong = misfit(wants, grid::count_of_slots(*status.layout));
}

bool shares(const plan& a, const plan& b, const object_key& testbed_a,
            const object_key& testbed_b) {
    if (testbed_a == testbed_b) return true;
    std::set<object_key> names;
    for (const auto& job : a.jobs) names.insert(job.name);
    return std::ranges::any_of(b.jobs, [&](const auto& job) { return names.contains(job.name); });
}

}  // namespace

obstacle older_first(const object_key& older) {
    return {"OlderFirst", scheduling_text(older) + " is older and goes first", older};
}

bool cannot_go(const model::scheduling_status& status) {
    const auto* acquired = model::find_condition(status.conditions, "Acquired");
    return !is_running(status) && acquired != nullptr && acquired->status == "False" &&
           acquired->reason != older_first({}).reason;
}

bool lets_go_first(const model::scheduling& who, const object_key& older) {
    const auto* acquired = model::find_condition(who.status.conditions, "Acquired");
    const auto told = older_first(older);
    return acquired != nullptr && acquired->reason == told.reason && acquired->message == told.text;
}

bool cycle_changed(const model::scheduling_status& before, const model::scheduling_status& after) {
    auto told = [](const model::scheduling_status& status) {
        const auto* acquired = model::find_condition(status.conditions, "Acquired");
        return acquired && acquired->reason == "WaitCycle" ? acquired->message : std::string();
    };
    return told(before) != told(after);
}

bool is_running(const model::scheduling_status& status) {
    return !status.assignments.empty() || status.state == states::confirmation ||
           status.state == states::submission || status.state == states::awaiting_completion ||
           status.state == states::completed;
}

bool is_over(const model::scheduling_status& status) {
    if (status.state == states::finished) return true;
    if (status.state != states::error) return false;
    const auto* acquired = model::find_condition(status.conditions, "Acquired");
    return acquired != nullptr && acquired->reason == "HoldLost";
}

std::optional<obstacle> obstacle_of(const view& v, const model::scheduling& who,
                                    const object_key& key) {
    auto job = v.find_job(key);
    if (!job) return obstacle{"JobMissing", job_text(key) + v.absence(key), {}};
    const auto& state = job->status.state;
    if (state == job_state::failed || state == job_state::failed_submission) {
        return obstacle{
            "JobFailed", job_text(key) + " is in " + state + "; reset it or take it out", {}};
    }
    const bool ours = names(*job, who);
    if (const auto& active = job->spec.active_scheduling; active && !ours) {
        return obstacle{"JobHeld", job_text(key) + " is held by " + scheduling_text(active->key()),
                        active->key()};
    }
    if (job->metadata.deleting()) {
        return obstacle{"JobDeleting", job_text(key) + " is being deleted", {}};
    }
    if (ours) return std::nullopt;
    if (state != job_state::ready) {
        return obstacle{"JobNotReady",
                        job_text(key) + " is in " + (state.empty() ? "no state yet" : state),
                        {}};
    }
    if (job->status.observed_generation != job->metadata.generation) {
        return obstacle{
            "JobNotReady", job_text(key) + " has a change that is not looked at yet", {}};
    }
    return std::nullopt;
}

claim claim_of(const view& v, const model::scheduling& who, const plan& wants) {
    claim out;
    look_at_testbed(out, v, who, wants);
    if (wants.wrong) out.wrong = wants.wrong;
    for (const auto& job : wants.jobs) {
        if (auto found = obstacle_of(v, who, job.name)) out.obstacles.push_back(std::move(*found));
        auto known = v.find_job(job.name);
        if (known && names(*known, who)) out.holds_something = true;
    }
    return out;
}

std::shared_ptr<const model::scheduling> older_claimant(const view& v, const plan& wants) {
    std::shared_ptr<const model::scheduling> oldest;
    if (v.schedulings == nullptr) return oldest;
    const auto testbed = testbed_of(*v.self);
    for (const auto& [key, other] : *v.schedulings) {
        if (other->metadata.uid == v.self->metadata.uid || other->metadata.deleting()) continue;
        if (!model::older(other->metadata, v.self->metadata)) continue;
        if (oldest && model::older(oldest->metadata, other->metadata)) continue;
        const auto& status = other->status;
        if (!status.releasing.empty() || is_running(status) || is_over(status)) continue;
        auto theirs = plan_of(*other);
        if (!shares(wants, theirs, testbed, testbed_of(*other))) continue;
        if (claim_of(v, *other, theirs).possible()) oldest = other;
    }
    return oldest;
}

}  // namespace esi::scheduling

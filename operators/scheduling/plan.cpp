#include "scheduling/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "model/conditions.h"
#include "scheduling/words.h"

namespace esi::scheduling {

namespace {

using model::object_key;
namespace reasons = model::condition_reason;

/// Seconds; crds/scheduling.yaml says it, too.
constexpr int default_retry_delay = 10;

/// The first of the table that the spec asks for; null: none.
const policy* find_policy(policy_table among, const model::scheduling_spec& spec) {
    const auto found =
        std::ranges::find_if(among, [&](const auto* each) { return each->is_asked_for(spec); });
    return found == among.end() ? nullptr : *found;
}

/// The members of policies that the first assignment freezes, copied; those that may change stay
/// empty.
model::scheduling_spec frozen_members(policy_table policies, const model::scheduling_spec& from) {
    model::scheduling_spec out;
    for (const auto* each : policies) each->freeze(out, from);
    return out;
}

/// The policy and the spec that it reads. Before the first assignment both are the spec's. Later a
/// frozen member counts, with those parts of the spec that may still change; where there is none,
/// one of the spec that is never frozen.
std::pair<const policy*, const model::scheduling_spec*> policy_of(policy_table policies,
                                                                  const model::scheduling& of,
                                                                  model::scheduling_spec& frozen,
                                                                  plan& out) {
    if (!of.status.plan) return {find_policy(policies, of.spec), &of.spec};
    if (const auto* kept = find_policy(policies, frozen)) {
        if (auto text = kept->follow(frozen, of.spec); !text.empty()) {
            out.ignored.push_back(std::move(text));
        }
        return {kept, &frozen};
    }
    const auto now = frozen_members(policies, of.spec);
    for (const auto* each : policies) {
        if (each->is_asked_for(of.spec) && !each->is_asked_for(now)) return {each, &of.spec};
    }
    return {nullptr, &of.spec};
}

/// Reads the fields that may change at any time; they are never taken from status.plan.
void read_wishes(plan& out, const model::scheduling& of) {
    std::set<object_key> known;
    for (const auto& a : of.status.assignments) known.insert(a.job.key());
    constexpr std::size_t most_told = 5;
    std::vector<std::string> unknown;
    const auto check = [&](std::string_view field, const object_key& key) {
        if (unknown.size() >= most_told || out.find(key) != nullptr || known.contains(key)) return;
        unknown.push_back(fmt::format("{} names {}", field, job_text(key)));
    };
    for (const auto& name : of.spec.cancelled_jobs) {
        const auto key = grid::in_namespace(name, of.metadata.namespace_);
        out.cancelled.insert(key);
        check("cancelledJobs", key);
    }
    for (const auto& policy : of.spec.job_policies) {
        const auto key = grid::in_namespace(policy.name, of.metadata.namespace_);
        out.policies.try_emplace(key, policy);
        check("jobPolicies", key);
    }
    if (!unknown.empty()) {
        out.ignored.push_back("not in the plan: " + enumerate(unknown));
    }
}

/// Finds what a person changed in the spec after it was frozen, apart from the jobs.
void compare_frozen(plan& out, const model::scheduling_spec& frozen, const model::scheduling& of,
                    policy_table policies) {
    const auto now = frozen_spec(of, policies);
    const auto* is = find_policy(policies, now);
    if (is != nullptr && find_policy(policies, frozen_members(policies, frozen)) == nullptr) {
        out.ignored.push_back(
            fmt::format("{} was set after the first start of a plan without it; what has "
                        "started stays, nothing else starts",
                        is->field()));
    }
    if (now.release_on_completion != frozen.release_on_completion) {
        out.ignored.push_back(
            fmt::format("releaseOnCompletion was changed after the first start; "
                        "it stays {}",
                        frozen.release_on_completion));
    }
    if (now.submit_timeout_seconds != frozen.submit_timeout_seconds) {
        out.ignored.push_back(
            fmt::format("submitTimeoutSeconds was changed after the first start; "
                        "it stays {}",
                        frozen.submit_timeout_seconds.value_or(0)));
    }
    if (now.schedule_timeout_seconds != frozen.schedule_timeout_seconds) {
        out.ignored.push_back(
            fmt::format("scheduleTimeoutSeconds was changed after the first start; "
                        "it stays {}",
                        frozen.schedule_timeout_seconds.value_or(0)));
    }
}

/// The slots of workers of an assignment, ascending.
std::vector<int> workers_of(const model::assignment& assigned, const plan_places& places) {
    auto out = assigned.slot_ids;
    std::erase_if(out, [&](int slot) { return places.coordinators().contains(slot); });
    std::ranges::sort(out);
    return out;
}

/// `layout`: null if the Testbed is gone, or has released its places. Then it is unknown which of a
/// job's slots were coordinator places, and its number of entries is not compared.
void compare_started(plan& out, const model::scheduling& of, const model::testbed_layout* layout) {
    const auto places = layout != nullptr ? plan_places(*layout) : plan_places(0);
    std::vector<std::string> gone;
    for (const auto& assigned : of.status.assignments) {
        const auto* job = out.find(assigned.job.key());
        // Its next attempt uses the plan of that time.
        if (out.retries(assigned)) continue;
        if (job == nullptr) {
            gone.push_back(job_text(assigned.job.key()));
            continue;
        }
        if (layout == nullptr) continue;
        const auto started_in = workers_of(assigned, places);
        auto written = job->slot_ids;
        std::ranges::sort(written);
        if (!written.empty() && written != started_in) {
            out.ignored.push_back(
                fmt::format("{} was started in {}, which stands, and is now "
                            "written with {}",
                            job_text(job->name), slots_text(started_in), slots_text(written)));
        } else if (job->slots_wanted != std::ssize(started_in)) {
            out.ignored.push_back(
                fmt::format("{} was started with {} slots, which stands, and is "
                            "now written with {}",
                            job_text(job->name), started_in.size(), job->slots_wanted));
        }
    }
    if (!gone.empty()) {
        out.ignored.push_back(
            fmt::format("taken out after the start, which stands: {}", enumerate(gone)));
    }
}

}  // namespace

const planned_job* plan::find(const object_key& name) const {
    auto found = numbers.find(name);
    return found == numbers.end() ? nullptr : &jobs[found->second];
}

void plan::add(planned_job job) {
    numbers.emplace(job.name, jobs.size());
    jobs.push_back(std::move(job));
}

void plan::add_once(planned_job job, std::string_view field, std::string_view all_in_one) {
    if (find(job.name) == nullptr) return add(std::move(job));
    wrong = problem{reasons::duplicate_job, fmt::format("{} names {} twice; name it once, {}",
                                                        field, job_text(job.name), all_in_one)};
}

bool plan::empty() const {
    return std::ranges::all_of(jobs, [&](auto& job) { return cancelled.contains(job.name); });
}

bool plan::retries(const model::assignment& a) const {
    if (!a.ended || a.outcome != model::assignment_outcome::failed) return false;
    const auto found = policies.find(a.job.key());
    return found != policies.end() && a.attempt.value_or(0) < found->second.backoff_limit &&
           !cancelled.contains(a.job.key()) && !given_up.contains(a.job.key()) &&
           find(a.job.key()) != nullptr;
}

seconds plan::retry_delay(const model::assignment& a) const {
    return seconds(policies.at(a.job.key()).retry_delay_seconds.value_or(default_retry_delay));
}

model::scheduling_spec frozen_spec(const model::scheduling& of, policy_table policies) {
    auto out = frozen_members(policies, of.spec);
    out.testbed = testbed_of(of);
    out.release_on_completion = of.spec.release_on_completion;
    out.submit_timeout_seconds =
        of.spec.submit_timeout_seconds.value_or(grid::default_submit_timeout_seconds);
    out.schedule_timeout_seconds =
        of.spec.schedule_timeout_seconds.value_or(grid::default_schedule_timeout_seconds);
    return out;
}

plan plan_of(const model::scheduling& of, policy_table policies,
             const model::testbed_layout* layout) {
    plan out;
    const auto& frozen = of.status.plan;
    const auto base = frozen ? *frozen : frozen_spec(of, policies);
    out.release_on_completion = base.release_on_completion || of.spec.claim.has_value();
    out.submit_timeout_seconds =
        base.submit_timeout_seconds.value_or(grid::default_submit_timeout_seconds);
    out.schedule_timeout_seconds =
        base.schedule_timeout_seconds.value_or(grid::default_schedule_timeout_seconds);
    auto members = frozen_members(policies, base);
    if (const auto [chosen, spec] = policy_of(policies, of, members, out); chosen != nullptr) {
        out.chosen = chosen;
        chosen->read(out, *spec, of.metadata.namespace_);
    }
    read_wishes(out, of);
    if (frozen) {
        // A plan that runs goes on with what can be read of its jobs.
        if (out.wrong) out.ignored.push_back(out.wrong->text);
        compare_frozen(out, *frozen, of, policies);
        compare_started(out, of, layout);
    }
    return out;
}

std::optional<problem> problem_of(const planned_job& job, const plan_places& places) {
    const auto& coordinators = places.coordinators();
    for (int id : job.slot_ids) {
        if (!coordinators.contains(id)) continue;
        return problem{reasons::slot_of_coordinator,
                       fmt::format("{} names slot {}, which is a coordinator place: slotIds name "
                                   "places of workers, and the job gets a free coordinator place "
                                   "with them; take {} out",
                                   job_text(job.name), id, id)};
    }
    if (job.slots_wanted > places.workers()) {
        return problem{reasons::job_too_large,
                       fmt::format("{} needs {} slots, the Testbed has {}{}", job_text(job.name),
                                   job.slots_wanted, places.workers(),
                                   coordinators.empty() ? "" : " for workers")};
    }
    for (int id : job.slot_ids) {
        if (id >= 0 && id < places.count()) continue;
        return problem{reasons::slot_outside_layout,
                       fmt::format("{} wants slot {}, the Testbed has slots 0 to {}",
                                   job_text(job.name), id, places.count() - 1)};
    }
    return std::nullopt;
}

std::optional<problem> problem_of(const model::scheduling_claim& claim) {
    std::int64_t count = 0;
    for (const auto& shape : claim.shapes) count += shape.count;
    if (count <= static_cast<std::int64_t>(model::most_claimed_places)) return std::nullopt;
    return problem{reasons::claim_too_large,
                   fmt::format("spec.claim has {} places, and a claim may have {}: delete the "
                               "Scheduling and create another with fewer, or several",
                               count, model::most_claimed_places)};
}

problem cancelled_before_start(const object_key& job) {
    return {model::assignment_outcome::cancelled,
            job_text(job) + " was cancelled (spec.cancelledJobs)"};
}

std::map<object_key, problem> problems_by_job(const plan& of, const plan_places& places,
                                              const std::set<object_key>& gone) {
    std::map<object_key, problem> out;
    for (const auto& job : of.jobs) {
        if (auto found = problem_of(job, places)) out.emplace(job.name, std::move(*found));
    }
    for (auto number = most_jobs; number < of.jobs.size(); ++number) {
        const auto& name = of.jobs[number].name;
        out.try_emplace(name,
                        problem{reasons::too_many_jobs,
                                fmt::format("{} comes after {} different jobs, which are as many "
                                            "as one Scheduling can have; create another",
                                            job_text(name), most_jobs)});
    }
    of.chosen->find_problems(of, places.workers(), gone, out);
    return out;
}

std::optional<problem> problem_of(const plan& of, const plan_places& places) {
    auto all = problems_by_job(of, places, of.cancelled);
    for (const auto& job : of.jobs) {
        if (of.cancelled.contains(job.name)) continue;
        if (auto found = all.find(job.name); found != all.end()) return std::move(found->second);
    }
    return std::nullopt;
}

}  // namespace esi::scheduling

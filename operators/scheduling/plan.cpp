#include "scheduling/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "scheduling/words.h"

namespace esi::scheduling {

namespace {

using model::object_key;

/// Seconds; crds/scheduling.yaml says it, too.
constexpr int default_retry_delay = 10;

void read_queue(plan& out, const model::scheduling& of) {
    for (const auto& entry : *of.spec.queue_based) {
        auto name = grid::in_namespace(entry, of.metadata.namespace_);
        if (out.find(name) == nullptr) out.add({name, 0, {}});
        ++out.jobs[out.numbers.at(name)].slots_wanted;
        out.entries.push_back(std::move(name));
    }
    if (out.jobs.size() > most_jobs) {
        out.wrong =
            fault{"TooManyJobs",
                  fmt::format("queueBased names {} different jobs, at most {} are possible; "
                              "split it into several Schedulings",
                              out.jobs.size(), most_jobs)};
    }
}

void read_slots(plan& out, const model::slot_based_spec& spec, const model::scheduling& of) {
    out.mode = spec.mode == "relaxed" ? plan_mode::relaxed : plan_mode::strict;
    for (const auto& job : spec.jobs) {
        auto name = grid::in_namespace(job.name, of.metadata.namespace_);
        if (out.find(name) != nullptr) {
            out.wrong =
                fault{"DuplicateJob",
                      fmt::format("slotBased names {} twice; name it once, with all its slots",
                                  job_text(name))};
            continue;
        }
        out.add({name, static_cast<int>(job.slot_ids.size()), job.slot_ids});
    }
}

/// What may change at any time; it is never taken from status.plan.
void read_wishes(plan& out, const model::scheduling& of) {
    std::set<object_key> known;
    for (const auto& a : of.status.assignments) known.insert(a.job.key());
    constexpr std::size_t most_told = 5;
    std::vector<std::string> unknown;
    const auto look = [&](std::string_view field, const object_key& key) {
        if (unknown.size() >= most_told || out.find(key) != nullptr || known.contains(key)) return;
        unknown.push_back(fmt::format("{} names {}", field, job_text(key)));
    };
    for (const auto& name : of.spec.cancelled_jobs) {
        const auto key = grid::in_namespace(name, of.metadata.namespace_);
        out.cancelled.insert(key);
        look("cancelledJobs", key);
    }
    for (const auto& policy : of.spec.job_policies) {
        const auto key = grid::in_namespace(policy.name, of.metadata.namespace_);
        out.policies.try_emplace(key, policy);
        look("jobPolicies", key);
    }
    if (!unknown.empty()) {
        out.ignored.push_back("not in the plan: " + enumerate(unknown));
    }
}

/// What a person changed of the spec after it was frozen, apart from the queue.
void compare_frozen(plan& out, const model::scheduling_spec& frozen, const model::scheduling& of) {
    const auto& spec = of.spec;
    auto now = frozen_spec(of);
    if (now.slot_based != frozen.slot_based || (spec.queue_based && frozen.slot_based)) {
        out.ignored.push_back(
            frozen.slot_based ? "slotBased was changed after the first start; the plan stays"
                              : "slotBased was set in place of queueBased after the first start; "
                                "what has started stays, nothing else starts");
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

void compare_started(plan& out, const model::scheduling& of) {
    std::vector<std::string> gone;
    for (const auto& assigned : of.status.assignments) {
        const auto* job = out.find(assigned.job.key());
        // Its next attempt takes what the plan says then.
        if (out.retries(assigned)) continue;
        if (job == nullptr) {
            gone.push_back(job_text(assigned.job.key()));
        } else if (job->slots_wanted != static_cast<int>(assigned.slot_ids.size())) {
            out.ignored.push_back(fmt::format("{} was started with {} slots and now has {} entries",
                                              job_text(job->name), assigned.slot_ids.size(),
                                              job->slots_wanted));
        }
    }
    if (!gone.empty()) {
        out.ignored.push_back(
            fmt::format("taken out after the start, which stands: {}", enumerate(gone)));
    }
}

}  // namespace

std::string_view to_string(plan_mode mode) {
    switch (mode) {
        case plan_mode::queue:
            return "queue";
        case plan_mode::strict:
            return "strict";
        case plan_mode::relaxed:
            return "relaxed";
    }
    return "queue";
}

const planned_job* plan::find(const object_key& name) const {
    auto found = numbers.find(name);
    return found == numbers.end() ? nullptr : &jobs[found->second];
}

void plan::add(planned_job job) {
    numbers.emplace(job.name, jobs.size());
    jobs.push_back(std::move(job));
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

model::scheduling_spec frozen_spec(const model::scheduling& of) {
    model::scheduling_spec out;
    out.testbed = testbed_of(of);
    out.slot_based = of.spec.slot_based;
    out.release_on_completion = of.spec.release_on_completion;
    out.submit_timeout_seconds =
        of.spec.submit_timeout_seconds.value_or(grid::default_submit_timeout_seconds);
    out.schedule_timeout_seconds =
        of.spec.schedule_timeout_seconds.value_or(grid::default_schedule_timeout_seconds);
    return out;
}

plan plan_of(const model::scheduling& of) {
    plan out;
    const auto& frozen = of.status.plan;
    auto base = frozen ? *frozen : frozen_spec(of);
    out.release_on_completion = base.release_on_completion;
    out.submit_timeout_seconds =
        base.submit_timeout_seconds.value_or(grid::default_submit_timeout_seconds);
    out.schedule_timeout_seconds =
        base.schedule_timeout_seconds.value_or(grid::default_schedule_timeout_seconds);
    if (base.slot_based && (frozen || !of.spec.queue_based)) {
        read_slots(out, *base.slot_based, of);
    } else if (of.spec.queue_based) {
        read_queue(out, of);
    }
    read_wishes(out, of);
    if (frozen) {
        compare_frozen(out, *frozen, of);
        compare_started(out, of);
    }
    return out;
}

std::optional<fault> misfit(const planned_job& job, int slots) {
    if (job.slots_wanted > slots) {
        return fault{"TooManySlots", fmt::format("{} needs {} slots, the Testbed has {}",
                                                 job_text(job.name), job.slots_wanted, slots)};
    }
    for (int id : job.slot_ids) {
        if (id >= 0 && id < slots) continue;
        return fault{"SlotOutsideLayout",
                     fmt::format("{} wants slot {}, the Testbed has slots 0 to {}",
                                 job_text(job.name), id, slots - 1)};
    }
    return std::nullopt;
}

std::map<object_key, fault> misfits(const plan& of, int slots, const std::set<object_key>& gone) {
    std::map<object_key, fault> out;
    for (const auto& job : of.jobs) {
        if (auto found = misfit(job, slots)) out.emplace(job.name, std::move(*found));
    }
    for (auto number = most_jobs; number < of.jobs.size(); ++number) {
        const auto& name = of.jobs[number].name;
        out.try_emplace(
            name,
            fault{"TooManyJobs", fmt::format("{} comes after {} different jobs, which are as many "
                                             "as one Scheduling can have; create another",
                                             job_text(name), most_jobs)});
    }
    // Only a queue longer than the Testbed can have such a place.
    if (of.mode != plan_mode::queue || std::ssize(of.entries) <= slots) return out;
    struct stretch {
        std::ptrdiff_t first = -1;
        std::ptrdiff_t last = -1;
        bool stands = true;  ///< its entries take places until it has started
    };
    std::vector<stretch> jobs(of.jobs.size());
    std::vector<std::size_t> job_at;
    for (const auto& entry : of.entries) {
        auto& job = jobs[job_at.emplace_back(of.numbers.at(entry))];
        job.last = std::ssize(job_at) - 1;
        if (job.first < 0) job.first = job.last;
        job.stands = !out.contains(entry) && !gone.contains(entry);
    }
    // When a job's turn comes, all before it have left the queue, and those named after it stand
    // where they are: from the last one on, as it hangs on these alone.
    for (auto number = jobs.size(); number-- > 0;) {
        auto& job = jobs[number];
        if (!job.stands || job.last - job.first < slots) continue;
        const auto place =
            std::count_if(job_at.begin() + job.first, job_at.begin() + job.last + 1,
                          [&](auto other) { return other >= number && jobs[other].stands; });
        if (place <= slots) continue;
        job.stands = false;
        const auto& name = of.jobs[number].name;
        out.emplace(name,
                    fault{"TooManySlots",
                          fmt::format("{} has an entry at place {} of the queue when its turn "
                                      "comes, the Testbed has {} slots: it cannot start; "
                                      "move its entries closer together",
                                      job_text(name), place, slots)});
    }
    return out;
}

std::optional<fault> misfit(const plan& of, int slots) {
    auto all = misfits(of, slots, of.cancelled);
    for (const auto& job : of.jobs) {
        if (of.cancelled.contains(job.name)) continue;
        if (auto found = all.find(job.name); found != all.end()) return std::move(found->second);
    }
    return std::nullopt;
}

}  // namespace esi::scheduling

#include <fmt/format.h>

#include <algorithm>

#include "grid/rights.h"
#include "scheduling/plan.h"
#include "scheduling/policies.h"

namespace esi::scheduling {

namespace {

using model::object_key;

/// Both modes of slotBased: each job names its slots.
class slots final : public policy {
public:
    explicit slots(bool strict) : strict_(strict) {}

    std::string_view mode() const override { return strict_ ? "strict" : "relaxed"; }
    std::string_view field() const override { return "slotBased"; }
    bool is_asked_for(const model::scheduling_spec& spec) const override {
        return spec.slot_based && (spec.slot_based->mode != "relaxed") == strict_;
    }
    void freeze(model::scheduling_spec& into, const model::scheduling_spec& from) const override {
        into.slot_based = from.slot_based;
    }
    /// The jobs may change, as those of a queue: what has started is in the assignments.
    std::string follow(model::scheduling_spec& kept,
                       const model::scheduling_spec& now) const override {
        if (!now.slot_based) return "slotBased was taken out after the first start; the plan stays";
        kept.slot_based->jobs = now.slot_based->jobs;
        if (is_asked_for(now)) return {};
        return fmt::format("slotBased.mode was changed after the first start; it stays {}", mode());
    }

    void read(plan& into, const model::scheduling_spec& spec, std::string_view ns) const override {
        for (const auto& job : spec.slot_based->jobs) {
            into.add_once({grid::in_namespace(job.name, ns), static_cast<int>(job.slot_ids.size()),
                           job.slot_ids},
                          field(), "with all its slots");
        }
    }

    next_starts next(const plan& of, const plan_progress& progress,
                     const free_slots& free) const override {
        next_starts out;
        std::set<int> given;
        const object_key* held_up = nullptr;
        coordinator_turns coordinators(free);
        for (const auto& job : of.jobs) {
            if (progress.started.contains(job.name)) continue;
            if (held_up != nullptr) {
                out.waits.push_back({job.name, slot_blocker::kind::job_before, {}, *held_up});
                continue;
            }
            if (!progress.startable.contains(job.name)) {
                if (!strict_) continue;
                held_up = &job.name;
                out.waits.push_back({job.name, slot_blocker::kind::not_ready, {}, {}});
                continue;
            }
            auto wanted = job.slot_ids;
            std::ranges::sort(wanted);
            std::vector<int> taken;
            std::ranges::copy_if(wanted, std::back_inserter(taken),
                                 [&](int id) { return !free.contains(id) || given.contains(id); });
            if (!taken.empty()) {
                if (strict_) held_up = &job.name;
                out.waits.push_back(
                    {job.name, slot_blocker::kind::slots_taken, std::move(taken), {}});
                continue;
            }
            if (!coordinators.give(wanted)) {
                if (strict_) held_up = &job.name;
                out.waits.push_back(coordinators.busy(job.name));
                continue;
            }
            given.insert(wanted.begin(), wanted.end());
            out.starts.push_back({job.name, std::move(wanted)});
        }
        return out;
    }

private:
    bool strict_;
};

}  // namespace

const policy& strict_policy() {
    static const slots one(true);
    return one;
}

const policy& relaxed_policy() {
    static const slots one(false);
    return one;
}

}  // namespace esi::scheduling

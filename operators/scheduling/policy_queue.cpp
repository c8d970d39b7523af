#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "grid/rights.h"
#include "model/conditions.h"
#include "scheduling/plan.h"
#include "scheduling/policies.h"
#include "scheduling/words.h"

namespace esi::scheduling {

namespace {

using model::object_key;
namespace reasons = model::condition_reason;

class queue final : public policy {
public:
    std::string_view mode() const override { return "queue"; }
    std::string_view field() const override { return "queueBased"; }
    bool is_asked_for(const model::scheduling_spec& spec) const override {
        return spec.queue_based.has_value();
    }
    void read(plan& into, const model::scheduling_spec& spec, std::string_view ns) const override {
        if (!spec.queue_based) return;
        for (const auto& entry : *spec.queue_based) {
            auto name = grid::in_namespace(entry, ns);
            if (into.find(name) == nullptr) into.add({name, 0, {}});
            ++into.jobs[into.numbers.at(name)].slots_wanted;
            into.entries.push_back(std::move(name));
        }
        if (into.jobs.size() <= most_jobs) return;
        into.wrong =
            problem{reasons::too_many_jobs,
                    fmt::format("queueBased names {} different jobs, at most {} are possible; "
                                "split it into several Schedulings",
                                into.jobs.size(), most_jobs)};
    }

    /// A job whose last entry cannot come within the first `slots` places of the remaining queue.
    void find_problems(const plan& of, int slots, const std::set<object_key>& started,
                       std::map<object_key, problem>& known) const override {
        // Only a queue longer than the Testbed can have such a place.
        if (std::ssize(of.entries) <= slots) return;
        struct stretch {
            std::ptrdiff_t first = -1;
            std::ptrdiff_t last = -1;
            bool takes_places = true;  ///< its entries take places until it has started
        };
        std::vector<stretch> jobs(of.jobs.size());
        std::vector<std::size_t> job_at;
        for (const auto& entry : of.entries) {
            auto& job = jobs[job_at.emplace_back(of.numbers.at(entry))];
            job.last = std::ssize(job_at) - 1;
            if (job.first < 0) job.first = job.last;
            job.takes_places = !known.contains(entry) && !started.contains(entry);
        }
        // When a job's turn comes, all before it have left the queue, and the jobs named after it
        // keep their places. So the search begins with the last job, which depends on these alone.
        for (auto number = jobs.size(); number-- > 0;) {
            auto& job = jobs[number];
            if (!job.takes_places || job.last - job.first < slots) continue;
            const auto place = std::count_if(
                job_at.begin() + job.first, job_at.begin() + job.last + 1,
                [&](auto other) { return other >= number && jobs[other].takes_places; });
            if (place <= slots) continue;
            job.takes_places = false;
            const auto& name = of.jobs[number].name;
            known.emplace(name,
                          problem{reasons::job_too_large,
                                  fmt::format("{} has an entry at place {} of the queue when its "
                                              "turn comes, the Testbed has {} slots: it cannot "
                                              "start; move its entries closer together",
                                              job_text(name), place, slots)});
        }
    }

    next_starts next(const plan& of, const plan_progress& progress,
                     const free_slots& free) const override {
        struct share {
            std::vector<int> slots;
            bool complete = true;
        };
        std::map<object_key, share> shares;
        int from = 0;
        for (const auto& entry : of.entries) {
            if (!progress.startable.contains(entry)) continue;
            auto& mine = shares[entry];
            const auto slot = free.next(from);
            if (!slot) {
                mine.complete = false;
                continue;
            }
            mine.slots.push_back(*slot);
            from = *slot + 1;
        }
        next_starts out;
        const object_key* held_up = nullptr;
        coordinator_turns coordinators(free);
        for (const auto& job : of.jobs) {
            auto found = shares.find(job.name);
            if (found == shares.end()) continue;
            if (held_up != nullptr) {
                out.waits.push_back({job.name, slot_blocker::kind::job_before, {}, *held_up});
            } else if (!found->second.complete) {
                held_up = &job.name;
                out.waits.push_back({job.name, slot_blocker::kind::too_few_free, {}, {}});
            } else if (!coordinators.give(found->second.slots)) {
                held_up = &job.name;
                out.waits.push_back(coordinators.busy(job.name));
            } else {
                out.starts.push_back({job.name, std::move(found->second.slots)});
            }
        }
        return out;
    }
};

}  // namespace

const policy& queue_policy() {
    static const queue one;
    return one;
}

}  // namespace esi::scheduling

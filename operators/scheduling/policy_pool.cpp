#include <fmt/format.h>

#include "grid/rights.h"
#include "model/conditions.h"
#include "scheduling/plan.h"
#include "scheduling/policies.h"
#include "scheduling/words.h"

namespace esi::scheduling {

namespace {

using model::object_key;
namespace reasons = model::condition_reason;

class pool final : public policy {
public:
    std::string_view mode() const override { return "pool"; }
    std::string_view field() const override { return "poolBased"; }
    bool is_asked_for(const model::scheduling_spec& spec) const override {
        return spec.pool_based.has_value();
    }
    /// A pool may change at any time.
    void freeze(model::scheduling_spec&, const model::scheduling_spec&) const override {}

    void read(plan& into, const model::scheduling_spec& spec, std::string_view ns) const override {
        if (!spec.pool_based) return;
        for (const auto& job : spec.pool_based->jobs) {
            auto name = grid::in_namespace(job.name, ns);
            if (into.find(name) == nullptr) {
                into.add({std::move(name), job.slots, {}});
                continue;
            }
            into.wrong = problem{
                reasons::duplicate_job,
                fmt::format("poolBased names {} twice; name it once, with the number of its slots",
                            job_text(name))};
        }
    }

    /// A job of a pool does not depend on those before it.
    void find_problems(const plan&, int, const std::set<object_key>&,
                       std::map<object_key, problem>&) const override {}

    next_starts next(const plan& of, const plan_progress& progress,
                     const free_slots& free) const override {
        next_starts out;
        int from = 0;
        coordinator_turns coordinators(free);
        for (const auto& job : of.jobs) {
            if (!progress.startable.contains(job.name)) continue;
            auto slots = lowest(free, from, job.slots_wanted);
            if (!slots) {
                out.waits.push_back({job.name, slot_blocker::kind::too_few_free, {}, {}});
                continue;
            }
            const int last = slots->back();
            if (!coordinators.give(*slots)) {
                out.waits.push_back(coordinators.busy(job.name));
                continue;
            }
            from = last + 1;
            out.starts.push_back({job.name, std::move(*slots)});
        }
        return out;
    }

private:
    /// The first `count` free slots from `from` on; none if there are fewer.
    static std::optional<std::vector<int>> lowest(const free_slots& free, int from, int count) {
        std::vector<int> out;
        while (std::ssize(out) < count) {
            const auto slot = free.next(from);
            if (!slot) return std::nullopt;
            out.push_back(*slot);
            from = *slot + 1;
        }
        return out;
    }
};

}  // namespace

const policy& pool_policy() {
    static const pool one;
    return one;
}

}  // namespace esi::scheduling

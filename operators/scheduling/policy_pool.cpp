#include "grid/rights.h"
#include "scheduling/plan.h"
#include "scheduling/policies.h"

namespace esi::scheduling {

namespace {

class pool final : public policy {
public:
    std::string_view mode() const override { return "pool"; }
    std::string_view field() const override { return "poolBased"; }
    bool is_asked_for(const model::scheduling_spec& spec) const override {
        return spec.pool_based.has_value();
    }
    void read(plan& into, const model::scheduling_spec& spec, std::string_view ns) const override {
        if (!spec.pool_based) return;
        for (const auto& job : spec.pool_based->jobs) {
            into.add_once({grid::in_namespace(job.name, ns), job.slots, {}}, field(),
                          "with the number of its slots");
        }
    }

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

#include "scheduling/answers/snapshot.h"

namespace esi::scheduling::answers {

view view_of(const snapshot& of, std::shared_ptr<const model::scheduling> self) {
    view out;
    out.schedulings = &of.schedulings;
    out.testbeds = &of.testbeds;
    out.jobs = &of.jobs;
    out.cross_namespace_jobs = of.cross_namespace_jobs;
    out.policies = of.policies;
    const auto key = self->metadata.key();
    const auto testbed = grid::testbed_of(*self);
    auto slots = std::make_shared<grid::slot_table>(testbed);
    if (const auto found = of.testbeds.find(testbed); found != of.testbeds.end()) {
        slots->change_testbed(found->second);
    }
    for (const auto& [name, job] : of.jobs) {
        const auto& active = job->spec.active_scheduling;
        if (active && active->key() == key) out.named.push_back(name);
        slots->change_job(nullptr, job.get());
    }
    for (const auto& slice : of.slices) slots->change_slice(nullptr, slice);
    for (const auto& pod : of.pods) {
        if (pod->testbed() == testbed) slots->change_pod(nullptr, pod);
    }
    out.slots = std::move(slots);
    out.self = std::move(self);
    return out;
}

}  // namespace esi::scheduling::answers

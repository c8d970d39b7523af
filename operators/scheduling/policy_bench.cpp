// Which jobs of a plan start next, by the number of free slots: a policy reads only those that it
// assigns.
#include "scheduling/policy.h"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "base/allocations.h"
#include "scheduling/plan.h"

namespace esi::scheduling {
namespace {

model::scheduling queue_of(int jobs, int slots_of_each) {
    model::scheduling out;
    out.metadata.namespace_ = "ns";
    out.metadata.name = "s";
    out.spec.testbed.name = "t";
    out.spec.queue_based.emplace();
    for (int i = 0; i < jobs; ++i) {
        for (int k = 0; k < slots_of_each; ++k) {
            out.spec.queue_based->push_back({"", fmt::format("job-{:03}", i)});
        }
    }
    return out;
}

void next_of_a_queue(benchmark::State& state) {
    constexpr int jobs = 10;
    const auto of = plan_of(queue_of(jobs, 4));
    plan_progress progress;
    for (int i = 0; i < jobs; ++i) progress.startable.insert({"ns", fmt::format("job-{:03}", i)});
    std::set<int> free;
    for (int i = 0; i < state.range(0); ++i) free.insert(i);
    const allocation_count allocated;
    for (auto _ : state) {
        auto next = of.chosen->next(of, progress, free_slots(free));
        benchmark::DoNotOptimize(next);
    }
    state.counters["allocations"] = allocated.per(state.iterations());
}
BENCHMARK(next_of_a_queue)->Arg(40)->Arg(50'000);

}  // namespace
}  // namespace esi::scheduling

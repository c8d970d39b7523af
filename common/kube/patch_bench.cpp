// The difference of two statuses, which is what a report writes.
#include "kube/patch.h"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "base/allocations.h"

namespace esi::kube {
namespace {

json status(int nodes, int changed) {
    json out = {{"state", "RUNNING"}, {"counts", {{"free", nodes - changed}, {"total", nodes}}}};
    auto& problems = out["nodeProblems"];
    for (int i = 0; i < nodes; ++i) {
        problems[fmt::format("node-{}", i)] = {i < changed ? "not ready" : "too small"};
    }
    return out;
}

void merge_difference_of_status(benchmark::State& state) {
    const auto nodes = static_cast<int>(state.range(0));
    const auto before = status(nodes, 0);
    const auto after = status(nodes, 1);
    const allocation_count allocated;
    for (auto _ : state) {
        auto patch = merge_difference(before, after);
        benchmark::DoNotOptimize(patch);
    }
    state.counters["allocations"] = allocated.per(state.iterations());
}
BENCHMARK(merge_difference_of_status)->Arg(10)->Arg(1000);

}  // namespace
}  // namespace esi::kube

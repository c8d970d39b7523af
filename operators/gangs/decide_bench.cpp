// A pass over many gangs that wait, with nothing to do, and after room was freed.
#include <benchmark/benchmark.h>

#include "gangs/testing/world.h"

namespace esi::gangs::tests {
namespace {

void fill(world& w, int gangs, bool alike) {
    for (int i = 0; i < 100; ++i) w.add_node(fmt::format("node-{:03}", i), "cpu=20 memory=64Gi");
    for (int i = 0; i < 100; ++i) {
        w.add_stranger(fmt::format("s{}", i), "cpu=19", fmt::format("node-{:03}", i));
    }
    for (int i = 0; i < gangs; ++i) {
        w.add_gang(fmt::format("g{}", i), 10,
                   alike ? "cpu=2 memory=1Gi" : fmt::format("cpu=2 memory={}Mi", 1000 + i));
    }
    for (int i = 0; i < 30; ++i) {
        w.settle();
        w.wait(seconds(1));
    }
}

void a_pass_without_changes(benchmark::State& state) {
    world w;
    fill(w, static_cast<int>(state.range(0)), true);
    const auto seen = w.see();
    for (auto _ : state) benchmark::DoNotOptimize(decide(seen, *w.known, *w.room));
}
BENCHMARK(a_pass_without_changes)->Arg(100)->Arg(1000)->Unit(benchmark::kMicrosecond);

void a_pass_after_room_was_freed(benchmark::State& state) {
    world w;
    fill(w, 1000, state.range(0) != 0);
    const auto seen = w.see();
    auto pod = w.pods.at("s0");
    for (auto _ : state) {
        w.room->pod_changed(pod, nullptr);
        w.room->pod_changed(nullptr, pod);
        benchmark::DoNotOptimize(decide(seen, *w.known, *w.room));
    }
}
/// 1: all gangs ask for the same; 0: each for something else.
BENCHMARK(a_pass_after_room_was_freed)->Arg(1)->Arg(0)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace esi::gangs::tests

// The contents of all slots of a layout, from its pods.
#include "grid/grid.h"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "base/allocations.h"
#include "grid/places.h"
#include "model/names.h"

namespace esi::grid {
namespace {

namespace names = model::names;

model::testbed_layout layout_of(int nodes) {
    model::testbed_layout out;
    out.revision = 1;
    out.slots_per_node = 10;
    for (int i = 0; i < nodes; ++i) {
        out.nodes.push_back({fmt::format("node-{:05}", i), fmt::format("uid-{}", i), i});
    }
    return out;
}

std::vector<pod_pointer> ghosts_of(const model::testbed_layout& layout) {
    std::vector<pod_pointer> out;
    for (const auto& place : slots_of(layout)) {
        model::pod ghost;
        ghost.metadata.name = ghost_name("tb", "uid", place.node, place.index);
        ghost.metadata.labels = {{std::string(names::ghost), "true"}};
        ghost.metadata.annotations = {{std::string(names::node), place.node},
                                      {std::string(names::index), std::to_string(place.index)}};
        ghost.node_name = place.node;
        ghost.phase = "Running";
        out.push_back(std::make_shared<const model::pod>(std::move(ghost)));
    }
    return out;
}

void look_at_layout(benchmark::State& state) {
    const auto layout = layout_of(static_cast<int>(state.range(0)));
    const auto pods = ghosts_of(layout);
    const allocation_count allocated;
    for (auto _ : state) {
        auto seen = look(layout, pods);
        benchmark::DoNotOptimize(seen);
    }
    state.counters["allocations"] = allocated.per(state.iterations());
    state.counters["slots"] = static_cast<double>(pods.size());
}
BENCHMARK(look_at_layout)->Arg(1)->Arg(200)->Arg(5000);

void name_of_ghost(benchmark::State& state) {
    for (auto _ : state) {
        auto name = ghost_name("slots", "00000001-0001-4000-8000-000000001eef", "node-00042", 7);
        benchmark::DoNotOptimize(name);
    }
}
BENCHMARK(name_of_ghost);

}  // namespace
}  // namespace esi::grid

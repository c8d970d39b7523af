// A Testbed with its layout, out of the text of the API server: the two forms of the layout.
#include "model/json.h"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "base/allocations.h"

namespace esi::model {
namespace {

std::string testbed_text(int nodes, bool compact) {
    testbed_status status;
    auto& layout = status.layout.emplace();
    layout.revision = 1;
    layout.slots_per_node = 10;
    layout.compact = compact;
    for (int i = 0; i < nodes; ++i) {
        layout.nodes.push_back({fmt::format("node-{:05}.cluster.example.com", i),
                                fmt::format("00000000-0000-4000-8000-{:012}", i), i});
    }
    const json object = {{"metadata", {{"name", "grid"}, {"namespace", "default"}, {"uid", "u"}}},
                         {"status", encode(status)}};
    return object.dump();
}

void decode_testbed(benchmark::State& state, bool compact) {
    const auto text = testbed_text(static_cast<int>(state.range(0)), compact);
    const allocation_count allocated;
    for (auto _ : state) {
        auto read = decode<testbed>(text, "Testbed");
        benchmark::DoNotOptimize(read);
    }
    state.counters["allocations"] = allocated.per(state.iterations());
    state.counters["bytes"] = static_cast<double>(text.size());
}
BENCHMARK_CAPTURE(decode_testbed, nodes, false)->Arg(3)->Arg(5000);
BENCHMARK_CAPTURE(decode_testbed, compact_nodes, true)->Arg(3)->Arg(5000);

}  // namespace
}  // namespace esi::model

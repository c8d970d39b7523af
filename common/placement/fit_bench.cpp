// The cost of a plan for a gang, on half full clusters of several sizes; and the cost of a pod's
// change to the ledger, which must not depend on the number of nodes.
#include <benchmark/benchmark.h>

#include "base/allocations.h"
#include "placement/testing/builders.h"

namespace esi::placement::tests {
namespace {

constexpr int pods_per_node = 10;

std::string node_name(int number) { return fmt::format("node-{:05}.cluster.example.com", number); }

/// Each node has 32 cpu, of which ten pods take something like the half.
void fill(cluster& at, int nodes) {
    int next = 0;
    for (int i = 0; i < nodes; ++i) {
        auto node = make_node(node_name(i), "cpu=32 memory=128Gi ephemeral-storage=100Gi",
                              fmt::format("zone-{}", i % 3));
        for (int label = 0; label < 12; ++label) {
            node.metadata.labels[fmt::format("example.com/label-{}", label)] = "value";
        }
        at.add(node);
        for (int k = 0; k < pods_per_node; ++k, ++next) {
            auto pod =
                make_pod(fmt::format("p-{}", next),
                         fmt::format("cpu={}m memory=4Gi", 800 + 7919 * next % 1600), node_name(i));
            at.room.pod_changed(nullptr, shared(std::move(pod)));
        }
    }
}

void plan(benchmark::State& state, const std::vector<pod_pointer>& members,
          const fit_options& options = {}) {
    cluster at;
    fill(at, static_cast<int>(state.range(0)));
    bool fits = true;
    const allocation_count allocated;
    for (auto _ : state) {
        const auto result = at.fit(members, options);
        fits = fits && std::holds_alternative<chosen_nodes>(result);
        benchmark::DoNotOptimize(result);
    }
    state.counters["allocations"] = allocated.per(state.iterations());
    state.counters["fits"] = fits ? 1 : 0;
}

void three_members(benchmark::State& state) { plan(state, alike("w", 3, "cpu=4 memory=8Gi")); }
BENCHMARK(three_members)->Arg(500)->Arg(5000);

void a_hundred_members(benchmark::State& state) {
    plan(state, alike("w", 100, "cpu=4 memory=8Gi"));
}
BENCHMARK(a_hundred_members)->Arg(500)->Arg(5000);

void a_hundred_members_spread(benchmark::State& state) {
    plan(state, alike("w", 100, "cpu=4 memory=8Gi"), {.how = packing::spread});
}
BENCHMARK(a_hundred_members_spread)->Arg(500)->Arg(5000);

/// A driver and workers of two sizes.
void members_of_three_kinds(benchmark::State& state) {
    plan(state, together(together(alike("driver", 1, "cpu=1 memory=2Gi"),
                                  alike("large", 30, "cpu=8 memory=16Gi")),
                         alike("small", 69, "cpu=2 memory=4Gi")));
}
BENCHMARK(members_of_three_kinds)->Arg(500)->Arg(5000);

model::pod apart() {
    model::pod out;
    out.metadata.labels["app"] = "w";
    out.affinity.text =
        R"({"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[
            {"topologyKey":"kubernetes.io/hostname","labelSelector":{"matchLabels":{"app":"w"}}}]}})";
    return out;
}

void a_hundred_members_apart(benchmark::State& state) {
    plan(state, alike("w", 100, "cpu=4 memory=8Gi", apart()));
}
BENCHMARK(a_hundred_members_apart)->Arg(500)->Arg(5000);

/// One more than has room; with the message that says why.
void one_that_does_not_fit(benchmark::State& state) {
    plan(state, alike("w", 3, "cpu=31 memory=8Gi"));
}
BENCHMARK(one_that_does_not_fit)->Arg(500)->Arg(5000);

/// Two kinds, one of which finds no room beside the other: all ways are tried, and the search.
void one_that_is_searched_for(benchmark::State& state) {
    cluster at;
    const int nodes = static_cast<int>(state.range(0));
    for (int i = 0; i < nodes; ++i) at.add(make_node(node_name(i), "cpu=10"));
    const auto members = together(alike("w", nodes, "cpu=6"), alike("v", nodes / 2, "cpu=5"));
    const allocation_count allocated;
    for (auto _ : state) {
        const auto result = at.fit(members);
        benchmark::DoNotOptimize(result);
    }
    state.counters["allocations"] = allocated.per(state.iterations());
}
BENCHMARK(one_that_is_searched_for)->Arg(6)->Arg(500);

void shape_of_a_hundred(benchmark::State& state) {
    const cluster at;
    const auto members = alike("w", 100, "cpu=4 memory=8Gi");
    const allocation_count allocated;
    for (auto _ : state) {
        const auto shape = shape_of(members, at.room);
        benchmark::DoNotOptimize(shape);
    }
    state.counters["allocations"] = allocated.per(state.iterations());
}
BENCHMARK(shape_of_a_hundred);

/// A pod is bound, and goes again.
void a_pod_comes_and_goes(benchmark::State& state) {
    cluster at;
    const int nodes = static_cast<int>(state.range(0));
    fill(at, nodes);
    int next = 0;
    const auto name = [&] { return node_name(next++ * 7919 % nodes); };
    const allocation_count allocated;
    for (auto _ : state) {
        const auto pod = shared(make_pod("p", "cpu=500m memory=1Gi", name()));
        at.room.pod_changed(nullptr, pod);
        at.room.pod_changed(pod, nullptr);
    }
    state.counters["allocations"] = allocated.per(state.iterations());
}
BENCHMARK(a_pod_comes_and_goes)->Arg(3)->Arg(500)->Arg(5000);

}  // namespace
}  // namespace esi::placement::tests

// The way of a watch event: line, JSON, record, store. Allocations are counted beside the time; the
// gate (integration-tests/bench/gate) bounds them.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "base/allocations.h"
#include "kube/watch/line_splitter.h"
#include "kube/watch/store.h"
#include "model/json.h"
#include "model/names.h"

namespace esi::kube {
namespace {

namespace names = model::names;
using nlohmann::json;

/// The managed fields of an object, for one more manager.
json managed(const std::string& manager, const json& part) {
    const auto fields = [](const auto& self, const json& of) -> json {
        json out = json::object();
        if (!of.is_object()) return out;
        for (const auto& [key, value] : of.items()) out["f:" + key] = self(self, value);
        return out;
    };
    return {{"manager", manager},       {"operation", "Update"},
            {"apiVersion", "v1"},       {"time", "2026-11-20T08:00:00Z"},
            {"fieldsType", "FieldsV1"}, {"fieldsV1", fields(fields, part)}};
}

/// A pod of a Deployment with this many environment variables: 4 kB and more, as it comes.
json pod(int number, int variables) {
    json env = json::array();
    for (int i = 0; i < variables; ++i) {
        env.push_back({{"name", fmt::format("VARIABLE_{}", i)},
                       {"value", "https://service.internal.example.org:8443/v1"}});
    }
    json labels = {{"app.kubernetes.io/name", "web"}, {"pod-template-hash", "5b9d"}};
    json spec = {{"nodeName", fmt::format("node-{}", number % 500)},
                 {"schedulerName", "default-scheduler"},
                 {"serviceAccountName", "web"},
                 {"containers",
                  {{{"name", "service"},
                    {"image", "registry.example.org/platform/service:2.31.4"},
                    {"env", env},
                    {"resources",
                     {{"requests", {{"cpu", "250m"}, {"memory", "256Mi"}}},
                      {"limits", {{"memory", "512Mi"}}}}}}}}};
    json conditions = json::array();
    for (const char* type : {"Initialized", "Ready", "ContainersReady", "PodScheduled"}) {
        conditions.push_back(
            {{"type", type}, {"status", "True"}, {"lastTransitionTime", "2026-11-20T08:00:00Z"}});
    }
    json status = {{"phase", "Running"},
                   {"podIP", "10.0.0.7"},
                   {"conditions", conditions},
                   {"containerStatuses",
                    {{{"name", "service"},
                      {"ready", true},
                      {"state", {{"running", {{"startedAt", "2026-11-20T08:00:00Z"}}}}}}}}};
    return {{"apiVersion", "v1"},
            {"kind", "Pod"},
            {"metadata",
             {{"name", fmt::format("web-{}", number)},
              {"namespace", fmt::format("team-{:02}", number % 40)},
              {"uid", fmt::format("00000000-0000-4000-8000-{:012}", number)},
              {"resourceVersion", std::to_string(1000 + number)},
              {"creationTimestamp", "2026-11-20T08:00:00Z"},
              {"labels", labels},
              {"ownerReferences",
               {{{"apiVersion", "apps/v1"},
                 {"kind", "ReplicaSet"},
                 {"name", "web-5b9d"},
                 {"uid", "5b9d"},
                 {"controller", true}}}},
              {"managedFields",
               {managed("kube-controller-manager", {{"spec", spec}}),
                managed("kubelet", {{"status", status}})}}}},
            {"spec", spec},
            {"status", status}};
}

model::pod record(int number) {
    model::pod out;
    out.metadata.name = fmt::format("web-{}", number);
    out.metadata.namespace_ = fmt::format("team-{:02}", number % 40);
    out.metadata.uid = std::to_string(number);
    out.node_name = fmt::format("node-{}", number % 500);
    out.phase = "Running";
    out.requests = {{"cpu", 250}, {"memory", 256 << 20}};
    return out;
}

void decode_pod(benchmark::State& state) {
    const auto text = pod(1, static_cast<int>(state.range(0))).dump();
    simdjson::dom::parser parser;
    // The parser's buffers are made by the first document and stay.
    (void)model::parse(parser, text);
    const allocation_count allocated;
    for (auto _ : state) {
        const auto root = model::parse(parser, text);
        auto decoded = decode_object<model::pod>(*root);
        benchmark::DoNotOptimize(decoded);
    }
    state.counters["allocations"] = allocated.per(state.iterations());
    state.counters["bytes"] = static_cast<double>(text.size());
}
BENCHMARK(decode_pod)->Arg(0)->Arg(20)->Arg(60);

/// The floor of decode_pod: the same text, parsed only.
void parse_pod(benchmark::State& state) {
    const auto text = pod(1, static_cast<int>(state.range(0))).dump();
    simdjson::dom::parser parser;
    (void)model::parse(parser, text);
    for (auto _ : state) {
        auto root = model::parse(parser, text);
        benchmark::DoNotOptimize(root);
    }
}
BENCHMARK(parse_pod)->Arg(0)->Arg(20)->Arg(60);

void add_indexes(store<model::pod>& pods) {
    pods.add_index("node",
                   [](const model::pod& each) { return std::vector<std::string>{each.node_name}; });
    pods.add_index("testbed", [](const model::pod& each) {
        return each.is_ghost() ? std::vector<std::string>{each.testbed().text()}
                               : std::vector<std::string>();
    });
}

/// The memory that each object of a store takes, decoded from all that an API server sends.
void hold_pods(benchmark::State& state) {
    const auto size = static_cast<int>(state.range(0));
    simdjson::dom::parser parser;
    std::int64_t held = 0;
    std::uint64_t allocated = 0;
    for (auto _ : state) {
        store<model::pod> pods;
        add_indexes(pods);
        const auto bytes = bytes_held();
        for (int i = 0; i < size; ++i) {
            const auto text = pod(i, 0).dump();
            auto one = decode_object<model::pod>(*model::parse(parser, text));
            const auto before = allocations_so_far();
            pods.apply(std::move(*one));
            allocated += allocations_so_far() - before;
        }
        held += bytes_held() - bytes;
    }
    const auto all = static_cast<double>(state.iterations() * size);
    state.counters["bytes held"] = static_cast<double>(held) / all;
    state.counters["allocations"] = static_cast<double>(allocated) / all;
}
BENCHMARK(hold_pods)->Arg(10'000)->Unit(benchmark::kMillisecond);

/// Finds one object of the store, and unpacks it from its bytes.
void find_pod(benchmark::State& state) {
    const auto size = static_cast<int>(state.range(0));
    store<model::pod> pods;
    std::vector<model::object_key> keys;
    for (int i = 0; i < size; ++i) {
        pods.apply(record(i));
        keys.push_back(record(i * 31 % size).metadata.key());
    }
    std::size_t next = 0;
    const allocation_count allocated;
    for (auto _ : state) {
        benchmark::DoNotOptimize(pods.find(keys[next++ % keys.size()]));
    }
    state.counters["allocations"] = allocated.per(state.iterations());
}
BENCHMARK(find_pod)->Arg(10'000);

/// A change of one pod in a store of so many, with the indexes of the testbed operator.
void apply_change(benchmark::State& state) {
    const auto size = static_cast<int>(state.range(0));
    store<model::pod> pods;
    add_indexes(pods);
    for (int i = 0; i < size; ++i) pods.apply(record(i));
    std::vector<model::pod> changes;
    for (int i = 0; i < 2000; ++i) {
        // Each twice, in two versions.
        auto& change = changes.emplace_back(record(i % 1000 * 7919 % size));
        change.metadata.resource_version = std::to_string(100'000 + i);
    }
    std::uint64_t done = 0;
    std::uint64_t allocated = 0;
    for (auto _ : state) {
        auto change = changes[done++ % changes.size()];
        const auto before = allocations_so_far();
        pods.apply(std::move(change));
        allocated += allocations_so_far() - before;
    }
    state.counters["allocations"] =
        static_cast<double>(allocated) / static_cast<double>(state.iterations());
}
BENCHMARK(apply_change)->Arg(1000)->Arg(10'000)->Arg(100'000);

/// 64 KiB of a watch, cut as a socket cuts it.
void split_lines(benchmark::State& state) {
    std::string text;
    while (text.size() < (64u << 10)) text += pod(1, 20).dump() + "\n";
    const allocation_count allocated;
    std::int64_t lines = 0;
    for (auto _ : state) {
        line_splitter splitter;
        for (std::size_t at = 0; at < text.size(); at += 4096) {
            (void)splitter.feed(std::string_view(text).substr(at, 4096));
            while (auto line = splitter.next()) {
                benchmark::DoNotOptimize(line);
                ++lines;
            }
        }
    }
    state.counters["allocations"] = allocated.per(lines);
    state.SetBytesProcessed(static_cast<std::int64_t>(text.size()) * state.iterations());
}
BENCHMARK(split_lines);

}  // namespace
}  // namespace esi::kube

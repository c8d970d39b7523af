// Measures a reconcile of a Testbed after one pod of it has changed, at several numbers of nodes of
// two slots; and the making of the whole ledger, which a process does once.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <boost/asio/io_context.hpp>

#include "base/allocations.h"
#include "base/virtual_clock.h"
#include "kube/connection/no_server.h"
#include "testbed/testing.h"
#include "testbed/upkeep.h"

namespace esi::testbed::tests {
namespace {

/// A Testbed with a ghost in each slot, shown by caches, and its updated ledger.
class kept_testbed : private change_listener {
public:
    explicit kept_testbed(int nodes) : at_(names_of(nodes)) {
        at_.all_ghosts();
        shown_.on_change(*this);
        auto into = shown_.fill();
        into.testbeds.apply(at_.testbed);
        for (const auto& [name, node] : at_.nodes) into.nodes.apply(node);
        for (const auto& pod : at_.pods) into.pods.apply(pod);
    }

    void bring_up() {
        (void)states_.bring_up(shown_, shown_.find_testbed(at_.testbed.metadata.key()), at_.known,
                               at_.ghost_image, at_.now, at_.wall);
    }
    void change_a_pod() {
        auto& pod = at_.pods[changes_ * 7919 % at_.pods.size()];
        pod.reason = changes_++ % 2 == 0 ? "CrashLoopBackOff" : "";
        // Without this it may be the version that is kept: no change.
        pod.metadata.resource_version = std::to_string(changes_);
        shown_.fill().pods.apply(pod);
    }
    void forget() { states_.all_changed(); }
    std::uint64_t slots_assessed() const { return states_.slots_assessed(); }

private:
    static std::vector<std::string> names_of(int nodes) {
        std::vector<std::string> out;
        for (int i = 0; i < nodes; ++i) out.push_back(fmt::format("node-{:05}", i));
        return out;
    }
    void report_changed(const model::object_key&) override { states_.report_changed(); }
    void node_changed(const model::object_key&, std::string_view node) override {
        states_.node_changed(node);
    }
    void pod_changed(const model::object_key&, const model::object_key& pod) override {
        states_.pod_changed(pod);
    }
    void job_changed(const model::object_key&, const model::object_key& job) override {
        states_.job_changed(job);
    }
    void hold_changed(const model::object_key&) override { states_.hold_changed(); }
    void labels_changed(const model::object_key&) override { states_.labels_changed(); }
    void all_changed(const model::object_key&) override { states_.all_changed(); }
    void node_seen(const kube::change<model::node>&) override {}
    void pod_seen(const kube::change<model::pod>&) override {}
    void slice_changed(const model::object_key&, int first) override {
        states_.slice_changed(first);
    }

    world at_;
    std::size_t changes_ = 0;
    asio::io_context loop_;
    virtual_clock time_;
    kube::no_server server_;
    kube::client api_{server_, time_};
    caches shown_{api_, time_, {}};
    upkeep states_;
};

void one_pod_changed(benchmark::State& state) {
    kept_testbed kept(static_cast<int>(state.range(0)));
    kept.bring_up();
    const auto assessed = kept.slots_assessed();
    const allocation_count allocated;
    for (auto _ : state) {
        kept.change_a_pod();
        kept.bring_up();
    }
    const auto times = static_cast<double>(state.iterations());
    state.counters["allocations"] = allocated.per(state.iterations());
    state.counters["slots"] = static_cast<double>(kept.slots_assessed() - assessed) / times;
}
BENCHMARK(one_pod_changed)->Arg(3)->Arg(1000)->Arg(10'000);

void the_whole_ledger(benchmark::State& state) {
    kept_testbed kept(static_cast<int>(state.range(0)));
    const allocation_count allocated;
    for (auto _ : state) {
        kept.forget();
        kept.bring_up();
    }
    state.counters["allocations"] = allocated.per(state.iterations());
}
BENCHMARK(the_whole_ledger)->Arg(3)->Arg(1000);

}  // namespace
}  // namespace esi::testbed::tests

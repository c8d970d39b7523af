#include "kubectl-esi/read/world.h"

#include "kubectl-esi/shown/words.h"
#include "model/names.h"

namespace esi::kubectl {

namespace types = kube::types;

namespace {

template <class T>
asio::awaitable<result<void>> read_kind(session& in, const kube::resource_type& type,
                                        std::set<std::string> namespaces,
                                        scheduling::objects<T>& into,
                                        std::vector<std::string>& hidden) {
    auto list = co_await read_widely<T>(in, type, std::move(namespaces), {}, hidden);
    if (!list) co_return std::unexpected(std::move(list).error());
    for (auto& each : *list) {
        auto key = each.metadata.key();
        into.emplace(std::move(key), std::make_shared<const T>(std::move(each)));
    }
    co_return result<void>();
}

}  // namespace

asio::awaitable<result<world>> read_world(session& in, extent what) {
    world out;
    auto& all = out.objects;
    all.cross_namespace_jobs = in.flags.cross_namespace_jobs;
    auto& hidden = out.hidden;
    auto done = co_await read_kind(in, types::scheduling, what.namespaces, all.schedulings, hidden);
    if (!done) co_return std::unexpected(std::move(done).error());
    for (const auto& [key, each] : all.schedulings) {
        what.namespaces.insert(grid::testbed_of(*each).namespace_);
    }
    done = co_await read_kind(in, types::testbed, what.namespaces, all.testbeds, hidden);
    if (!done) co_return std::unexpected(std::move(done).error());
    done = co_await read_kind(in, types::batchjob, what.namespaces, all.jobs, hidden);
    if (!done) co_return std::unexpected(std::move(done).error());
    if (!what.pods) co_return out;

    kube::list_options marked;
    marked.label_selector = std::string(model::names::testbed);
    if (!what.testbed.name.empty()) marked.label_selector += "=" + what.testbed.name;
    auto pods = co_await read_widely<model::pod>(in, types::pod, what.namespaces, marked, hidden);
    if (!pods) co_return std::unexpected(std::move(pods).error());
    for (auto& each : *pods) {
        all.pods.push_back(std::make_shared<const model::pod>(std::move(each)));
    }
    const bool sliced = std::ranges::any_of(
        all.testbeds, [](const auto& each) { return grid::has_slices(*each.second); });
    if (!sliced) co_return out;
    auto slices = co_await read_widely<model::slot_slice>(in, types::slot_slice, what.namespaces,
                                                          marked, hidden);
    if (!slices) co_return std::unexpected(std::move(slices).error());
    for (auto& each : *slices) {
        all.slices.push_back(std::make_shared<const model::slot_slice>(std::move(each)));
    }
    co_return out;
}

std::string notes_text(const std::vector<std::string>& hidden) {
    std::string out;
    for (const auto& each : hidden) out += "note: " + shown::printable(each) + "\n";
    return out;
}

}  // namespace esi::kubectl

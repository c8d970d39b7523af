#include "scheduling/live_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "kube/watch/live_list.h"
#include "model/json.h"
#include "model/names.h"

namespace esi::scheduling {

namespace {

using model::object_key;
namespace names = model::names;
namespace types = kube::types;

/// Null if the API server has none.
template <class T>
asio::awaitable<result<std::shared_ptr<const T>>> fetch(kube::client& api,
                                                        const kube::resource_type& type,
                                                        object_key key) {
    if (!model::may_exist(key)) co_return std::shared_ptr<const T>();
    auto answer = co_await api.get(type, key.namespace_, key.name);
    if (!answer) {
        if (answer.error().code == errc::not_found) co_return std::shared_ptr<const T>();
        co_return std::unexpected(std::move(answer).error());
    }
    auto out = model::decode<T>(*answer, type.kind);
    if (!out) co_return std::unexpected(std::move(out).error());
    co_return std::make_shared<const T>(std::move(*out));
}

/// Selects the pods in slots of a Testbed.
std::string job_pods_of(const object_key& testbed) {
    return fmt::format("{}={},{}={},!{}", names::testbed, testbed.name, names::testbed_namespace,
                       testbed.namespace_, names::ghost);
}

/// Bounds the length of a selector, which is a part of the URL.
constexpr std::size_t jobs_in_selector = 32;
/// The longest value of a label. No pod can name a job with a longer name.
constexpr std::size_t longest_label = 63;

}  // namespace

asio::awaitable<result<std::shared_ptr<const model::testbed>>> live_reader::fetch_testbed(
    object_key key) {
    return fetch<model::testbed>(api_, types::testbed, std::move(key));
}

asio::awaitable<result<std::shared_ptr<const model::batchjob>>> live_reader::fetch_job(
    object_key key) {
    return fetch<model::batchjob>(api_, types::batchjob, std::move(key));
}

asio::awaitable<result<std::shared_ptr<const model::scheduling>>> live_reader::fetch_scheduling(
    object_key key) {
    return fetch<model::scheduling>(api_, types::scheduling, std::move(key));
}

asio::awaitable<result<void>> live_reader::list_pods(std::string ns, pod_selector which,
                                                     std::vector<grid::pod_pointer>& into) {
    kube::list_options options;
    options.label_selector = std::move(which.labels);
    options.field_selector = std::move(which.fields);
    auto pods = co_await kube::live_list<model::pod>(api_, types::pod, ns, options);
    if (!pods) {
        // A namespace whose rights were withdrawn delays none of the others; a job that was
        // assigned there is read alone, and awaited.
        const bool one_of_several = namespaces_.size() > 1;
        if (pods.error().code == errc::forbidden && one_of_several) co_return result<void>{};
        co_return std::unexpected(std::move(pods).error());
    }
    for (auto& pod : *pods) into.push_back(std::make_shared<const model::pod>(std::move(pod)));
    co_return result<void>{};
}

asio::awaitable<result<std::vector<grid::pod_pointer>>> live_reader::fetch_job_pods(
    object_key testbed) {
    auto namespaces = namespaces_;
    if (namespaces.empty()) namespaces.emplace_back();
    std::vector<grid::pod_pointer> out;
    for (const auto& ns : namespaces) {
        auto done = co_await list_pods(ns, {job_pods_of(testbed), ""}, out);
        if (!done) co_return std::unexpected(std::move(done).error());
    }
    co_return out;
}

asio::awaitable<result<std::vector<grid::pod_pointer>>> live_reader::fetch_pods_of(
    object_key testbed, std::vector<object_key> jobs) {
    std::map<std::string, std::set<std::string>> names_in;
    const auto& watched = namespaces_;
    for (const auto& job : jobs) {
        const bool known =
            watched.empty() || std::ranges::find(watched, job.namespace_) != watched.end();
        if (known && model::may_exist(job) && job.name.size() <= longest_label) {
            names_in[job.namespace_].insert(job.name);
        }
    }
    std::vector<grid::pod_pointer> out;
    for (const auto& [ns, jobs_there] : names_in) {
        const std::vector<std::string> all(jobs_there.begin(), jobs_there.end());
        for (std::size_t from = 0; from < all.size(); from += jobs_in_selector) {
            const auto to = std::min(all.size(), from + jobs_in_selector);
            auto selector =
                fmt::format("{},{} in ({})", job_pods_of(testbed), names::job,
                            fmt::join(all.begin() + static_cast<std::ptrdiff_t>(from),
                                      all.begin() + static_cast<std::ptrdiff_t>(to), ","));
            auto done = co_await list_pods(ns, {std::move(selector), ""}, out);
            if (!done) co_return std::unexpected(std::move(done).error());
        }
    }
    co_return out;
}

asio::awaitable<result<void>> live_reader::find_missed_pods(std::vector<grid::pod_pointer> known,
                                                            std::vector<grid::pod_pointer>& into) {
    std::set<std::string> listed;
    for (const auto& pod : into) listed.insert(pod->metadata.uid);
    for (const auto& pod : known) {
        const auto& meta = pod->metadata;
        if (listed.contains(meta.uid)) continue;
        std::vector<grid::pod_pointer> found;
        auto done = co_await list_pods(meta.namespace_, {"", "metadata.name=" + meta.name}, found);
        if (!done) co_return done;
        for (auto& one : found) {
            if (one->metadata.uid == meta.uid) into.push_back(std::move(one));
        }
    }
    co_return result<void>{};
}

}  // namespace esi::scheduling

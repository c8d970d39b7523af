#include "scheduling/interface/v1/application_specs.h"

#include <algorithm>
#include <set>

#include "model/json.h"

namespace esi::scheduling::v1 {

namespace {

namespace types = kube::types;

/// So many jobs of a namespace are read one by one; of more, the namespace is listed.
constexpr std::size_t most_single_reads = 8;
constexpr int list_page = 500;

std::string continue_of(std::string_view list) {
    simdjson::dom::parser parser;
    const auto root = model::parse(parser, list);
    std::string_view out;
    if (!root || (*root)["metadata"]["continue"].get(out) != simdjson::SUCCESS) return {};
    return std::string(out);
}

}  // namespace

std::size_t application_specs::entry::bytes() const {
    return sizeof(entry) + uid.size() + (spark ? spark->text.size() : 0) +
           (flink ? flink->text.size() : 0);
}

application_specs::application_specs(const sources& from, std::size_t most_bytes)
    : from_(from), most_bytes_(most_bytes) {
    from.seen.jobs().on_change([this](const kube::change<model::batchjob>& what) {
        if (what.before && !what.after) forget(what.before->metadata.uid);
    });
}

application_specs::job_pointer application_specs::completed(const model::batchjob& trimmed) {
    const auto found = by_uid_.find(trimmed.metadata.uid);
    if (found == by_uid_.end() || found->second->generation != trimmed.metadata.generation) {
        return nullptr;
    }
    kept_.splice(kept_.begin(), kept_, found->second);
    auto out = std::make_shared<model::batchjob>(trimmed);
    out->spec.spark_spec = found->second->spark;
    out->spec.flink_spec = found->second->flink;
    return out;
}

void application_specs::drop(known::iterator which) {
    bytes_ -= which->bytes();
    by_uid_.erase(which->uid);
    kept_.erase(which);
}

void application_specs::forget(std::string_view uid) {
    if (const auto found = by_uid_.find(uid); found != by_uid_.end()) drop(found->second);
}

void application_specs::keep(const model::batchjob& job) {
    forget(job.metadata.uid);
    entry made{job.metadata.uid, job.metadata.generation, job.spec.spark_spec, job.spec.flink_spec};
    const auto bytes = made.bytes();
    if (bytes > most_bytes_) return;
    while (bytes_ + bytes > most_bytes_) drop(std::prev(kept_.end()));
    kept_.push_front(std::move(made));
    by_uid_.emplace(job.metadata.uid, kept_.begin());
    bytes_ += bytes;
}

asio::awaitable<result<void>> application_specs::read_one(
    model::object_key key, std::map<model::object_key, job_pointer>& into) {
    const auto text = co_await from_.api.get(types::batchjob, key.namespace_, key.name);
    if (!text) {
        if (text.error().code == errc::not_found) co_return result<void>();
        co_return std::unexpected(text.error());
    }
    auto job = model::decode<model::batchjob>(*text, "BatchJob");
    if (!job) co_return std::unexpected(std::move(job).error());
    keep(*job);
    into[key] = std::make_shared<const model::batchjob>(std::move(*job));
    co_return result<void>();
}

asio::awaitable<result<void>> application_specs::read_namespace(
    std::string ns, std::vector<model::object_key> wanted,
    std::map<model::object_key, job_pointer>& into) {
    std::set<model::object_key> missing(wanted.begin(), wanted.end());
    kube::list_options options;
    options.limit = list_page;
    // The keys of a list ascend: what is behind the last wanted one is not read.
    while (!missing.empty()) {
        const auto text = co_await from_.api.list(types::batchjob, ns, options);
        if (!text) co_return std::unexpected(text.error());
        auto jobs = model::decode_list<model::batchjob>(*text, "BatchJob");
        if (!jobs) co_return std::unexpected(std::move(jobs).error());
        for (auto& job : *jobs) {
            const auto key = job.metadata.key();
            std::erase_if(missing, [&](const auto& each) { return each < key; });
            if (missing.erase(key) == 0) continue;
            keep(job);
            into[key] = std::make_shared<const model::batchjob>(std::move(job));
        }
        options.continue_token = continue_of(*text);
        if (options.continue_token.empty()) break;
    }
    co_return result<void>();
}

asio::awaitable<result<std::vector<application_specs::job_pointer>>> application_specs::whole(
    std::vector<job_pointer> trimmed) {
    std::map<model::object_key, job_pointer> found;
    std::map<std::string, std::vector<model::object_key>> missing;
    for (const auto& job : trimmed) {
        const auto key = job->metadata.key();
        if (auto known = completed(*job)) {
            found[key] = std::move(known);
        } else {
            missing[key.namespace_].push_back(key);
        }
    }
    for (const auto& [ns, keys] : missing) {
        if (keys.size() > most_single_reads) {
            auto done = co_await read_namespace(ns, keys, found);
            if (!done) co_return std::unexpected(std::move(done).error());
            continue;
        }
        for (const auto& key : keys) {
            auto done = co_await read_one(key, found);
            if (!done) co_return std::unexpected(std::move(done).error());
        }
    }
    std::vector<job_pointer> out;
    for (const auto& job : trimmed) {
        const auto at = found.find(job->metadata.key());
        if (at != found.end()) out.push_back(at->second);
    }
    co_return out;
}

asio::awaitable<result<application_specs::job_pointer>> application_specs::whole(
    job_pointer trimmed) {
    std::vector<job_pointer> one{std::move(trimmed)};
    auto read = co_await whole(std::move(one));
    if (!read) co_return std::unexpected(std::move(read).error());
    co_return read->empty() ? nullptr : read->front();
}

}  // namespace esi::scheduling::v1

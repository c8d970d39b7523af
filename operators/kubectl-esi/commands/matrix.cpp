#include "kubectl-esi/commands/matrix.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "kubectl-esi/read/world.h"
#include "kubectl-esi/shown/blockers.h"
#include "kubectl-esi/shown/documents.h"
#include "kubectl-esi/shown/words.h"

namespace esi::kubectl {

namespace answers = scheduling::answers;
namespace types = kube::types;
using neighbour = std::optional<model::object_key>;

namespace {

/// A screen holds no more columns: -o wide has them all.
constexpr std::size_t most_columns = 50;

std::string heading_of(const neighbour& of, const std::string& ns) {
    return of ? shown::name_in(*of, ns) : "ALONE";
}

}  // namespace

std::string matrix_text(const answers::matrix& of, const shown::look& as) {
    const auto& ns = of.testbed.namespace_;
    std::set<neighbour> columns;
    std::map<model::object_key, std::map<neighbour, const answers::measured_pair*>> jobs;
    for (const auto& pair : of.pairs) {
        columns.insert(pair.neighbour);
        jobs[pair.job][pair.neighbour] = &pair;
    }
    std::vector<std::string> headings{"JOB"};
    std::vector<neighbour> shown_columns;
    for (const auto& each : columns) {
        if (shown_columns.size() == most_columns) break;
        shown_columns.push_back(each);
        headings.push_back(heading_of(each, ns));
    }
    shown::table rows(std::move(headings));
    for (const auto& [job, pairs] : jobs) {
        std::vector<shown::cell> row{shown::name_in(job, ns)};
        for (const auto& column : shown_columns) {
            const auto found = pairs.find(column);
            row.emplace_back(found == pairs.end()
                                 ? std::string("-")
                                 : fmt::format("{} ({})",
                                               shown::seconds_text(found->second->mean_seconds),
                                               found->second->n));
        }
        rows.add(std::move(row));
    }
    const auto hidden = columns.size() - shown_columns.size();
    auto out = rows.text(as);
    if (hidden > 0) out += fmt::format("... and {} more columns: -o wide\n", hidden);
    return out + shown::left_out_text(of.pairs_left_out);
}

std::string pairs_text(const answers::matrix& of, const shown::look& as) {
    const auto& ns = of.testbed.namespace_;
    shown::table rows({"JOB", "BESIDE", "RUNS", "SOLE", "MEAN", "P50", "P95", "DEVIATION"});
    for (const auto& pair : of.pairs) {
        const auto& deviation = pair.standard_deviation_seconds;
        rows.add({shown::name_in(pair.job, ns),
                  pair.neighbour ? shown::name_in(*pair.neighbour, ns) : std::string(shown::none),
                  std::to_string(pair.n), std::to_string(pair.sole),
                  shown::seconds_text(pair.mean_seconds), shown::seconds_text(pair.p50_seconds),
                  shown::seconds_text(pair.p95_seconds),
                  deviation ? shown::seconds_text(*deviation) : std::string(shown::none)});
    }
    return rows.text(as) + shown::left_out_text(of.pairs_left_out);
}

asio::awaitable<result<reply>> matrix(session& in, std::string testbed) {
    const model::object_key key{in.own_namespace(), std::move(testbed)};
    auto found = co_await read_one<model::testbed>(in, types::testbed, key);
    if (!found) co_return std::unexpected(std::move(found).error());
    reply out;
    std::vector<std::string> hidden;
    auto list =
        co_await read_widely<model::batchjob>(in, types::batchjob, {key.namespace_}, {}, hidden);
    if (!list) co_return std::unexpected(std::move(list).error());
    std::map<model::object_key, std::shared_ptr<const model::batchjob>> sorted;
    for (auto& each : *list) {
        auto name = each.metadata.key();
        sorted.emplace(std::move(name), std::make_shared<const model::batchjob>(std::move(each)));
    }
    std::vector<std::shared_ptr<const model::batchjob>> jobs;
    for (auto& [name, job] : sorted) jobs.push_back(std::move(job));
    const auto all = answers::matrix_of(jobs, key);
    out.note = notes_text(hidden);
    if (all.runs_beside_others > 0) {
        out.note += fmt::format(
            "{} ran beside jobs of which only the number is recorded, and {} in no column.\n",
            all.runs_beside_others == 1 ? "1 run" : fmt::format("{} runs", all.runs_beside_others),
            all.runs_beside_others == 1 ? "is" : "are");
    }
    if (!in.tables()) {
        auto body = model::encode(all);
        body["pairs"] = shown::items_of(all.pairs);
        out.out = shown::object_text(body, in.flags.output);
    } else if (all.pairs.empty()) {
        out.note += fmt::format("No run on Testbed {} has ended well yet.\n", key.text());
    } else {
        out.out = in.wide() ? pairs_text(all, in.look()) : matrix_text(all, in.look());
    }
    co_return out;
}

}  // namespace esi::kubectl

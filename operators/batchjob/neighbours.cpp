#include "batchjob/neighbours.h"

#include <algorithm>
#include <ranges>
#include <utility>

#include "model/json_size.h"

namespace esi::batchjob {

namespace {

/// Adds `count` jobs that are not named; the number is absent if there are none, as in the status
/// of older versions.
void count_others(model::neighbour& at, std::size_t count) {
    count = std::min(count, most_neighbours_counted);
    const auto others = std::max(at.others.value_or(0), static_cast<int>(count));
    if (others > 0) at.others = others;
}

/// Replaces names that are not allowed, or beyond the bound, by their number.
void bound_names(model::neighbour& at, const neighbour_names& may) {
    const auto before = at.jobs.size();
    std::erase_if(at.jobs, [&](const auto& job) { return !may.has(job); });
    at.jobs.resize(std::min(at.jobs.size(), most_neighbours_named));
    count_others(at, before - at.jobs.size());
}

void note_at(model::neighbour& at, const std::set<model::object_key>& now,
             const neighbour_names& may) {
    std::size_t unnamed = 0;
    for (const auto& job : now) {
        auto text = job.text();
        if (std::ranges::find(at.jobs, text) != at.jobs.end()) continue;
        if (may.has(text) && at.jobs.size() < most_neighbours_named) {
            at.jobs.push_back(std::move(text));
        } else {
            ++unnamed;
        }
    }
    std::ranges::sort(at.jobs);
    count_others(at, unnamed);
}

model::neighbour without_names(model::neighbour at) {
    count_others(at, std::exchange(at.jobs, {}).size());
    return at;
}

/// Every node gets its number before any gets names. `left`: bytes; the line's part is subtracted.
void bound_line(std::vector<model::neighbour>& line, std::size_t& left) {
    std::size_t numbers = 0;
    std::size_t listed = 0;
    for (const auto& at : line) {
        const auto size = model::json_size(without_names(at));
        if (numbers + size > left) break;
        numbers += size;
        ++listed;
    }
    line.resize(listed);
    left -= numbers;
    for (auto& at : line) {
        auto number = without_names(at);
        const auto names =
            model::json_size(at) - std::min(model::json_size(at), model::json_size(number));
        if (names <= left) {
            left -= names;
        } else {
            at = std::move(number);
        }
    }
}

}  // namespace

bool neighbour_names::has(std::string_view job) const {
    return all || (job.starts_with(namespace_) && job.substr(namespace_.size()).starts_with('/'));
}

void note_neighbours(model::run_record& line, const std::set<std::string>& nodes,
                     const jobs_by_node& now, const neighbour_names& may) {
    std::map<std::string, model::neighbour, std::less<>> by_node;
    for (auto& known : line.neighbours) {
        bound_names(known, may);
        auto node = known.node;
        by_node.insert_or_assign(std::move(node), std::move(known));
    }
    for (const auto& node : nodes) {
        const auto there = now.find(node);
        if (there == now.end()) continue;
        auto& at = by_node[node];
        at.node = node;
        note_at(at, there->second, may);
    }
    line.neighbours.clear();
    for (auto& at : by_node | std::views::values) {
        if (!at.jobs.empty() || at.others) line.neighbours.push_back(std::move(at));
    }
}

void bound_neighbours(std::vector<model::run_record>& runs, const neighbour_names& may) {
    std::size_t left = most_neighbour_bytes;
    for (auto& line : runs | std::views::reverse) {
        for (auto& at : line.neighbours) bound_names(at, may);
        std::erase_if(line.neighbours,
                      [](const auto& at) { return at.jobs.empty() && !at.others; });
        bound_line(line.neighbours, left);
    }
}

}  // namespace esi::batchjob

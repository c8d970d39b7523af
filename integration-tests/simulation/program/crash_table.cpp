#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <vector>

#include "base/operators.h"
#include "plan/generate.h"
#include "program/commands.h"
#include "run/judge.h"
#include "run/pool.h"

namespace esi::simulation {

namespace {

struct line {
    std::size_t scenario;
    crash_point at;
};

std::string name_of(const crash_point& at) {
    return fmt::format("{}:{}:{}", at.operator_, at.write, at.after ? "after" : "before");
}

/// Deletions that wait for a state show that there is such a state.
bool nobody_was_deleted(const plan& what, const outcome& calm) {
    const auto wanted = std::ranges::count(what.workload, "delete", &happening::what);
    const auto done = calm.works.find("delete");
    return wanted > (done == calm.works.end() ? 0 : done->second);
}

}  // namespace

int run_crash_table(const std::string& only, int jobs) {
    const auto plans = scenarios();
    std::vector<outcome> calm(plans.size());
    std::vector<line> lines;
    int failed = 0;
    for (std::size_t i = 0; i < plans.size(); ++i) {
        if (!only.empty() && plans[i].scenario != only) continue;
        calm[i] = run(plans[i]);
        for (const auto& one : calm[i].violations) {
            ++failed;
            fmt::print("{}: undisturbed: {}: {}\n", plans[i].scenario, one.rule, one.text);
        }
        if (nobody_was_deleted(plans[i], calm[i])) {
            ++failed;
            fmt::print("{}: undisturbed: no-deletion: what it waits for was never there\n",
                       plans[i].scenario);
        }
        if (!calm[i].violations.empty()) continue;
        for (const auto& [operator_, sent] : calm[i].sent) {
            for (int n = 0; n < sent; ++n) {
                lines.push_back({i, {operator_, n, false}});
                lines.push_back({i, {operator_, n, true}});
            }
        }
    }
    std::map<std::size_t, std::map<std::string, int>> runs;
    std::map<std::size_t, int> broken;
    run_all(
        lines.size(), {jobs, std::chrono::seconds(120)},
        [&](std::size_t number) {
            const auto& what = lines[number];
            const auto done = judge_crash(plans[what.scenario], what.at, calm[what.scenario]);
            if (done.violations.empty()) return json::object();
            const auto& first = done.violations.front();
            return json{{"rule", first.rule}, {"text", first.text}};
        },
        [&](const piece& one) {
            const auto& what = lines[one.number];
            ++runs[what.scenario][what.at.operator_];
            const auto rule = one.failure.empty() ? one.result.value("rule", "") : "died";
            if (!rule.empty()) {
                ++failed;
                ++broken[what.scenario];
                fmt::print("{} --crash {}: {}: {}\n", plans[what.scenario].scenario,
                           name_of(what.at), rule,
                           one.failure.empty() ? one.result.value("text", "") : one.failure);
            }
            return true;
        });
    fmt::print("\n{:<38}", "scenario");
    for (const auto& name : operator_names()) fmt::print(" {:>11}", name);
    fmt::print(" {:>8}\n", "broken");
    for (auto& [number, of] : runs) {
        fmt::print("{:<38}", plans[number].scenario);
        for (const auto& name : operator_names()) fmt::print(" {:>11}", of[name]);
        fmt::print(" {:>8}\n", broken[number]);
    }
    fmt::print("{} runs with a crash, {} broken\n", lines.size(), failed);
    return failed > 0 ? 1 : 0;
}

}  // namespace esi::simulation

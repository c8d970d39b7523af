#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <vector>

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

json judge_crash(const plan& what, const crash_point& at, const outcome& calm) {
    run_options how;
    how.crash = at;
    const auto done = run(what, how);
    if (!done.violations.empty()) {
        return {{"rule", done.violations.front().rule}, {"text", done.violations.front().text}};
    }
    if (done.faults.empty()) {
        return {{"rule", "no-crash"}, {"text", "the write was never sent"}};
    }
    // How far a job got when the deletion came depends on the time that the crash took.
    if (what.scenario == "delete while acquiring") return json::object();
    const auto others = other_ends(what, calm.end, done.end);
    if (!others.empty())
        return {{"rule", "other-end"}, {"text", fmt::format("{}", fmt::join(others, "; "))}};
    return json::object();
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
            return judge_crash(plans[what.scenario], what.at, calm[what.scenario]);
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
    fmt::print("\n{:<26} {:>9} {:>9} {:>11} {:>8}\n", "scenario", "testbed", "batchjob",
               "scheduling", "broken");
    for (auto& [number, of] : runs) {
        fmt::print("{:<26} {:>9} {:>9} {:>11} {:>8}\n", plans[number].scenario, of["testbed"],
                   of["batchjob"], of["scheduling"], broken[number]);
    }
    fmt::print("{} runs with a crash, {} broken\n", lines.size(), failed);
    return failed > 0 ? 1 : 0;
}

}  // namespace esi::simulation

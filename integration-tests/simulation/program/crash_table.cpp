#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "base/operators.h"
#include "plan/generate.h"
#include "program/commands.h"
#include "run/judge.h"
#include "run/pool.h"

namespace esi::simulation {

namespace {

std::string name_of(const crash_point& at) {
    return fmt::format("{}:{}:{}", at.operator_, at.write, at.after ? "after" : "before");
}

/// Deletions that wait for a state show that there is such a state.
bool nobody_was_deleted(const plan& what, const outcome& calm) {
    const auto wanted = std::ranges::count(what.workload, "delete", &happening::what);
    const auto done = calm.works.find("delete");
    return wanted > (done == calm.works.end() ? 0 : done->second);
}

/// Runs one scenario to its end, and from each of its writes on a copy of it in which the operator
/// dies before the write, and one in which it dies after it: what comes before is run once.
class table_of_scenario {
public:
    explicit table_of_scenario(const plan& what) : what_(what) {}

    /// {"runs": {operator: number}, "broken": ["CRASH: RULE: TEXT"]}
    json fill() {
        calm_ = run(what_);
        for (const auto& one : calm_.violations) {
            broken(fmt::format("undisturbed: {}: {}", one.rule, one.text));
        }
        if (nobody_was_deleted(what_, calm_)) {
            broken("undisturbed: no-deletion: what it waits for was never there");
        }
        if (!calm_.violations.empty()) return filled_;
        run_options how;
        how.dies_at = [this](const std::string& operator_, int write) {
            return crash_at(operator_, write);
        };
        auto found = run(what_, how);
        if (copy_) end_copy(std::move(found));
        if (found.digest != calm_.digest) {
            broken("undisturbed: other-run: copies of it have changed it");
        }
        return filled_;
    }

private:
    void broken(std::string text) { filled_["broken"].push_back(std::move(text)); }

    std::optional<bool> crash_at(const std::string& operator_, int write) {
        if (copy_) return std::nullopt;
        for (const bool after : {false, true}) {
            branch copy;
            const crash_point at{operator_, write, after};
            const auto ended = copy.begin(std::chrono::seconds(120));
            if (!ended) {
                copy_ = copy;
                at_ = at;
                return after;
            }
            auto& count = filled_["runs"][operator_];
            count = count.is_null() ? 1 : count.get<int>() + 1;
            const auto& text = ended->failure.empty() ? ended->result.get<std::string>()
                                                      : "died: " + ended->failure;
            if (!text.empty()) broken(fmt::format("--crash {}: {}", name_of(at), text));
        }
        return std::nullopt;
    }

    [[noreturn]] void end_copy(outcome found) {
        judge_crashed(what_, at_, calm_, found);
        std::string text;
        if (!found.violations.empty()) {
            const auto& first = found.violations.front();
            text = fmt::format("{}: {}", first.rule, first.text);
        }
        copy_->end(text);
    }

    const plan& what_;
    outcome calm_;
    json filled_ = {{"runs", json::object()}, {"broken", json::array()}};
    /// Of a copy: itself, and where it crashed.
    std::optional<branch> copy_;
    crash_point at_;
};

}  // namespace

int run_crash_table(const std::string& only, int jobs) {
    auto plans = scenarios();
    if (!only.empty()) {
        std::erase_if(plans, [&](const plan& one) { return one.scenario != only; });
    }
    std::vector<json> table(plans.size());
    int failed = 0;
    // Without its copies a scenario needs seconds.
    run_all(
        plans.size(), {jobs, std::chrono::seconds(600)},
        [&](std::size_t number) { return table_of_scenario(plans[number]).fill(); },
        [&](const piece& one) {
            auto& row = table[one.number];
            row = one.failure.empty() ? one.result : json{{"broken", {"died: " + one.failure}}};
            for (const auto& text : row["broken"]) {
                ++failed;
                fmt::print("{} {}\n", plans[one.number].scenario, text.get<std::string>());
            }
            return true;
        });
    int runs = 0;
    fmt::print("\n{:<38}", "scenario");
    for (const auto& name : operator_names()) fmt::print(" {:>11}", name);
    fmt::print(" {:>8}\n", "broken");
    for (std::size_t i = 0; i < plans.size(); ++i) {
        fmt::print("{:<38}", plans[i].scenario);
        for (const auto& name : operator_names()) {
            const auto count = table[i].value("runs", json::object()).value(name, 0);
            runs += count;
            fmt::print(" {:>11}", count);
        }
        fmt::print(" {:>8}\n", table[i]["broken"].size());
    }
    fmt::print("{} runs with a crash, {} broken\n", runs, failed);
    return failed > 0 ? 1 : 0;
}

}  // namespace esi::simulation

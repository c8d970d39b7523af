#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <fstream>

#include "base/operators.h"
#include "plan/generate.h"
#include "plan/shrink.h"
#include "program/commands.h"
#include "program/plans.h"
#include "run/judge.h"
#include "run/pool.h"

namespace esi::simulation {

namespace {

int refuse(const error& why) {
    fmt::print(stderr, "{}\n", why.text);
    return 2;
}

result<crash_point> read_crash(const std::string& text) {
    const auto first = text.find(':');
    const auto last = text.rfind(':');
    crash_point out;
    if (first == text.npos || first == last)
        return fail(errc::config, text + ": is not OPERATOR:WRITE:before|after");
    out.operator_ = text.substr(0, first);
    if (!find_operator(out.operator_))
        return fail(errc::config, fmt::format("{}: the operator is one of {}", text,
                                              fmt::join(operator_names(), ", ")));
    const auto* end = text.data() + last;
    if (auto [at, wrong] = std::from_chars(text.data() + first + 1, end, out.write);
        wrong != std::errc() || at != end || out.write < 0)
        return fail(errc::config, text + ": the write is not a number, counted from 0");
    const auto when = text.substr(last + 1);
    if (when != "before" && when != "after")
        return fail(errc::config, text + ": neither before nor after");
    out.after = when == "after";
    return out;
}

void print_faults(const plan& what) {
    for (std::size_t i = 0; i < what.faults.size(); ++i) {
        const auto& one = what.faults[i];
        fmt::print("  {:>2}  {:>8} ms  {} {}\n", i, one.at.count(), one.what, one.with.dump());
    }
}

}  // namespace

int replay(const replay_request& what) {
    auto found = find_plan(what.plan);
    if (!found) return refuse(found.error());
    auto& chosen = *found;
    if (what.no_faults) chosen.faults.clear();
    if (!what.keep.empty()) {
        std::vector<happening> kept;
        for (const auto number : what.keep) {
            if (number >= chosen.faults.size()) {
                return refuse({errc::config, fmt::format("--keep {}: the plan has {} faults, "
                                                         "counted from 0",
                                                         number, chosen.faults.size())});
            }
            kept.push_back(chosen.faults[number]);
        }
        chosen.faults = std::move(kept);
    }
    run_options how;
    how.story = what.story || what.logs;
    how.logs = what.logs;
    std::optional<crash_point> crash;
    if (!what.crash.empty()) {
        auto point = read_crash(what.crash);
        if (!point) return refuse(point.error());
        crash = *point;
    }
    const auto done = crash ? judge_crash(chosen, *crash, run(chosen), how) : judge(chosen, how);
    for (const auto& line : done.story) fmt::print("{}\n", line);
    fmt::print("scenario {}, placement {}, {} replicas of each operator, {} faults\n",
               chosen.scenario, chosen.placement, chosen.replicas, chosen.faults.size());
    print_faults(chosen);
    fmt::print(
        "{} writes of operators, {} changes, {} checks, {:.1f} virtual minutes, digest {:016x}\n",
        done.writes.size(), done.changes, done.checks,
        static_cast<double>(done.virtual_time.count()) / 60000, done.digest);
    for (const auto& one : done.violations)
        fmt::print("+{:.6f}s {}: {}\n", static_cast<double>(one.at.count()) / 1000, one.rule,
                   one.text);
    return done.violations.empty() ? 0 : 1;
}

int show_plan(const std::string& name) {
    auto found = find_plan(name);
    if (!found) return refuse(found.error());
    fmt::print("{}", to_text(to_json(*found)));
    return 0;
}

int shrink_plan(const std::string& name, const std::string& save) {
    auto found = find_plan(name);
    if (!found) return refuse(found.error());
    std::ofstream file;
    if (!save.empty()) {
        file.open(save);
        if (!file) return refuse({errc::config, save + ": cannot be written"});
    }
    // In a process of its own: a plan may fail by a crash or without an end.
    auto rule_of = [](const plan& what) {
        std::string out;
        run_all(
            1, {1, std::chrono::seconds(120)},
            [&](std::size_t) {
                const auto done = judge(what);
                return json(done.violations.empty() ? "" : done.violations.front().rule);
            },
            [&](const piece& one) {
                out = one.failure.empty() ? one.result.get<std::string>() : one.failure;
                return true;
            });
        return out;
    };
    const auto rule = rule_of(*found);
    if (rule.empty()) {
        fmt::print("{}: nothing fails\n", name);
        return 0;
    }
    int tries = 0;
    const auto least = shrink(*found, [&](const plan& what) {
        fmt::print(stderr, "\r{} tries", ++tries);
        return rule_of(what) == rule;
    });
    fmt::print(stderr, "\n");
    fmt::print("{}: {} of {} faults and {} of {} steps of the workload are left\n", rule,
               least.faults.size(), found->faults.size(), least.workload.size(),
               found->workload.size());
    print_faults(least);
    if (!save.empty()) {
        file << to_text(to_json(least));
        if (!file.flush()) return refuse({errc::config, save + ": cannot be written"});
        fmt::print("kept in {}: esi-simulation replay {} --story\n", save, save);
    }
    return 1;
}

}  // namespace esi::simulation

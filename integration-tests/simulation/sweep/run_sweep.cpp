// The sweep as a command of the program: all cases side by side, and the table.
#include <fmt/format.h>

#include <cstdio>
#include <map>

#include "base/source_folder.h"
#include "run/pool.h"
#include "sweep/sweep.h"

namespace esi::simulation {

namespace {

struct row {
    int tried = 0;
    int refused = 0;
    int without_change = 0;
    int run = 0;
    int broken = 0;
};

json end_of(const sweep_base& base) {
    const auto done = run(base.undisturbed);
    if (done.violations.empty()) return {{"end", done.end}};
    const auto& first = done.violations.front();
    return {{"broken", fmt::format("{}: {}", first.rule, first.text)}};
}

json verdict_on(const sweep_case& what, const json& good) {
    outcome stays;
    outcome back;
    if (!what.stays.workload.empty()) stays = run(what.stays);
    if (!what.back.workload.empty()) back = run(what.back);
    return judge(what, good, stays, back);
}

}  // namespace

int run_sweep(int jobs) {
    const pool_settings how{jobs, std::chrono::seconds(120)};
    const auto& bases = sweep_bases();
    std::map<std::string, json> good;
    int failed = 0;
    run_all(
        bases.size(), how, [&](std::size_t number) { return end_of(bases[number]); },
        [&](const piece& one) {
            const auto& name = bases[one.number].name;
            if (one.failure.empty() && one.result.contains("end")) {
                good[name] = one.result.at("end");
                return true;
            }
            ++failed;
            fmt::print(
                "sweep {}: {}\n", name,
                one.failure.empty() ? one.result.value("broken", "") : "died: " + one.failure);
            return true;
        });

    const auto cases = sweep_cases(source_folder() + "/crds");
    std::map<std::string, row> table;
    run_all(
        cases.size(), how,
        [&](std::size_t number) {
            const auto found = good.find(cases[number].base->name);
            return found == good.end() ? json::array() : verdict_on(cases[number], found->second);
        },
        [&](const piece& one) {
            const auto& what = cases[one.number];
            auto& of = table[what.base->name];
            ++of.tried;
            if (what.refusal) {
                ++of.refused;
            } else if (!what.changes) {
                ++of.without_change;
            } else {
                ++of.run;
            }
            std::vector<std::string> broken;
            if (!one.failure.empty()) {
                broken.push_back("died: " + one.failure);
            } else {
                broken = one.result.get<std::vector<std::string>>();
            }
            if (!broken.empty()) ++of.broken;
            for (const auto& text : broken) {
                ++failed;
                fmt::print("sweep {}: {}\n", what.name, text);
                std::fflush(stdout);
            }
            return true;
        });

    fmt::print("\n{:<20} {:>7} {:>8} {:>10} {:>6} {:>7}\n", "base", "values", "refused",
               "no effect", "run", "broken");
    for (const auto& base : bases) {
        const auto& of = table[base.name];
        fmt::print("{:<20} {:>7} {:>8} {:>10} {:>6} {:>7}\n", base.name, of.tried, of.refused,
                   of.without_change, of.run, of.broken);
    }
    fmt::print("{} values, {} broken\n", cases.size(), failed);
    return failed > 0 ? 1 : 0;
}

}  // namespace esi::simulation

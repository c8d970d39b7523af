#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <map>

#include "foresee/explain_probe.h"
#include "foresee/preview_probe.h"
#include "program/commands.h"
#include "run/pool.h"

namespace esi::simulation {

namespace {

foresee::report look_at(std::uint64_t seed, const run_options& how = run_options()) {
    auto out = foresee::probe_previews(seed, how);
    auto second = foresee::probe_explanations(seed, how);
    out.add(second);
    out.story.push_back("--- the same again, for what is explained ---");
    out.story.insert(out.story.end(), second.story.begin(), second.story.end());
    return out;
}

int tell_one(std::uint64_t seed, bool logs) {
    run_options how;
    how.story = true;
    how.logs = logs;
    const auto done = look_at(seed, how);
    for (const auto& line : done.story) fmt::print("{}\n", line);
    for (const auto& [what, times] : done.counts) fmt::print("{:<40} {}\n", what, times);
    for (const auto& one : done.violations) {
        fmt::print("seed {}: {}: {}\n", seed, one.rule, one.text);
    }
    return done.violations.empty() ? 0 : 1;
}

}  // namespace

int run_foresee(const foresee_request& what) {
    if (what.story || what.logs) return tell_one(what.from, what.logs);
    const auto begun = std::chrono::steady_clock::now();
    foresee::report all;
    std::uint64_t failed = 0;
    std::uint64_t seeds = 0;
    run_all(
        what.count, {what.jobs, std::chrono::seconds(120)},
        [&](std::size_t number) { return to_json(look_at(what.from + number)); },
        [&](const piece& one) {
            const auto seed = what.from + one.number;
            ++seeds;
            if (!one.failure.empty()) {
                ++failed;
                fmt::print("seed {}: died: {}\n", seed, one.failure);
                return !what.until_failure;
            }
            const auto found = foresee::report_from_json(one.result);
            if (!found.violations.empty()) {
                ++failed;
                const auto& first = found.violations.front();
                fmt::print("seed {}: {}: {}\n", seed, first.rule, first.text);
            }
            std::fflush(stdout);
            all.add(found);
            return !(what.until_failure && failed > 0);
        });
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begun;
    fmt::print("\nseeds {}, failed {}, {:.1f} s\n", seeds, failed, taken.count());
    for (const auto& [word, times] : all.counts) fmt::print("  {:<44} {}\n", word, times);
    const auto beyond = foresee::beyond_bounds(all.counts);
    for (const auto& line : beyond) fmt::print("foresee: too-many-exempt: {}\n", line);
    if (failed > 0) fmt::print("\nMore of a seed S: esi-simulation foresee --from S --story\n");
    return failed > 0 || !beyond.empty() ? 1 : 0;
}

}  // namespace esi::simulation

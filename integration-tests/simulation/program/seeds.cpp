#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <map>
#include <optional>

#include "plan/gangs.h"
#include "plan/generate.h"
#include "program/commands.h"
#include "run/judge.h"
#include "run/pool.h"

namespace esi::simulation {

namespace {

json summary_of(const outcome& what) {
    json out = {{"writes", what.writes.size()}, {"changes", what.changes},
                {"checks", what.checks},        {"virtual", what.virtual_time.count()},
                {"faults", what.faults},        {"compared", what.compared},
                {"watched", what.watched},      {"digest", what.digest}};
    if (!what.violations.empty()) {
        out["rule"] = what.violations.front().rule;
        out["text"] = what.violations.front().text;
        out["at"] = what.violations.front().at.count();
    }
    return out;
}

/// Each bit of the result hangs on each bit (the finalizer of SplitMix64).
std::uint64_t spread(std::uint64_t value) {
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
    return value ^ (value >> 31);
}

struct totals {
    std::uint64_t seeds = 0;
    std::uint64_t failed = 0;
    std::uint64_t writes = 0;
    std::uint64_t changes = 0;
    std::uint64_t checks = 0;
    std::uint64_t twice = 0;
    std::uint64_t compared = 0;
    std::uint64_t watched = 0;
    /// Of all digests, in whatever order they come.
    std::uint64_t digest = 0;
    double virtual_ms = 0;
    std::map<std::string, int> faults;
    std::map<std::string, int> rules;

    void add(const json& one) {
        writes += one.value("writes", 0ULL);
        changes += one.value("changes", 0ULL);
        checks += one.value("checks", 0ULL);
        compared += one.value("compared", false) ? 1 : 0;
        watched += one.value("watched", false) ? 1 : 0;
        virtual_ms += one.value("virtual", 0.0);
        for (const auto& [what, times] : one.value("faults", json::object()).items())
            faults[what] += times.get<int>();
    }
};

void print(const totals& all, double seconds) {
    const double hours = all.virtual_ms / 3.6e6;
    fmt::print("\nseeds            {}\nfailed           {}\nrun twice        {}\n", all.seeds,
               all.failed, all.twice);
    fmt::print("compared with the undisturbed run: {}\nwatched for long at rest: {}\n",
               all.compared, all.watched);
    fmt::print("digest           {:016x}\n", all.digest);
    fmt::print("virtual time     {:.1f} h\nreal time        {:.1f} s\n", hours, seconds);
    fmt::print("throughput       {:.2f} virtual hours per second\n", hours / seconds);
    fmt::print("operator writes  {}\nobject changes   {}\ninvariant checks {}\n", all.writes,
               all.changes, all.checks);
    int sum = 0;
    for (const auto& [what, times] : all.faults) sum += times;
    fmt::print("faults           {}\n", sum);
    for (const auto& [what, times] : all.faults) fmt::print("  {:<26} {}\n", what, times);
    for (const auto& [rule, times] : all.rules) fmt::print("broken: {:<18} {}\n", rule, times);
}

}  // namespace

int run_seeds(const seeds_request& what) {
    const auto begun = std::chrono::steady_clock::now();
    totals all;
    std::optional<std::uint64_t> first_failed;
    const auto plan_of = what.gangs ? generate_gangs : generate;
    auto work = [&](std::size_t number) {
        const auto seed = what.from + number;
        const auto made = plan_of(seed);
        const auto once = judge(made);
        auto out = summary_of(once);
        if (what.twice_every > 0 && seed % static_cast<std::uint64_t>(what.twice_every) == 0) {
            out["twice"] = true;
            if (once.violations.empty() && judge(made).digest != once.digest) {
                out["rule"] = "not-the-same";
                out["text"] = "a second run of the same seed made other changes";
            }
        }
        return out;
    };
    auto done = [&](const piece& one) {
        const auto seed = what.from + one.number;
        ++all.seeds;
        std::string rule = one.failure.empty() ? one.result.value("rule", "") : "died";
        if (one.failure.empty()) {
            all.add(one.result);
            all.digest ^= spread(seed ^ spread(one.result.value("digest", 0ULL)));
        }
        if (one.failure.empty() && one.result.contains("twice")) ++all.twice;
        if (!rule.empty()) {
            ++all.failed;
            ++all.rules[rule];
            // One that died might do so here, too.
            if (one.failure.empty() && !first_failed) first_failed = seed;
            fmt::print("seed {}: {}: {}\n", seed, rule,
                       one.failure.empty() ? one.result.value("text", "") : one.failure);
            std::fflush(stdout);
        } else if (all.seeds % 100 == 0) {
            fmt::print(stderr, "{} of {} seeds, {} failed\n", all.seeds, what.count, all.failed);
        }
        return !(what.until_failure && all.failed > 0);
    };
    run_all(what.count, {what.jobs, std::chrono::seconds(120)}, work, done);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begun;
    print(all, taken.count());
    if (first_failed) {
        fmt::print("\nThe story of seed {}:\n", *first_failed);
        run_options how;
        how.story = true;
        for (const auto& line : judge(plan_of(*first_failed), how).story) {
            fmt::print("{}\n", line);
        }
    }
    if (all.failed > 0) {
        fmt::print(
            "\nMore of a seed S: esi-simulation replay {0}S --story; its shortest form: "
            "esi-simulation shrink {0}S\n",
            what.gangs ? "gangs:" : "");
    }
    return all.failed > 0 ? 1 : 0;
}

}  // namespace esi::simulation

// What the program esi-simulation can do. Each prints to stdout and returns an exit code: 0 all
// well, 1 something did not hold, 2 wrong input.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace esi::simulation {

struct seeds_request {
    std::uint64_t from = 1;
    std::uint64_t count = 1000;
    int jobs = 0;
    bool until_failure = false;
    /// Every so many seeds is run twice, and must give the same bytes; 0: none.
    int twice_every = 25;
    /// Plans of gangs (plan/gangs.h).
    bool gangs = false;
};
int run_seeds(const seeds_request& what);

struct replay_request {
    /// A seed, gangs:SEED, or the file of a plan.
    std::string plan;
    /// Numbers of the faults to keep; empty: all.
    std::vector<std::size_t> keep;
    bool no_faults = false;
    bool story = false;
    bool logs = false;
    /// "testbed:3:after": crash_point
    std::string crash;
};
int replay(const replay_request& what);

struct foresee_request {
    std::uint64_t from = 1;
    std::uint64_t count = 1000;
    int jobs = 0;
    bool until_failure = false;
    /// The story of the first one.
    bool story = false;
    bool logs = false;
};
/// One random state of each seed: what preview and explain say of it, and what then happens.
int run_foresee(const foresee_request& what);

/// The plan of a seed (or file) as JSON.
int show_plan(const std::string& plan);
/// The smallest plan that still fails by the same rule; written to `save` when given.
int shrink_plan(const std::string& plan, const std::string& save);
/// Every kept plan in a folder.
int run_cases(const std::string& folder, int jobs);
/// Every write of every scenario: a crash before it, a crash after it. `only`: one scenario.
int run_crash_table(const std::string& only, int jobs);

}  // namespace esi::simulation

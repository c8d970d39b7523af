// What comes of one run, and what a run may be told: plain records that every part of the
// simulation fills or reads.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"

namespace esi::simulation {

using json = nlohmann::json;

/// A rule that did not hold.
struct violation {
    /// One word: the rule ("slot-shared", "over-committed", "not-converged", ...).
    std::string rule;
    std::string text;
    /// When, from the start of the run.
    milliseconds at{0};
};

/// One write that an operator sent (leases and Events aside), as it reached the API server.
struct write_record {
    std::string operator_;  ///< "testbed", "batchjob", "scheduling"
    std::string verb;       ///< POST PATCH PUT DELETE
    std::string kind;       ///< plural
    std::string object;     ///< namespace/name
    std::string subresource;
    int status = 0;
};

/// Kill an operator at its n-th write (from 0, counted as write_record is, over all its lives).
struct crash_point {
    std::string operator_;
    int write = 0;
    /// False: the write never reaches the API server; true: it does, and the answer is lost.
    bool after = false;
};

struct run_options {
    /// Keeps the story (outcome::story).
    bool story = false;
    /// Log lines of the operators go into the story too.
    bool logs = false;
    std::optional<crash_point> crash;
    /// Asked at each write (operator, its number): whether the operator dies there, before (false)
    /// or after it (true; crash_point).
    std::function<std::optional<bool>(const std::string&, int)> dies_at;
    /// Of some plans (by their seed) the rest is watched for long.
    bool watch_rest = true;
};

struct outcome {
    std::vector<violation> violations;
    /// Objects at the end, masked (check/end_state.h).
    json end = json::object();
    /// judge(): it was compared with the end of the undisturbed run.
    bool compared = false;
    /// It was watched long after it had come to rest.
    bool watched = false;
    std::vector<write_record> writes;
    /// Writes that left each operator: how far crash_point::write may count.
    std::map<std::string, int> sent;
    /// Faults that had an effect, by class.
    std::map<std::string, int> faults;
    /// What people did as their day's work, by happening::what.
    std::map<std::string, int> works;
    std::uint64_t checks = 0;   ///< single looks at an invariant
    std::uint64_t changes = 0;  ///< of objects
    milliseconds virtual_time{0};
    /// Of every change in its order: equal for equal runs.
    std::uint64_t digest = 0;
    std::vector<std::string> story;
};

}  // namespace esi::simulation

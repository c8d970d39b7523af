// What a plan's faults and workload leave open of its end.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <initializer_list>
#include <string_view>

#include "base/fields.h"
#include "plan/cast.h"
#include "plan/claims.h"
#include "plan/faults.h"
#include "plan/generate.h"

namespace esi::simulation {

namespace {

/// Shorter than every time-out of a Scheduling, with room for the rest of what goes on.
constexpr milliseconds longest_harmless{100000};
/// All of a plan's together.
constexpr milliseconds longest_together{180000};

bool one_of(std::string_view text, std::initializer_list<std::string_view> of) {
    return std::ranges::find(of, text) != of.end();
}

/// The label names nodes of the plan that none of its Testbeds has.
bool is_of_no_testbed(const plan& what, std::string_view label) {
    return !label.empty() && std::ranges::none_of(what.workload, [&](const happening& one) {
        return fields::text(one.with, {"object", "spec", "nodeLabel"}) == label;
    });
}

/// When the owner of a Testbed deletes it, its nodes belong to the next Testbed that wants them,
/// taint and ghosts included. If a hostile author made that one, no other owner loses anything. So
/// do nodes on which a claim has places, from the beginning.
bool a_forger_inherits_nodes(const plan& what) {
    const bool deleted = std::ranges::any_of(what.workload, [](const happening& one) {
        return one_of(one.what, {"delete", "recreate"}) &&
               fields::text(one.with, {"kind"}) == "testbeds";
    });
    return std::ranges::any_of(what.faults, [&](const happening& one) {
        if (one.what == "forge-testbed" && deleted) return true;
        return one_of(one.what, {"forge-testbed", "forge-scheduling"}) &&
               is_of_no_testbed(what, fields::text(one.with, {"label"}));
    });
}

}  // namespace

milliseconds duration_of(const happening& fault) {
    // A client's request that never arrives waits for its deadline.
    if (fault.what == "request") {
        const auto kind = fields::text(fault.with, {"fault"});
        const auto times = fields::number(fault.with, {"times"}, 1);
        if (kind == "never-arrives") return seconds(30) * times;
        if (kind == "delay" || kind == "late") {
            return milliseconds(fields::number(fault.with, {"delay_ms"}, 1000)) * times;
        }
        return seconds(2) * times;
    }
    // A scheduler's call waits for 5 s, and its next attempt for its back-off.
    if (fault.what == "extender-call") {
        return seconds(10) * fields::number(fault.with, {"times"}, 1);
    }
    if (fault.what == "page-expires") return seconds(10);
    // Deadlines go by the API server's time.
    if (fault.what == "clock-jump") return seconds(0);
    milliseconds out{0};
    for (const char* key : {"down_ms", "ms", "for_ms", "lag_ms", "back_ms"}) {
        out += milliseconds(fields::number(fault.with, {key}));
    }
    return out;
}

bool may_change_outcome(const happening& fault) {
    if (fault.what == "request") {
        // A create of an application that is refused for good is not tried again.
        const auto kind = fields::text(fault.with, {"fault"});
        // A kind that is not served is a backend that is not there.
        if (kind == "404") return true;
        return one_of(kind, {"403", "422"}) &&
               fields::text(fault.with, {"operator"}) == "batchjob" &&
               !one_of(fields::text(fault.with, {"kind"}), {"reads", "lists"});
    }
    if (!one_of(fault.what,
                {"crash",         "crash-at-write", "terminate",       "replace",
                 "pause",         "clock-jump",     "watch",           "lag",
                 "stale-restart", "compact",        "page-expires",    "extender-call",
                 "extender-down", "api-down",       "neighbour-crash", "neighbour-slow",
                 "pod-hangs",     "forge-pod",      "forge-order",     "forge-scheduling",
                 "forge-testbed"})) {
        return true;
    }
    return duration_of(fault) > longest_harmless;
}

bool deletes_only_what_has_ended(const plan& what) {
    return std::ranges::all_of(what.workload, [](const happening& one) {
        if (!one_of(one.what, {"delete", "recreate", "namespace-delete", "release-by-hand"})) {
            return true;
        }
        const auto* states = fields::find(one.with, {"when", "is"});
        return states && states->is_array() && !states->empty() &&
               std::ranges::all_of(*states, [](const json& state) {
                   return state.is_string() &&
                          one_of(state.get_ref<const std::string&>(),
                                 {"CompletedState", "FailedState", "FailedSubmissionState"});
               });
    });
}

bool is_paused_or_cut_short(const plan& what) {
    return std::ranges::any_of(what.workload, [](const happening& one) {
        return one.what == "patch" && fields::text(one.with, {"kind"}) == "schedulings" &&
               !fields::find(one.with, {"when"});
    });
}

bool outcome_is_fixed(const plan& what) {
    if (what.faults.empty()) return true;
    // Which of several gangs comes first into room for one is that of the moment.
    if (what.gangs) return false;
    milliseconds together{0};
    for (const auto& one : what.faults) {
        if (may_change_outcome(one)) return false;
        together += duration_of(one);
    }
    if (together > longest_together || has_strangers_that_may_enter(what)) return false;
    if (is_paused_or_cut_short(what)) return false;
    if (!deletes_only_what_has_ended(what) || a_forger_inherits_nodes(what)) return false;
    const auto schedulings = std::ranges::count_if(what.workload, [](const happening& one) {
        return fields::text(one.with, {"object", "kind"}) == "Scheduling";
    });
    // Of several the oldest goes first whose Testbed and jobs are free just then.
    return schedulings < 2;
}

bool has_claims(const plan& what) {
    return std::ranges::any_of(what.workload, [](const happening& one) {
        return fields::find(one.with, {"object", "spec", "claim"}) != nullptr;
    });
}

bool slots_are_named(const plan& what) {
    // Of several coordinator places a job takes one that is free just then.
    if (has_claims(what)) return false;
    return std::ranges::none_of(what.workload, [](const happening& one) {
        return fields::find(one.with, {"object", "spec", "queueBased"}) != nullptr ||
               fields::find(one.with, {"object", "spec", "poolBased"}) != nullptr;
    });
}

std::map<std::string, int> fault_classes(const plan& what) {
    std::map<std::string, int> out;
    for (const auto& one : what.faults) {
        std::string name = one.what;
        for (const char* key : {"fault", "part", "when"}) {
            const auto more = fields::text(one.with, {key});
            if (!more.empty()) name += fmt::format(" {}", more);
        }
        ++out[name];
    }
    return out;
}

}  // namespace esi::simulation

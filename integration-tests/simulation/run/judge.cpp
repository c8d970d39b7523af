#include "run/judge.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "check/end_state.h"
#include "plan/cast.h"
#include "plan/generate.h"

namespace esi::simulation {

plan undisturbed(plan what) {
    what.faults.clear();
    what.replicas = 1;
    return what;
}

namespace {

/// Which slots a job of a queue gets depends on which were free at that moment: where times differ,
/// only their number is fixed.
void forget_which_slots(json& at) {
    if (at.is_array()) {
        for (auto& item : at) forget_which_slots(item);
    }
    if (!at.is_object()) return;
    for (auto& [key, value] : at.items()) {
        const bool slots = key == "slotIds" || key == "slots";
        if (slots && value.is_array() && (value.empty() || value.front().is_number())) {
            value = value.size();
        } else if (key == "esi.tu-berlin.de/slots" && value.is_string()) {
            const auto text = value.get<std::string>();
            value = 1 + std::ranges::count(text, ',');
        } else {
            forget_which_slots(value);
        }
    }
}

/// Several may be able to start at a time: the order in which they did is that of the moment.
void forget_order_of_starts(json& end) {
    auto all = end.find("schedulings");
    if (all == end.end()) return;
    for (auto& one : *all) {
        auto given = one.find("status");
        if (given == one.end() || !given->contains("assignments")) continue;
        auto& list = (*given)["assignments"];
        std::sort(list.begin(), list.end());
    }
}

/// Members that are made have names by chance.
bool has_members(const plan& what) {
    return std::ranges::find(what.workload, "members", &happening::what) != what.workload.end();
}

/// Who sits down in a gap, how far a job got when a deletion came, and what other faults do to it
/// depend on the time that the crash took: the rules alone judge it.
bool end_is_free(const plan& what) {
    return !what.faults.empty() || has_members(what) || has_strangers_that_may_enter(what) ||
           !deletes_only_what_has_ended(what) || is_paused_or_cut_short(what);
}

}  // namespace

std::vector<std::string> other_ends(const plan& what, json calm, json found) {
    forget_order_of_starts(calm);
    forget_order_of_starts(found);
    if (!slots_are_named(what)) {
        forget_which_slots(calm);
        forget_which_slots(found);
    }
    return differences(calm, found);
}

outcome judge(const plan& what, const run_options& how) {
    auto out = run(what, how);
    if (!out.violations.empty() || what.faults.empty() || !outcome_is_fixed(what)) return out;
    run_options calmly;
    calmly.watch_rest = false;
    const auto calm = run(undisturbed(what), calmly);
    for (const auto& one : calm.violations)
        out.violations.push_back({"undisturbed-" + one.rule, one.text, one.at});
    if (!calm.violations.empty()) return out;
    out.compared = true;
    const auto others = other_ends(what, calm.end, out.end);
    if (!others.empty()) {
        out.violations.push_back(
            {"other-end", fmt::format("{}", fmt::join(others, "; ")), out.virtual_time});
    }
    return out;
}

outcome judge_crash(const plan& what, const crash_point& at, const outcome& calm, run_options how) {
    how.crash = at;
    auto out = run(what, how);
    judge_crashed(what, at, calm, out);
    return out;
}

void judge_crashed(const plan& what, const crash_point& at, const outcome& calm, outcome& out) {
    if (!out.violations.empty()) return;
    if (!out.faults.contains(at.after ? "crash after a write" : "crash before a write")) {
        out.violations.push_back({"no-crash", "the write was never sent", out.virtual_time});
    } else if (!end_is_free(what)) {
        const auto others = other_ends(what, calm.end, out.end);
        if (!others.empty()) {
            out.violations.push_back(
                {"other-end", fmt::format("{}", fmt::join(others, "; ")), out.virtual_time});
        }
    }
}

}  // namespace esi::simulation

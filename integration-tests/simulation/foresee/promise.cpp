#include "foresee/promise.h"

#include <fmt/format.h>

#include <algorithm>

#include "foresee/picture.h"
#include "grid/grid.h"

namespace esi::simulation::foresee {

namespace {

std::string text_of(const std::map<model::object_key, std::vector<int>>& starts) {
    std::string out;
    for (const auto& [job, slots] : starts) {
        out += fmt::format("{}{} in {}", out.empty() ? "" : ", ", job.text(),
                           grid::show_slot_list(slots));
    }
    return out.empty() ? "nothing" : out;
}

}  // namespace

foreseen foreseen::of(const answers::preview& from) {
    foreseen out;
    out.verdict = from.verdict;
    for (const auto& each : from.starts) out.starts[{each.namespace_, each.name}] = each.slots;
    const bool wrong =
        std::ranges::any_of(from.refused, [](const auto& each) { return each.name.empty(); });
    const bool of_a_job = std::ranges::any_of(from.waits, [](const auto& each) {
        return std::ranges::any_of(each.blockers,
                                   [](const auto& one) { return !is_about_slots(one.reason); });
    });
    out.plan_blocked = wrong || of_a_job || !from.blockers.empty();
    return out;
}

std::string foreseen::text() const {
    return starts.empty() ? verdict : verdict + " " + text_of(starts);
}

promise::promise(std::string about, foreseen first, steady_time now, patience limits)
    : about_(std::move(about)), first_(std::move(first)), limits_(limits) {
    add(first_, now);
}

void promise::add(const foreseen& what, steady_time at) {
    if (!history_.empty() && history_.back().what == what) return;
    history_.push_back({at, what});
}

void promise::was(const foreseen& what, steady_time at) {
    // The answer that is judged stays the last one.
    history_.push_front({at, what});
}

void promise::is(const foreseen& what, steady_time at, bool own) {
    if (!open()) return;
    if (what.starts != first_.starts) changed_ = true;
    if (own && what.starts != history_.back().what.starts) {
        broken("foresight-unstable",
               fmt::format("a step of its own changes what is foreseen from \"{}\" to \"{}\"",
                           history_.back().what.text(), what.text()));
    }
    add(what, at);
}

std::vector<const foreseen*> promise::in_force(steady_time at) const {
    std::vector<const foreseen*> out;
    auto until = steady_time::max();
    for (auto one = history_.rbegin(); one != history_.rend(); ++one) {
        if (until < at - limits_.behind) break;
        out.push_back(&one->what);
        until = one->at;
    }
    return out;
}

void promise::assigned(const std::map<model::object_key, std::vector<int>>& starts,
                       steady_time at) {
    if (!open()) return;
    const auto known = in_force(at);
    const auto found =
        std::ranges::find_if(known, [&](const auto* each) { return each->starts == starts; });
    if (found == known.end()) {
        return broken("start-not-foreseen",
                      fmt::format("it starts {}; foreseen was \"{}\", at first \"{}\"",
                                  text_of(starts), known.front()->text(), first_.text()));
    }
    if (found != known.begin()) return settle(state::behind);
    if (!changed_) return settle(state::as_foreseen);
    settle(first_.starts.empty() ? state::after_a_change : state::overtaken);
}

void promise::acquired(steady_time at) {
    if (!open()) return;
    const auto known = in_force(at);
    if (std::ranges::all_of(known, [](const auto* each) { return each->plan_blocked; })) {
        broken("acquired-though-blocked",
               fmt::format("it takes its Testbed; foreseen was \"{}\", and that something keeps "
                           "the whole plan from starting",
                           known.front()->text()));
    }
}

void promise::look(steady_time at) {
    if (!due() || at < history_.back().at + limits_.start) return;
    broken("foreseen-does-not-come",
           fmt::format("for {} s now \"{}\" is foreseen, and does not come",
                       std::chrono::duration_cast<seconds>(limits_.start).count(),
                       history_.back().what.text()));
}

void promise::broken(std::string_view rule, std::string text) {
    if (!open()) return;
    state_ = state::broken;
    rule_ = rule;
    text_ = about_ + ": " + text;
}

}  // namespace esi::simulation::foresee

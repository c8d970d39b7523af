#include "gangs/gang_numbers.h"

#include <string>

namespace esi::gangs {

namespace {

const std::vector<double> waits{.01, .02, .05, .1, .2,  .5,  1,   2,    5,
                                10,  20,  30,  60, 120, 300, 600, 1800, 3600};

double in_seconds(steady_time::duration time) {
    return std::chrono::duration<double>(time).count();
}

prometheus::Counter& looks(controller::metrics& numbers, const char* result) {
    return numbers.counter("esi_gang_looks_total",
                           "Live looks at the nodes of a gang before its members are let in",
                           {{"result", result}});
}

}  // namespace

gang_numbers::gang_numbers(controller::metrics& numbers)
    : numbers_(numbers),
      passes_(numbers.histogram("esi_gang_pass_seconds",
                                "How long one decision about all gangs took",
                                {.0001, .0003, .001, .003, .01, .03, .1, .3, 1, 3})),
      reserved_(numbers.histogram("esi_gang_reserved_seconds",
                                  "From a group being ready to start to room being kept for it",
                                  waits)),
      let_in_(numbers.histogram("esi_gang_let_in_seconds",
                                "From a group being ready to start to its members being let in",
                                waits)),
      bound_(numbers.histogram("esi_gang_bound_seconds",
                               "From a group being ready to start to its minimum being bound",
                               waits)),
      looks_go_(looks(numbers, "go")),
      looks_held_(looks(numbers, "held")),
      refused_(numbers.counter("esi_gang_members_refused_total",
                               "Members that kube-scheduler did not bind after they were let in, "
                               "and that were deleted")) {
    for (const auto* what : {"nominate", "show", "give_back", "let_in", "delete", "status"}) {
        numbers.counter("esi_gang_writes_total", "Requests that changed pods or groups of gangs",
                        {{"what", what}});
    }
}

void gang_numbers::pass(steady_time::duration took) { passes_.Observe(in_seconds(took)); }

void gang_numbers::wrote(std::string_view what) {
    numbers_
        .counter("esi_gang_writes_total", "Requests that changed pods or groups of gangs",
                 {{"what", std::string(what)}})
        .Increment();
}

void gang_numbers::looked(bool go) { (go ? looks_go_ : looks_held_).Increment(); }

void gang_numbers::refused() { refused_.Increment(); }

void gang_numbers::show(const memory& known) {
    std::map<state, int> counts;
    for (const auto& [key, of] : known.gangs) {
        ++counts[of.at.at];
        const auto ready = of.wait.ready_at;
        if (!ready) continue;
        auto& last = seen_[key];
        const auto tell = [&](const std::optional<steady_time>& now,
                              std::optional<steady_time>& before, prometheus::Histogram& into) {
            if (now && now != before) into.Observe(in_seconds(*now - *ready));
            before = now;
        };
        tell(of.attempt.reserved_at, last.reserved, reserved_);
        tell(of.attempt.let_in_at, last.let_in, let_in_);
        tell(of.attempt.bound_at, last.bound, bound_);
    }
    std::erase_if(seen_, [&](const auto& each) { return !known.gangs.contains(each.first); });
    for (const auto at : all_states) {
        const auto found = counts.find(at);
        numbers_
            .gauge("esi_gang_groups", "Groups that are started together, by where they stand",
                   {{"state", std::string(gangs::show(at))}})
            .Set(found == counts.end() ? 0 : found->second);
    }
}

}  // namespace esi::gangs

#include "plan/fault_draw.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/fields.h"
#include "base/operators.h"

namespace esi::simulation {

namespace {

const std::vector<std::string>& watched_by(const std::string& name) {
    return find_operator(name)->watches;
}

}  // namespace

fault_draw::fault_draw(milliseconds at, const stage& on, random_source& chance)
    : at_(at), on_(on), chance_(chance), operator_(chance.one_of(operator_names())) {}

std::vector<happening> fault_draw::of(const std::string& family) {
    using maker = void (fault_draw::*)();
    static const std::map<std::string, maker> all{{"crash", &fault_draw::crash},
                                                  {"crash-storm", &fault_draw::crash_storm},
                                                  {"crash-at-write", &fault_draw::crash_at_write},
                                                  {"rolling-restart", &fault_draw::rolling_restart},
                                                  {"pause", &fault_draw::pause},
                                                  {"clock-jump", &fault_draw::clock_jump},
                                                  {"request", &fault_draw::request},
                                                  {"watch", &fault_draw::watch},
                                                  {"lag", &fault_draw::lag},
                                                  {"stale-restart", &fault_draw::stale_restart},
                                                  {"compact", &fault_draw::compact},
                                                  {"api-down", &fault_draw::api_down},
                                                  {"neighbour-crash", &fault_draw::neighbour_crash},
                                                  {"neighbour-slow", &fault_draw::neighbour_slow},
                                                  {"crd", &fault_draw::crd},
                                                  {"ghosts", &fault_draw::ghosts},
                                                  {"job-pods", &fault_draw::job_pods},
                                                  {"processes", &fault_draw::processes},
                                                  {"applications", &fault_draw::applications},
                                                  {"status", &fault_draw::status},
                                                  {"metadata", &fault_draw::metadata},
                                                  {"recreation", &fault_draw::recreation},
                                                  {"deletion", &fault_draw::deletion},
                                                  {"rights", &fault_draw::rights},
                                                  {"intruders", &fault_draw::intruders},
                                                  {"hostile", &fault_draw::hostile},
                                                  {"specs", &fault_draw::specs},
                                                  {"long-lag", &fault_draw::long_lag},
                                                  {"extender", &fault_draw::extender},
                                                  {"namespaces", &fault_draw::namespaces},
                                                  {"precedence", &fault_draw::precedence},
                                                  {"nodes", &fault_draw::nodes}};
    if (const auto found = all.find(family); found != all.end()) (this->*found->second)();
    return std::move(out_);
}

void fault_draw::crash() {
    auto with = of_replica();
    with["down_ms"] = length(50, 12000);
    add("crash", std::move(with));
}

void fault_draw::crash_storm() {
    int later = 0;
    for (int i = chance_.between(2, 4); i > 0; --i) {
        add("crash", {{"operator", operator_}, {"replica", 0}, {"down_ms", 100}},
            milliseconds(later));
        later += chance_.between(150, 2500);
    }
}

void fault_draw::crash_at_write() {
    add("crash-at-write", {{"operator", operator_},
                           {"nth", chance_.between(0, 25)},
                           {"when", chance_.chance(500) ? "before" : "after"},
                           {"down_ms", length(100, 5000)}});
}

/// As an upgrade of the chart does it: of every operator one replica after the other; a new one
/// before the old one goes, or after it. Now and then it is only one that is terminated.
void fault_draw::rolling_restart() {
    const bool all = chance_.chance(600);
    const bool replaced = chance_.chance(500);
    for (const auto& name : all ? operator_names() : std::vector<std::string>{operator_}) {
        int later = chance_.between(0, 1500);
        for (int i = 0; i < on_.replicas; ++i) {
            json with{{"operator", name}, {"replica", i}};
            // Mostly it has drained before: reconciles end with the answer they wait for.
            if (chance_.chance(250)) {
                with["kill_ms"] = chance_.chance(600) ? chance_.between(0, 15) : 2000;
            }
            if (!replaced) with["down_ms"] = length(300, 8000);
            add(replaced ? "replace" : "terminate", std::move(with), milliseconds(later));
            later += chance_.between(1500, 12000);
        }
    }
}

void fault_draw::pause() {
    auto with = of_replica();
    with["ms"] = length(500, 25000);
    add("pause", std::move(with));
}

void fault_draw::clock_jump() {
    auto with = of_replica();
    const int size = chance_.chance(900) ? chance_.between(1, 30) : 3600;
    with["seconds"] = chance_.chance(500) ? size : -size;
    add("clock-jump", std::move(with));
}

void fault_draw::request() {
    static const std::vector<std::string> faults{
        "lost-answer", "never-arrives",   "delay", "late", "409",         "410", "422",
        "429",         "429-retry-after", "500",   "503",  "504-applied", "403", "reset"};
    static const std::vector<std::string> kinds{"all", "reads", "writes", "writes"};
    if (on_.extender && chance_.chance(400)) return extender();
    if (chance_.chance(200)) return lists();
    const auto fault = any(faults);
    json with{{"operator", operator_},
              {"nth", chance_.between(0, 20)},
              {"kind", any(kinds)},
              {"fault", fault},
              {"times", chance_.chance(700) ? 1 : chance_.between(2, 5)}};
    if (chance_.chance(60)) with["kind"] = "leases";
    times_of(with, 20000);
    add("request", std::move(with));
}

/// Lists and watches are asked for at a start and when a watch has ended.
void fault_draw::lists() {
    static const std::vector<std::string> faults{
        "lost-answer", "never-arrives", "delay", "late", "403", "404",
        "410",         "422",           "429",   "500",  "503", "429-retry-after"};
    const auto fault = any(faults);
    json with{{"operator", operator_},
              {"nth", chance_.between(0, 3)},
              {"kind", "lists"},
              {"fault", fault},
              {"times", chance_.between(1, 4)}};
    times_of(with, 20000);
    add("request", std::move(with));
    if (chance_.chance(400)) return crash();
    for (int i = chance_.between(1, 3); i > 0; --i) {
        add("watch", {{"operator", operator_},
                      {"plural", any(watched_by(operator_))},
                      {"fault", chance_.chance(500) ? "end" : "410-event"}});
    }
}

/// The second scheduler's calls.
void fault_draw::extender() {
    if (chance_.chance(200)) return add("extender-down", {{"for_ms", length(500, 30000)}});
    static const std::vector<std::string> faults{"reset", "never-arrives", "lost-answer", "delay",
                                                 "late",  "500",           "503"};
    const auto fault = any(faults);
    json with{{"nth", chance_.between(0, 6)}, {"fault", fault}, {"times", chance_.between(1, 4)}};
    times_of(with, 8000);
    add("extender-call", std::move(with));
}

void fault_draw::compact() {
    if (on_.paged && chance_.chance(600)) {
        // Only who starts, or has lost its version, asks for pages.
        add("page-expires", {{"operator", operator_}});
        return crash();
    }
    add("compact", json::object());
}

void fault_draw::watch() {
    static const std::vector<std::string> faults{"end",        "reset",     "silent",
                                                 "410-status", "410-event", "duplicate",
                                                 "garbage",    "half-line", "bookmark-only"};
    const auto fault = any(faults);
    json with{{"operator", operator_}, {"plural", any(watched_by(operator_))}, {"fault", fault}};
    if (fault == "silent" || fault == "bookmark-only") {
        with["for_ms"] = length(1000, 20000);
    }
    add("watch", std::move(with));
}

void fault_draw::lag() {
    json with{{"operator", operator_},
              {"plural", chance_.chance(200) ? "*" : any(watched_by(operator_))},
              {"lag_ms", length(100, 20000)},
              {"for_ms", chance_.between(2000, 30000)}};
    if (on_.replicas > 1 && chance_.chance(500)) {
        with["replica"] = chance_.between(0, on_.replicas - 1);
    }
    add("lag", std::move(with));
}

/// Of one kind, for minutes.
void fault_draw::long_lag() {
    add("lag", {{"operator", operator_},
                {"plural", any(watched_by(operator_))},
                {"lag_ms", chance_.between(60000, 300000)},
                {"for_ms", chance_.between(30000, 300000)}});
}

void fault_draw::stale_restart() {
    auto with = of_replica();
    with["back_ms"] = length(300, 20000);
    with["down_ms"] = length(50, 2000);
    add("stale-restart", std::move(with));
}

void fault_draw::api_down() {
    // Now and then longer than every time-out.
    const int most = chance_.chance(970) ? 30000 : 3600000;
    const int time = length(300, most);
    json with{{"for_ms", time}};
    // Else it is only the operators that cannot reach it, and all others go on.
    if (chance_.chance(350)) with["everybody"] = true;
    // Before any operator has listed anything.
    if (chance_.chance(120)) at_ = milliseconds(0);
    add("api-down", std::move(with));
}

void fault_draw::neighbour_crash() {
    add("neighbour-crash", {{"name", one_neighbour()}, {"down_ms", length(300, 15000)}});
}

void fault_draw::neighbour_slow() {
    const int least = chance_.between(20, 500);
    add("neighbour-slow", {{"name", one_neighbour()},
                           {"least_ms", least},
                           {"most_ms", least + length(100, 4000)},
                           {"for_ms", chance_.between(3000, 30000)}});
}

void fault_draw::crd() {
    const std::string plural(one_application().type->plural);
    add("crd", {{"plural", plural}, {"installed", false}});
    add("crd", {{"plural", plural}, {"installed", true}}, milliseconds(length(500, 30000)));
}

const std::vector<std::string>& fault_families() {
    static const std::vector<std::string> all{
        "crash",          "crash-storm",    "crash-at-write", "pause",
        "clock-jump",     "request",        "watch",          "lag",
        "stale-restart",  "compact",        "api-down",       "neighbour-crash",
        "neighbour-slow", "rolling-restart"};
    return all;
}

const std::vector<std::string>& meddling_families() {
    static const std::vector<std::string> all{
        "ghosts",   "job-pods", "processes", "applications", "status", "metadata", "recreation",
        "deletion", "rights",   "intruders", "nodes",        "crd",    "specs"};
    return all;
}

std::vector<happening> draw_fault(const std::string& family, milliseconds at, const stage& on,
                                  random_source& chance) {
    return fault_draw(at, on, chance).of(family);
}

}  // namespace esi::simulation

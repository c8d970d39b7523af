#include "plan/faults.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "neighbours/fields.h"

namespace esi::simulation {

namespace {

const std::vector<std::string> operators{"testbed", "batchjob", "scheduling"};

const std::vector<std::string>& watched_by(const std::string& name) {
    static const std::map<std::string, std::vector<std::string>> all{
        {"testbed", {"testbeds", "nodes", "pods", "batchjobs"}},
        {"batchjob",
         {"batchjobs", "testbeds", "sparkapplications", "flinkdeployments", "pods",
          "customresourcedefinitions"}},
        {"scheduling", {"schedulings", "testbeds", "batchjobs", "pods"}}};
    return all.at(name);
}

/// Mostly short, now and then up to `most`.
int length(random_source& chance, int least, int most) {
    const int middle = least + (most - least) / 6;
    return chance.chance(750) ? chance.between(least, middle) : chance.between(middle, most);
}

class draw {
public:
    draw(milliseconds at, const stage& on, random_source& chance)
        : at_(at), on_(on), chance_(chance), operator_(chance.one_of(operators)) {}

    std::vector<happening> of(const std::string& family) {
        using maker = void (draw::*)();
        static const std::map<std::string, maker> all{{"crash", &draw::crash},
                                                      {"crash-storm", &draw::crash_storm},
                                                      {"crash-at-write", &draw::crash_at_write},
                                                      {"pause", &draw::pause},
                                                      {"clock-jump", &draw::clock_jump},
                                                      {"request", &draw::request},
                                                      {"watch", &draw::watch},
                                                      {"lag", &draw::lag},
                                                      {"stale-restart", &draw::stale_restart},
                                                      {"compact", &draw::compact},
                                                      {"api-down", &draw::api_down},
                                                      {"neighbour-crash", &draw::neighbour_crash},
                                                      {"neighbour-slow", &draw::neighbour_slow},
                                                      {"crd", &draw::crd},
                                                      {"ghosts", &draw::ghosts},
                                                      {"job-pods", &draw::job_pods},
                                                      {"processes", &draw::processes},
                                                      {"applications", &draw::applications},
                                                      {"status", &draw::status},
                                                      {"metadata", &draw::metadata},
                                                      {"recreation", &draw::recreation},
                                                      {"deletion", &draw::deletion},
                                                      {"rights", &draw::rights},
                                                      {"intruders", &draw::intruders},
                                                      {"nodes", &draw::nodes}};
        if (const auto found = all.find(family); found != all.end()) (this->*found->second)();
        return std::move(out_);
    }

private:
    void add(std::string what, json with, milliseconds later = milliseconds(0)) {
        out_.push_back({at_ + later, std::move(what), std::move(with)});
    }
    json of_replica() {
        return {{"operator", operator_}, {"replica", chance_.between(0, on_.replicas - 1)}};
    }
    template <class T>
    const T& any(const std::vector<T>& of) {
        return chance_.one_of(of);
    }
    json one_job() {
        const auto& job = any(on_.jobs);
        return {{"ns", job.ns}, {"name", job.name}, {"nth", chance_.between(0, 4)}};
    }
    json one_bed() { return {{"name", any(on_.beds).name}, {"nth", chance_.between(0, 9)}}; }
    /// At a moment when the job runs, or whatever it does now.
    void perhaps_when_running(json& with) {
        if (!chance_.chance(600)) return;
        auto when =
            cast::when("batchjobs", with["name"].get<std::string>(), json::array({"RunningState"}));
        when["ns"] = with["ns"];
        when["for_ms"] = 120000;
        with["when"] = std::move(when);
    }
    std::string one_kind(json& with) {
        switch (chance_.below(3)) {
            case 0: {
                const auto& job = any(on_.jobs);
                with["ns"] = job.ns;
                with["name"] = job.name;
                return "batchjobs";
            }
            case 1:
                with["name"] = any(on_.beds).name;
                return "testbeds";
            default:
                with["name"] = any(on_.schedulings);
                return "schedulings";
        }
    }
    std::string one_neighbour() {
        if (on_.extender && chance_.chance(300)) return "external-scheduler";
        std::vector<std::string> names{"kube-scheduler", "kubelet", "controllers"};
        if (on_.spark) names.emplace_back("spark-operator");
        if (on_.flink) names.insert(names.end(), {"flink-operator", "deployments"});
        return any(names);
    }
    void grace(json& with) {
        if (chance_.chance(500)) with["grace"] = 0;
    }

    void crash();
    void crash_storm();
    void crash_at_write();
    void pause();
    void clock_jump();
    void request();
    void watch();
    void lag();
    void stale_restart();
    void compact() { add("compact", json::object()); }
    void api_down();
    void neighbour_crash();
    void neighbour_slow();
    void crd();
    void ghosts();
    void job_pods();
    void processes();
    void applications();
    void status();
    void metadata();
    void recreation();
    void deletion();
    void rights();
    void intruders();
    void nodes();

    milliseconds at_;
    const stage& on_;
    random_source& chance_;
    std::string operator_;
    std::vector<happening> out_;
};

void draw::crash() {
    auto with = of_replica();
    with["down_ms"] = length(chance_, 50, 12000);
    add("crash", std::move(with));
}

void draw::crash_storm() {
    int later = 0;
    for (int i = chance_.between(2, 4); i > 0; --i) {
        add("crash", {{"operator", operator_}, {"replica", 0}, {"down_ms", 100}},
            milliseconds(later));
        later += chance_.between(150, 2500);
    }
}

void draw::crash_at_write() {
    add("crash-at-write", {{"operator", operator_},
                           {"nth", chance_.between(0, 25)},
                           {"when", chance_.chance(500) ? "before" : "after"},
                           {"down_ms", length(chance_, 100, 5000)}});
}

void draw::pause() {
    auto with = of_replica();
    with["ms"] = length(chance_, 500, 25000);
    add("pause", std::move(with));
}

void draw::clock_jump() {
    auto with = of_replica();
    const int size = chance_.chance(900) ? chance_.between(1, 30) : 3600;
    with["seconds"] = chance_.chance(500) ? size : -size;
    add("clock-jump", std::move(with));
}

void draw::request() {
    static const std::vector<std::string> faults{
        "lost-answer", "never-arrives",   "delay", "late", "409",         "410", "422",
        "429",         "429-retry-after", "500",   "503",  "504-applied", "403", "reset"};
    static const std::vector<std::string> kinds{"all", "reads", "writes", "writes"};
    const auto fault = any(faults);
    json with{{"operator", operator_},
              {"nth", chance_.between(0, 20)},
              {"kind", any(kinds)},
              {"fault", fault},
              {"times", chance_.chance(700) ? 1 : chance_.between(2, 5)}};
    if (chance_.chance(60)) with["kind"] = "leases";
    if (fault == "delay" || fault == "late") with["delay_ms"] = length(chance_, 200, 20000);
    if (fault == "429-retry-after") with["seconds"] = chance_.between(1, 5);
    add("request", std::move(with));
}

void draw::watch() {
    static const std::vector<std::string> faults{"end",        "reset",     "silent",
                                                 "410-status", "410-event", "duplicate",
                                                 "garbage",    "half-line", "bookmark-only"};
    const auto fault = any(faults);
    json with{{"operator", operator_}, {"plural", any(watched_by(operator_))}, {"fault", fault}};
    if (fault == "silent" || fault == "bookmark-only") {
        with["for_ms"] = length(chance_, 1000, 20000);
    }
    add("watch", std::move(with));
}

void draw::lag() {
    json with{{"operator", operator_},
              {"plural", chance_.chance(200) ? "*" : any(watched_by(operator_))},
              {"lag_ms", length(chance_, 100, 20000)},
              {"for_ms", chance_.between(2000, 30000)}};
    if (on_.replicas > 1 && chance_.chance(500)) {
        with["replica"] = chance_.between(0, on_.replicas - 1);
    }
    add("lag", std::move(with));
}

void draw::stale_restart() {
    auto with = of_replica();
    with["back_ms"] = length(chance_, 300, 20000);
    with["down_ms"] = length(chance_, 50, 2000);
    add("stale-restart", std::move(with));
}

void draw::api_down() {
    const int time = chance_.chance(970) ? length(chance_, 300, 30000) : 3600000;
    add("api-down", {{"for_ms", time}});
}

void draw::neighbour_crash() {
    add("neighbour-crash", {{"name", one_neighbour()}, {"down_ms", length(chance_, 300, 15000)}});
}

void draw::neighbour_slow() {
    const int least = chance_.between(20, 500);
    add("neighbour-slow", {{"name", one_neighbour()},
                           {"least_ms", least},
                           {"most_ms", least + length(chance_, 100, 4000)},
                           {"for_ms", chance_.between(3000, 30000)}});
}

void draw::crd() {
    const bool of_flink = on_.flink && (!on_.spark || chance_.chance(500));
    const char* plural = of_flink ? "flinkdeployments" : "sparkapplications";
    add("crd", {{"plural", plural}, {"installed", false}});
    add("crd", {{"plural", plural}, {"installed", true}},
        milliseconds(length(chance_, 500, 30000)));
}

void draw::ghosts() {
    auto with = one_bed();
    if (chance_.chance(300)) {
        static const std::vector<std::string> parts{"labels", "annotations", "owner"};
        with["part"] = any(parts);
        return add("strip-ghost", std::move(with));
    }
    if (chance_.chance(200)) {
        with["of"] = "testbed";
        return add("evict", std::move(with));
    }
    if (chance_.chance(200)) {
        with["for_ms"] = length(chance_, 1000, 40000);
        return add("keep-ghost", std::move(with));
    }
    grace(with);
    add("delete-ghost", std::move(with));
}

void draw::job_pods() {
    auto with = one_job();
    perhaps_when_running(with);
    if (chance_.chance(300)) {
        static const std::vector<std::string> parts{"labels", "annotations", "owner"};
        with["part"] = any(parts);
        return add("strip-job-pod", std::move(with));
    }
    if (chance_.chance(300)) {
        with["of"] = "job";
        return add("evict", std::move(with));
    }
    grace(with);
    add("delete-job-pod", std::move(with));
}

void draw::processes() {
    auto with = one_job();
    perhaps_when_running(with);
    const auto what = chance_.below(3);
    if (what == 0) {
        with["for_ms"] = length(chance_, 1000, 40000);
        return add("pod-hangs", std::move(with));
    }
    add(what == 1 ? "driver-crash" : "executor-crash", std::move(with));
}

void draw::applications() {
    auto with = one_job();
    with.erase("nth");
    perhaps_when_running(with);
    add(on_.flink && chance_.chance(500) ? "cancel-job" : "delete-application", std::move(with));
}

void draw::status() {
    json with = json::object();
    const auto kind = one_kind(with);
    static const std::map<std::string, std::vector<json>> edits{{"batchjobs",
                                                                 {{{"state", "ReadyState"}},
                                                                  {{"state", "CompletedState"}},
                                                                  {{"placements", nullptr}},
                                                                  {{"conditions", nullptr}},
                                                                  {{"application", nullptr}}}},
                                                                {"testbeds",
                                                                 {{{"state", "ERROR"}},
                                                                  {{"slots", nullptr}},
                                                                  {{"layout", nullptr}},
                                                                  {{"counts", nullptr}}}},
                                                                {"schedulings",
                                                                 {{{"state", "InitialState"}},
                                                                  {{"state", "CompletedState"}},
                                                                  {{"assignments", nullptr}},
                                                                  {{"jobStates", nullptr}}}}};
    with["kind"] = kind;
    with["patch"] = any(edits.at(kind));
    add("edit-status", std::move(with));
}

void draw::metadata() {
    static const std::vector<std::string> parts{"labels", "annotations", "finalizers"};
    json with = json::object();
    with["kind"] = one_kind(with);
    with["part"] = any(parts);
    add("strip", std::move(with));
}

void draw::recreation() {
    json with = json::object();
    with["kind"] = one_kind(with);
    with["after_ms"] = length(chance_, 0, 3000);
    add("recreate", std::move(with));
}

void draw::deletion() {
    json with = json::object();
    if (chance_.chance(70)) return add("namespace-delete", {{"name", "team-a"}});
    with["kind"] = one_kind(with);
    add("delete", std::move(with));
}

void draw::rights() {
    if (chance_.chance(400)) {
        json with = one_bed();
        with.erase("nth");
        return add("take-hold", std::move(with));
    }
    auto with = one_job();
    with.erase("nth");
    perhaps_when_running(with);
    add("release-by-hand", std::move(with));
}

void draw::intruders() {
    if (chance_.chance(500)) {
        auto with = one_job();
        with["pod"] = fmt::format("copy-{}", chance_.between(0, 9));
        if (chance_.chance(700)) with["node"] = any(on_.nodes);
        // As long as it is there, the release of the run waits for it.
        with["for_ms"] = chance_.between(5000, 90000);
        perhaps_when_running(with);
        return add("copy-token", std::move(with));
    }
    const auto name = fmt::format("bound-{}", chance_.between(0, 9));
    add("create",
        {{"object",
          {{"apiVersion", "v1"},
           {"kind", "Pod"},
           {"metadata", {{"name", name}, {"namespace", "default"}}},
           {"spec",
            {{"nodeName", any(on_.nodes)},
             {"terminationGracePeriodSeconds", 1},
             {"containers", json::array({{{"name", "main"},
                                          {"image", "example/other:1"},
                                          {"resources",
                                           {{"requests",
                                             {{"cpu", chance_.chance(300) ? "100m" : "600m"},
                                              {"memory", "512Mi"}}}}}}})}}}}}});
    add("delete", {{"kind", "pods"}, {"name", name}}, milliseconds(chance_.between(5000, 90000)));
}

void draw::nodes() {
    json with{{"name", any(on_.nodes)}};
    const bool back = chance_.chance(850);
    if (back) with["back_ms"] = length(chance_, 500, 60000);
    switch (chance_.below(5)) {
        case 0:
            return add("node-gone", std::move(with));
        case 1: {
            with["label"] = any(on_.beds).label;
            static const std::vector<json> values{nullptr, "7", "x", "0"};
            with["value"] = any(values);
            return add("node-relabel", std::move(with));
        }
        case 2:
            return add("node-cordon", std::move(with));
        case 3:
            with["allocatable"] = {{"cpu", chance_.chance(500) ? "700m" : "100m"}};
            return add("node-shrink", std::move(with));
        default:
            return add("node-not-ready", std::move(with));
    }
}

}  // namespace

const std::vector<std::string>& fault_families() {
    static const std::vector<std::string> all{"crash",         "crash-storm", "crash-at-write",
                                              "pause",         "clock-jump",  "request",
                                              "watch",         "lag",         "stale-restart",
                                              "compact",       "api-down",    "neighbour-crash",
                                              "neighbour-slow"};
    return all;
}

const std::vector<std::string>& meddling_families() {
    static const std::vector<std::string> all{"ghosts", "job-pods",  "processes",  "applications",
                                              "status", "metadata",  "recreation", "deletion",
                                              "rights", "intruders", "nodes",      "crd"};
    return all;
}

std::vector<happening> draw_fault(const std::string& family, milliseconds at, const stage& on,
                                  random_source& chance) {
    return draw(at, on, chance).of(family);
}

}  // namespace esi::simulation

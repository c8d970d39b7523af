#include "plan/generate.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>
#include <tuple>
#include <utility>

#include "base/fields.h"
#include "base/random.h"
#include "plan/cast.h"
#include "plan/faults.h"

namespace esi::simulation {

namespace {

constexpr milliseconds begin{4000};
/// From an order to work: submission, driver, executors, swap.
constexpr int start_seconds = 8;
/// Of the nodes that are made for a claim.
constexpr const char* claimed_label = "example.com/spare";

class author {
public:
    explicit author(std::uint64_t seed)
        : chance_(random_source(seed).fork("plan")),
          kinds_(random_source(seed).fork("kinds of jobs")),
          others_(random_source(seed).fork("other things")),
          wishes_(random_source(seed).fork("wishes")),
          layouts_(random_source(seed).fork("layouts")),
          claims_(random_source(seed).fork("claims of plans")),
          growth_(random_source(seed).fork("growth")),
          cast_(plan_) {
        plan_.seed = seed;
        static const std::vector<int> shares{0, 0, 300, 500, 1000};
        share_of_other_kinds_ = kinds_.one_of(shares);
    }
    author(const author&) = delete;
    author& operator=(const author&) = delete;

    plan write();

private:
    using part = void (author::*)();
    struct known_scenario {
        std::string name;
        part write;
    };

    void queue();
    void strict() { slot_based("strict"); }
    void relaxed() { slot_based("relaxed"); }
    void pool();
    void extension();
    void deletion();
    void failures();
    void contention();
    void shared_jobs();
    void two_testbeds();
    void hand_release();

    void put_cluster();
    const application_kind& one_kind();
    void put_jobs(int least, int most);
    void put_strangers();
    void put_wishes();
    void put_claim();
    void put_room_for_claim(const bed& of, const json& shapes);
    json shapes_of_claim(const bed& of);
    void slot_based(const std::string& mode);
    template <typename T>
    void start_and_grow(std::vector<T> jobs, bool release, const auto& make);
    void extend(random_source& chance, std::size_t& from, json entries);
    void schedule_queue(const std::string& name, const std::string& testbed,
                        const std::vector<job_name>& jobs, bool release);
    std::vector<job_name> entries(const std::vector<job_name>& jobs, int most);
    std::vector<job_name> some(const std::vector<job_name>& of, std::size_t least);
    std::vector<int> some_slots(int count);
    std::string one_state(const std::string& kind);
    bool release_by_itself() { return chance_.chance(600); }
    void put_faults();
    void put_rare_faults(bool meddled);
    void move_to_team();

    plan plan_;
    random_source chance_;
    random_source kinds_;
    /// Of the control plane and of what is rare.
    random_source others_;
    /// Of what people ask of their plans.
    random_source wishes_;
    /// Of the form of layouts.
    random_source layouts_;
    /// Of a plan's claim.
    random_source claims_;
    /// Of pools, and of plans that grow.
    random_source growth_;
    /// Of a thousand jobs.
    int share_of_other_kinds_ = 0;
    cast cast_;
    bed grid_;
    stage on_;
    /// When something is going on.
    std::vector<milliseconds> moments_;
    milliseconds horizon_{0};
};

plan author::write() {
    static const std::vector<known_scenario> all{{"queue", &author::queue},
                                                 {"queue", &author::queue},
                                                 {"strict", &author::strict},
                                                 {"relaxed", &author::relaxed},
                                                 {"extension", &author::extension},
                                                 {"deletion", &author::deletion},
                                                 {"deletion", &author::deletion},
                                                 {"failures", &author::failures},
                                                 {"contention", &author::contention},
                                                 {"shared jobs", &author::shared_jobs},
                                                 {"two testbeds", &author::two_testbeds},
                                                 {"hand release", &author::hand_release}};
    const auto& chosen = chance_.one_of(all);
    plan_.scenario = chosen.name;
    plan_.placement = chance_.chance(850) ? "gate" : "extender";
    plan_.replicas = chance_.chance(650) ? 1 : 2;
    on_.replicas = plan_.replicas;
    on_.extender = plan_.placement == "extender";
    plan_.streaming_lists = !others_.chance(200);
    if (!plan_.streaming_lists && others_.chance(700)) plan_.page_size = others_.between(1, 5);
    on_.paged = plan_.page_size > 0;
    static const std::vector<std::string> forms{"listed", "listed", "compact", "alternating"};
    plan_.layouts = layouts_.one_of(forms);
    // Rows of all Testbeds in slices, or of those of more than three slots.
    auto rows = chance_.fork("rows");
    if (rows.chance(300)) plan_.most_listed_slots = rows.chance(500) ? 0 : 3;
    grid_.nodes = chance_.between(2, 4);
    grid_.slots_per_node = chance_.between(1, 3);
    // Two schedulers on one node race for its room: the extender path needs the taint.
    const bool tainted = chance_.chance(700);
    grid_.taint = tainted || on_.extender;
    put_cluster();
    (this->*chosen.write)();
    put_strangers();
    if (wishes_.chance(200)) put_wishes();
    // Two schedulers on one node race for its room, and a claim has no taint.
    if (!on_.extender && claims_.chance(200)) put_claim();

    int work = 0;
    for (const auto& script : plan_.scripts) {
        work += static_cast<int>(fields::number(script, {"seconds"})) + start_seconds;
    }
    // Jobs run side by side, two at a time or so.
    horizon_ = std::max(plan_.last(), begin + milliseconds(work * 1000 / 2)) + seconds(10);
    put_faults();
    return std::move(plan_);
}

// The cluster and what is in it.

void author::put_cluster() {
    cast_.workers(grid_);
    cast_.at(milliseconds(chance_.between(50, 300)));
    cast_.testbed(grid_);
    on_.beds.push_back(grid_);
    for (int i = 0; i < grid_.nodes; ++i) on_.nodes.push_back(fmt::format("worker-{}", i));
}

/// Of those that are not the first, each with the same odds.
const application_kind& author::one_kind() {
    const auto all = application_kinds();
    if (!kinds_.chance(share_of_other_kinds_) || all.size() == 1) return all.front();
    return all.size() == 2 ? all.back() : all[1 + kinds_.below(all.size() - 1)];
}

void author::put_jobs(int least, int most) {
    const int count = chance_.between(least, most);
    std::set<std::string_view> used;
    for (int i = 0; i < count; ++i) {
        job_name name{chance_.chance(750) ? "default" : "team-a",
                      std::string("job-") + static_cast<char>('a' + i)};
        cast_.at(milliseconds(chance_.between(300, 1500)));
        const int work = chance_.between(5, chance_.chance(700) ? 25 : 60);
        const auto& kind = one_kind();
        cast_.job(name, work, "succeeds", kind);
        used.insert(kind.name);
        if (chance_.chance(60)) {
            plan_.scripts[name.ns + "/" + name.name]["executorsVanish"] =
                json::array({{{"after", chance_.between(1, 10)}, {"nth", 0}, {"code", 137}}});
        }
        on_.jobs.push_back(std::move(name));
    }
    on_.applications.clear();
    for (const auto& kind : application_kinds()) {
        if (used.contains(kind.name)) on_.applications.push_back(&kind);
    }
    cast_.at(begin);
}

void author::put_strangers() {
    cast_.at(milliseconds(400));
    for (const auto& one : on_.beds) {
        // Who may enter may change the end: such a run is judged by its invariants alone.
        const bool may_enter = chance_.chance(one.taint ? 250 : 600) && !on_.extender;
        if (one.taint) {
            cast_.strangers(one, chance_.between(1, 3), false);
            if (may_enter) cast_.strangers(one, 1, true);
        } else if (may_enter) {
            cast_.strangers(one, chance_.between(1, 2), false);
        }
        if (chance_.chance(300) || (!one.taint && !may_enter)) cast_.giant(one);
    }
    if (!has_strangers_that_may_enter(plan_)) return;
    // In the end all strangers are deleted, and what waited for their room goes on.
    cast_.at(begin + seconds(240));
    std::vector<json> leaving;
    for (const auto& one : plan_.workload) {
        const auto name = fields::text(one.with, {"object", "metadata", "name"});
        if (fields::text(one.with, {"object", "kind"}) != "Pod" || name.starts_with("giant-"))
            continue;
        leaving.push_back({{"kind", "pods"}, {"name", name}});
    }
    for (auto& one : leaving) cast_.add("delete", std::move(one));
}

/// What people ask of their plans at any time: pause and go on, priority, cancelling, retries, a
/// time limit.
void author::put_wishes() {
    const auto ask = [&](milliseconds at, const std::string& name, json spec) {
        cast_.at(at);
        cast_.add(
            "patch",
            {{"kind", "schedulings"}, {"name", name}, {"patch", {{"spec", std::move(spec)}}}});
        moments_.push_back(at);
    };
    const auto moment = [&] { return begin + milliseconds(wishes_.between(10, 50000)); };
    for (const auto& name : on_.schedulings) {
        if (wishes_.chance(500)) {
            const auto at = moment();
            const char* policy = wishes_.chance(500) ? "Release" : "Keep";
            ask(at, name, {{"suspend", true}, {"suspendPolicy", policy}});
            // Some are never taken up again.
            if (wishes_.chance(850)) {
                ask(at + milliseconds(wishes_.between(10, 30000)), name, {{"suspend", nullptr}});
            }
        }
        if (wishes_.chance(400)) {
            json jobs = json::array();
            for (int i = wishes_.between(1, 2); i > 0; --i) {
                jobs.push_back(wishes_.one_of(on_.jobs).reference());
            }
            ask(moment(), name, {{"cancelledJobs", std::move(jobs)}});
        }
        if (wishes_.chance(300)) {
            json policies = json::array();
            for (const auto& job : on_.jobs) {
                policies.push_back({{"name", job.reference()},
                                    {"backoffLimit", wishes_.between(0, 2)},
                                    {"retryDelaySeconds", wishes_.between(0, 5)}});
            }
            ask(begin + milliseconds(10), name, {{"jobPolicies", std::move(policies)}});
        }
        if (wishes_.chance(150)) {
            ask(begin + milliseconds(10), name,
                {{"activeDeadlineSeconds", wishes_.between(5, 60)}});
        }
        if (wishes_.chance(300)) {
            ask(begin + milliseconds(10), name, {{"priority", wishes_.between(-1, 2)}});
        }
    }
}

/// As many places of workers as the Testbed has slots, under the same numbers; behind them places
/// of coordinators.
json author::shapes_of_claim(const bed& of) {
    const auto size = [](int cpu, int mib) {
        return json{{"cpu", fmt::format("{}m", cpu)}, {"memory", fmt::format("{}Mi", mib)}};
    };
    json out = json::array({{{"name", "executors"},
                             {"role", "worker"},
                             {"count", of.slots()},
                             {"resources", size(600, 1024)}}});
    if (claims_.chance(800)) {
        out.push_back({{"name", "drivers"},
                       {"role", "coordinator"},
                       {"count", claims_.between(1, 2)},
                       {"resources", size(300, 900)}});
    }
    if (!claims_.chance(500)) return out;
    // Off the plain node.
    const json terms = json::array(
        {{{"matchExpressions", json::array({{{"key", claimed_label}, {"operator", "Exists"}}})}}});
    for (auto& shape : out) {
        shape["constraints"]["affinity"]["nodeAffinity"]
             ["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"] = terms;
    }
    return out;
}

/// Nodes without a Testbed, with room for all places and one more each, and who else wants it.
void author::put_room_for_claim(const bed& of, const json& shapes) {
    cast_.at(milliseconds(0));
    for (const auto& [name, value] :
         {std::pair("esi-claim-minus-1", -1), std::pair("esi-claim-0", 0),
          std::pair("esi-claim-1", 1), std::pair("esi-claim-2", 2)}) {
        // Without its class a claim waits.
        if (value != 0 && claims_.chance(100)) continue;
        cast_.add("create", {{"object", priority_class(name, value)}});
    }
    const int nodes = claims_.between(2, 3);
    const int drivers = shapes.size() > 1 ? shapes[1]["count"].get<int>() : 0;
    const int each = (of.slots() + drivers + nodes - 1) / nodes + 1;
    for (int i = 0; i < nodes; ++i) {
        const auto name = fmt::format("spare-{}", i);
        cast_.node(name, {{claimed_label, i}}, each);
        on_.nodes.push_back(name);
    }
    if (!claims_.chance(300)) return;
    for (int i = claims_.between(1, 2 * each); i > 0; --i) {
        const auto name = fmt::format("squatter-{}", i);
        cast_.at(milliseconds(claims_.between(300, 5000)));
        cast_.add(
            "create",
            {{"object",
              {{"apiVersion", "v1"},
               {"kind", "Pod"},
               {"metadata", {{"name", name}, {"namespace", "default"}}},
               {"spec",
                {{"terminationGracePeriodSeconds", 1},
                 {"nodeSelector",
                  {{"kubernetes.io/hostname",
                    fmt::format("spare-{}", claims_.between(0, nodes - 1))}}},
                 {"containers",
                  json::array({{{"name", "main"},
                                {"image", "example/other:1"},
                                {"resources",
                                 {{"requests", {{"cpu", "600m"}, {"memory", "1Gi"}}}}}}})}}}}}});
        cast_.at(begin + milliseconds(claims_.between(1000, 60000)));
        cast_.add("delete", {{"kind", "pods"}, {"name", name}});
        moments_.push_back(cast_.now());
    }
}

/// One of the Schedulings takes places of its own in the place of those of a Testbed.
void author::put_claim() {
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i < plan_.workload.size(); ++i) {
        if (fields::text(plan_.workload[i].with, {"object", "kind"}) == "Scheduling") {
            all.push_back(i);
        }
    }
    const auto chosen = claims_.one_of(all);
    auto& object = plan_.workload[chosen].with["object"];
    const std::string name(fields::text(object, {"metadata", "name"}));
    const std::string testbed(fields::text(object, {"spec", "testbed", "name"}));
    const auto of = *std::ranges::find(on_.beds, testbed, &bed::name);
    auto shapes = shapes_of_claim(of);
    object["spec"].erase("testbed");
    object["spec"]["claim"] = {{"shapes", shapes},
                               {"packing", claims_.chance(500) ? "Pack" : "Spread"},
                               {"timeoutSeconds", claims_.between(5, 40)}};
    // Who deletes the Testbed deletes the one that is used.
    for (auto& [at, what, with] : plan_.workload) {
        const bool deleted = what == "delete" && fields::text(with, {"kind"}) == "testbeds" &&
                             fields::text(with, {"name"}) == testbed;
        if (deleted && claims_.chance(500)) with["name"] = name;
    }
    put_room_for_claim(of, shapes);
    bed made = of;
    made.name = name;
    made.label = claimed_label;
    made.taint = false;
    on_.beds.push_back(std::move(made));
}

/// Each of the jobs so many times as it gets slots, mixed or one after the other.
std::vector<job_name> author::entries(const std::vector<job_name>& jobs, int most) {
    std::vector<job_name> out;
    const bool mixed = chance_.chance(500);
    for (const auto& job : jobs) {
        const int count = chance_.between(1, std::min(3, most));
        for (int i = 0; i < count; ++i) {
            const auto at = mixed ? chance_.below(out.size() + 1) : out.size();
            out.insert(out.begin() + static_cast<std::ptrdiff_t>(at), job);
        }
    }
    return out;
}

std::vector<job_name> author::some(const std::vector<job_name>& of, std::size_t least) {
    std::vector<job_name> out;
    for (std::size_t i = 0; i < of.size(); ++i) {
        const auto left = of.size() - i;
        if (out.size() + left <= least || chance_.chance(600)) out.push_back(of[i]);
    }
    return out;
}

std::vector<int> author::some_slots(int count) {
    std::vector<int> out;
    while (static_cast<int>(out.size()) < count) {
        const int slot = chance_.between(0, grid_.slots() - 1);
        if (std::ranges::find(out, slot) == out.end()) out.push_back(slot);
    }
    std::ranges::sort(out);
    return out;
}

void author::schedule_queue(const std::string& name, const std::string& testbed,
                            const std::vector<job_name>& jobs, bool release) {
    cast_.queue(name, testbed, entries(jobs, grid_.slots()), release);
    on_.schedulings.push_back(name);
    moments_.push_back(cast_.now());
}

std::string author::one_state(const std::string& kind) {
    static const std::vector<std::string> of_schedulings{"InitialState",
                                                         "AcquireState",
                                                         "ConfirmationState",
                                                         "SubmissionState",
                                                         "AwaitingCompletionState",
                                                         "CompletedState"};
    static const std::vector<std::string> of_jobs{"ReadyState",     "InQueueState",
                                                  "SubmittedState", "ScheduledState",
                                                  "RunningState",   "CompletedState"};
    return chance_.one_of(kind == "schedulings" ? of_schedulings : of_jobs);
}

// The scenarios.

void author::queue() {
    put_jobs(3, 7);
    if (growth_.chance(300)) return pool();
    schedule_queue("run", "grid", on_.jobs, release_by_itself());
}

void author::slot_based(const std::string& mode) {
    put_jobs(3, 7);
    std::vector<placing> jobs;
    for (const auto& job : on_.jobs) {
        jobs.push_back({job, some_slots(chance_.between(1, std::min(3, grid_.slots())))});
    }
    const bool release = release_by_itself();
    start_and_grow(std::move(jobs), release, [&](const auto& first, bool by_itself) {
        cast_.slots("run", "grid", mode, first, by_itself);
    });
}

void author::pool() {
    std::vector<pooled> jobs;
    for (const auto& job : on_.jobs) {
        jobs.push_back({job, growth_.between(1, std::min(3, grid_.slots()))});
    }
    start_and_grow(std::move(jobs), growth_.chance(600), [&](const auto& first, bool by_itself) {
        cast_.pool("run", "grid", first, by_itself);
    });
}

/// The plan `run` of all jobs, or of the first half, to which the others are added one by one.
template <typename T>
void author::start_and_grow(std::vector<T> jobs, bool release, const auto& make) {
    std::vector<T> later;
    if (growth_.chance(400)) {
        const auto middle = jobs.begin() + static_cast<std::ptrdiff_t>(jobs.size() / 2);
        later.assign(middle, jobs.end());
        jobs.erase(middle, jobs.end());
    }
    make(jobs, release && later.empty());
    on_.schedulings.push_back("run");
    moments_.push_back(begin);
    std::size_t from = 0;
    for (const auto& each : later) extend(growth_, from, json::array({each.entry()}));
}

/// Adds entries to the plan `run`. `from`: the earliest state of the plan at that time, as an
/// index, which only grows: the order of the entries is part of the end. A plan that releases by
/// itself would be over.
void author::extend(random_source& chance, std::size_t& from, json entries) {
    static const std::vector<std::string> states{"ConfirmationState", "SubmissionState",
                                                 "AwaitingCompletionState", "CompletedState"};
    from += chance.below(states.size() - from);
    json reached = json::array();
    for (auto i = from; i < states.size(); ++i) reached.push_back(states[i]);
    cast_.add("extend", {{"name", "run"},
                         {"jobs", std::move(entries)},
                         {"when", cast::when("schedulings", "run", std::move(reached))}});
    cast_.at(cast_.now() + milliseconds(chance.between(100, 8000)));
    moments_.push_back(cast_.now());
}

void author::extension() {
    put_jobs(3, 6);
    const auto half = on_.jobs.size() / 2;
    const auto middle = on_.jobs.begin() + static_cast<std::ptrdiff_t>(half);
    const std::vector<job_name> first(on_.jobs.begin(), middle);
    const std::vector<job_name> later(middle, on_.jobs.end());
    schedule_queue("run", "grid", first, false);
    std::size_t from = 0;
    for (const auto& job : later) {
        json list = json::array();
        for (const auto& one : entries({job}, grid_.slots())) list.push_back(one.reference());
        extend(chance_, from, std::move(list));
    }
}

void author::deletion() {
    put_jobs(3, 5);
    schedule_queue("run", "grid", on_.jobs, release_by_itself());
    const auto victim = chance_.below(10);
    const auto& job = chance_.one_of(on_.jobs);
    const bool by_state = chance_.chance(700);
    json with;
    if (victim < 6) {
        with = {{"kind", "schedulings"}, {"name", "run"}};
    } else if (victim < 8) {
        with = {{"kind", "batchjobs"}, {"ns", job.ns}, {"name", job.name}};
    } else {
        with = {{"kind", "testbeds"}, {"name", "grid"}};
    }
    if (by_state) {
        const std::string kind = chance_.chance(500) ? "schedulings" : "batchjobs";
        const auto& watched = kind == "schedulings" ? "run" : job.name;
        auto when = cast::when(kind, watched, json::array({one_state(kind)}));
        when["ns"] = kind == "schedulings" ? "default" : job.ns;
        with["when"] = std::move(when);
        cast_.at(milliseconds(chance_.between(2000, 6000)));
    } else {
        cast_.at(milliseconds(chance_.between(2000, 60000)));
    }
    cast_.add("delete", std::move(with));
    moments_.push_back(cast_.now());
    if (victim < 6 && chance_.chance(600)) {
        // Who comes next needs all that was let go.
        cast_.at(cast_.now() + milliseconds(chance_.between(100, 20000)));
        schedule_queue("next", "grid", some(on_.jobs, 2), true);
    }
}

void author::failures() {
    put_jobs(3, 5);
    static const std::vector<std::string> ends{"fails", "dies", "submission-fails"};
    for (int i = chance_.between(1, 2); i > 0; --i) {
        const auto& job = chance_.one_of(on_.jobs);
        plan_.scripts[job.ns + "/" + job.name]["end"] = chance_.one_of(ends);
        if (!chance_.chance(300)) continue;
        auto when = cast::when("batchjobs", job.name,
                               json::array({"FailedState", "FailedSubmissionState"}));
        when["ns"] = job.ns;
        cast_.add("reset",
                  {{"ns", job.ns}, {"name", job.name}, {"value", "again"}, {"when", when}});
    }
    schedule_queue("run", "grid", on_.jobs, release_by_itself());
}

void author::contention() {
    put_jobs(4, 7);
    const int count = chance_.between(2, 3);
    for (int i = 0; i < count; ++i) {
        std::vector<job_name> own;
        for (std::size_t j = static_cast<std::size_t>(i); j < on_.jobs.size();
             j += static_cast<std::size_t>(count)) {
            own.push_back(on_.jobs[j]);
        }
        schedule_queue(fmt::format("run-{}", i), "grid", own, true);
        cast_.at(cast_.now() + milliseconds(chance_.between(2000, 9000)));
    }
}

void author::shared_jobs() {
    put_jobs(3, 5);
    const int count = chance_.between(2, 3);
    for (int i = 0; i < count; ++i) {
        schedule_queue(fmt::format("run-{}", i), "grid", some(on_.jobs, 2), true);
        // Creation times have whole seconds: which Scheduling is older has to be certain.
        cast_.at(cast_.now() + milliseconds(chance_.between(2000, 9000)));
    }
}

void author::two_testbeds() {
    bed other{"annex", "example.com/annex", chance_.between(1, 2), chance_.between(1, 2),
              grid_.taint};
    const int common = chance_.between(0, std::min(2, grid_.nodes));
    const auto apart = other.nodes;
    cast_.at(milliseconds(0));
    for (int i = 0; i < apart; ++i) {
        const auto name = fmt::format("other-{}", i);
        cast_.node(name, {{other.label, i}}, other.slots_per_node);
        on_.nodes.push_back(name);
    }
    for (int i = 0; i < common; ++i) {
        cast_.add(
            "patch",
            {{"kind", "nodes"},
             {"name", fmt::format("worker-{}", i)},
             {"patch", {{"metadata", {{"labels", {{other.label, std::to_string(apart + i)}}}}}}}});
    }
    // The younger Testbed: on common nodes it finds no room, and its status alone reports that.
    cast_.at(milliseconds(2000));
    cast_.testbed(other);
    // The strangers choose nodes by the ids that are the annex's own.
    on_.beds.push_back(other);
    put_jobs(4, 6);
    const auto middle = on_.jobs.begin() + static_cast<std::ptrdiff_t>(on_.jobs.size() / 2);
    schedule_queue("run", "grid", {on_.jobs.begin(), middle}, release_by_itself());
    cast_.at(begin + milliseconds(chance_.between(100, 5000)));
    // Slots without room stay closed: each job of the annex asks for one.
    cast_.queue("side", "annex", {middle, on_.jobs.end()}, release_by_itself());
    on_.schedulings.push_back("side");
    moments_.push_back(cast_.now());
}

void author::hand_release() {
    put_jobs(3, 5);
    schedule_queue("run", "grid", on_.jobs, false);
    cast_.remove_when("schedulings", "run", "schedulings", "run", json::array({"CompletedState"}));
    cast_.at(begin + milliseconds(chance_.between(2000, 20000)));
    schedule_queue("next", "grid", some(on_.jobs, 2), true);
}

// The faults.

void author::put_faults() {
    moments_.push_back(milliseconds(500));
    for (int i = 0; i < 6; ++i) {
        moments_.push_back(milliseconds(chance_.between(4000, static_cast<int>(horizon_.count()))));
    }
    const int wanted = chance_.chance(80) ? 0 : chance_.between(1, 12);
    // Most faults are those after which all must end as if nothing had happened.
    const bool meddled = chance_.chance(330);
    std::vector<std::string> families;
    for (int i = chance_.between(1, 4); i > 0; --i) {
        families.push_back(chance_.one_of(fault_families()));
    }
    if (meddled) {
        for (int i = chance_.between(1, 2); i > 0; --i) {
            families.push_back(chance_.one_of(meddling_families()));
        }
    }
    milliseconds together{0};
    auto& out = plan_.faults;
    for (int tries = 0; static_cast<int>(out.size()) < wanted && tries < 3 * wanted; ++tries) {
        auto at = milliseconds(chance_.between(300, static_cast<int>(horizon_.count())));
        if (chance_.chance(700)) {
            at = std::max(milliseconds(200),
                          chance_.one_of(moments_) + milliseconds(chance_.between(-500, 6000)));
        }
        for (auto& one : draw_fault(chance_.one_of(families), at, on_, chance_)) {
            const auto time = duration_of(one);
            // Faults that may not change the end are short together; now and then one is not.
            if (!meddled && together + time > seconds(150) && !chance_.chance(50)) continue;
            if (!meddled && may_change_outcome(one) && !chance_.chance(100)) continue;
            together += time;
            out.push_back(std::move(one));
        }
    }
    if (out.size() > 12) out.resize(12);
    put_rare_faults(meddled);
    if (out.size() > 12) out.erase(out.begin(), out.end() - 12);
    std::ranges::sort(out, [](const happening& a, const happening& b) {
        return std::tuple(a.at, a.what, a.with) < std::tuple(b.at, b.what, b.with);
    });
}

void author::put_rare_faults(bool meddled) {
    const auto put = [&](const char* family, int permille) {
        if (!others_.chance(permille)) return false;
        const auto at =
            others_.chance(700)
                ? others_.one_of(moments_) + milliseconds(others_.between(200, 12000))
                : milliseconds(others_.between(4000, static_cast<int>(horizon_.count())));
        for (auto& one : draw_fault(family, at, on_, others_))
            plan_.faults.push_back(std::move(one));
        return true;
    };
    put("long-lag", 50);
    if (on_.extender) put("extender", 300);
    // Where one asks for what is another's, namespaces are tenants.
    if (put("hostile", 200)) plan_.cross_namespace_jobs = false;
    if (!meddled) return;
    put("precedence", 250);
    put("specs", 150);
    if (put("namespaces", 80) && others_.chance(300) && plan_.cross_namespace_jobs) move_to_team();
}

/// Testbeds and Schedulings into the namespace that people delete.
void author::move_to_team() {
    static const std::vector<std::string> of_beds{"delete-ghost", "keep-ghost", "strip-ghost",
                                                  "take-hold"};
    const auto ours = [](std::string_view kind) {
        return kind == "testbeds" || kind == "schedulings" || kind == "Testbed" ||
               kind == "Scheduling";
    };
    for (auto* list : {&plan_.workload, &plan_.faults}) {
        for (auto& [at, what, with] : *list) {
            if (ours(fields::text(with, {"object", "kind"}))) {
                auto& object = with["object"];
                object["metadata"]["namespace"] = "team-a";
                if (object["spec"].contains("testbed")) {
                    object["spec"]["testbed"]["namespace"] = "team-a";
                }
            }
            const bool of_a_bed = std::ranges::find(of_beds, what) != of_beds.end() ||
                                  fields::text(with, {"of"}) == "testbed";
            if (ours(fields::text(with, {"kind"})) || what == "extend" || of_a_bed) {
                with["ns"] = "team-a";
            }
            if (ours(fields::text(with, {"when", "kind"}))) with["when"]["ns"] = "team-a";
        }
    }
}

}  // namespace

plan generate(std::uint64_t seed) { return author(seed).write(); }

}  // namespace esi::simulation

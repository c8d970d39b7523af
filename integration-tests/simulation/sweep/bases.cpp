#include "sweep/bases.h"

#include <fmt/format.h>

#include <utility>

#include "base/application_kinds.h"
#include "plan/cast.h"
#include "server/kinds.h"

namespace esi::simulation {

namespace {

constexpr const char* group_version = "esi.tu-berlin.de/v1alpha1";
constexpr const char* node_label = "tuberlin.de/scheduler-slots";
/// Long enough for a change and its restoration to fall into the run.
constexpr int work_seconds = 240;

json object(const char* kind, const char* name, json spec) {
    return {{"apiVersion", group_version},
            {"kind", kind},
            {"metadata", {{"name", name}, {"namespace", "default"}}},
            {"spec", std::move(spec)}};
}

json testbed() {
    return object("Testbed", "grid",
                  {{"slotsPerNode", 2},
                   {"nodeLabel", node_label},
                   {"resourcesPerSlot", {{"cpu", "600m"}, {"memory", "1Gi"}}},
                   {"isolation", "None"}});
}

json job_of(const application_kind& kind, const char* name) {
    return object("BatchJob", name, {{kind.spec, kind.swept_spec}});
}

json job(const char* name) {
    auto out = job_of(application_kinds().front(), name);
    out["spec"]["externalScheduler"] = {{"profiler", json::array({{{"other", "24 (16)"}}})}};
    return out;
}

json entry(const char* name) { return {{"namespace", "default"}, {"name", name}}; }

json common_of_schedulings() {
    return {{"testbed", {{"namespace", "default"}, {"name", "grid"}}},
            {"releaseOnCompletion", false},
            {"submitTimeoutSeconds", 600},
            {"scheduleTimeoutSeconds", 300}};
}

json queue() {
    auto spec = common_of_schedulings();
    spec["queueBased"] = json::array({entry("first"), entry("first"), entry("second")});
    return object("Scheduling", "order", std::move(spec));
}

json pool() {
    auto spec = common_of_schedulings();
    // With two jobs it would depend on the moment which of them finds enough free slots first.
    spec["poolBased"] = {{"jobs", json::array({{{"name", entry("first")}, {"slots", 2}}})}};
    return object("Scheduling", "order", std::move(spec));
}

json by_slots() {
    auto spec = common_of_schedulings();
    spec["slotBased"] = {
        {"mode", "strict"},
        {"jobs", json::array({{{"name", entry("first")}, {"slotIds", json::array({0, 1})}},
                              {{"name", entry("second")}, {"slotIds", json::array({2})}}})}};
    return object("Scheduling", "order", std::move(spec));
}

class script {
public:
    explicit script(std::string name) : cluster_(plan_) {
        plan_.seed = 1;
        plan_.scenario = std::move(name);
        for (const char* one : {"first", "second"}) {
            plan_.scripts[one] = {{"seconds", work_seconds}, {"end", "succeeds"}};
        }
        bed nodes;
        nodes.label = node_label;
        cluster_.workers(nodes);
    }
    script(const script&) = delete;
    script& operator=(const script&) = delete;

    script& create(int second, json what) {
        cluster_.at(milliseconds(second * 1000));
        cluster_.add("create", {{"object", std::move(what)}});
        return *this;
    }
    plan take() { return std::move(plan_); }

private:
    plan plan_;
    cast cluster_;
};

sweep_base of(std::string name, const kube::resource_type& type, json swept, plan undisturbed) {
    sweep_base out;
    out.name = std::move(name);
    out.type = &type;
    out.live_spec = swept.at("spec");
    out.object = std::move(swept);
    out.undisturbed = std::move(undisturbed);
    return out;
}

/// Alone for a while; then a Scheduling runs both jobs on it.
sweep_base testbed_idle() {
    auto out = of("testbed-idle", kinds::testbed, testbed(),
                  script("sweep testbed-idle")
                      .create(1, testbed())
                      .create(1, job("first"))
                      .create(1, job("second"))
                      .create(200, queue())
                      .take());
    out.from_the_start = true;
    out.examples = {{"allowedNamespaces", json::array({"team-a"})}};
    // No Scheduling of another namespace asks for it.
    out.unread = {"allowedNamespaces"};
    return out;
}

sweep_base testbed_held() {
    auto out = of("testbed-held", kinds::testbed, testbed(),
                  script("sweep testbed-held")
                      .create(1, testbed())
                      .create(1, job("first"))
                      .create(1, job("second"))
                      .create(10, queue())
                      .take());
    out.examples = {{"allowedNamespaces", json::array({"team-a"})}};
    // No Scheduling of another namespace asks for it.
    out.unread = {"allowedNamespaces"};
    return out;
}

json active_scheduling() {
    return {{"namespace", "default"}, {"name", "order"}, {"uid", "0a1b2c3d-0000-4000-8000-0"}};
}

json creation_request() {
    return {{"testbedName", {{"namespace", "default"}, {"name", "grid"}}},
            {"slotIds", json::array({0, 1})},
            {"replication", 2},
            {"run", "0a1b2c3d-0000-4000-8000-0.1.1"},
            {"submitTimeoutSeconds", 600},
            {"scheduleTimeoutSeconds", 300}};
}

sweep_base batchjob_ready() {
    auto out = of("batchjob-ready", kinds::batchjob, job("first"),
                  script("sweep batchjob-ready")
                      .create(1, testbed())
                      .create(1, job("first"))
                      .create(1, job("second"))
                      .create(200, queue())
                      .take());
    out.from_the_start = true;
    out.examples = {{"activeScheduling", active_scheduling()},
                    {"creationRequest", creation_request()}};
    for (const auto& kind : application_kinds().subspan(1)) {
        out.examples[std::string(kind.spec)] = kind.spec_of("first");
    }
    // A limit of time is looked at when a run begins.
    out.unread = {"externalScheduler", "activeDeadlineSeconds"};
    // No Scheduling is there that could hold it.
    out.taken_back = {"activeScheduling", "creationRequest"};
    return out;
}

/// Of a job of another kind only what the schema of a BatchJob leaves open is tried.
sweep_base ready(const application_kind& kind) {
    const auto name = fmt::format("{}-ready", kind.name);
    auto out = of(name, kinds::batchjob, job_of(kind, "first"),
                  script("sweep " + name)
                      .create(1, testbed())
                      .create(1, job_of(kind, "first"))
                      .create(1, job("second"))
                      .create(200, queue())
                      .take());
    out.inside[std::string(kind.spec)] = kind.swept_schema;
    out.only_inside = true;
    return out;
}

/// What runs was made from the spec as it was; the next run is made from the new one.
void is_under_way(sweep_base& job) {
    job.live_spec["activeScheduling"] = active_scheduling();
    job.live_spec["creationRequest"] = creation_request();
    job.unread = {"externalScheduler", "creationRequest", "activeDeadlineSeconds", "sizing"};
    for (const auto& kind : application_kinds()) job.unread.emplace(kind.spec);
    job.final_ = {"activeScheduling", "creationRequest", "activeDeadlineSeconds"};
}

sweep_base running(const application_kind& kind) {
    const auto name = fmt::format("{}-running", kind.name);
    auto out = of(name, kinds::batchjob, job_of(kind, "first"),
                  script("sweep " + name)
                      .create(1, testbed())
                      .create(1, job_of(kind, "first"))
                      .create(1, job("second"))
                      .create(10, queue())
                      .take());
    is_under_way(out);
    return out;
}

sweep_base batchjob_running() {
    auto out = of("batchjob-running", kinds::batchjob, job("first"),
                  script("sweep batchjob-running")
                      .create(1, testbed())
                      .create(1, job("first"))
                      .create(1, job("second"))
                      .create(10, queue())
                      .take());
    is_under_way(out);
    return out;
}

/// What steers a plan is seen when its time comes: a limit is over, a job fails, another plan
/// waits.
const std::set<std::string, std::less<>> steering = {
    "activeDeadlineSeconds", "cancelledJobs",          "jobPolicies", "priority", "suspend",
    "suspendPolicy",         "ttlSecondsAfterFinished"};

/// Its Testbed comes later.
sweep_base scheduling_waiting(std::string name, json swept) {
    auto plan = script("sweep " + name)
                    .create(1, job("first"))
                    .create(1, job("second"))
                    .create(10, swept)
                    .create(200, testbed())
                    .take();
    auto out = of(std::move(name), kinds::scheduling, std::move(swept), std::move(plan));
    out.from_the_start = true;
    out.unread = steering;
    // It cannot be changed once it is there.
    out.final_ = {"testbed"};
    return out;
}

sweep_base scheduling_running(std::string name, json swept) {
    auto plan = script("sweep " + name)
                    .create(1, testbed())
                    .create(1, job("first"))
                    .create(1, job("second"))
                    .create(10, swept)
                    .take();
    auto out = of(std::move(name), kinds::scheduling, std::move(swept), std::move(plan));
    out.unread = steering;
    // A run whose time was over has ended.
    out.final_ = {"activeDeadlineSeconds"};
    return out;
}

}  // namespace

const std::vector<sweep_base>& sweep_bases() {
    static const std::vector<sweep_base> all = [] {
        std::vector<sweep_base> out;
        out.push_back(testbed_idle());
        out.push_back(testbed_held());
        out.push_back(batchjob_ready());
        out.push_back(batchjob_running());
        for (const auto& kind : application_kinds()) {
            if (kind.swept_schema.is_null()) continue;
            out.push_back(ready(kind));
            out.push_back(running(kind));
        }
        out.push_back(scheduling_waiting("queue-waiting", queue()));
        out.push_back(scheduling_running("queue-running", queue()));
        out.push_back(scheduling_waiting("slots-waiting", by_slots()));
        out.push_back(scheduling_running("slots-running", by_slots()));
        out.push_back(scheduling_waiting("pool-waiting", pool()));
        out.push_back(scheduling_running("pool-running", pool()));
        return out;
    }();
    return all;
}

}  // namespace esi::simulation

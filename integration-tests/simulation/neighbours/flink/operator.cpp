#include "neighbours/flink/operator.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <utility>

#include "base/fields.h"
#include "neighbours/flink/jobs.h"
#include "neighbours/flink/pods.h"

namespace esi::simulation {

namespace {

constexpr std::string_view finalizer = "flinkdeployments.flink.apache.org/finalizer";
// The operator's intervals, as a cluster with short jobs sets them: between two looks at a cluster
// that runs, at one that comes up, and before one whose port is open counts as ready.
constexpr auto reconcile_interval = seconds(5);
constexpr auto progress_interval = seconds(2);
constexpr auto ready_delay = seconds(2);
constexpr auto retry_interval = seconds(5);
/// kubernetes.operator.resource.cleanup.timeout
constexpr auto shutdown_time = seconds(60);

std::string task_managers(const std::string& name) { return name + "-taskmanager"; }

/// status.error, as FlinkResourceException is written.
std::string error_text(std::string_view type, std::string_view message) {
    return json{
        {"type", type},
        {"message", message},
        {"additionalMetadata", json::object()},
        {"throwableList",
         json::array(
             {{{"type", type}, {"message", message}, {"additionalMetadata", json::object()}}})}}
        .dump();
}

std::string crash_loop(const std::vector<object_pointer>& pods) {
    for (const auto& pod : pods) {
        const auto* all = fields::find(pod->body(), {"status", "containerStatuses"});
        if (!all || !all->is_array()) continue;
        for (const auto& one : *all) {
            const auto reason = fields::text(one, {"state", "waiting", "reason"});
            if (reason.empty()) continue;
            return fmt::format("[{}] {}", reason,
                               fields::text(one, {"state", "waiting", "message"}));
        }
    }
    return {};
}

}  // namespace

struct flink_operator::state : std::enable_shared_from_this<flink_operator::state> {
    state(surroundings& around, kubelet& nodes, deployment_controller& controllers, json scripts)
        : in(around),
          deployments(controllers),
          own(around.server, "flink-operator"),
          chance(around.chance.fork("flink-operator")),
          jobs(std::make_shared<flink_jobs>(around, nodes, std::move(scripts))),
          waits(chance.chance(500)) {}

    surroundings& in;
    deployment_controller& deployments;
    desk own;
    random_source chance;
    std::shared_ptr<flink_jobs> jobs;
    bool waits;
    pace speed;
    bool up = true;
    /// What was begun in an earlier life is void.
    int life = 0;
    std::set<std::string> looks;
    /// When each is looked at next; by "namespace/name".
    std::map<std::string, steady_time> due;
    std::set<std::string> deploying;  ///< uids
    enum class farewell { cancelled, asked };
    struct ending {
        farewell stage;
        steady_time since;
    };
    std::map<std::string, ending> endings;  ///< by uid

    void noticed(const change& what);
    void look_at_all();
    void soon(const std::string& ns, const std::string& name);
    void again(const object& of, steady_time::duration time);
    void look(const std::string& ns, const std::string& name);
    void begin(const object& of);
    void deploy(const std::string& ns, const std::string& name, const std::string& uid);
    void mark_deployed(const object& of);
    void observe(const object& of);
    bool cluster_is_up(const object& of) const;
    void bid_farewell(const object& of);
    bool put_finalizer(const object& of, bool there);
    bool report(const object& of, json status);
    std::string milliseconds_now() const {
        return std::to_string(
            std::chrono::duration_cast<std::chrono::milliseconds>(in.time.wall().time_since_epoch())
                .count());
    }

    template <class What>
    void later(steady_time::duration time, What what) {
        in.time.after(time, [weak = weak_from_this(), born = life, what = std::move(what)] {
            const auto self = weak.lock();
            if (self && self->up && self->life == born) what(*self);
        });
    }
};

void flink_operator::state::noticed(const change& what) {
    const auto plural = what.type->plural;
    if (plural == kinds::pod.plural) {
        jobs->noticed(what);
    } else if (plural == kinds::flink_deployment.plural) {
        // What it writes into the status does not wake it up.
        const bool news =
            what.what == change_type::added ||
            (what.what == change_type::modified &&
             (fields::number(what.before->body(), {"metadata", "generation"}) !=
                  fields::number(what.after->body(), {"metadata", "generation"}) ||
              fields::deleting(what.before->body()) != fields::deleting(what.after->body())));
        if (news) soon(what.after->ns(), what.after->name());
    } else if (plural == kinds::custom_resource_definition.plural &&
               what.what != change_type::deleted) {
        look_at_all();
    }
}

void flink_operator::state::look_at_all() {
    for (const auto& one : in.server.objects().all(kinds::flink_deployment)) {
        soon(one->ns(), one->name());
    }
}

void flink_operator::state::soon(const std::string& ns, const std::string& name) {
    if (!up || !looks.insert(ns + "/" + name).second) return;
    later(chance.between(speed.least, speed.most), [ns, name](state& self) {
        self.looks.erase(ns + "/" + name);
        self.look(ns, name);
    });
}

void flink_operator::state::again(const object& of, steady_time::duration time) {
    const auto when = in.time.now() + time;
    due[of.ns() + "/" + of.name()] = when;
    later(time, [ns = of.ns(), name = of.name(), when](state& self) {
        const auto found = self.due.find(ns + "/" + name);
        if (found != self.due.end() && found->second == when) self.soon(ns, name);
    });
}

void flink_operator::state::look(const std::string& ns, const std::string& name) {
    const auto found = in.server.objects().find(kinds::flink_deployment, ns, name);
    if (!found) {
        due.erase(ns + "/" + name);
        return;
    }
    const auto& body = found->body();
    if (fields::deleting(body)) return bid_farewell(*found);
    const auto* finalizers = fields::find(body, {"metadata", "finalizers"});
    if (!finalizers || std::ranges::find(*finalizers, json(finalizer)) == finalizers->end()) {
        (void)put_finalizer(*found, true);
        return soon(ns, name);
    }
    if (!fields::find(body, {"status", "reconciliationStatus", "lastReconciledSpec"})) {
        return begin(*found);
    }
    if (fields::text(body, {"status", "reconciliationStatus", "state"}) == "UPGRADING") {
        if (deploying.contains(found->uid())) return;
        return deployments.exists(ns, task_managers(name), found->uid())
                   ? mark_deployed(*found)
                   : deploy(ns, name, found->uid());
    }
    observe(*found);
}

/// The first time.
void flink_operator::state::begin(const object& of) {
    const auto& body = of.body();
    std::string fault = flink::fault_in(body);
    if (fault.empty() &&
        job_script::of(jobs->scripts(), of.ns(), of.name()).end == "submission-fails") {
        fault = "Jar URI scheme is not supported";
    }
    if (!fault.empty()) {
        const auto text =
            error_text("org.apache.flink.kubernetes.operator.exception.ValidationException", fault);
        if (fields::text(body, {"status", "error"}) == text) return;
        (void)report(of, {{"error", text},
                          {"lifecycleState", "FAILED"},
                          {"jobManagerDeploymentStatus", "MISSING"},
                          {"jobStatus", json::object()},
                          {"reconciliationStatus", {{"state", "UPGRADING"}}}});
        return;
    }
    const json seen{
        {"resource_metadata",
         {{"apiVersion", fields::text(body, {"apiVersion"})},
          {"metadata", {{"generation", fields::number(body, {"metadata", "generation"})}}}}}};
    const bool told = report(of, {{"lifecycleState", "UPGRADING"},
                                  {"jobManagerDeploymentStatus", "MISSING"},
                                  {"jobStatus", json::object()},
                                  {"reconciliationStatus",
                                   {{"state", "UPGRADING"},
                                    {"lastReconciledSpec", seen.dump()},
                                    {"reconciliationTimestamp", milliseconds_now()}}}});
    if (!told) return soon(of.ns(), of.name());
    deploying.insert(of.uid());
    later(chance.between(milliseconds(100), milliseconds(900)),
          [ns = of.ns(), name = of.name(), uid = of.uid()](state& self) {
              self.deploying.erase(uid);
              self.deploy(ns, name, uid);
          });
}

void flink_operator::state::deploy(const std::string& ns, const std::string& name,
                                   const std::string& uid) {
    const auto found = in.server.objects().find(kinds::flink_deployment, ns, name);
    if (!found || found->uid() != uid || fields::deleting(found->body())) return;
    const auto& body = found->body();
    const auto make = [&](std::string as, json pod, int replicas) {
        return deployments.exists(ns, as, uid) ||
               deployments.create(
                   {ns, as, &kinds::flink_deployment, name, uid, std::move(pod), replicas});
    };
    const bool made =
        make(name, flink::job_manager_pod(body), 1) &&
        make(task_managers(name), flink::task_manager_pod(body), flink::task_managers_of(body));
    if (made) return mark_deployed(*found);
    // Those of an earlier one of the same name are still on their way out.
    (void)report(*found, {{"error", error_text("io.fabric8.kubernetes.client."
                                               "KubernetesClientException",
                                               "object is being deleted: deployments.apps " + name +
                                                   " already exists")}});
    again(*found, retry_interval);
}

void flink_operator::state::mark_deployed(const object& of) {
    const int replicas = flink::task_managers_of(of.body());
    (void)report(of, {{"lifecycleState", "DEPLOYED"},
                      {"jobManagerDeploymentStatus", "DEPLOYING"},
                      {"jobStatus", {{"state", "RECONCILING"}}},
                      {"error", nullptr},
                      {"observedGeneration", fields::number(of.body(), {"metadata", "generation"})},
                      {"taskManager",
                       {{"labelSelector", fmt::format("component=taskmanager,app={}", of.name())},
                        {"replicas", replicas}}},
                      {"reconciliationStatus", {{"state", "DEPLOYED"}}}});
    again(of, progress_interval);
}

bool flink_operator::state::cluster_is_up(const object& of) const {
    return deployments.available(of.ns(), of.name()) && jobs->ask(of.ns(), of.name());
}

void flink_operator::state::observe(const object& of) {
    const auto& status = of.body().at("status");
    const std::string before(fields::text(status, {"jobManagerDeploymentStatus"}));
    std::string manager = before;
    std::string job(fields::text(status, {"jobStatus", "state"}));
    json news = json::object();
    const auto look_at_deployment = [&] {
        job = "RECONCILING";
        if (!deployments.exists(of.ns(), of.name(), of.uid())) {
            manager = "MISSING";
        } else if (cluster_is_up(of)) {
            manager = "DEPLOYED_NOT_READY";
        } else if (const auto loop = crash_loop(deployments.pods(of.ns(), of.name()));
                   !loop.empty()) {
            manager = "ERROR";
            news["error"] = error_text(
                "org.apache.flink.kubernetes.operator.exception.DeploymentFailedException", loop);
        } else if (manager != "ERROR") {
            manager = "DEPLOYING";
        }
    };
    if (manager == "DEPLOYED_NOT_READY") {
        manager = "READY";
    } else if (manager != "READY") {
        look_at_deployment();
    }
    if (manager == "READY") {
        if (const auto seen = jobs->ask(of.ns(), of.name())) {
            if (seen->state != job) {
                news["jobStatus"] = {
                    {"jobId", seen->id},
                    {"jobName", of.name()},
                    {"startTime",
                     std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(
                                        seen->started.time_since_epoch())
                                        .count())},
                    {"updateTime", milliseconds_now()}};
            }
            job = seen->state;
            if (job == "FAILED") {
                news["error"] =
                    error_text("org.apache.flink.util.SerializedThrowable", seen->error);
            } else if (fields::find(status, {"error"})) {
                news["error"] = nullptr;
            }
        } else {
            look_at_deployment();
        }
    }
    bool stable = fields::find(status, {"reconciliationStatus", "lastStableSpec"}) != nullptr;
    if (!stable && (job == "RUNNING" || job == "FINISHED")) {
        stable = true;
        news["reconciliationStatus"]["lastStableSpec"] =
            fields::text(status, {"reconciliationStatus", "lastReconciledSpec"});
    }
    const std::string life_word = job == "FAILED" ? "FAILED" : stable ? "STABLE" : "DEPLOYED";
    if (manager != before) news["jobManagerDeploymentStatus"] = manager;
    if (job != fields::text(status, {"jobStatus", "state"})) news["jobStatus"]["state"] = job;
    if (life_word != fields::text(status, {"lifecycleState"})) news["lifecycleState"] = life_word;
    const auto* error = fields::find(status, {"error"});
    if (news.contains("error") && (error ? *error : json()) == news["error"]) news.erase("error");
    if (!news.empty()) (void)report(of, std::move(news));
    again(of, manager == "DEPLOYING"            ? steady_time::duration(progress_interval)
              : manager == "DEPLOYED_NOT_READY" ? steady_time::duration(ready_delay)
                                                : steady_time::duration(reconcile_interval));
}

void flink_operator::state::bid_farewell(const object& of) {
    const auto* finalizers = fields::find(of.body(), {"metadata", "finalizers"});
    if (!finalizers || std::ranges::find(*finalizers, json(finalizer)) == finalizers->end()) return;
    const auto now = in.time.now();
    const auto known = endings.find(of.uid());
    if (known == endings.end()) {
        const bool runs = fields::text(of.body(), {"status", "jobStatus", "state"}) == "RUNNING";
        const bool cancelled = runs && jobs->cancel(of.ns(), of.name());
        endings[of.uid()] = {farewell::cancelled, now};
        // It waits for the answer.
        return again(of, cancelled ? chance.between(milliseconds(200), milliseconds(1500))
                                   : steady_time::duration(milliseconds(1)));
    }
    auto& one = known->second;
    if (one.stage == farewell::cancelled) {
        deployments.remove(of.ns(), of.name());
        deployments.remove(of.ns(), task_managers(of.name()));
        one = {farewell::asked, now};
        if (waits) return again(of, milliseconds(500));
    }
    const bool gone = !deployments.exists(of.ns(), of.name(), of.uid()) &&
                      !deployments.exists(of.ns(), task_managers(of.name()), of.uid());
    if (waits && !gone && now - one.since < shutdown_time) return again(of, milliseconds(500));
    if (!put_finalizer(of, false)) return again(of, milliseconds(100));
    endings.erase(of.uid());
}

bool flink_operator::state::put_finalizer(const object& of, bool there) {
    json list = json::array();
    if (const auto* have = fields::find(of.body(), {"metadata", "finalizers"})) {
        for (const auto& each : *have) {
            if (each != finalizer) list.push_back(each);
        }
    }
    if (there) list.push_back(finalizer);
    return own
        .patch(kinds::flink_deployment, of.ns(), of.name(), kube::patch_kind::merge,
               {{"metadata",
                 {{"uid", of.uid()},
                  {"resourceVersion", std::to_string(of.version())},
                  {"finalizers", std::move(list)}}}})
        .has_value();
}

bool flink_operator::state::report(const object& of, json status) {
    auto done = own.patch(kinds::flink_deployment, of.ns(), of.name(), kube::patch_kind::merge,
                          {{"metadata", {{"uid", of.uid()}}}, {"status", status}}, "status");
    in.told.tell("flink-operator", [&] {
        return fmt::format("{}/{} {}{}", of.ns(), of.name(), status.dump(),
                           done ? "" : " not written: " + done.error().text);
    });
    return done.has_value();
}

flink_operator::flink_operator(surroundings& in, kubelet& nodes, deployment_controller& deployments,
                               json scripts)
    : state_(std::make_shared<state>(in, nodes, deployments, std::move(scripts))) {
    in.server.objects().on_change([weak = std::weak_ptr<state>(state_)](const change& what) {
        if (const auto self = weak.lock()) self->noticed(what);
    });
    // It watches the Deployments of JobManagers.
    deployments.on_change(
        [weak = std::weak_ptr<state>(state_)](std::string_view ns, std::string_view name) {
            const auto self = weak.lock();
            const std::string key = fmt::format("{}/{}", ns, name);
            if (self && self->due.contains(key)) self->soon(std::string(ns), std::string(name));
        });
    state_->look_at_all();
}
flink_operator::~flink_operator() = default;

void flink_operator::crash() {
    state_->up = false;
    ++state_->life;
    state_->looks.clear();
    state_->due.clear();
    state_->deploying.clear();
    state_->endings.clear();
}

void flink_operator::restart() {
    if (state_->up) return;
    state_->up = true;
    state_->look_at_all();
}

void flink_operator::set_pace(pace speed) { state_->speed = speed; }

bool flink_operator::cancel(std::string_view ns, std::string_view name) {
    return state_->jobs->cancel(ns, name);
}

void flink_operator::set_waits_for_shutdown(bool waits) { state_->waits = waits; }

}  // namespace esi::simulation

#include "neighbours/flink/jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "neighbours/flink/pods.h"

namespace esi::simulation {

namespace {

/// A TaskManager registers, or its connection breaks, some time after its process came or went.
constexpr pace registration{milliseconds(300), milliseconds(1500)};

/// The process in a pod that runs, by pod and count of restarts; empty: none runs.
std::string process_in(const object& pod) {
    const auto& body = pod.body();
    if (fields::deleting(body) || fields::phase(body) != "Running") return {};
    const auto* all = fields::find(body, {"status", "containerStatuses"});
    if (!all || !all->is_array() || all->empty()) return {};
    if (!fields::find(all->front(), {"state", "running"})) return {};
    return fmt::format("{} {}", pod.uid(), fields::number(all->front(), {"restartCount"}));
}

bool ended(std::string_view state) {
    return state == "FINISHED" || state == "FAILED" || state == "CANCELED";
}

}  // namespace

flink_jobs::flink_jobs(surroundings& in, kubelet& nodes, json scripts)
    : in_(in),
      nodes_(nodes),
      scripts_(std::move(scripts)),
      own_(in.server, "flink-job"),
      chance_(in.chance.fork("flink-jobs")) {}

void flink_jobs::noticed(const change& what) {
    const auto& pod = what.after->body();
    const auto component = fields::label(pod, "component");
    if (component.empty()) return;
    if (component == "jobmanager") {
        auto process = what.what == change_type::deleted ? "" : process_in(*what.after);
        const auto found = all_.find(what.after->uid());
        if (found != all_.end()) {
            if (found->second.process == process) return;
            all_.erase(found);
        }
        if (!process.empty()) start(what.after, std::move(process));
        return;
    }
    if (component != "taskmanager") return;
    const auto cluster = fields::label(pod, "app");
    for (auto& [uid, one] : all_) {
        if (one.cluster == cluster && one.ns == what.after->ns()) soon(one);
    }
}

void flink_jobs::start(const object_pointer& pod, std::string process) {
    job_manager made;
    made.ns = pod->ns();
    made.cluster = fields::label(pod->body(), "app");
    made.pod = pod->name();
    made.uid = pod->uid();
    made.process = std::move(process);
    // What the operator put into the cluster's ConfigMap.
    made.deployment = in_.server.objects().find(kinds::flink_deployment, made.ns, made.cluster);
    made.script = job_script::of(scripts_, made.ns, made.cluster);
    // The JVM comes up, and runs the program's main.
    made.up = in_.time.now() + chance_.between(milliseconds(500), milliseconds(2500));
    made.started =
        in_.time.wall() + std::chrono::duration_cast<wall_time::duration>(made.up - in_.time.now());
    auto& one = all_.insert_or_assign(made.uid, std::move(made)).first->second;
    if (!one.deployment) return;
    one.look_due = true;
    at(one, one.up);
    at(one, one.up + flink::patience_of(one.deployment->body()));
}

void flink_jobs::soon(job_manager& of) {
    if (of.look_due) return;
    of.look_due = true;
    at(of, in_.time.now() + chance_.between(registration.least, registration.most));
}

void flink_jobs::at(const job_manager& of, steady_time when) {
    in_.time.at(when, [weak = weak_from_this(), uid = of.uid, process = of.process] {
        const auto self = weak.lock();
        if (!self) return;
        const auto found = self->all_.find(uid);
        if (found != self->all_.end() && found->second.process == process) self->look(uid);
    });
}

/// Whoever finds the cluster by its name registers with it.
std::vector<object_pointer> flink_jobs::task_managers(const job_manager& of) const {
    std::vector<object_pointer> out;
    for (auto& pod : in_.server.objects().all(kinds::pod, of.ns)) {
        if (fields::label(pod->body(), "component") == "taskmanager" &&
            fields::label(pod->body(), "app") == of.cluster && !process_in(*pod).empty()) {
            out.push_back(std::move(pod));
        }
    }
    return out;
}

void flink_jobs::look(const std::string& uid) {
    auto& one = all_.at(uid);
    one.look_due = false;
    const auto now = in_.time.now();
    if (now < one.up || !one.deployment || ended(one.state)) return;
    if (one.state == "CANCELLING") return set(one, "CANCELED");
    const auto workers = task_managers(one);
    if (one.state == "RUNNING") {
        std::set<std::string> live;
        for (const auto& each : workers) live.insert(process_in(*each));
        const bool lost = !std::ranges::includes(live, one.on);
        if (!lost) return go_on(one, workers);
        if (flink::never_restarts(one.deployment->body())) {
            return fail(one,
                        "org.apache.flink.runtime.JobException: Recovery is suppressed by "
                        "NoRestartBackoffTimeStrategy");
        }
        set(one, "RESTARTING");
        one.working_since.reset();
    }
    const int wanted = flink::task_managers_of(one.deployment->body());
    if (static_cast<int>(workers.size()) >= wanted) {
        for (const auto& each : workers) one.on.insert(process_in(*each));
        one.working_since = now;
        set(one, "RUNNING");
        at(one, now + one.script.work);
        for (const auto& loss : one.script.vanishings) at(one, now + loss.after);
    } else if (one.state == "CREATED" &&
               now >= one.up + flink::patience_of(one.deployment->body())) {
        fail(one,
             "org.apache.flink.runtime.jobmanager.scheduler.NoResourceAvailableException: Could "
             "not acquire the minimum required resources.");
    } else {
        one.on.clear();
    }
}

void flink_jobs::go_on(job_manager& of, const std::vector<object_pointer>& workers) {
    const auto worked = in_.time.now() - *of.working_since;
    lose(of, workers);
    if (worked < of.script.work) return;
    if (of.script.end == "dies") {
        nodes_.finish(of.uid, 137);
    } else if (of.script.end == "fails") {
        fail(of, "org.apache.flink.runtime.JobException: the program failed");
    } else {
        set(of, "FINISHED");
    }
}

void flink_jobs::lose(job_manager& of, const std::vector<object_pointer>& workers) {
    const auto worked = in_.time.now() - *of.working_since;
    while (of.vanished < of.script.vanishings.size() &&
           worked >= of.script.vanishings[of.vanished].after) {
        const auto& loss = of.script.vanishings[of.vanished++];
        if (workers.empty()) continue;
        const auto& victim = workers[static_cast<std::size_t>(loss.nth) % workers.size()];
        in_.told.tell("flink-job", [&] { return of.cluster + " loses " + victim->name(); });
        if (loss.code) {
            nodes_.finish(victim->uid(), *loss.code);
        } else {
            (void)own_.remove(kinds::pod, of.ns, victim->name(), victim->uid());
        }
    }
}

void flink_jobs::fail(job_manager& of, std::string why) {
    of.error = std::move(why);
    set(of, "FAILED");
}

void flink_jobs::set(job_manager& of, std::string state) {
    of.state = std::move(state);
    in_.told.tell("flink-job", [&] {
        return fmt::format("{}/{} {} {}", of.ns, of.cluster, of.state, of.error);
    });
}

const flink_jobs::job_manager* flink_jobs::find(std::string_view ns,
                                                std::string_view cluster) const {
    for (const auto& [uid, one] : all_) {
        if (one.ns == ns && one.cluster == cluster && in_.time.now() >= one.up) return &one;
    }
    return nullptr;
}

std::optional<flink_jobs::overview> flink_jobs::ask(std::string_view ns,
                                                    std::string_view cluster) const {
    const auto* one = find(ns, cluster);
    if (!one || !one->deployment) return std::nullopt;
    std::string id = one->deployment->uid();
    std::erase(id, '-');
    return overview{one->state, std::move(id), one->started, one->error};
}

bool flink_jobs::cancel(std::string_view ns, std::string_view cluster) {
    const auto* known = find(ns, cluster);
    if (!known || !known->deployment || ended(known->state)) return false;
    auto& one = all_.at(known->uid);
    set(one, "CANCELLING");
    at(one, in_.time.now() + chance_.between(milliseconds(100), milliseconds(800)));
    return true;
}

}  // namespace esi::simulation

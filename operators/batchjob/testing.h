// Objects for the tests of the state machine: short to write, literal to read.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "batchjob/backends/spark/backend.h"
#include "batchjob/backends/spark_driver/backend.h"
#include "batchjob/decide.h"
#include "batchjob/registry.h"
#include "grid/grid.h"
#include "model/json.h"
#include "model/names.h"

namespace esi::batchjob::testing {

inline constexpr std::string_view run_1 = "sched-uid.77.1";
inline constexpr std::string_view run_2 = "sched-uid.99.1";

/// Second `n` of the hour in which all tests play.
inline wall_time at(int n) {
    return model::timestamp::parse("2026-11-21T09:00:00Z")->value + seconds(n);
}
inline model::timestamp stamp(int n) { return {at(n)}; }

inline const backend& spark() {
    static const spark::spark_backend it{placement_options{}};
    return it;
}

inline std::shared_ptr<model::batchjob> make_job() {
    auto job = std::make_shared<model::batchjob>();
    job->metadata.name = "a";
    job->metadata.namespace_ = "jobs";
    job->metadata.uid = "job-uid";
    job->metadata.generation = 1;
    job->spec.spark_spec = model::raw_json{
        R"({"driver":{},"executor":{},"mainApplicationFile":"local:///a.jar","sparkVersion":"4.0.1","type":"Scala"})"};
    return job;
}

inline std::shared_ptr<model::testbed> make_testbed() {
    auto bed = std::make_shared<model::testbed>();
    bed->metadata.name = "bed";
    bed->metadata.namespace_ = "jobs";
    bed->spec.node_label = "example.com/slots";
    auto& layout = bed->status.layout.emplace();
    layout.nodes = {{"node-a", "ua", 0}, {"node-b", "ub", 1}, {"node-c", "uc", 2}};
    layout.slots_per_node = 2;
    layout.resources_per_slot["cpu"] = *model::quantity::parse("600m");
    layout.resources_per_slot["memory"] = *model::quantity::parse("1.75Gi");
    return bed;
}

/// The Testbed of a claim: position 0 is a coordinator place, 1 to 3 are of workers.
inline std::shared_ptr<model::testbed> make_claim() {
    auto bed = make_testbed();
    bed->spec.node_label.clear();
    auto& layout = *bed->status.layout;
    const auto worker = std::exchange(layout.resources_per_slot, {});
    auto coordinator = worker;
    coordinator["cpu"] = *model::quantity::parse("1");
    coordinator["memory"] = *model::quantity::parse("2Gi");
    layout.slots_per_node = 0;
    layout.shapes = {{"driver", "coordinator", 1, coordinator}, {"executors", "worker", 3, worker}};
    layout.places = {0, 0, 1, 2};
    return bed;
}

inline void acquire(model::batchjob& job) {
    job.spec.active_scheduling = model::active_scheduling_ref{"jobs", "s", "sched-uid"};
    ++job.metadata.generation;
}
inline void order(model::batchjob& job, std::vector<int> slots, std::string_view run = run_1) {
    model::creation_request request;
    request.testbed_name = {"jobs", "bed"};
    request.replication = static_cast<int>(slots.size());
    request.slot_ids = std::move(slots);
    request.run = run;
    request.submit_timeout_seconds = 60;
    request.schedule_timeout_seconds = 30;
    job.spec.creation_request = std::move(request);
    ++job.metadata.generation;
}
/// The Scheduling that has given the order, at second `when`.
inline std::shared_ptr<model::scheduling> assigner(const model::batchjob& job, int when) {
    auto by = std::make_shared<model::scheduling>();
    by->metadata.namespace_ = "jobs";
    by->metadata.name = "s";
    by->metadata.uid = "sched-uid";
    auto& given = by->status.assignments.emplace_back();
    given.job = {"jobs", "a", job.metadata.uid};
    given.slot_ids = job.spec.creation_request->slot_ids;
    given.run = job.spec.creation_request->run;
    given.since = stamp(when);
    return by;
}
inline void release(model::batchjob& job) {
    job.spec.active_scheduling.reset();
    job.spec.creation_request.reset();
    ++job.metadata.generation;
}

inline application make_app(std::string_view word, std::string_view run = run_1,
                            std::string owner = "job-uid") {
    const std::string text = fmt::format(
        R"({{"metadata":{{"name":"a","namespace":"jobs","uid":"app-{0}","resourceVersion":"5",)"
        R"("creationTimestamp":"2026-11-21T09:00:10Z","annotations":{{"esi.tu-berlin.de/run":"{0}"}},)"
        R"("ownerReferences":[{{"apiVersion":"esi.tu-berlin.de/v1alpha1","kind":"BatchJob",)"
        R"("name":"a","uid":"{1}","controller":true}}]}},"status":{{"executionAttempts":1,)"
        R"("lastSubmissionAttemptTime":"2026-11-21T09:00:11Z",)"
        R"("driverInfo":{{"podName":"a-driver"}},"submissionID":"submission-1",)"
        R"("applicationState":{{"state":"{2}"}}}}}})",
        run, owner, word);
    return *spark().read(text);
}

inline std::shared_ptr<model::pod> make_pod(std::string name, std::string_view role,
                                            std::string_view run = run_1) {
    auto pod = std::make_shared<model::pod>();
    pod->metadata.name = name;
    pod->metadata.namespace_ = "jobs";
    pod->metadata.uid = "uid-" + name;
    pod->metadata.creation_timestamp = stamp(12);
    pod->metadata.labels = {{"sparkoperator.k8s.io/app-name", "a"},
                            {"spark-role", std::string(role)},
                            {"esi.tu-berlin.de/job", "a"}};
    pod->metadata.annotations = {{"esi.tu-berlin.de/run", std::string(run)}};
    pod->phase = "Pending";
    pod->metadata.labels["sparkoperator.k8s.io/submission-id"] = "submission-1";
    if (role == "executor") {
        pod->metadata.owner_references = {{"v1", "Pod", "a-driver", "uid-a-driver", true}};
        pod->scheduling_gates = {"esi.tu-berlin.de/slot"};
        pod->scheduled_status = "False";
        pod->scheduled_reason = "SchedulingGated";
    }
    return pod;
}
inline std::shared_ptr<model::pod> executor(int n, std::string_view run = run_1) {
    return make_pod(fmt::format("a-exec-{}", n), "executor", run);
}
inline std::shared_ptr<model::pod> driver(std::string_view run = run_1) {
    auto pod = make_pod("a-driver", "driver", run);
    pod->scheduled_status = "True";
    pod->node_name = "infra";
    pod->phase = "Running";
    pod->started_at = stamp(13);
    return pod;
}
/// A driver that takes a slot and waits at its gate.
inline std::shared_ptr<model::pod> gated_driver(std::string_view run = run_1) {
    auto pod = make_pod("a-driver", "driver", run);
    pod->metadata.labels["esi.tu-berlin.de/testbed"] = "bed";
    pod->metadata.labels["esi.tu-berlin.de/testbed-namespace"] = "jobs";
    pod->scheduling_gates = {"esi.tu-berlin.de/slot"};
    pod->scheduled_status = "False";
    pod->scheduled_reason = "SchedulingGated";
    return pod;
}
inline void bind(model::pod& pod, std::string node, int when) {
    pod.scheduling_gates.clear();
    pod.node_name = std::move(node);
    pod.scheduled_status = "True";
    pod.scheduled_reason.clear();
    pod.scheduled_time = stamp(when);
}
inline void start(model::pod& pod, int when) {
    pod.phase = "Running";
    pod.started_at = stamp(when);
}

/// A job and its surroundings; `step` is one reconcile of the operator: decisions are carried out
/// on the objects here, which also answer the reads, until nothing is left to do.
struct world {
    std::shared_ptr<model::batchjob> job = make_job();
    std::shared_ptr<model::testbed> bed = make_testbed();
    std::optional<application> app;
    std::vector<pod_pointer> pods;
    jobs_by_node neighbours;
    bool names_all_jobs = false;
    application_kinds kinds = known_kinds();
    const backend* kind = &spark();
    bool served = true;
    bool supported = true;
    std::optional<check_answer> check = check_answer{true, false, {}};
    std::optional<error> create_error;
    /// The final state that the watch showed of an application before it was deleted.
    std::optional<application> last_final;
    /// The cache does not show the application yet.
    bool cache_blind = false;
    /// The application as a cache that is behind shows it.
    std::optional<application> shown_app;
    /// The Scheduling has given the order, as a live read shows.
    bool assigned = true;
    /// The Scheduling as the cache shows it.
    std::shared_ptr<const model::scheduling> scheduling;
    /// The cached Testbed carries the hold of the order's run.
    bool shows_hold = true;
    std::map<std::string, wall_time, std::less<>> ungated_since;
    bool just_acquired = false;
    bool pods_coming = false;
    std::vector<death> deaths;
    /// Why a pod cannot be marked, by uid.
    std::map<std::string, std::string, std::less<>> unmarkable;

    // The record of what happened.
    std::vector<std::string> log;
    json created;
    int writes = 0;
    int assignment_reads = 0;
    std::optional<std::chrono::microseconds> again_in;

    view look() const {
        view seen;
        seen.job = std::make_shared<model::batchjob>(*job);
        seen.spec_kind = kind_of(kinds, job->spec);
        seen.kind = supported ? kind : nullptr;
        seen.served = served;
        if (bed) {
            auto held = *bed;
            if (job->spec.creation_request && shows_hold) {
                held.metadata.annotations[std::string(model::names::hold)] =
                    grid::hold_of_run(job->spec.creation_request->run);
            }
            seen.testbed = std::make_shared<const model::testbed>(std::move(held));
            seen.usable = {seen.testbed};
        }
        seen.scheduling = scheduling;
        if (shown_app) {
            seen.application = std::make_shared<application>(*shown_app);
        } else if (app && !cache_blind) {
            seen.application = std::make_shared<application>(*app);
        }
        if (last_final) seen.last_final = std::make_shared<application>(*last_final);
        seen.pods = pods;
        for (const auto& entry : job->status.placements) {
            for (const auto& pod : pods) {
                if (pod->metadata.uid == entry.pod_uid && pod->may_run()) {
                    seen.placed_alive.insert(entry.pod_uid);
                }
            }
        }
        seen.neighbours = neighbours;
        seen.names_all_jobs = names_all_jobs;
        seen.check = check;
        seen.check_due = false;
        seen.ungated_since = ungated_since;
        seen.just_acquired = just_acquired;
        seen.pods_coming = pods_coming;
        seen.deaths = deaths;
        return seen;
    }

    void write(const model::batchjob_status& wanted) {
        if (model::encode(job->status) == model::encode(wanted)) return;
        job->status = wanted;
        ++writes;
        log.push_back("status " + wanted.state);
    }

    void step(int second) {
        auto seen = look();
        for (int i = 0; i < 12; ++i) {
            seen.job = std::make_shared<model::batchjob>(*job);
            auto wanted = decide(seen, at(second));
            if (!wanted.act_first && !wanted.hold_back) write(wanted.status);
            again_in = wanted.again_in;
            if (!wanted.next) return;
            std::visit([&](const auto& what) { act(seen, what); }, *wanted.next);
        }
        log.push_back("did not converge");
    }

    void act(view& seen, const read_application&) {
        log.push_back("read application");
        seen.live.application_read = true;
        seen.live.application = app ? std::make_shared<application>(*app) : nullptr;
    }
    void act(view& seen, const read_assignment&) {
        ++assignment_reads;
        seen.live.assignment_read = true;
        seen.live.assigned = assigned;
    }
    void act(view& seen, const read_pods& what) {
        for (const auto& entry : what.pods) {
            log.push_back("read pod " + entry.pod_name);
            bool alive = false;
            for (const auto& pod : alive_unseen) alive = alive || pod == entry.pod_uid;
            (alive ? seen.live.living_pods : seen.live.gone_pods).insert(entry.pod_uid);
        }
    }
    void act(view& seen, const check_spec&) {
        log.push_back("check spec");
        seen.check = check_answer{true, false, {}};
    }
    void act(view& seen, const create_application& what) {
        log.push_back("create application");
        created = what.object;
        if (create_error) {
            seen.live.create_error = create_error;
            return;
        }
        if (!app) {
            app = make_app("", job->spec.creation_request->run);
            app->metadata.annotations = created["metadata"]["annotations"].get<model::string_map>();
        }
        seen.live.application = std::make_shared<application>(*app);
        seen.live.application_read = true;
    }
    void act(view& seen, const adopt_application& what) {
        log.push_back("adopt application");
        created = what.patch;
        if (create_error) {
            seen.live.create_error = create_error;
            return;
        }
        for (std::size_t i = 0; i < pods.size(); ++i) {
            if (pods[i]->metadata.name != job->metadata.name) continue;
            replace(i, [&](model::pod& pod) { merge(pod, what.patch); });
            seen.pods = pods;
            seen.live.application = spark_driver::application_of(*pods[i]);
            if (seen.live.application) app = *seen.live.application;
        }
        seen.live.application_read = true;
    }
    void act(view& seen, const mark_pods& what) {
        for (const auto& marked : what.pods) {
            log.push_back("mark pod " + marked->metadata.name);
            const auto refused = unmarkable.find(marked->metadata.uid);
            if (refused != unmarkable.end()) {
                seen.unmarked.insert(*refused);
                continue;
            }
            for (std::size_t i = 0; i < pods.size(); ++i) {
                if (pods[i]->metadata.uid != marked->metadata.uid) continue;
                replace(i, [&](model::pod& pod) { merge(pod, what.patch); });
            }
        }
        seen.pods = pods;
    }
    static void merge(model::pod& pod, const json& patch) {
        const auto& meta = patch["metadata"];
        for (const auto& [key, value] : meta["labels"].items()) pod.metadata.labels[key] = value;
        for (const auto& [key, value] : meta["annotations"].items()) {
            pod.metadata.annotations[key] = value;
        }
    }
    void act(view& seen, const delete_application& what) {
        log.push_back("delete application " + what.uid);
        seen.deletion_answered.insert(what.uid);
    }
    void act(view& seen, const delete_pods& what) {
        for (const auto& pod : what.pods) {
            log.push_back("delete pod " + pod->metadata.name + (what.as_seen ? " as seen" : ""));
            seen.deletion_answered.insert(pod->metadata.uid);
        }
    }

    std::vector<std::string> alive_unseen;

    std::vector<std::string> take_log() { return std::exchange(log, {}); }
    std::string condition(std::string_view type) const {
        const auto* found = model::find_condition(job->status.conditions, type);
        return found ? found->status + " " + found->reason : "none";
    }
    std::string message(std::string_view type) const {
        const auto* found = model::find_condition(job->status.conditions, type);
        return found ? found->message : "";
    }

    // Ready-made stages of a life.
    void ready() { step(0); }
    void queued() {
        ready();
        acquire(*job);
        step(5);
    }
    void submitted(std::vector<int> slots = {0, 3}) {
        queued();
        order(*job, std::move(slots));
        step(10);
    }
    void placed() {
        submitted();
        app = make_app("RUNNING");
        pods = {driver(), executor(1), executor(2)};
        step(13);
    }
    void scheduled() {
        placed();
        replace(1, [](model::pod& pod) { bind(pod, "node-a", 14); });
        replace(2, [](model::pod& pod) { bind(pod, "node-b", 15); });
        step(15);
    }
    void running() {
        scheduled();
        replace(1, [](model::pod& pod) { start(pod, 16); });
        replace(2, [](model::pod& pod) { start(pod, 17); });
        step(17);
    }
    void completed() {
        running();
        app = make_app("COMPLETED");
        app->ended = stamp(41);
        replace(0, [](model::pod& pod) {
            pod.phase = "Succeeded";
            pod.finished_at = stamp(40);
        });
        step(41);
    }
    void failed() {
        running();
        app = make_app("FAILED");
        app->message = "driver failed with exit code 1";
        app->ended = stamp(31);
        replace(0, [](model::pod& pod) {
            pod.phase = "Failed";
            pod.finished_at = stamp(30);
        });
        step(31);
    }
    /// The run failed, its Scheduling has released the job, and nothing of the run is left.
    void failed_and_released() {
        failed();
        release(*job);
        app.reset();
        pods.clear();
        step(50);
    }
    void failed_submission() {
        queued();
        create_error = error{errc::invalid, "SparkApplication a is invalid: spec.type"};
        order(*job, {0, 3});
        step(10);
        create_error.reset();
    }

    template <class Change>
    void replace(std::size_t index, Change change) {
        auto pod = std::make_shared<model::pod>(*pods[index]);
        change(*pod);
        pods[index] = std::move(pod);
    }
};

}  // namespace esi::batchjob::testing

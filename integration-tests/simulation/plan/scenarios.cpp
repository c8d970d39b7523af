// The fixed list: each is small enough to be run once for every write of every operator. A job
// whose RunningState somebody waits for runs longer than a takeover after a crash takes.
#include <functional>
#include <utility>

#include "plan/cast.h"
#include "plan/generate.h"

namespace esi::simulation {

namespace {

job_name job_a{"default", "job-a"};
job_name job_b{"default", "job-b"};
job_name job_c{"team-a", "job-c"};

constexpr milliseconds setup{100};
constexpr milliseconds jobs_come{500};
constexpr milliseconds begin{4000};

/// A cluster with one bed, the jobs' part and the Schedulings' part.
plan make(std::string scenario, const bed& where, const std::function<void(cast&)>& jobs,
          const std::function<void(cast&)>& run) {
    plan out;
    out.seed = 1;
    out.scenario = std::move(scenario);
    cast all(out);
    all.workers(where);
    all.at(setup);
    all.testbed(where);
    // Pending from the first moment to the last; with the taint they may never come in.
    if (where.taint) {
        all.strangers(where, 2, false);
    } else {
        all.giant(where);
    }
    all.at(jobs_come);
    jobs(all);
    all.at(begin);
    run(all);
    return out;
}

std::function<void(cast&)> two_jobs(int a, int b) {
    return [a, b](cast& all) {
        all.job(job_a, a);
        all.job(job_b, b);
    };
}

std::function<void(cast&)> one_job(int seconds, std::string_view end = "succeeds") {
    return [seconds, end](cast& all) { all.job(job_a, seconds, end); };
}

/// Someone takes a fault's part in an otherwise ordinary run.
void meddle(cast& all, std::string what, json with, const std::string& job) {
    with["when"] = cast::when("batchjobs", job, {"RunningState"});
    all.add(std::move(what), std::move(with));
}

const bed untainted{"grid", "example.com/slots", 2, 2, false};

}  // namespace

std::vector<plan> scenarios() {
    const bed grid;
    std::vector<plan> out;
    out.push_back(make(
        "queue", grid,
        [](cast& all) {
            all.job(job_a, 10);
            all.job(job_b, 15);
            all.job(job_c, 10);
        },
        [](cast& all) { all.queue("run", "grid", {job_a, job_b, job_a, job_b, job_c}); }));
    out.push_back(make("strict", untainted, two_jobs(10, 10), [](cast& all) {
        all.slots("run", "grid", "strict", {{job_a, {0, 1}}, {job_b, {1, 2}}});
    }));
    out.push_back(make(
        "relaxed", untainted,
        [](cast& all) {
            all.job(job_a, 15);
            all.job(job_b, 10);
            all.job(job_c, 5);
        },
        [](cast& all) {
            all.slots("run", "grid", "relaxed", {{job_a, {0, 1}}, {job_b, {1}}, {job_c, {2, 3}}});
        }));
    out.push_back(make("extension", grid, two_jobs(60, 10), [](cast& all) {
        all.queue("run", "grid", {job_a, job_a}, false);
        all.add("extend", {{"name", "run"},
                           {"jobs", json::array({job_b.reference(), job_b.reference()})},
                           {"when", cast::when("batchjobs", "job-a", {"RunningState"})}});
    }));
    out.push_back(make("delete while acquiring", grid, two_jobs(10, 10), [](cast& all) {
        all.queue("run", "grid", {job_a, job_b});
        all.remove_when("schedulings", "run", "schedulings", "run",
                        {"AcquireState", "ConfirmationState", "SubmissionState"});
    }));
    out.push_back(make("delete while running", grid, two_jobs(300, 300), [](cast& all) {
        all.queue("run", "grid", {job_a, job_a, job_b});
        all.remove_when("schedulings", "run", "batchjobs", "job-b", {"RunningState"});
    }));
    out.push_back(make("delete testbed held", grid, one_job(60), [](cast& all) {
        all.queue("run", "grid", {job_a, job_a});
        all.remove_when("testbeds", "grid", "batchjobs", "job-a", {"RunningState"});
    }));
    out.push_back(make(
        "job failure", grid,
        [](cast& all) {
            all.job(job_a, 5, "fails");
            all.job(job_b, 5, "dies");
            all.job(job_c, 5);
        },
        [](cast& all) { all.queue("run", "grid", {job_a, job_b, job_b, job_c}); }));
    out.push_back(make(
        "submission failure", grid,
        [](cast& all) {
            all.job(job_a, 5, "submission-fails");
            all.job(job_b, 5);
        },
        [](cast& all) { all.queue("run", "grid", {job_a, job_b}); }));
    out.push_back(make("node loss", grid, one_job(60), [](cast& all) {
        all.slots("run", "grid", "strict", {{job_a, {0, 1}}});
        meddle(all, "node-gone", {{"name", "worker-1"}, {"back_ms", 10000}}, "job-a");
    }));
    out.push_back(make("executor loss", grid, one_job(60), [](cast& all) {
        all.queue("run", "grid", {job_a, job_a});
        meddle(all, "executor-crash", {{"name", "job-a"}, {"nth", 1}}, "job-a");
    }));
    out.push_back(make("hand release", grid, two_jobs(10, 10), [](cast& all) {
        all.queue("run", "grid", {job_a, job_b}, false);
        all.remove_when("schedulings", "run", "schedulings", "run", {"CompletedState"});
    }));
    out.push_back(make("contention", grid, two_jobs(10, 10), [](cast& all) {
        all.queue("first", "grid", {job_a, job_b});
        all.at(begin + seconds(3));
        all.queue("second", "grid", {job_b, job_b});
    }));
    out.push_back(make("extender", grid, two_jobs(10, 10),
                       [](cast& all) { all.queue("run", "grid", {job_a, job_a, job_b}); }));
    out.back().placement = "extender";
    out.push_back(make(
        "flink queue", grid,
        [](cast& all) {
            all.flink_job(job_a, 10);
            all.job(job_b, 15);
            all.flink_job(job_c, 10);
        },
        [](cast& all) { all.queue("run", "grid", {job_a, job_b, job_a, job_b, job_c}); }));
    out.push_back(make(
        "flink failure", grid,
        [](cast& all) {
            all.flink_job(job_a, 5, "fails");
            all.flink_job(job_b, 5, "dies");
            all.flink_job(job_c, 5);
        },
        [](cast& all) { all.queue("run", "grid", {job_a, job_b, job_b, job_c}); }));
    out.push_back(make(
        "task manager loss", grid, [](cast& all) { all.flink_job(job_a, 60); },
        [](cast& all) {
            all.queue("run", "grid", {job_a, job_a});
            meddle(all, "delete-job-pod", {{"name", "job-a"}, {"nth", 1}}, "job-a");
        }));
    out.push_back(make(
        "flink cancelled", grid, [](cast& all) { all.flink_job(job_a, 60); },
        [](cast& all) {
            all.queue("run", "grid", {job_a, job_a});
            meddle(all, "cancel-job", {{"name", "job-a"}}, "job-a");
        }));
    out.push_back(make(
        "flink extender", grid,
        [](cast& all) {
            all.flink_job(job_a, 10);
            all.flink_job(job_b, 10);
        },
        [](cast& all) { all.queue("run", "grid", {job_a, job_a, job_b}); }));
    out.back().placement = "extender";
    out.push_back(make("taint", bed{"grid", "example.com/slots", 1, 2, true}, two_jobs(10, 10),
                       [](cast& all) { all.queue("run", "grid", {job_a, job_a, job_b, job_b}); }));
    return out;
}

}  // namespace esi::simulation

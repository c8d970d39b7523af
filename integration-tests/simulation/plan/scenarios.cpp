// The fixed list: each is small enough to be run once for every write of every operator. A job
// whose RunningState a happening waits for runs longer than a takeover after a crash takes.
#include <functional>
#include <utility>

#include "plan/cast.h"
#include "plan/gangs.h"
#include "plan/generate.h"

namespace esi::simulation {

namespace {

job_name job_a{"default", "job-a"};
job_name job_b{"default", "job-b"};
job_name job_c{"team-a", "job-c"};

constexpr milliseconds setup{100};
constexpr milliseconds jobs_come{500};
constexpr milliseconds begin{4000};
/// Until then those sit where they came in.
constexpr milliseconds strangers_leave{40000};

/// Who else wants the room of the slots.
enum class others { wait_for_ever, may_enter };

constexpr std::string_view deletion_of_run = "run deleted: ";
constexpr std::string_view deletion_of_job = "job deleted: ";

void flink_job(cast& all, const job_name& name, int seconds, std::string_view end = "succeeds") {
    all.job(name, seconds, end, application_kind_named("flink"));
}

/// A cluster with one bed, the jobs' part and the Schedulings' part.
plan make(std::string scenario, const bed& where, const std::function<void(cast&)>& jobs,
          const std::function<void(cast&)>& run, others who = others::wait_for_ever) {
    plan out;
    out.seed = 1;
    out.scenario = std::move(scenario);
    cast all(out);
    all.workers(where);
    all.at(setup);
    all.testbed(where);
    if (who == others::may_enter) {
        // They sit down in every gap that a swap leaves for a moment.
        all.strangers(where, 2, where.taint);
    } else if (where.taint) {
        // Pending from the first moment to the last: with the taint they may never come in.
        all.strangers(where, 2, false);
    } else {
        all.giant(where);
    }
    all.at(jobs_come);
    jobs(all);
    all.at(begin);
    run(all);
    if (who == others::may_enter) {
        all.at(strangers_leave);
        for (const char* name : {"0", "1"}) {
            all.add("delete",
                    {{"kind", "pods"},
                     {"name", (where.taint ? "guest-" : "stranger-") + where.name + "-" + name}});
        }
    }
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

/// A user writes this into the spec of a Scheduling, as soon as the Scheduling exists.
void ask(cast& all, json spec, const std::string& of = "run") {
    all.add("patch", {{"kind", "schedulings"},
                      {"name", of},
                      {"patch", {{"spec", std::move(spec)}}},
                      {"when", cast::when("schedulings", of, json::array())}});
}

/// The same when job-a is in that state.
void ask_when(cast& all, json spec, const std::string& state) {
    all.add("patch", {{"kind", "schedulings"},
                      {"name", "run"},
                      {"patch", {{"spec", std::move(spec)}}},
                      {"when", cast::when("batchjobs", "job-a", {state})}});
}

const bed untainted{"grid", "example.com/slots", 2, 2, false};
const bed small{"grid", "example.com/slots", 1, 2, true};

/// A Scheduling, or a job of one, is deleted as soon as it shows a state: one plan for each that is
/// written. InitialState and InitState mean a status that no operator has written yet.
void add_deletions(std::vector<plan>& to) {
    for (const char* state :
         {"AcquireState", "ConfirmationState", "SubmissionState", "AwaitingCompletionState"}) {
        // That a job waits for slots of another is shown, too.
        const bool waits = std::string_view(state) == "ConfirmationState";
        to.push_back(make(std::string(deletion_of_run) + state, small,
                          waits ? two_jobs(5, 5) : one_job(5), [&](cast& all) {
                              // Another one has what it wants: else it is not seen waiting.
                              if (std::string_view(state) == "AcquireState") {
                                  all.queue("first", "grid", {job_a});
                                  all.at(begin + seconds(3));
                              }
                              all.remove_when("schedulings", "run", "schedulings", "run", {state});
                              std::vector<job_name> entries{job_a, job_a};
                              if (waits) entries.push_back(job_b);
                              all.queue("run", "grid", entries, false);
                          }));
    }
    for (const char* state :
         {"ReadyState", "InQueueState", "SubmittedState", "ScheduledState", "RunningState",
          "CompletedState", "FailedState", "FailedSubmissionState", "PendingDeletion"}) {
        const std::string_view shown = state;
        const auto end = shown == "FailedState"             ? "fails"
                         : shown == "FailedSubmissionState" ? "submission-fails"
                                                            : "succeeds";
        to.push_back(make(
            std::string(deletion_of_job) + state, small,
            [&](cast& all) {
                all.job(job_a, 5, end);
                if (shown == "InQueueState") all.job(job_b, 5);
                // A job is ready before a Scheduling asks for it.
                if (shown == "ReadyState")
                    all.remove_when("batchjobs", "job-a", "batchjobs", "job-a", {state});
            },
            [&](cast& all) {
                // The second waits for the slots of the first.
                const char* victim = shown == "InQueueState" ? "job-b" : "job-a";
                if (shown != "ReadyState")
                    all.remove_when("batchjobs", victim, "batchjobs", victim, {state});
                std::vector<job_name> entries{job_a, job_a};
                if (shown == "InQueueState") entries.push_back(job_b);
                all.queue("run", "grid", entries);
            }));
    }
}

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
    out.push_back(make("suspended with release", grid, one_job(30), [](cast& all) {
        all.queue("run", "grid", {job_a, job_a});
        ask_when(all, {{"suspend", true}, {"suspendPolicy", "Release"}}, "RunningState");
        // Once more, when the pause has let go of it.
        ask_when(all, {{"suspend", nullptr}}, "PendingDeletion");
    }));
    out.push_back(make("job cancelled", grid, two_jobs(300, 10), [](cast& all) {
        all.queue("run", "grid", {job_a, job_a, job_a, job_b, job_b});
        ask_when(all, {{"cancelledJobs", json::array({job_a.reference()})}}, "RunningState");
    }));
    out.push_back(make(
        "job tried again", grid,
        [](cast& all) {
            all.job(job_a, 5, "fails");
            all.job(job_b, 5);
        },
        [](cast& all) {
            all.queue("run", "grid", {job_a, job_b, job_b});
            ask(all, {{"jobPolicies", json::array({{{"name", job_a.reference()},
                                                    {"backoffLimit", 1},
                                                    {"retryDelaySeconds", 2}}})}});
        }));
    out.push_back(make("plan out of time", small, two_jobs(300, 10), [](cast& all) {
        all.queue("run", "grid", {job_a, job_a, job_b});
        ask(all, {{"activeDeadlineSeconds", 40}});
    }));
    out.push_back(make("higher priority", grid, two_jobs(10, 10), [](cast& all) {
        all.queue("first", "grid", {job_a});
        all.at(begin + seconds(3));
        all.queue("second", "grid", {job_b});
        all.queue("urgent", "grid", {job_b});
        ask(all, {{"priority", 5}}, "urgent");
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
            flink_job(all, job_a, 10);
            all.job(job_b, 15);
            flink_job(all, job_c, 10);
        },
        [](cast& all) { all.queue("run", "grid", {job_a, job_b, job_a, job_b, job_c}); }));
    out.push_back(make(
        "flink failure", grid,
        [](cast& all) {
            flink_job(all, job_a, 5, "fails");
            flink_job(all, job_b, 5, "dies");
            flink_job(all, job_c, 5);
        },
        [](cast& all) { all.queue("run", "grid", {job_a, job_b, job_b, job_c}); }));
    out.push_back(make(
        "task manager loss", grid, [](cast& all) { flink_job(all, job_a, 60); },
        [](cast& all) {
            all.queue("run", "grid", {job_a, job_a});
            meddle(all, "delete-job-pod", {{"name", "job-a"}, {"nth", 1}}, "job-a");
        }));
    out.push_back(make(
        "flink cancelled", grid, [](cast& all) { flink_job(all, job_a, 60); },
        [](cast& all) {
            all.queue("run", "grid", {job_a, job_a});
            meddle(all, "cancel-job", {{"name", "job-a"}}, "job-a");
        }));
    out.push_back(make(
        "flink extender", grid,
        [](cast& all) {
            flink_job(all, job_a, 10);
            flink_job(all, job_b, 10);
        },
        [](cast& all) { all.queue("run", "grid", {job_a, job_a, job_b}); }));
    out.back().placement = "extender";
    const auto in_turn = [](cast& all) { all.queue("run", "grid", {job_a, job_a, job_b, job_b}); };
    const auto gap = [](cast& all) { all.queue("run", "grid", {job_a, job_a, job_b}); };
    out.push_back(make("taint", small, two_jobs(10, 10), in_turn));
    out.push_back(make("strangers, no taint", bed{"grid", "example.com/slots", 1, 2, false},
                       two_jobs(5, 5), gap, others::may_enter));
    out.push_back(make("guests, taint", small, two_jobs(5, 5), gap, others::may_enter));
    add_deletions(out);
    for (auto& one : gang_scenarios()) out.push_back(std::move(one));
    return out;
}

}  // namespace esi::simulation

// A run under way: placements, phases, deadlines, the end.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "batchjob/backends/marks.h"
#include "batchjob/pass.h"
#include "batchjob/place.h"
#include "batchjob/runs.h"
#include "grid/grid.h"
#include "model/names.h"
#include "model/text.h"

namespace esi::batchjob {

namespace state = model::job_state;
namespace names = model::names;

namespace {

constexpr std::string_view reason_completed = "Completed";
constexpr std::string_view reason_failed = "ApplicationFailed";

/// The pod that sees the result may be shown to us a moment after the application that tells it.
constexpr seconds last_pod_patience{2};
/// How long pods of a run may not be there before people are told where to look: on real nodes a
/// driver comes after 13 to 98 s, and its first executor as long after that.
constexpr seconds pods_patience{60};
/// Executors are made one after the other; those that come in quick succession are placed by one
/// write.
constexpr milliseconds sibling_patience{5};

bool unschedulable(const model::pod& pod) {
    return !pod.bound() && pod.live() && pod.scheduled_status == "False" &&
           pod.scheduled_reason == "Unschedulable";
}

/// Since when a pod that may go to its slot is known not to fit there. Nothing for one that ESI has
/// not let in.
std::optional<model::timestamp> let_in_and_rejected_since(const model::pod& pod) {
    if (pod.metadata.annotation(names::slot_node).empty()) return std::nullopt;
    return pod.scheduled_time;
}

/// "DriverUnschedulable", "JobManagerUnschedulable"
std::string unschedulable_reason(std::string_view coordinator) {
    std::string out(coordinator);
    if (!out.empty() && out[0] >= 'a' && out[0] <= 'z') out[0] = static_cast<char>(out[0] - 32);
    return out + "Unschedulable";
}

/// By Flink's clock; an end before the start is none.
void note_job_times(model::run_record& line, const application& app) {
    if (app.job_started) line.job_started = app.job_started;
    if (app.job_stopped && line.job_started && *app.job_stopped >= *line.job_started) {
        line.job_stopped = app.job_stopped;
    }
}

pod_pointer newest(const std::vector<pod_pointer>& pods) {
    pod_pointer out;
    for (const auto& pod : pods) {
        if (!out || came_before(out->metadata, pod->metadata)) out = pod;
    }
    return out;
}

/// Sets a time from pods where it is not set yet: the earliest (or latest) of them.
template <class Pick, class Better>
void take_time(std::optional<model::timestamp>& into, const std::vector<pod_pointer>& pods,
               Pick pick, Better better) {
    if (into) return;
    for (const auto& pod : pods) {
        const auto& time = pick(*pod);
        if (time && (!into || better(*time, *into))) into = time;
    }
}

}  // namespace

void pass::progress(const model::creation_request& order, const application& app) {
    // Nothing of an earlier run may stand beside this one.
    delete_pods strangers;
    strangers.why = fmt::format("another run than {}", order.run);
    for (const auto& pod : seen_.pods) {
        const auto run = pod->metadata.annotation(names::run);
        if (!run.empty() && run != order.run && !pod->metadata.deleting() &&
            !seen_.asked_to_go.contains(pod->metadata.uid)) {
            strangers.pods.push_back(pod);
        }
    }
    if (!strangers.pods.empty()) out_.next = std::move(strangers);

    begin(order, app);
    const bool again = begin_attempt(order, app);
    refer(&app);

    auto workers = pods_of(order.run, pod_role::slot);
    for (const auto& pod : workers) {
        if (auto why = seen_.kind->misfit(*pod); !why.empty()) {
            return fail("PodNotPrepared", std::move(why));
        }
    }
    const auto placed = place(order.slot_ids, status_.placements, workers, seen_.live);
    if (!placed.to_read.empty()) {
        out_.next = read_pods{placed.to_read};
        out_.act_first = true;
        return;
    }
    if (seen_.pods_coming && placed.placements != status_.placements &&
        std::ranges::count_if(workers, [](const auto& pod) { return pod->live(); }) <
            std::ssize(order.slot_ids)) {
        return hold_back(sibling_patience);
    }
    status_.placements = placed.placements;
    for (const auto& pod : placed.surplus) {
        problem(fmt::format("pod {} waits: each slot of the run has a pod already",
                            pod->metadata.name));
        // The one that it waits for was seen alive by a live read only: no event may tell its end.
        if (!seen_.live.living_pods.empty()) look_again(seconds(2));
    }

    tell_foreign_pods(order);

    auto& line = *line_of(status_, order.run);
    if (!app.final() && !line.reason.empty()) {
        // It has taken its result back.
        line.reason.clear();
        line.message.clear();
        line.stopped.reset();
    }
    if (again) {
        // Pods of the attempt before tell nothing of this one.
        std::erase_if(workers, [&](const pod_pointer& pod) {
            return line.submitted && pod->metadata.creation_timestamp &&
                   *pod->metadata.creation_timestamp < *line.submitted;
        });
    }
    std::vector<pod_pointer> bound_pods;
    auto placed_pods = status_.placements.size();
    for (const auto& entry : status_.placements) {
        const auto at = std::ranges::find_if(
            workers, [&](const pod_pointer& pod) { return pod->metadata.uid == entry.pod_uid; });
        if (at != workers.end() && (*at)->bound()) bound_pods.push_back(*at);
        // It keeps the place of the one that is to come.
        if (again && at == workers.end()) --placed_pods;
    }
    note_job_times(line, app);
    take_time(
        line.started, workers, [](const model::pod& pod) { return pod.started_at; }, std::less<>());
    const auto running = std::ranges::count_if(
        workers, [](const pod_pointer& pod) { return pod->phase == "Running"; });
    const auto wanted = order.slot_ids.size();

    if (status_.state != state::submitted && status_.state != state::scheduled &&
        status_.state != state::running) {
        status_.state = state::submitted;
    }
    const bool all_bound = bound_pods.size() >= wanted;
    const bool runs = app.phase == phase::running && static_cast<std::size_t>(running) >= wanted;
    if (status_.state == state::submitted && (all_bound || runs)) {
        status_.state = state::scheduled;
        take_time(
            line.scheduled, bound_pods,
            [](const model::pod& pod) {
                return pod.scheduled_status == "True" ? pod.scheduled_time : std::nullopt;
            },
            std::greater<>());
        if (!line.scheduled) line.scheduled = stamp();
    }
    if (status_.state == state::scheduled && runs) {
        status_.state = state::running;
        open_event(status_, line);
    }
    if (status_.state != state::submitted) note_neighbours(line, bound_pods, seen_.neighbours);

    set(condition_type::submitted, "True", "ApplicationCreated",
        fmt::format("{} {}", seen_.kind->resource().kind, app.metadata.name));
    if (status_.state == state::running) {
        set(condition_type::running, "True", "Running", "");
    } else {
        set(condition_type::running, "False", "NotStarted", "");
    }
    if (finish_when_final(order, app) || end_when_overdue(order)) return;
    if (app.phase == phase::paused || app.phase == phase::unknown) {
        const auto text = fmt::format("{} {} is in state {}", seen_.kind->resource().kind,
                                      app.metadata.name, app.word);
        blame(app.phase == phase::paused ? "Suspended" : "UnknownApplicationState", text);
        set(condition_type::running, "Unknown", reason_, text);
        out_.unknown_state = app.phase == phase::unknown;
    }
    if (app.attempt == 0 && !app.message.empty()) {
        problem(
            fmt::format("{} {}: {}", seen_.kind->resource().kind, app.metadata.name, app.message));
    }
    watch_schedulers(order, bound_pods.size());
    watch_deadlines(order, app, placed_pods, bound_pods.size());
}

/// Pods that carry the marks of the run and are none of it: they get no slot, and are told.
void pass::tell_foreign_pods(const model::creation_request& order) {
    constexpr int most_told = 3;
    int count = 0;
    for (const auto& pod : seen_.pods) {
        const bool claims = pod->metadata.annotation(names::run) == order.run &&
                            seen_.kind->role_of(*pod, job_.metadata.name) == pod_role::slot;
        if (!claims || !pod->live() || is_member(pod, pod_role::slot)) continue;
        if (++count > most_told) break;
        problem(fmt::format("pod {} gets no slot: {}", pod->metadata.name,
                            seen_.kind->foreign(*pod, *app(), seen_.pods)));
    }
}

/// The first look at the application of a run.
void pass::begin(const model::creation_request& order, const application& app) {
    if (line_of(status_, order.run)) return;
    begin_line(
        status_, order,
        seen_.testbed && seen_.testbed->status.layout ? &*seen_.testbed->status.layout : nullptr,
        app.metadata.creation_timestamp);
    status_.placements.clear();
    status_.state = state::submitted;
    set(condition_type::succeeded, "False", "RunUnderWay", "");
    // The API server has accepted the real one: of this spec, unless it was edited since.
    const auto hash = hash_of(job_.spec);
    if (app.metadata.annotation(spec_hash) != hash) return;
    status_.spec_hash = hash;
    const auto* accepted = model::find_condition(status_.conditions, condition_type::accepted);
    if (!accepted || accepted->status != "True") {
        set(condition_type::accepted, "True", "Accepted", "the API server accepts the application");
    }
}

/// An application that its own operator starts again (restartPolicy OnFailure) gets a line for each
/// attempt, under one run token. True from the second attempt on.
bool pass::begin_attempt(const model::creation_request& order, const application& app) {
    auto& line = *line_of(status_, order.run);
    if (app.attempt < 2 || !app.attempt_since) return false;
    if (line.submitted && *app.attempt_since <= *line.submitted) return true;
    end(run_outcome::failed, reasons::attempt_failed,
        "this attempt failed; the application was started again", *app.attempt_since);
    begin_line(status_, order, nullptr, app.attempt_since).nodes =
        status_.runs.size() > 1 ? status_.runs[status_.runs.size() - 2].nodes
                                : std::vector<std::string>{};
    status_.state = state::submitted;
    set(condition_type::succeeded, "False", "RunUnderWay", "");
    return true;
}

/// From the application and the pods: what we saw, and when, comes last.
model::timestamp pass::end_of(std::string_view run, const application& app) const {
    const auto coordinator = newest(pods_of(run, pod_role::coordinator));
    const bool tells = coordinator && coordinator->finished_at;
    // Where pods stand on, the end of one is not the job's.
    if (tells && !seen_.kind->pods_stand()) return *coordinator->finished_at;
    if (app.ended) return *app.ended;
    return tells ? *coordinator->finished_at : stamp();
}

bool pass::finish_when_final(const model::creation_request& order, const application& app) {
    if (!app.final()) return false;
    const auto coordinator = newest(pods_of(order.run, pod_role::coordinator));
    if (coordinator && coordinator->live() && !coordinator->metadata.deleting() && app.ended &&
        !seen_.kind->pods_stand() && is_near(app.ended->value, last_pod_patience)) {
        // Until then it may go: by a short time to live, or by somebody's hand.
        auto& line = *line_of(status_, order.run);
        line.reason = app.phase == phase::succeeded ? reason_completed : reason_failed;
        line.message = model::cut(app.message);
        line.stopped = app.ended;
        look_again(app.ended->value + last_pod_patience - now_);
        return true;
    }
    finish(order.run, app);
    return true;
}

/// Ends the run with the result that its application tells, or has told before it went. False where
/// it never told one.
bool pass::finish_as_told(std::string_view run, const application* there) {
    const auto* line = line_of(status_, run);
    if (!line || line->outcome != run_outcome::running) return false;
    for (const auto* app : {there, seen_.told.get()}) {
        if (!app || app->run() != run || !app->final()) continue;
        finish(run, *app);
        return true;
    }
    if (line->reason != reason_completed && line->reason != reason_failed) return false;
    application last;
    last.phase = line->reason == reason_completed ? phase::succeeded : phase::failed;
    last.message = line->message;
    last.attempt = 1;
    last.ended = line->stopped;
    finish(run, last);
    return true;
}

void pass::finish(std::string_view run, const application& app) {
    const auto coordinator = newest(pods_of(run, pod_role::coordinator));
    const auto stopped = end_of(run, app);
    note_job_times(*line_of(status_, run), app);
    if (app.phase == phase::succeeded) {
        auto& line = *line_of(status_, run);
        // So short that no pod in a slot was seen to start: this is the closest there is.
        if (!line.started) line.started = app.started;
        if (!line.started && coordinator) line.started = coordinator->started_at;
        end(run_outcome::succeeded, reason_completed, "", stopped);
        status_.state = state::completed;
        return;
    }
    std::string message = app.message;
    if (message.empty() && coordinator && !coordinator->reason.empty()) {
        message = fmt::format("{} {}: {} {}", seen_.kind->coordinator(), coordinator->metadata.name,
                              coordinator->reason, coordinator->message);
    }
    if (message.empty()) message = "the application failed without a message";
    if (app.attempt == 0) {
        set(condition_type::submitted, "False", "SubmissionFailed", message);
        end(run_outcome::failed, "SubmissionFailed", std::move(message), stopped);
        status_.state = state::failed_submission;
    } else {
        end(run_outcome::failed, reason_failed, std::move(message), stopped);
        status_.state = state::failed;
    }
}

/// Whom no scheduler looks at, and what the scheduler says of those that it cannot place.
void pass::watch_schedulers(const model::creation_request& order, std::size_t bound) {
    const auto wanted = order.slot_ids.size();
    const auto workers = pods_of(order.run, pod_role::slot);
    const auto coordinators = pods_of(order.run, pod_role::coordinator);
    for (const auto& pod : coordinators) {
        if (!unschedulable(*pod)) continue;
        const auto text = fmt::format("{} {} cannot be scheduled: {}", seen_.kind->coordinator(),
                                      pod->metadata.name, pod->scheduled_message);
        blame(unschedulable_reason(seen_.kind->coordinator()), text);
        set(condition_type::running, "False", reason_, text);
    }
    if (bound >= wanted) {
        set(condition_type::placed, "True", "AllBound", "");
        return;
    }
    for (const auto* group : {&workers, &coordinators}) {
        for (const auto& pod : *group) {
            const auto since = unseen_since(*pod);
            if (!since) continue;
            if (now_ < *since + scheduler_patience) {
                look_again(*since + scheduler_patience - now_);
                continue;
            }
            const auto text =
                fmt::format("no scheduler has looked at pod {} for {} s: is there one named {}?",
                            pod->metadata.name, scheduler_patience.count(), pod->scheduler_name);
            blame(reasons::scheduler_absent, text);
            set(condition_type::placed, "False", reason_, text);
            return;
        }
    }
    for (const auto& pod : workers) {
        if (!unschedulable(*pod)) continue;
        auto text = fmt::format("pod {}: {}", show_pod(*pod), pod->scheduled_message);
        const auto since = let_in_and_rejected_since(*pod);
        if (since && now_ < since->value + binding_patience) {
            look_again(since->value + binding_patience - now_);
        } else if (since) {
            text = fmt::format("pod {} waits since {} for {} to bind it to {}: {}", show_pod(*pod),
                               since->whole_seconds(), pod->scheduler_name,
                               pod->metadata.annotation(names::slot_node), pod->scheduled_message);
            blame("WaitsForBinding", text);
            return set(condition_type::placed, "False", reason_, text);
        }
        problem(text);
        return set(condition_type::placed, "False", "Unschedulable", text);
    }
    const auto live = std::ranges::count_if(
        workers, [](const pod_pointer& pod) { return pod->live() && !pod->metadata.deleting(); });
    if (static_cast<std::size_t>(live) < wanted) {
        set(condition_type::placed, "False", "WaitingForPods",
            fmt::format("{} of {} pods exist", live, wanted));
    } else {
        set(condition_type::placed, "False", "WaitingForSlots",
            fmt::format("{} of {} pods are bound", bound, wanted));
    }
}

/// Ends a run that has lasted longer than the job's spec allows by now; its attempts count
/// together.
bool pass::end_when_overdue(const model::creation_request& order) {
    const auto& limit = job_.spec.active_deadline_seconds;
    if (!limit) return false;
    const auto line = std::ranges::find_if(status_.runs, [&](const model::run_record& each) {
        return each.run == order.run && each.started;
    });
    if (line == status_.runs.end()) return false;
    auto begun = line->started->value;
    // A kubelet's clock may be ahead: when we saw all of its pods run is late enough.
    const auto* runs = model::find_condition(status_.conditions, condition_type::running);
    if (runs && runs->status == "True" && runs->last_transition_time) {
        begun = std::min(begun, runs->last_transition_time->value);
    }
    // Or behind: nothing of it began before its application was made.
    if (line->submitted) begun = std::max(begun, line->submitted->value);
    const auto deadline = begun + seconds(*limit);
    if (now_ < deadline) {
        look_again(deadline - now_);
        return false;
    }
    fail(std::string(reasons::deadline_exceeded),
         fmt::format("it had not ended {} s after the start of its first {} "
                     "(spec.activeDeadlineSeconds)",
                     *limit, seen_.kind->worker()));
    return true;
}

/// Who has to do something while pods of the run do not exist, and since when; nothing where all
/// are still about their work.
std::optional<pass::absence> pass::absence_of_pods(const model::creation_request& order,
                                                   const application& app,
                                                   std::size_t placed) const {
    const auto submitted = line_of(status_, order.run)->submitted.value_or(stamp()).value;
    const auto coordinator = newest(pods_of(order.run, pod_role::coordinator));
    const auto& kind = *seen_.kind;
    const auto key = app.metadata.key();
    if (!coordinator && !app.taken_up()) {
        return absence{reasons::operator_silent,
                       fmt::format("{} {} has no status: does the {} operator run and watch "
                                   "namespace {}?",
                                   kind.resource().kind, key.text(), kind.type(), key.namespace_),
                       submitted};
    }
    if (!coordinator || coordinator->phase != "Running") return std::nullopt;
    auto since = coordinator->started_at ? coordinator->started_at->value : submitted;
    // A kubelet's clock may be far ahead.
    if (since < submitted || since > now_ + pods_patience) since = submitted;
    return absence{
        reasons::pods_missing,
        fmt::format("{} runs, {} of {} {}s exist: {}; is there PriorityClass {}?",
                    kind.coordinator(), placed, order.slot_ids.size(), kind.worker(),
                    kind.where_to_look(key, coordinator->metadata.name), kind.priority_class()),
        since};
}

void pass::watch_deadlines(const model::creation_request& order, const application& app,
                           std::size_t placed, std::size_t bound) {
    if (status_.state != state::submitted) return;
    const auto& line = *line_of(status_, order.run);
    const auto submitted = line.submitted.value_or(stamp()).value;
    const auto wanted = order.slot_ids.size();
    const auto submit_limit = grid::submit_timeout(order);
    const auto schedule_limit = grid::schedule_timeout(order);
    if (placed < wanted) {
        const auto deadline = submitted + submit_limit;
        const bool over = now_ >= deadline;
        if (const auto why = absence_of_pods(order, app, placed)) {
            const auto told = why->since + pods_patience;
            if (!over && now_ < told) {
                look_again(told - now_);
            } else if (reason_.empty()) {
                blame(why->reason, why->text);
            } else {
                // Somebody else is waited for, too.
                problem(why->text);
            }
        }
        if (!over) return look_again(deadline - now_);
        std::string message = fmt::format("{} of {} pods exist {} s after the submission", placed,
                                          wanted, submit_limit.count());
        for (const auto& text : problems_) message += "; " + text;
        return fail("SubmitTimeout", std::move(message));
    }
    // All exist since the newest was made; one that dies and comes again does not move the end for
    // ever.
    auto since = submitted;
    for (const auto& pod : pods_of(order.run, pod_role::slot)) {
        if (pod->live() && pod->metadata.creation_timestamp) {
            since = std::max(since, pod->metadata.creation_timestamp->value);
        }
    }
    const auto deadline = std::min(since, submitted + submit_limit) + schedule_limit;
    if (now_ < deadline) return look_again(deadline - now_);
    fail("ScheduleTimeout", fmt::format("{} of {} pods are bound {} s after all existed: {}", bound,
                                        wanted, schedule_limit.count(), unbound_words()));
}

void pass::fail(std::string reason, std::string message) {
    if (status_.runs.empty() || status_.runs.back().outcome != run_outcome::running) {
        // The application was made and is gone before a status could speak of it.
        begin_line(status_, *job_.spec.creation_request, nullptr, std::nullopt);
    }
    end(run_outcome::failed, reason, std::move(message), stamp());
    status_.state = state::failed;
}

void pass::end(std::string_view outcome, std::string_view reason, std::string message,
               model::timestamp stopped) {
    const auto& line = status_.runs.back();
    const bool released = outcome == run_outcome::released;
    if (released) {
        if (const auto coordinator = newest(pods_of(line.run, pod_role::coordinator));
            coordinator && coordinator->finished_at) {
            stopped = *coordinator->finished_at;
        }
    }
    const bool good = outcome == run_outcome::succeeded;
    if (outcome == run_outcome::failed) message += show_deaths(line);
    set(condition_type::succeeded, good ? "True" : "False", reason, message);
    set(condition_type::placed, "False", "Ended", "");
    set(condition_type::running, "False", "Ended", "");
    end_line(status_, {outcome, std::string(reason), std::move(message), stopped});
    // What was in the way is told by the ending from now on.
    problems_.clear();
    reason_.clear();
    reason_text_.clear();
    // A new attempt takes over the places of the old one as its pods go.
    if (line.reason != reasons::attempt_failed) drop_ended_placements();
}

/// "; 2 executors OOMKilled (exit code 137)", the most frequent first; empty where none has died.
std::string pass::show_deaths(const model::run_record& line) const {
    constexpr std::size_t most_told = 5;
    if (!seen_.kind) return {};
    std::map<std::string, int> counts;
    for (const auto& each : seen_.deaths) {
        const bool of_attempt = !line.submitted || !each.made || *each.made >= *line.submitted;
        if (each.run == line.run && of_attempt) ++counts[each.died_of];
    }
    std::vector<std::pair<int, std::string>> sorted;
    for (const auto& [died_of, count] : counts) sorted.emplace_back(-count, died_of);
    std::ranges::sort(sorted);
    if (sorted.size() > most_told) sorted.resize(most_told);
    std::string out;
    for (const auto& [minus, died_of] : sorted) {
        const int count = -minus;
        out += fmt::format("{} {} {}{} {}", out.empty() ? ";" : ",", count, seen_.kind->worker(),
                           count == 1 ? "" : "s", died_of);
    }
    return out;
}

/// A pod that nobody has looked at: since when it could have been. Nothing when that is not so.
std::optional<wall_time> pass::unseen_since(const model::pod& pod) const {
    if (pod.bound() || !pod.live() || pod.metadata.deleting() || !pod.scheduling_gates.empty()) {
        return std::nullopt;
    }
    // The API server writes SchedulingGated itself, when the pod is made.
    if (!pod.scheduled_status.empty() && pod.scheduled_reason != "SchedulingGated") {
        return std::nullopt;
    }
    const auto at = seen_.ungated_since.find(pod.metadata.uid);
    return at == seen_.ungated_since.end() ? now_ : at->second;
}

std::string pass::show_pod(const model::pod& pod) const {
    for (const auto& entry : status_.placements) {
        if (entry.pod_uid == pod.metadata.uid) {
            return fmt::format("{} (slot {})", pod.metadata.name, entry.slot);
        }
    }
    return pod.metadata.name;
}

std::string pass::unbound_words() const {
    std::string out;
    for (const auto& entry : status_.placements) {
        const auto at = std::ranges::find_if(
            seen_.pods, [&](const pod_pointer& pod) { return pod->metadata.uid == entry.pod_uid; });
        if (at != seen_.pods.end() && (*at)->bound()) continue;
        std::string words = "is gone";
        if (at != seen_.pods.end()) {
            const auto& pod = **at;
            words = !pod.scheduling_gates.empty()    ? "waits at its gate"
                    : !pod.scheduled_message.empty() ? pod.scheduled_message
                                                     : "no scheduler has looked at it";
        }
        out += fmt::format("{}pod {} for slot {}: {}", out.empty() ? "" : "; ", entry.pod_name,
                           entry.slot, words);
    }
    return out;
}

}  // namespace esi::batchjob

#include "scheduling/decide.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/names.h"
#include "scheduling/claim.h"
#include "scheduling/plan.h"
#include "scheduling/planner.h"
#include "scheduling/release.h"
#include "scheduling/report.h"
#include "scheduling/wait_graph.h"
#include "scheduling/words.h"

namespace esi::scheduling {

namespace {

using model::object_key;
using job_pointer = std::shared_ptr<const model::batchjob>;
namespace job_state = model::job_state;
namespace outcome = model::assignment_outcome;
namespace states = model::scheduling_state;
namespace why = release_reason;

/// Ended assignments of jobs that were taken out of the plan are dropped beyond this, oldest first.
constexpr std::size_t kept_assignments = 100;

/// Bound of status.waitingForSchedulings.
constexpr std::size_t most_waited_for = 64;

/// The reason of the condition Allowed where a version that did not ask took what is used.
constexpr std::string_view held_before = "HeldBefore";

class decider {
public:
    decider(const view& v, wall_time now)
        : v_(v), self_(*v.self), plan_(plan_of(*v.self)), now_(now), status_(v.self->status) {
        if (auto testbed = v.find_testbed(testbed_of(self_))) testbed_ = std::move(testbed);
        for (const auto& a : self_.status.assignments) assigned_.try_emplace(a.job.key(), &a);
    }

    decision run() {
        auto out = next();
        const bool written = std::holds_alternative<step::wait>(out.next) ||
                             std::holds_alternative<step::commit>(out.next);
        if (written && !self_.metadata.deleting()) conclude(out.status, self_, now_);
        if (std::holds_alternative<step::wait>(out.next)) out.again_in = again_in_;
        return out;
    }

private:
    decision next() {
        if (!self_.status.releasing.empty()) return release();
        if (self_.metadata.deleting()) return leave();
        if (is_over(self_.status)) {
            if (owns_anything(v_, plan_)) return release_again(why::left_over);
            return over();
        }
        return is_running(self_.status) ? drive() : acquire();
    }

    // --- the way in ---

    decision acquire() {
        if (auto stray = job_outside_plan()) return release_of(*stray);
        if (!self_.metadata.undecodable.empty()) {
            if (owns_anything(v_, plan_)) return release_again(why::rolled_back);
            return settle_wrong({reasons::undecodable, self_.metadata.undecodable_text()});
        }
        auto claim = claim_of(v_, self_, plan_);
        tell_refused(claim.obstacles);
        if (!claim.possible()) {
            if (claim.holds_something) return release_again(why::rolled_back);
            return claim.wrong ? settle_wrong(*claim.wrong) : settle_waiting(claim.obstacles);
        }
        if (!claim.holds_something) {
            if (auto first = first_claimant(v_, plan_)) {
                return settle_waiting({goes_first(*first, self_)});
            }
            // Who was rolled back before may see in a cache far behind as free what is not, again
            // and again.
            if (self_.status.epoch > 0 && !release_read()) return read_release();
        }
        if (!self_.metadata.has_finalizer(model::names::scheduling_finalizer)) {
            return {step::add_finalizer{}, status_};
        }
        const auto& meta = testbed_->metadata;
        if (!held_by(*testbed_, self_.metadata.uid)) {
            return {step::hold_testbed{meta.key(), meta.uid, meta.resource_version,
                                       self_.metadata.uid + "." + meta.resource_version},
                    status_};
        }
        std::set<object_key> sorted;
        for (const auto& job : plan_.jobs) {
            if (!plan_.cancelled.contains(job.name)) sorted.insert(job.name);
        }
        for (const auto& key : sorted) {
            auto job = v_.find_job(key);
            if (job && !names(*job, self_)) return acquire_of(*job);
        }
        return drive();
    }

    /// Settles as one that waits and holds nothing.
    decision settle_waiting(const std::vector<obstacle>& obstacles) {
        std::vector<std::string> texts;
        for (const auto& each : obstacles) texts.push_back(each.text);
        auto text = enumerate(texts, 10, "; ");
        status_.state = states::acquire;
        status_.waiting_for = text;
        status_.problems.clear();
        set_acquired(false, obstacles.front().reason, text, holders_of(obstacles));
        set("Progressing", false, "Waiting", text);
        set("Completed", false, "NotStarted", "");
        report_jobs(v_, plan_, {}, status_);
        return settle();
    }

    decision settle_wrong(const fault& wrong) {
        status_.state = states::error;
        status_.waiting_for.clear();
        status_.problems = {wrong.text};
        set_acquired(false, wrong.reason, wrong.text);
        set("Progressing", false, wrong.reason, wrong.text);
        set("Completed", false, "NotStarted", "");
        report_jobs(v_, plan_, {}, status_);
        return settle();
    }

    /// What is under way goes on to its end; a plan that cannot be read begins nothing else.
    decision settle_unread() {
        status_.observed_generation = self_.metadata.generation;
        set("Progressing", false, reasons::undecodable, self_.metadata.undecodable_text());
        status_.problems = {self_.metadata.undecodable_text()};
        return {step::wait{}, status_};
    }

    decision settle() {
        status_.observed_generation = self_.metadata.generation;
        status_.mode = to_string(plan_.mode);
        tell_spec();
        return {step::wait{}, status_};
    }

    /// Nothing is done for it any more. Who changes its spec is told so.
    decision over() {
        if (auto gone = time_to_live_over()) return *gone;
        if (status_.observed_generation == self_.metadata.generation) {
            return {step::wait{}, self_.status};
        }
        status_.observed_generation = self_.metadata.generation;
        set("SpecCurrent", false, "ChangeIgnored",
            "the spec was changed when the Scheduling was over, of which only "
            "ttlSecondsAfterFinished counts then; create another");
        // What they say is so for the changed spec, too: `kubectl wait` asks for that.
        for (auto& each : status_.conditions) {
            each.observed_generation = self_.metadata.generation;
        }
        return {step::wait{}, status_};
    }

    /// All its jobs have ended, and spec.ttlSecondsAfterFinished are over.
    std::optional<decision> time_to_live_over() {
        const auto& ttl = self_.spec.ttl_seconds_after_finished;
        if (!ttl || !self_.metadata.undecodable.empty()) return std::nullopt;
        if (v_.fresh && v_.fresh->deletion_refused) return std::nullopt;
        auto ended = self_.status.ended;
        if (!ended) {
            // Of a version that did not note it.
            const auto* completed =
                model::find_condition(self_.status.conditions, model::condition_type::completed);
            if (completed != nullptr && completed->status == "True") {
                ended = completed->last_transition_time;
            }
        }
        if (!ended || !is_over_at(ended->value + seconds(*ttl))) return std::nullopt;
        return decision{step::delete_self{}, self_.status};
    }

    /// Looks again when that time has come.
    bool is_over_at(wall_time when) {
        if (now_ >= when) return true;
        // A status that somebody wrote may name any time; who looks too early looks again.
        const auto left = std::min(std::chrono::ceil<milliseconds>(when - now_),
                                   milliseconds(std::chrono::hours(24)));
        if (!again_in_ || *again_in_ > left) again_in_ = left;
        return false;
    }

    /// Whether it may use what it names, of one that holds nothing yet.
    void tell_refused(const std::vector<obstacle>& obstacles) {
        std::vector<std::string> texts;
        for (const auto& each : obstacles) {
            if (each.reason == reasons::not_allowed) texts.push_back(each.text);
        }
        if (texts.empty()) {
            set("Allowed", true, "Allowed", "");
        } else {
            set("Allowed", false, reasons::not_allowed, enumerate(texts, 10, "; "));
        }
    }

    void tell_spec() {
        if (!self_.metadata.undecodable.empty()) {
            set("SpecCurrent", false, reasons::undecodable, self_.metadata.undecodable_text());
        } else if (plan_.ignored.empty()) {
            set("SpecCurrent", true, "AsSpecified", "");
        } else {
            set("SpecCurrent", false, "ChangeIgnored", enumerate(plan_.ignored, 10, "; "));
        }
    }

    // --- holding everything ---

    decision drive() {
        if (!hold_stands()) {
            if (!v_.fresh || !v_.fresh->testbed_read) {
                return {step::read_testbed{testbed_of(self_)}, status_};
            }
            return begin_release(why::hold_lost);
        }
        if (auto read = give_up_retries()) return *read;
        // With the next write, whatever it is: there may be no rest before the release.
        tell_spec();
        look_at_offer();
        const auto& layout = testbed_->status.layout;
        slots_ = layout ? grid::count_of_slots(*layout) : 0;
        std::set<object_key> gone;
        for (const auto& job : plan_.jobs) {
            const auto found = v_.find_job(job.name);
            const auto* a = assignment_of(job.name);
            if ((a != nullptr && !plan_.retries(*a)) ||
                (found && started_and_dropped(*found, self_)) ||
                plan_.cancelled.contains(job.name)) {
                gone.insert(job.name);
            }
        }
        const auto unfit = misfits(plan_, slots_, gone);
        for (const auto& job : plan_.jobs) {
            auto found = unfit.find(job.name);
            if (found == unfit.end() || gone.contains(job.name)) continue;
            skipped_.insert(job.name);
            skip_texts_.push_back(found->second.text);
        }
        skip_unwanted();
        if (auto job = job_to_end()) return release_of(*job);
        if (auto ended = end_assignments()) return *ended;
        if (!self_.metadata.undecodable.empty()) return settle_unread();
        if (auto ending = begin_endings()) return *ending;
        if (auto stray = job_outside_plan()) return release_of(*stray);
        if (auto requesting = request_next()) return *requesting;
        sort_jobs();
        if (to_reset_) return *to_reset_;
        if (addition_) return acquire_of(*addition_);
        auto next = plan_next(plan_, startable_, started_, free_slots());
        if (!next.starts.empty()) return assign(next.starts);
        return settle_running(next.waits);
    }

    /// Whether it may still use what it holds. Status tells whether that was ever asked: what was
    /// held and acquired by a version that did not ask goes on to its end.
    void look_at_offer() {
        std::vector<std::string> texts;
        std::vector<std::string> foreign;
        for (const auto& job : plan_.jobs) {
            if (v_.may_start(self_.metadata.namespace_, job.name)) continue;
            auto found = v_.find_job(job.name);
            if (found && names(*found, self_)) foreign.push_back(job_text(job.name));
        }
        if (!foreign.empty()) {
            texts.push_back(
                "acquired before this was asked, BatchJobs of other namespaces go on "
                "to their end: " +
                enumerate(foreign));
        }
        if (auto refused = testbed_not_allowed(v_, self_)) {
            const auto* told = model::find_condition(self_.status.conditions, "Allowed");
            if (told != nullptr && told->reason != held_before) {
                withdrawn_ =
                    obstacle{reasons::not_allowed,
                             fmt::format("{} is no longer offered to namespace {}: what "
                                         "runs goes on, nothing else starts until its "
                                         "spec.allowedNamespaces names {} again",
                                         testbed_text(testbed_of(self_)), self_.metadata.namespace_,
                                         self_.metadata.namespace_),
                             {}};
                set("Allowed", false, reasons::not_allowed, withdrawn_->text);
                return;
            }
            texts.push_back(
                fmt::format("{} is not offered to namespace {} "
                            "(spec.allowedNamespaces): it was held before that was "
                            "asked, and this Scheduling goes on to its end",
                            testbed_text(testbed_of(self_)), self_.metadata.namespace_));
        }
        if (texts.empty()) {
            set("Allowed", true, "Allowed", "");
        } else {
            set("Allowed", true, held_before, enumerate(texts, 10, "; "));
        }
    }

    /// The Testbed shows our hold, the one that the assignments were made under.
    bool hold_stands() const {
        if (!testbed_ || !held_by(*testbed_, self_.metadata.uid)) return false;
        return std::ranges::all_of(self_.status.assignments, [&](const auto& a) {
            return grid::is_under_hold(a.run, *testbed_);
        });
    }

    const model::assignment* assignment_of(const object_key& job) const {
        auto found = assigned_.find(job);
        return found == assigned_.end() ? nullptr : found->second;
    }

    /// A job that has gone is not tried again. A cache may be behind, so that is read live.
    std::optional<decision> give_up_retries() {
        for (const auto& a : self_.status.assignments) {
            if (!plan_.retries(a)) continue;
            const auto key = a.job.key();
            const auto job = v_.find_job(key);
            if (job && job->metadata.uid == a.job.uid) continue;
            const bool read = v_.fresh && v_.fresh->jobs_read.contains(key);
            if (!read) return decision{step::read_job{key}, self_.status};
            plan_.given_up.insert(key);
        }
        return std::nullopt;
    }

    bool suspended_now() const { return self_.spec.suspend.value_or(false); }

    bool deadline_is_over() {
        const auto& limit = self_.spec.active_deadline_seconds;
        const auto started = first_start();
        return limit && started && is_over_at(started->value + seconds(*limit));
    }

    /// A version that did not note it has kept the times of the assignments.
    std::optional<model::timestamp> first_start() const {
        auto out = status_.started;
        if (out) return out;
        for (const auto& a : self_.status.assignments) {
            if (a.since && (!out || *a.since < *out)) out = a.since;
        }
        return out;
    }

    /// Jobs that were not started and shall not be: cancelled ones, and all when the plan's time is
    /// over.
    void skip_unwanted() {
        late_ = deadline_is_over();
        for (const auto& job : plan_.jobs) {
            const auto* a = assignment_of(job.name);
            const bool waits = a == nullptr || plan_.retries(*a);
            if (!waits || skipped_.contains(job.name)) continue;
            const auto found = v_.find_job(job.name);
            if (a == nullptr && found && started_and_dropped(*found, self_)) continue;
            if (plan_.cancelled.contains(job.name)) {
                skip_texts_.push_back(job_text(job.name) + " was cancelled (spec.cancelledJobs)");
            } else if (late_) {
                cut_short_ = true;
                skip_texts_.push_back(
                    fmt::format("{} was not started{}: the plan's activeDeadlineSeconds ({}) were "
                                "over",
                                job_text(job.name), a == nullptr ? "" : " again",
                                *self_.spec.active_deadline_seconds));
            } else {
                continue;
            }
            skipped_.insert(job.name);
        }
    }

    /// Why the run of an assignment is to be ended now; empty when it may go on.
    std::string_view why_end(const model::assignment& a) const {
        if (plan_.cancelled.contains(a.job.key())) return outcome::cancelled;
        if (late_) return outcome::deadline_exceeded;
        if (suspended_now() &&
            self_.spec.suspend_policy == model::scheduling_suspend_policy::release) {
            return outcome::suspended;
        }
        return {};
    }

    /// Writes down which runs are ended. From then on their jobs are taken back, whatever becomes
    /// of the spec.
    std::optional<decision> begin_endings() {
        step::commit note{"Ending", "", {}, false};
        for (auto& a : status_.assignments) {
            if (a.ended || !a.ending.empty()) continue;
            const auto why = why_end(a);
            if (why.empty()) continue;
            a.ending = why;
            note.jobs.push_back(note_of(a, fmt::format("ends run {}: {}", a.run, why), false));
        }
        if (note.jobs.empty()) return std::nullopt;
        return decision{std::move(note), status_};
    }

    step::job_note note_of(const model::assignment& a, std::string text, bool bad) const {
        return {a.job.key(), a.job.uid, a.run, std::move(text), bad, {}};
    }

    /// A job whose run is being ended and that still names us. One that has ended by itself stays:
    /// its result counts.
    job_pointer job_to_end() const {
        for (const auto& a : self_.status.assignments) {
            if (a.ended || a.ending.empty()) continue;
            auto job = v_.find_job(a.job.key());
            if (!job || job->metadata.uid != a.job.uid || !names(*job, self_)) continue;
            if (model::is_final(job->status.state)) continue;
            if (refusal_of(a.job.key()) == nullptr) return job;
        }
        return nullptr;
    }

    /// What keeps the end of a run whose job was taken back from being known; empty: nothing.
    static std::string still_ending(const model::batchjob& job, const model::assignment& a) {
        const auto key = job.metadata.key();
        const auto& application = job.status.application;
        if (application && application->run == a.run) {
            return "the end of " + application->kind + " " +
                   object_key{key.namespace_, application->name}.text();
        }
        if (!job.spec.active_scheduling &&
            job.status.observed_generation != job.metadata.generation) {
            return job_text(key) + " to look at its release";
        }
        return {};
    }

    static const model::run_record* line_of(const model::batchjob& job, std::string_view run) {
        const auto found = std::ranges::find(job.status.runs, run, &model::run_record::run);
        return found == job.status.runs.end() ? nullptr : &*found;
    }

    /// How the run ended by itself, as the job has recorded it; empty where it did not.
    static std::string_view result_of(const model::batchjob& job, std::string_view run) {
        const auto* line = line_of(job, run);
        if (line == nullptr) return {};
        if (line->outcome == model::run_outcome::succeeded) return outcome::succeeded;
        if (line->outcome == model::run_outcome::failed) return outcome::failed;
        return {};
    }

    /// The outcome of an assignment whose run is over; empty while it runs.
    std::string_view outcome_of(const model::assignment& a, bool& needs_read) {
        auto job = v_.find_job(a.job.key());
        const bool read = v_.fresh && v_.fresh->jobs_read.contains(a.job.key());
        if (!job || job->metadata.uid != a.job.uid) {
            needs_read = !read;
            return outcome::deleted;
        }
        if (!names(*job, self_)) {
            if (!a.ending.empty()) {
                if (auto wait = still_ending(*job, a); !wait.empty()) {
                    leftovers_.push_back(std::move(wait));
                    return {};
                }
            }
            needs_read = !read;
            if (a.ending.empty()) return outcome::released_by_hand;
            const auto result = result_of(*job, a.run);
            return result.empty() ? std::string_view(a.ending) : result;
        }
        // A job that is final without our request has failed before it could see it.
        const auto& state = job->status.state;
        if (state == job_state::completed) return outcome::succeeded;
        if (model::is_final(state)) return outcome::failed;
        // Reset between two looks: the record of the run still tells.
        if (state == job_state::ready || state == job_state::in_queue) {
            const auto result = result_of(*job, a.run);
            if (!result.empty()) return result;
            const auto* line = line_of(*job, a.run);
            if (line != nullptr && line->outcome == model::run_outcome::released) {
                return outcome::failed;
            }
        }
        return {};
    }

    std::optional<decision> end_assignments() {
        std::set<std::string_view> runs_with_pods;
        const auto cached = v_.job_pods();
        for (const auto& pod : cached) runs_with_pods.insert(pod->run());
        step::commit note{"JobEnded", "", {}, false};
        const bool live = v_.fresh && v_.fresh->pods_read;
        std::vector<grid::pod_pointer> read;
        // A cache far behind shows no pod yet of a run that has ended meanwhile.
        if (live) read = v_.on_record(*v_.fresh->pods_read);
        for (const auto& pod : read) runs_with_pods.insert(pod->run());
        for (auto& a : status_.assignments) {
            if (a.ended) continue;
            bool needs_read = false;
            auto how = outcome_of(a, needs_read);
            if (how.empty()) continue;
            if (runs_with_pods.contains(a.run)) {
                leftovers_.push_back("the end of the pods of " + job_text(a.job.key()));
                continue;
            }
            if (needs_read) return decision{step::read_job{a.job.key()}, self_.status};
            if (!live) return decision{step::read_pods{testbed_of(self_)}, self_.status};
            a.ended = model::timestamp{now_};
            a.outcome = how;
            const bool bad = how != outcome::succeeded && how != outcome::suspended;
            note.jobs.push_back(note_of(a, end_text(a), bad));
            note.jobs.back().outcome = how;
        }
        if (note.jobs.empty()) return std::nullopt;
        // It starts anew when the plan goes on.
        std::erase_if(status_.assignments, [&](const auto& a) {
            return a.ended && a.outcome == outcome::suspended && plan_.find(a.job.key()) != nullptr;
        });
        drop_old_assignments();
        status_.problems = skip_texts_;
        report_jobs(v_, plan_, skipped_, status_);
        return decision{std::move(note), status_};
    }

    /// "run u.1.2 ended: Failed: the driver was OOMKilled".
    std::string end_text(const model::assignment& a) const {
        auto text = fmt::format("run {} ended: {}", a.run, a.outcome);
        const auto job = v_.find_job(a.job.key());
        if (a.outcome == outcome::failed && job && !job->status.problems.empty()) {
            text += ": " + job->status.problems.front();
        }
        if (plan_.retries(a)) {
            text += fmt::format("; attempt {} of {} follows", a.attempt.value_or(0) + 2,
                                plan_.policies.at(a.job.key()).backoff_limit + 1);
        }
        return text;
    }

    /// Nothing else remembers for sure that a job of the plan has been run: its BatchJob may be
    /// deleted, released by hand or reset. So those stay: 1,024 of them, a few hundred bytes each.
    void drop_old_assignments() {
        std::vector<const model::assignment*> ended;
        for (const auto& a : status_.assignments) {
            if (a.ended && plan_.find(a.job.key()) == nullptr) ended.push_back(&a);
        }
        if (ended.size() <= kept_assignments) return;
        std::ranges::sort(ended, {}, [](const auto* a) { return std::pair(*a->ended, a); });
        std::set<std::string> dropped;
        ended.resize(ended.size() - kept_assignments);
        for (const auto* a : ended) dropped.insert(a->run);
        std::erase_if(status_.assignments, [&](const auto& a) { return dropped.contains(a.run); });
    }

    /// A job that names us without being wanted: taken out of the queue before it started, or
    /// acquired by an attempt that is no longer ours.
    job_pointer job_outside_plan() const {
        for (const auto& job : v_.jobs_of_self()) {
            auto key = job->metadata.key();
            if (assignment_of(key) || started_and_dropped(*job, self_)) continue;
            if (refusal_of(key) != nullptr) continue;
            if (plan_.find(key) == nullptr || skipped_.contains(key)) return job;
        }
        return nullptr;
    }

    std::optional<decision> request_next() {
        for (const auto& a : self_.status.assignments) {
            if (a.ended || !a.ending.empty()) continue;
            auto job = v_.find_job(a.job.key());
            if (!job || job->metadata.uid != a.job.uid || !names(*job, self_)) continue;
            if (model::is_final(job->status.state)) continue;
            model::creation_request request;
            request.testbed_name = testbed_of(self_);
            request.slot_ids = a.slot_ids;
            request.replication = static_cast<int>(a.slot_ids.size());
            request.run = a.run;
            request.submit_timeout_seconds = plan_.submit_timeout_seconds;
            request.schedule_timeout_seconds = plan_.schedule_timeout_seconds;
            // Also one whose slots were changed by hand: it speaks for the assignment.
            const auto& now = job->spec.creation_request;
            if (now && now->run == request.run && now->slot_ids == request.slot_ids &&
                now->testbed_name == request.testbed_name) {
                continue;
            }
            if (const auto* refusal = refusal_of(a.job.key())) {
                leftovers_.push_back(
                    fmt::format("the start of {}, which the API server refuses ({}; see the "
                                "operator's log)",
                                job_text(a.job.key()), *refusal));
                continue;
            }
            const auto& meta = job->metadata;
            return decision{step::request_creation{meta.key(), meta.uid, meta.resource_version,
                                                   std::move(request)},
                            self_.status};
        }
        return std::nullopt;
    }

    const std::string* refusal_of(const object_key& job) const {
        if (!v_.fresh) return nullptr;
        const auto& refused = v_.fresh->refused;
        if (auto found = refused.find(job); found != refused.end()) return &found->second;
        static const std::string others = "not asked again after as many refusals";
        return refused.size() >= most_refused ? &others : nullptr;
    }

    /// Sorts the jobs of the plan into started, startable, to be acquired, and waited for.
    void sort_jobs() {
        for (const auto& a : self_.status.assignments) {
            if (!plan_.retries(a) || skipped_.contains(a.job.key())) started_.insert(a.job.key());
        }
        std::set<object_key> free;
        for (const auto& planned : plan_.jobs) {
            const auto& key = planned.name;
            if (started_.contains(key)) continue;
            if (skipped_.contains(key)) {
                started_.insert(key);
                continue;
            }
            auto job = v_.find_job(key);
            const auto* failed = assignment_of(key);
            if (failed != nullptr) {
                if (auto wait = before_retry(*failed, job.get())) {
                    obstacles_.push_back(std::move(*wait));
                    continue;
                }
            } else if (job && started_and_dropped(*job, self_)) {
                started_.insert(key);
                continue;
            }
            if (auto found = obstacle_of(v_, self_, key)) {
                obstacles_.push_back(std::move(*found));
            } else if (names(*job, self_)) {
                startable_.insert(key);
            } else if (const auto* refusal = refusal_of(key)) {
                obstacles_.push_back(
                    {"JobRefused",
                     fmt::format("{} is free, but the API server refuses to have it acquired ({}; "
                                 "see the operator's log)",
                                 job_text(key), *refusal),
                     {}});
            } else {
                free.insert(key);
            }
        }
        if (const auto stop = nothing_new()) {
            // Neither acquired nor started nor reset.
            if (!free.empty() || !startable_.empty() || to_reset_) {
                obstacles_.insert(obstacles_.begin(), *stop);
            }
            startable_.clear();
            to_reset_.reset();
        } else if (!free.empty()) {
            addition_ = v_.find_job(*free.begin());
        }
    }

    /// Why nothing else is begun for now, though what runs goes on.
    std::optional<obstacle> nothing_new() const {
        if (withdrawn_) return withdrawn_;
        if (suspended_now()) return suspended();
        return std::nullopt;
    }

    /// What has to come before the next attempt of a job whose run has failed; nothing once it
    /// waits for slots like any other.
    std::optional<obstacle> before_retry(const model::assignment& failed,
                                         const model::batchjob* job) {
        // One that nobody has was taken back when it failed.
        if (job == nullptr || !(names(*job, self_) || !job->spec.active_scheduling)) {
            return std::nullopt;
        }
        const auto when = failed.ended->value + plan_.retry_delay(failed);
        const auto key = failed.job.key();
        if (!is_over_at(when)) {
            return obstacle{"RetryDelayed",
                            fmt::format("{} failed and is started again at {}", job_text(key),
                                        model::timestamp{when}.whole_seconds()),
                            {}};
        }
        const auto resetting =
            obstacle{"Resetting", job_text(key) + " is being reset for its next attempt", {}};
        const auto last = job->metadata.annotation(model::names::reset);
        const bool asked = !last.empty() && last != job->status.observed_reset;
        if (model::is_final(job->status.state) && (!asked || job->spec.creation_request)) {
            if (const auto* refusal = refusal_of(key)) {
                return obstacle{"JobRefused",
                                fmt::format("{} is to be reset, which the API server refuses ({}; "
                                            "see the operator's log)",
                                            job_text(key), *refusal),
                                {}};
            }
            const auto& meta = job->metadata;
            if (!to_reset_) {
                // Somebody may have written the run there before it failed.
                const auto token = last == failed.run ? failed.run + "/retry" : failed.run;
                to_reset_ =
                    decision{step::reset_job{key, meta.uid, meta.resource_version, token}, status_};
            }
            return resetting;
        }
        if (job->status.state == job_state::in_queue || job->status.state == job_state::ready) {
            return std::nullopt;
        }
        return resetting;
    }

    std::set<int> free_slots() const {
        std::set<int> out;
        if (!testbed_->status.layout) return out;
        const auto broken = slots_in_error(*testbed_);
        for (const auto& slot : grid::look(*testbed_->status.layout, v_.members())) {
            if (broken.contains(slot.place.position)) continue;
            if (slot.free()) out.insert(slot.place.position);
        }
        for (const auto& a : self_.status.assignments) {
            if (a.ended) continue;
            for (int id : a.slot_ids) out.erase(id);
        }
        return out;
    }

    decision assign(const std::vector<start>& starts) {
        if (!v_.fresh || !v_.fresh->testbed_read) {
            return {step::read_testbed{testbed_of(self_)}, status_};
        }
        step::commit note{"Assigned", "", {}, false};
        for (const auto& each : starts) {
            auto job = v_.find_job(each.job);
            auto k = ++status_.last_run;
            model::assignment a;
            a.job = {each.job.namespace_, each.job.name, job->metadata.uid};
            a.slot_ids = each.slot_ids;
            a.run = fmt::format("{}.{}", testbed_->hold(), k);
            a.since = model::timestamp{now_};
            if (const auto* failed = assignment_of(each.job)) {
                a.attempt = failed->attempt.value_or(0) + 1;
                std::erase_if(status_.assignments,
                              [&](const auto& old) { return old.job.key() == each.job; });
            }
            note.jobs.push_back(note_of(a,
                                        fmt::format("{} of {}, run {}", slots_text(each.slot_ids),
                                                    testbed_text(testbed_of(self_)), a.run),
                                        false));
            status_.assignments.push_back(std::move(a));
        }
        if (!status_.plan) status_.plan = frozen_spec(self_);
        if (!status_.started) status_.started = first_start().value_or(model::timestamp{now_});
        status_.ended.reset();
        status_.state = states::submission;
        status_.mode = to_string(plan_.mode);
        status_.observed_generation = self_.metadata.generation;
        status_.waiting_for.clear();
        status_.problems = skip_texts_;
        report_jobs(v_, plan_, skipped_, status_);
        set_acquired(true, "Acquired", "");
        set("Progressing", true, "Starting", "");
        set("Completed", false, "Running", "");
        return {std::move(note), status_};
    }

    decision settle_running(const std::vector<hindrance>& hindrances) {
        status_.problems = skip_texts_;
        report_jobs(v_, plan_, skipped_, status_);
        const auto& counts = *status_.progress;
        const bool all_ended = counts.done + counts.failed == counts.total;
        const bool all_started = startable_.empty() && obstacles_.empty();

        auto waits = leftovers_;
        for (const auto& each : obstacles_) waits.push_back(each.text);
        for (const auto& each : hindrances) {
            // Why it is not is told as an obstacle.
            if (each.why != hindrance::kind::not_ready) waits.push_back(text_of(each));
        }
        if (waits.empty() && !all_ended) {
            for (const auto& a : status_.assignments) {
                if (a.ended) continue;
                const auto job = v_.find_job(a.job.key());
                const bool says = job && !job->status.reason.empty();
                waits.push_back("the end of " + job_text(a.job.key()) +
                                (says ? fmt::format(" ({})", job->status.reason) : ""));
            }
        }
        status_.waiting_for = enumerate(waits, 10, "; ");
        tell_acquired();
        if (all_ended) {
            status_.state = states::completed;
            status_.waiting_for.clear();
            if (!status_.ended) status_.ended = model::timestamp{now_};
            auto text = scheduling::text_of(counts);
            set("Completed", true, how_completed(counts), text);
            if (plan_.release_on_completion) return begin_release(why::completed);
            set("Progressing", false, "Completed", text);
            if (auto gone = time_to_live_over()) return *gone;
        } else {
            status_.ended.reset();
            status_.state = all_started ? states::awaiting_completion : states::confirmation;
            set("Progressing", true, all_started ? "AwaitingCompletion" : "WaitingToStart",
                status_.waiting_for);
            set("Completed", false, "Running", scheduling::text_of(counts));
        }
        return settle();
    }

    std::string_view how_completed(const model::progress_counts& counts) const {
        if (counts.failed == 0) return "AllSucceeded";
        const bool late = cut_short_ || std::ranges::any_of(status_.assignments, [](const auto& a) {
                              return a.outcome == outcome::deadline_exceeded;
                          });
        return late ? reasons::deadline_exceeded : "SomeFailed";
    }

    std::string text_of(const hindrance& what) const {
        auto job = job_text(what.job);
        switch (what.why) {
            case hindrance::kind::too_few_free:
                return job + " waits for more free slots: " +
                       (busy_text().empty() ? "all are taken" : busy_text());
            case hindrance::kind::slots_taken:
                return job + " waits for " + slots_text(what.slots) + detail_of(what.slots);
            case hindrance::kind::job_before:
                return job + " starts after " + job_text(what.before);
            case hindrance::kind::not_ready:
                return job + " is not acquired";
        }
        return job;
    }

    /// Why slots are not free: who has them, that they are in ERROR, or that their ghost does not
    /// stand.
    std::string detail_of(const std::vector<int>& slots) const {
        std::map<int, std::string> owners;
        for (const auto& a : self_.status.assignments) {
            if (a.ended) continue;
            for (int id : a.slot_ids) owners[id] = job_text(a.job.key());
        }
        std::vector<std::string> texts;
        const auto broken = slots_in_error(*testbed_);
        auto rows = grid::look(*testbed_->status.layout, v_.members());
        for (int id : slots) {
            if (auto owner = owners.find(id); owner != owners.end()) {
                texts.push_back(fmt::format("{}: {}", id, owner->second));
            } else if (id >= 0 && id < static_cast<int>(rows.size())) {
                const auto& row = rows[static_cast<std::size_t>(id)];
                texts.push_back(
                    fmt::format("{}: on node {}, {}", id, row.place.node,
                                broken.contains(id)    ? "in ERROR: " + problem_of(row.place.node)
                                : row.job_pods.empty() ? "its ghost does not stand"
                                                       : pod_in(row) + " is still in it"));
            }
        }
        return texts.empty() ? "" : " (" + enumerate(texts, 5) + ")";
    }

    /// One of another namespace may be of whoever held the Testbed before.
    std::string pod_in(const grid::slot_view& row) const {
        const auto& pod = row.job_pods.front()->metadata;
        if (pod.namespace_ != self_.metadata.namespace_) return std::string(grid::foreign_pod);
        return "Pod " + pod.name;
    }

    std::string problem_of(const std::string& node) const {
        // It may name pods of the Testbed's namespace.
        if (testbed_->metadata.namespace_ != self_.metadata.namespace_) {
            return "its nodeProblems say why";
        }
        const auto& problems = testbed_->status.node_problems;
        auto found = problems.find(node);
        if (found == problems.end() || found->second.empty()) return "the Testbed does not say why";
        return found->second.front();
    }

    std::string busy_text() const {
        std::vector<std::string> texts;
        auto broken = slots_in_error(*testbed_);
        for (const auto& a : self_.status.assignments) {
            if (a.ended) continue;
            texts.push_back(job_text(a.job.key()) + " has " + slots_text(a.slot_ids));
            for (int id : a.slot_ids) broken.erase(id);
        }
        auto out = fmt::format("{} of {} are free{}", free_slots().size(), slots_,
                               texts.empty() ? "" : ", " + enumerate(texts, 5));
        if (broken.empty()) return out;
        return out + ", in ERROR " + (broken.size() == 1 ? "is " : "are ") +
               slots_text({broken.begin(), broken.end()}) + " (nodeProblems of " +
               testbed_text(testbed_of(self_)) + ")";
    }

    void tell_acquired() {
        if (obstacles_.empty()) {
            set_acquired(true, "Acquired", "");
            return;
        }
        if (const auto cycle = wait_cycle(); !cycle.empty()) {
            const auto text = text_of(cycle);
            status_.problems.push_back(text);
            status_.waiting_for = text;
            set_acquired(false, reasons::wait_cycle, text, cycle);
            return;
        }
        std::vector<std::string> texts;
        for (const auto& each : obstacles_) texts.push_back(each.text);
        set_acquired(false, obstacles_.front().reason, enumerate(texts, 10, "; "),
                     holders_of(obstacles_));
    }

    /// The cycle of waits that this Scheduling is in, from its smallest member on, so that all in
    /// it say the same; empty: it is in none.
    std::vector<object_key> wait_cycle() const {
        auto waits_for = [this](const object_key& key) {
            std::vector<object_key> out;
            auto who = v_.find_scheduling(key);
            if (!who || !is_running(who->status) || !who->status.releasing.empty()) return out;
            std::set<object_key> started;
            for (const auto& a : who->status.assignments) started.insert(a.job.key());
            const auto wants = plan_of(*who);
            for (const auto& wanted : wants.jobs) {
                if (started.contains(wanted.name) || wants.cancelled.contains(wanted.name)) {
                    continue;
                }
                // Nothing ends that wait.
                if (!v_.may_start(key.namespace_, wanted.name)) continue;
                auto job = v_.find_job(wanted.name);
                if (!job || !job->spec.active_scheduling || names(*job, *who)) continue;
                auto holder = v_.find_scheduling(job->spec.active_scheduling->key());
                if (holder && names(*job, *holder)) out.push_back(holder->metadata.key());
            }
            return out;
        };
        auto cycle = cycle_through(self_.metadata.key(), waits_for);
        if (!cycle.empty()) std::ranges::rotate(cycle, std::ranges::min_element(cycle));
        return cycle;
    }

    static std::string text_of(const std::vector<object_key>& cycle) {
        std::vector<std::string> links;
        for (std::size_t i = 0; i < cycle.size(); ++i) {
            links.push_back(scheduling_text(cycle[i]) + " waits for a job of " +
                            scheduling_text(cycle[(i + 1) % cycle.size()]));
        }
        return enumerate(links, 10) + "; take entries out of one of them, or delete one";
    }

    // --- the way back ---

    decision leave() {
        const bool bound = self_.metadata.has_finalizer(model::names::scheduling_finalizer);
        const bool owns = owns_anything(v_, plan_);
        const auto* progressing = model::find_condition(self_.status.conditions, "Progressing");
        const bool released = progressing != nullptr && progressing->reason == why::deleted;
        if (owns) return released ? release_again(why::deleted) : begin_release(why::deleted);
        if (!bound) return {step::wait{}, self_.status};
        // Nothing is acquired any more, so one complete release is enough.
        if (released) return {step::remove_finalizer{}, status_};
        return begin_release(why::deleted);
    }

    /// A release that may have been before: a cache far behind shows what was let go in it as held,
    /// and would begin it again and again.
    decision release_again(std::string_view reason) {
        if (!release_read()) return read_release();
        return begin_release(reason);
    }

    bool release_read() const { return v_.fresh && v_.fresh->release_read; }
    decision read_release() const {
        return {step::read_release{jobs_of_release(v_, plan_), testbed_of(self_)}, status_};
    }

    decision begin_release(std::string_view reason) {
        ++status_.epoch;
        status_.releasing = reason;
        // A change that comes when it is over is told as such when all is let go.
        if (!is_over(self_.status)) {
            status_.observed_generation = self_.metadata.generation;
            tell_spec();
        }
        set("Progressing", true, "Releasing", fmt::format("release, reason {}", reason));
        return {step::commit{"Releasing",
                             fmt::format("begins its release, reason {}", reason),
                             {},
                             reason == why::hold_lost},
                status_};
    }

    decision release() {
        if (auto job = job_to_release(v_, plan_)) return release_of(*job);
        if (auto waits = release_waits(v_, plan_); !waits.empty()) {
            status_.waiting_for = enumerate(waits);
            set("Progressing", true, "Releasing", "waits for " + status_.waiting_for);
            return {step::wait{}, status_};
        }
        if (!release_read()) return read_release();
        if (!self_.status.assignments.empty()) {
            status_.assignments.clear();
            status_.waiting_for.clear();
            if (self_.status.releasing != why::completed) status_.started.reset();
            return {step::commit{
                        "AssignmentsCleared", "no pod carries a run of it any more", {}, false},
                    status_};
        }
        if (testbed_ && held_by(*testbed_, self_.metadata.uid)) {
            const auto& meta = testbed_->metadata;
            return {step::remove_hold{meta.key(), meta.uid, meta.resource_version}, status_};
        }
        return end_release();
    }

    decision end_release() {
        const std::string reason = self_.status.releasing;
        status_.releasing.clear();
        status_.waiting_for.clear();
        auto text = "released, reason " + reason;
        if (reason == why::hold_lost) {
            auto lost =
                testbed_text(testbed_of(self_)) +
                " no longer shows the hold of this Scheduling; delete it and create another";
            status_.state = states::error;
            status_.problems.insert(status_.problems.begin(), lost);
            set_acquired(false, reasons::hold_lost, lost);
            set("Progressing", false, reasons::hold_lost, lost);
        } else if (reason == why::completed) {
            status_.state = states::finished;
            set_acquired(false, reasons::released, text);
            set("Progressing", false, "Finished", text);
        } else if (reason == why::left_over) {
            set("Progressing", false,
                is_over(self_.status) && self_.status.state == states::error ? reasons::hold_lost
                                                                             : "Finished",
                text);
        } else if (reason == why::deleted) {
            set_acquired(false, reasons::released, text);
            set("Progressing", false, why::deleted, text);
        } else {
            status_.state = states::acquire;
            set_acquired(false, reasons::released, text);
            set("Progressing", false, reasons::released, text);
        }
        return {step::commit{"Released", text, {}, false}, status_};
    }

    // --- shared ---

    decision release_of(const model::batchjob& job) const {
        const auto& meta = job.metadata;
        return {step::release_job{meta.key(), meta.uid, meta.resource_version}, self_.status};
    }
    decision acquire_of(const model::batchjob& job) const {
        const auto& meta = job.metadata;
        return {step::acquire_job{meta.key(), meta.uid, meta.resource_version}, self_.status};
    }
    /// The condition Acquired, and who has to let go or to start first.
    void set_acquired(bool holds, std::string_view reason, std::string_view message,
                      std::vector<object_key> others = {}) {
        if (others.size() > most_waited_for) others.resize(most_waited_for);
        status_.waiting_for_schedulings = std::move(others);
        set(model::condition_type::acquired, holds, reason, message);
    }
    /// Each once, in the order of the obstacles.
    static std::vector<object_key> holders_of(const std::vector<obstacle>& obstacles) {
        std::vector<object_key> out;
        for (const auto& each : obstacles) {
            const bool known = std::ranges::find(out, each.holder) != out.end();
            if (!each.holder.name.empty() && !known) out.push_back(each.holder);
        }
        return out;
    }
    void set(std::string_view type, bool holds, std::string_view reason, std::string_view message) {
        scheduling::set(status_, self_, type, holds, reason, message, now_);
    }

    const view& v_;
    const model::scheduling& self_;
    plan plan_;
    wall_time now_;
    model::scheduling_status status_;
    std::shared_ptr<const model::testbed> testbed_;
    std::map<object_key, const model::assignment*> assigned_;

    int slots_ = 0;
    std::set<object_key> skipped_;
    std::vector<std::string> skip_texts_;
    std::vector<std::string> leftovers_;
    std::set<object_key> started_;
    std::set<object_key> startable_;
    std::vector<obstacle> obstacles_;
    /// The Testbed that we hold is not offered to us any more.
    std::optional<obstacle> withdrawn_;
    job_pointer addition_;
    std::optional<decision> to_reset_;
    /// The plan's activeDeadlineSeconds are over.
    bool late_ = false;
    /// Something was not started for that.
    bool cut_short_ = false;
    std::optional<steady_time::duration> again_in_;
};

}  // namespace

decision decide(const view& v, wall_time now) { return decider(v, now).run(); }

std::optional<object_key> job_apart(const next_step& what, const model::scheduling& self) {
    if (!is_running(self.status)) return std::nullopt;
    if (auto* acquire = std::get_if<step::acquire_job>(&what)) return acquire->key;
    if (auto* request = std::get_if<step::request_creation>(&what)) return request->key;
    if (auto* reset = std::get_if<step::reset_job>(&what)) return reset->key;
    const bool releases = !self.status.releasing.empty() || self.metadata.deleting();
    auto* release = std::get_if<step::release_job>(&what);
    if (release != nullptr && !releases) return release->key;
    return std::nullopt;
}

std::string_view name_of(const next_step& what) {
    static constexpr std::string_view names[] = {
        "wait",          "read_testbed",     "read_job",    "read_pods", "read_release",
        "add_finalizer", "remove_finalizer", "hold",        "acquire",   "commit",
        "request",       "release",          "remove_hold", "reset_job", "delete"};
    return names[what.index()];
}

}  // namespace esi::scheduling

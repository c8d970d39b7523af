#include "scheduling/answers/explanation.h"

#include <map>
#include <set>

#include "model/names.h"
#include "scheduling/answers/lists.h"
#include "scheduling/release.h"
#include "scheduling/report.h"
#include "scheduling/words.h"

namespace esi::scheduling::answers {

namespace {

using model::object_key;
namespace condition_type = model::condition_type;

std::string last_error_of(const model::batchjob* job) {
    if (job == nullptr) return {};
    if (!job->status.problems.empty()) return job->status.problems.front();
    for (auto line = job->status.runs.rbegin(); line != job->status.runs.rend(); ++line) {
        if (line->outcome != model::run_outcome::failed) continue;
        return line->message.empty() ? line->reason : line->message;
    }
    return {};
}

class explainer {
public:
    explainer(const view& v, wall_time now)
        : v_(v), now_(now), ahead_(outlook_of(v, now)), read_(v, ahead_, now) {
        for (const auto& a : ahead_.self->status.assignments) {
            assigned_.insert_or_assign(a.job.key(), &a);
        }
        for (const auto& each : ahead_.next.starts) starts_.emplace(each.job, &each);
        for (const auto& each : ahead_.skipped.list) skipped_.emplace(each.name, &each);
        for (const auto& each : ahead_.ends) ends_.emplace(each.job, &each);
    }

    explanation run(std::span<const grid::pod_pointer> pods,
                    const std::optional<object_key>& only) {
        const auto& self = *v_.self;
        out_.namespace_ = self.metadata.namespace_;
        out_.name = self.metadata.name;
        out_.testbed = testbed_of(self);
        out_.mode = ahead_.wants.chosen->mode();
        out_.state = self.status.state;
        out_.reason = self.status.reason;
        const auto* acquired =
            model::find_condition(self.status.conditions, condition_type::acquired);
        if (acquired != nullptr && acquired->status == "False") {
            out_.waits_since = acquired->last_transition_time;
        }
        explain_plan();
        one_job_ = only.has_value();
        explain_jobs(only);
        explain_pods(pods, only);
        out_.end = read_.times().end;
        return std::move(out_);
    }

private:
    void explain_plan() {
        if (ahead_.wrong) out_.problem = ahead_.wrong->text;
        if (ahead_.at == stage::releasing || ahead_.at == stage::leaving) {
            for (auto& each : waits_of_release(v_, ahead_.wants)) {
                add(out_.blockers, out_.blockers_left_out, [&] { return of_release(each); });
            }
            return;
        }
        if (ahead_.at == stage::over) {
            const auto& problems = v_.self->status.problems;
            if (!problems.empty()) out_.problem = problems.front();
            return;
        }
        if (ahead_.at == stage::running && !ahead_.blockers.empty()) explain_cycle();
        read_.add_of_plan(out_.blockers, out_.blockers_left_out);
    }

    void explain_cycle() {
        const auto cycle = wait_cycle_of(v_);
        if (cycle.empty()) return;
        out_.cycle = first_of(cycle, out_.cycle_left_out);
        blocking one;
        const auto own = v_.self->metadata.key();
        one.reason = reasons::wait_cycle;
        one.what = {std::string(object_kind::scheduling), own.namespace_, own.name};
        one.text = cycle_text(cycle);
        one.freed_by = "entries are taken out of one of these Schedulings, or one is deleted";
        add(out_.blockers, out_.blockers_left_out, [&] { return std::move(one); });
    }

    static blocking of_release(release_wait& wait) {
        blocking one;
        one.reason = reasons::releasing;
        one.what = {std::string(wait.about.kind), wait.about.key.namespace_, wait.about.key.name};
        one.freed_by = wait.text;
        one.text = std::move(wait.text);
        return one;
    }

    void explain_jobs(const std::optional<object_key>& only) {
        auto seen = v_;
        seen.self = ahead_.self;
        auto status = ahead_.self->status;
        report_jobs(seen, ahead_.wants, ahead_.skipped.keys, status);
        int waiting = 0;
        for (std::size_t i = 0; i < status.job_states.size(); ++i) {
            const auto& [key, state] = status.job_states[i];
            const bool planned = i < ahead_.wants.jobs.size();
            if (!only || *only == key) {
                add(out_.jobs, out_.jobs_left_out, size_, [&] {
                    auto one = explain_job(key);
                    one.state = state;
                    one.jobs_before = planned ? waiting : 0;
                    if (planned) {
                        one.place = static_cast<int>(i) + 1;
                        one.slots_wanted = ahead_.wants.jobs[i].slots_wanted;
                    }
                    return one;
                });
            }
            if (planned && waits_to_start(key)) ++waiting;
        }
    }

    bool waits_to_start(const object_key& key) const {
        const auto found = assigned_.find(key);
        const bool waits = found == assigned_.end() || ahead_.wants.retries(*found->second);
        return waits && !skipped_.contains(key) && !ahead_.wants.cancelled.contains(key) &&
               !ahead_.progress.started.contains(key);
    }

    explained_job explain_job(const object_key& key) {
        explained_job out;
        out.namespace_ = key.namespace_;
        out.name = key.name;
        const auto job = v_.find_job(key);
        // Records of a job of another namespace are shown only to Schedulings that may start it.
        const bool shown = v_.may_start(v_.self->metadata.namespace_, key);
        if (job && shown) {
            out.job_state = job->status.state;
            out.last_error = last_error_of(job.get());
        }
        if (const auto found = assigned_.find(key); found != assigned_.end()) {
            const auto& a = *found->second;
            out.slots = first_of(a.slot_ids, out.slots_left_out);
            out.run = a.run;
            out.since = a.since;
            out.ended = a.ended;
            out.ending = a.ending;
            out.outcome = a.outcome;
            out.attempt = a.attempt.value_or(0);
        }
        if (const auto found = starts_.find(key); found != starts_.end()) {
            out.starts_now = true;
            out.slots_left_out = 0;
            out.slots = first_of(found->second->slot_ids, out.slots_left_out);
        }
        if (const auto found = skipped_.find(key); found != skipped_.end()) {
            out.refused = found->second->why.text;
        }
        read_.add_of_job(key, out.blockers, out.blockers_left_out);
        // For a whole plan the other jobs are listed, too, with their blockers.
        if (one_job_ && out.blockers.empty() && waits_to_start(key)) {
            read_.add_other_job(key, out.blockers, out.blockers_left_out);
        }
        for (auto [at, end] = ends_.equal_range(key); at != end; ++at) {
            add(out.blockers, out.blockers_left_out,
                [&] { return blocking_reader::of(*at->second); });
        }
        const auto& times = read_.times();
        if (auto found = times.starts.find(key); found != times.starts.end()) {
            out.start = found->second;
        }
        if (auto found = times.ends.find(key); found != times.ends.end()) out.end = found->second;
        return out;
    }

    void explain_pods(std::span<const grid::pod_pointer> pods,
                      const std::optional<object_key>& only) {
        for (const auto& pod : pods) {
            if (pod->bound() || pod->terminal()) continue;
            const object_key job{pod->metadata.namespace_,
                                 std::string(pod->metadata.label(model::names::job))};
            const bool ours = ahead_.wants.find(job) != nullptr || assigned_.contains(job);
            if (!ours || (only && *only != job)) continue;
            add(out_.pods, out_.pods_left_out, size_,
                [&] { return *wait_of_pod(v_, *pod, pods_of(pod->run(), pods), now_); });
        }
    }

    /// The pods of each run, which are looked for once.
    std::span<const grid::pod_pointer> pods_of(std::string_view run,
                                               std::span<const grid::pod_pointer> pods) {
        if (runs_.empty()) {
            for (const auto& each : pods) runs_[std::string(each->run())].push_back(each);
        }
        return runs_[std::string(run)];
    }

    const view& v_;
    wall_time now_;
    outlook ahead_;
    blocking_reader read_;
    std::map<object_key, const model::assignment*> assigned_;
    std::map<object_key, const start*> starts_;
    std::map<object_key, const skipped_job*> skipped_;
    std::multimap<object_key, const awaited_end*> ends_;
    std::map<std::string, std::vector<grid::pod_pointer>> runs_;
    bool one_job_ = false;
    answer_size size_;
    explanation out_;
};

}  // namespace

explanation explain(const view& v, wall_time now, std::span<const grid::pod_pointer> pods,
                    const std::optional<object_key>& only) {
    return explainer(v, now).run(pods, only);
}

}  // namespace esi::scheduling::answers

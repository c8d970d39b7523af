#include "scheduling/outlook.h"

#include "scheduling/decider.h"

namespace esi::scheduling {

namespace {

/// As if everything had just been read live, and was as the view shows it.
live_facts all_proven(const view& v) {
    live_facts out = v.live != nullptr ? *v.live : live_facts();
    out.refused = {};
    out.proven.testbed = steady_time();
    out.proven.release = true;
    pods_of_jobs pods;
    if (out.proven.pods) pods.pods = std::move(out.proven.pods->pods);
    for (const auto& a : v.self->status.assignments) pods.jobs.insert(a.job.key());
    out.proven.jobs = pods.jobs;
    out.proven.pods = std::move(pods);
    return out;
}

}  // namespace

stage stage_of(const model::scheduling& self) {
    if (!self.status.releasing.empty()) return stage::releasing;
    if (self.metadata.deleting()) return stage::leaving;
    if (is_over(self.status)) return stage::over;
    return is_running(self.status) ? stage::running : stage::entering;
}

void skipped_jobs::add(const model::object_key& name, problem why) {
    keys.insert(name);
    list.push_back({name, std::move(why)});
}

std::vector<std::string> skipped_jobs::texts() const {
    std::vector<std::string> out;
    out.reserve(list.size());
    for (const auto& each : list) out.push_back(each.why.text);
    return out;
}

outlook outlook_of(const view& v, wall_time now) {
    const auto live = all_proven(v);
    view seen = v;
    seen.live = &live;
    // decide() writes all ends that are known at once, and looks again.
    if (auto later = decider(seen, now).after_ends()) {
        seen.self = std::make_shared<const model::scheduling>(std::move(*later));
    }
    return decider(seen, now).foresee();
}

/// The Scheduling with the presently known ends of runs recorded; nothing if none is known.
std::optional<model::scheduling> decider::after_ends() {
    if (stage_of(self_) != stage::running || !hold_is_kept()) return std::nullopt;
    if (give_up_retries()) return std::nullopt;
    const auto skipped = jobs_to_skip();
    const auto ended = runs_that_ended();
    if (ended.read_first || ended.ends.empty()) return std::nullopt;
    auto out = self_;
    out.status = end_assignments(ended, skipped).status;
    return out;
}

outlook decider::foresee() {
    outlook out;
    out.self = v_.self;
    out.at = stage_of(self_);
    if (out.at == stage::entering) foresee_entry(out);
    if (out.at == stage::running) {
        foresee_hold(out);
        out.ends = runs_that_ended().waits;
    }
    const bool drives = out.at == stage::entering || out.at == stage::running;
    if (drives && !out.wrong && (out.at == stage::running || out.blockers.empty())) {
        foresee_starts(out);
    }
    out.wants = std::move(plan_);
    return out;
}

/// The same as in enter().
void decider::foresee_entry(outlook& out) {
    if (!self_.metadata.undecodable.empty()) {
        out.wrong = problem{reasons::undecodable, self_.metadata.undecodable_text()};
        return;
    }
    auto way = way_in();
    out.wrong = std::move(way.wanted.wrong);
    out.blockers = std::move(way.blockers);
}

void decider::foresee_hold(outlook& out) {
    if (!hold_is_kept()) {
        out.wrong = problem{reasons::hold_lost, hold_lost_text()};
        return;
    }
    give_up_retries();
    if (!self_.metadata.undecodable.empty()) {
        out.wrong = problem{reasons::undecodable, self_.metadata.undecodable_text()};
    }
}

/// The same as in drive(), once there is no end to record and no order to give.
void decider::foresee_starts(outlook& out) {
    out.skipped = jobs_to_skip();
    auto jobs = sort_jobs(out.skipped, offer_of_testbed().withdrawn);
    out.blockers = std::move(jobs.blockers);
    // A free job that is acquired can be started from then on: sort_jobs() requires less of a job
    // that it has.
    out.acquires.assign(jobs.free.begin(), jobs.free.end());
    jobs.progress.startable.insert(jobs.free.begin(), jobs.free.end());
    const auto free = v_.free_slots();
    out.next = plan_.chosen->next(plan_, jobs.progress, free);
    out.free = free.size();
    out.progress = std::move(jobs.progress);
}

}  // namespace esi::scheduling

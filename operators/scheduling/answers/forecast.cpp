#include "scheduling/answers/forecast.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

namespace esi::scheduling::answers {

namespace {

using model::object_key;

/// A run whose end is estimated from its job's earlier runs.
struct known_run {
    std::vector<int> slots;
    std::int64_t runs = 0;
};

class simulation {
public:
    simulation(const view& v, const outlook& ahead, wall_time now)
        : v_(v), ahead_(ahead), now_(now), jobs_(ahead.progress) {}

    forecast run() {
        take_runs_under_way();
        take_free_slots();
        std::size_t visits = 0;
        bool complete = true;
        for (auto at = now_;; at = under_way_.begin()->first) {
            end_runs_at(at);
            start(at);
            if (under_way_.empty()) break;
            visits += ahead_.wants.entries.size() + ahead_.wants.jobs.size() + 1;
            if (visits > most_forecast_visits) {
                complete = false;
                break;
            }
        }
        const bool all = std::ranges::all_of(
            ahead_.wants.jobs, [&](const auto& job) { return jobs_.started.contains(job.name); });
        if (complete && all && !unknown_) out_.end = estimate_of(last_, basis(), now_);
        return std::move(out_);
    }

private:
    void take_runs_under_way() {
        for (const auto& a : ahead_.self->status.assignments) {
            if (a.ended) continue;
            const auto job = v_.find_job(a.job.key());
            auto end = job && a.ending.empty() ? end_of_run(*job, a.run, now_) : std::nullopt;
            if (!end) {
                unknown_ = true;
                continue;
            }
            out_.ends.emplace(a.job.key(), *end);
            under_way_.emplace(end->at.value, known_run{a.slot_ids, end->runs});
        }
    }

    /// Takes only as many as the plan may use: a Testbed may have 50,000.
    void take_free_slots() {
        view seen = v_;
        seen.self = ahead_.self;
        const auto free = seen.free_slots();
        broken_ = seen.in_error();
        std::size_t wanted = 0;
        for (const auto& job : ahead_.wants.jobs) {
            if (!jobs_.startable.contains(job.name)) continue;
            wanted += static_cast<std::size_t>(job.slots_wanted);
            for (int id : job.slot_ids) {
                if (free.contains(id)) free_.insert(id);
            }
        }
        coordinators_ = free.coordinators();
        wanted = std::min(wanted, free.size());
        for (auto at = free.next(0); at && free_.size() < wanted; at = free.next(*at + 1)) {
            free_.insert(*at);
        }
        for (auto at = free.next_coordinator(0); at; at = free.next_coordinator(*at + 1)) {
            free_.insert(*at);
        }
    }

    void end_runs_at(wall_time at) {
        while (!under_way_.empty() && under_way_.begin()->first <= at && !first_) {
            const auto ended = under_way_.extract(under_way_.begin());
            const auto& [slots, runs] = ended.mapped();
            for (int id : slots) {
                if (!broken_.contains(id)) free_.insert(id);
            }
            fewest_ = std::min(fewest_, runs);
            last_ = std::max(last_, at);
        }
    }

    void start(wall_time at) {
        const auto next =
            ahead_.wants.chosen->next(ahead_.wants, jobs_, free_slots(free_, {}, coordinators_));
        for (const auto& each : next.starts) {
            if (!first_) out_.starts.emplace(each.job, estimate_of(at, basis(), now_));
            jobs_.startable.erase(each.job);
            jobs_.started.insert(each.job);
            for (int id : each.slot_ids) free_.erase(id);
            const auto job = v_.find_job(each.job);
            const auto usual = job ? usual_time_of(*job) : std::nullopt;
            if (!usual) {
                unknown_ = true;
                continue;
            }
            if (first_) {
                out_.ends.emplace(each.job, estimate_of(at + usual->median, usual->runs, now_));
            }
            under_way_.emplace(at + usual->median, known_run{each.slot_ids, usual->runs});
        }
        first_ = false;
    }

    /// The number of recorded runs on which the forecast rests so far.
    std::int64_t basis() const {
        return fewest_ == std::numeric_limits<std::int64_t>::max() ? 0 : fewest_;
    }

    const view& v_;
    const outlook& ahead_;
    wall_time now_;
    plan_progress jobs_;
    std::set<int> free_;
    std::set<int> coordinators_;
    std::set<int> broken_;
    std::multimap<wall_time, known_run> under_way_;
    wall_time last_{now_};
    std::int64_t fewest_ = std::numeric_limits<std::int64_t>::max();
    /// The first round is the present one: it ends no run, also none that should have ended by now.
    bool first_ = true;
    /// A run has no known end, so its slots do not come back.
    bool unknown_ = false;
    forecast out_;
};

}  // namespace

forecast forecast_of(const view& v, const outlook& ahead, wall_time now) {
    const bool runs = ahead.at == stage::entering || ahead.at == stage::running;
    if (!runs || ahead.wrong) return {};
    if (ahead.at == stage::entering && !ahead.blockers.empty()) return {};
    return simulation(v, ahead, now).run();
}

std::optional<estimated_time> release_of(const view& v,
                                         std::shared_ptr<const model::scheduling> holder,
                                         wall_time now) {
    if (!holder || stage_of(*holder) != stage::running) return std::nullopt;
    if (testbed_of(*holder) != testbed_of(*v.self)) return std::nullopt;
    view seen = v;
    seen.self = std::move(holder);
    seen.named.clear();
    const auto ahead = outlook_of(seen, now);
    const auto& self = *ahead.self;
    std::optional<seconds> after;
    if (ahead.wants.release_on_completion) {
        after = seconds(0);
    } else if (const auto& ttl = self.spec.ttl_seconds_after_finished) {
        after = seconds(*ttl);
    }
    if (!after) return std::nullopt;
    if (self.status.ended) return estimate_of(self.status.ended->value + *after, 0, now);
    const auto end = forecast_of(seen, ahead, now).end;
    if (!end) return std::nullopt;
    return estimate_of(end->at.value + *after, end->runs, now);
}

}  // namespace esi::scheduling::answers

#include "scheduling/decide.h"

#include <algorithm>

#include "scheduling/decider.h"
#include "scheduling/release.h"
#include "scheduling/report.h"

namespace esi::scheduling {

namespace {

using model::object_key;
namespace condition_type = model::condition_type;
namespace release_reason = model::release_reason;

/// Bound of status.waitingForSchedulings.
constexpr std::size_t most_waited_for = 64;

plan plan_on(const model::testbed* testbed, const view& v) {
    const bool laid_out = testbed != nullptr && testbed->status.layout;
    return plan_of(*v.self, v.policies, laid_out ? &*testbed->status.layout : nullptr);
}

}  // namespace

decision decide(const view& v, wall_time now) { return decider(v, now).run(); }

std::optional<object_key> job_apart(const action& what, const model::scheduling& self) {
    if (!is_running(self.status)) return std::nullopt;
    if (auto* acquire = std::get_if<acquire_job>(&what)) return acquire->key;
    if (auto* request = std::get_if<request_creation>(&what)) return request->key;
    if (auto* reset = std::get_if<reset_job>(&what)) return reset->key;
    const bool releases = !self.status.releasing.empty() || self.metadata.deleting();
    auto* release = std::get_if<release_job>(&what);
    if (release != nullptr && !releases) return release->key;
    return std::nullopt;
}

decider::decider(const view& v, wall_time now)
    : v_(v),
      self_(*v.self),
      plan_(plan_on(v.find_testbed(testbed_of(*v.self)).get(), v)),
      now_(now),
      testbed_(v.find_testbed(testbed_of(*v.self))),
      status_(v.self->status) {
    for (const auto& a : self_.status.assignments) assigned_.try_emplace(a.job.key(), &a);
}

decision decider::run() {
    auto out = next();
    const bool waits = std::holds_alternative<wait>(out.next);
    const bool written = waits || std::holds_alternative<commit>(out.next);
    if (written && !self_.metadata.deleting()) conclude(out.status, self_, now_);
    if (waits) out.again_in = again_in_;
    return out;
}

decision decider::next() {
    switch (stage_of(self_)) {
        case stage::releasing:
            return release();
        case stage::leaving:
            return leave();
        case stage::over:
            if (owns_anything(v_, plan_)) return release_again(release_reason::left_over);
            if (is_own_testbed() && testbed_->hold().empty() && v_.refused().claim.empty()) {
                return return_claim("no job can take its places any more");
            }
            return after_the_end();
        case stage::running:
            return drive();
        case stage::entering:
            break;
    }
    return enter();
}

/// The Scheduling is finished; later changes of its spec only set SpecCurrent=False.
decision decider::after_the_end() {
    if (auto gone = delete_when_expired()) return *gone;
    if (status_.observed_generation == self_.metadata.generation) return {wait{}, self_.status};
    status_.observed_generation = self_.metadata.generation;
    set(condition_type::spec_current, false, reasons::change_ignored,
        "the spec was changed when the Scheduling was over, of which only "
        "ttlSecondsAfterFinished counts then; create another");
    // The other conditions hold for the changed spec, too: `kubectl wait` asks for that.
    for (auto& each : status_.conditions) each.observed_generation = self_.metadata.generation;
    return {wait{}, status_};
}

/// All its jobs have ended, and spec.ttlSecondsAfterFinished have passed.
std::optional<decision> decider::delete_when_expired() {
    const auto& ttl = self_.spec.ttl_seconds_after_finished;
    if (!ttl || !self_.metadata.undecodable.empty()) return std::nullopt;
    if (v_.refused().deletion) return std::nullopt;
    auto ended = self_.status.ended;
    if (!ended) {
        // Written by a version that did not record it.
        const auto* completed =
            model::find_condition(self_.status.conditions, condition_type::completed);
        if (completed != nullptr && completed->status == "True") {
            ended = completed->last_transition_time;
        }
    }
    if (!ended || !is_past(ended->value + seconds(*ttl))) return std::nullopt;
    return decision{delete_self{}, self_.status};
}

/// If the time is still to come, the reconcile is run again then.
bool decider::is_past(wall_time when) {
    if (now_ >= when) return true;
    // A status that a person wrote may name any time; a reconcile that comes too early repeats.
    const auto left = std::min(std::chrono::ceil<milliseconds>(when - now_),
                               milliseconds(std::chrono::hours(24)));
    if (!again_in_ || *again_in_ > left) again_in_ = left;
    return false;
}

// --- shared ---

const model::assignment* decider::assignment_of(const object_key& job) const {
    auto found = assigned_.find(job);
    return found == assigned_.end() ? nullptr : found->second;
}

const std::string* decider::refusal_of(const object_key& job) const {
    const auto& refused = v_.refused().jobs;
    if (auto found = refused.find(job); found != refused.end()) return &found->second;
    static const std::string others = "not asked again after as many refusals";
    return refused.size() >= most_refused ? &others : nullptr;
}

/// A version that did not record it has kept the times of the assignments.
std::optional<model::timestamp> decider::first_start() const {
    auto out = status_.started;
    if (out) return out;
    for (const auto& a : self_.status.assignments) {
        if (a.since && (!out || *a.since < *out)) out = a.since;
    }
    return out;
}

plan_places decider::places() const {
    const auto& layout = testbed_->status.layout;
    return layout ? plan_places(*layout) : plan_places(0);
}

decision decider::release_of(const model::batchjob& job) const {
    const auto& meta = job.metadata;
    return {release_job{meta.key(), meta.uid, meta.resource_version}, self_.status};
}

acquire_job decider::acquire_of(const model::batchjob& job) {
    const auto& meta = job.metadata;
    return {meta.key(), meta.uid, meta.resource_version};
}

job_note decider::note_of(const model::assignment& a, std::string text, bool bad) const {
    return {a.job.key(), a.job.uid, a.run, std::move(text), bad, {}};
}

void decider::set_acquired(bool holds, std::string_view reason, std::string_view message,
                           std::vector<object_key> others) {
    if (others.size() > most_waited_for) others.resize(most_waited_for);
    status_.waiting_for_schedulings = std::move(others);
    set(condition_type::acquired, holds, reason, message);
}

void decider::set(std::string_view type, bool holds, std::string_view reason,
                  std::string_view message) {
    scheduling::set(status_, self_, type, holds, reason, message, now_);
}

}  // namespace esi::scheduling

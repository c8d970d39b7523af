#include "batchjob/operator.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "base/log.h"
#include "batchjob/backends/all.h"
#include "batchjob/contains.h"
#include "batchjob/deaths.h"
#include "batchjob/decide.h"
#include "batchjob/happenings.h"
#include "batchjob/runs.h"
#include "controller/controller.h"
#include "controller/write_gate.h"
#include "grid/grid.h"
#include "kube/patch.h"
#include "model/json.h"
#include "model/names.h"

namespace esi::batchjob {

namespace {

namespace names = model::names;

/// More steps than any pass needs: a decision that never comes to rest ends in back-off, not in a
/// loop.
constexpr int most_steps = 24;
/// What "a moment ago" means in a view: since a job was acquired; since the newest and the oldest
/// of the pods came that have no slot yet.
constexpr milliseconds acquired_moment{100};
constexpr milliseconds newest_pod_moment{10};
constexpr milliseconds oldest_pod_moment{40};
constexpr std::string_view job_kind = "BatchJob";
constexpr std::array counted_states{model::job_state::init,
                                    model::job_state::ready,
                                    model::job_state::in_queue,
                                    model::job_state::submitted,
                                    model::job_state::scheduled,
                                    model::job_state::running,
                                    model::job_state::completed,
                                    model::job_state::failed,
                                    model::job_state::failed_submission,
                                    model::job_state::pending_deletion};

prometheus::Histogram& wait_of_runs(controller::metrics& numbers) {
    return numbers.histogram("esi_run_wait_seconds",
                             "Time from the submission of a run until all its pods were bound",
                             {1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800});
}

prometheus::Histogram& time_of_runs(controller::metrics& numbers, const std::string& outcome) {
    return numbers.histogram(
        "esi_run_seconds", "Time from the start of a run's first container to its end",
        {5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21600, 86400}, {{"outcome", outcome}});
}

kube::watch_scope scope_of(const controller::process_options& flags, std::string label_selector) {
    kube::watch_scope scope;
    scope.namespaces = flags.namespaces;
    scope.label_selector = std::move(label_selector);
    return scope;
}

model::object_key job_of(const model::pod& pod) {
    return {pod.metadata.namespace_, std::string(pod.metadata.label(names::job))};
}

/// Whether who may use the Testbed, or how large its slots are, has changed.
bool may_fit_others(const kube::change<model::testbed>& what) {
    if (!what.before || !what.after) return true;
    const auto sizes = [](const model::testbed& bed) {
        return std::pair(bed.spec.resources_per_slot, bed.status.layout
                                                          ? bed.status.layout->resources_per_slot
                                                          : model::resource_list());
    };
    return what.before->spec.allowed_namespaces != what.after->spec.allowed_namespaces ||
           what.before->metadata.deleting() != what.after->metadata.deleting() ||
           sizes(*what.before) != sizes(*what.after);
}

class batchjob_operator final : public controller::operator_part {
public:
    batchjob_operator(controller::environment& env, const options& flags);

    std::vector<cache> caches() override;
    void lead() override;
    asio::awaitable<void> stop(steady_time deadline) override { return loop_.stop(deadline); }

private:
    /// The last dry run for a job: spares a repeat when the write of its answer was overtaken.
    struct check_memory {
        std::string hash;
        check_answer answer;
        int failures = 0;
        steady_time due{};
    };

    void wire();
    void pod_changed(const kube::change<model::pod>& what);
    void testbed_changed(const kube::change<model::testbed>& what);
    void enqueue(const model::object_key& key);
    void enqueue_all();
    application_source* source_of(const model::batchjob& job) const;
    view observe(std::shared_ptr<const model::batchjob> job) const;
    void observe_as(view& seen, const application_source& source) const;
    bool pods_coming(const view& seen, const model::batchjob& job) const;
    void note_death(const model::pod& pod);
    void job_changed(const kube::change<model::batchjob>& what);
    void count_state(const model::batchjob& job, double by);

    asio::awaitable<result<controller::outcome>> reconcile(model::object_key key);
    asio::awaitable<result<void>> act(view& seen, action what);
    asio::awaitable<result<std::shared_ptr<const application>>> read_as(const backend& kind,
                                                                        model::object_key key);
    asio::awaitable<result<void>> act_read_application(view& seen);
    asio::awaitable<result<void>> act_read_assignment(view& seen);
    asio::awaitable<result<void>> act_read_pods(view& seen, read_pods what);
    asio::awaitable<result<void>> act_check(view& seen, check_spec what);
    asio::awaitable<result<void>> act_create(view& seen, create_application what);
    asio::awaitable<result<void>> act_delete_application(view& seen, delete_application what);
    asio::awaitable<result<void>> remove_application(const backend& kind, model::object_key job,
                                                     delete_application what);
    asio::awaitable<result<void>> act_delete_pods(view& seen, delete_pods what);
    asio::awaitable<result<controller::outcome>> leave_nothing(model::object_key key);
    asio::awaitable<result<void>> write_status(view& seen, const model::batchjob_status& wanted);
    void tell(const model::batchjob& job, const model::batchjob_status& after);
    void tell_one(const model::batchjob& job, happening what);
    void count_ends(const model::batchjob_status& before, const model::batchjob_status& after);
    void count(const std::string& name, const std::string& help,
               const controller::metrics::labels& with = {}, double by = 1);

    controller::environment& env_;
    std::vector<std::unique_ptr<application_source>> sources_;
    kube::informer<model::batchjob> jobs_;
    kube::informer<model::testbed> testbeds_;
    kube::informer<model::pod> pods_;
    controller::write_gate gate_;
    std::map<model::object_key, check_memory> checks_;
    std::map<std::string, wall_time, std::less<>> ungated_since_;
    std::map<std::string, model::object_key, std::less<>> asked_to_go_;
    /// By job: the application that ended last, as it was shown; it may go before it is looked at.
    std::map<model::object_key, std::shared_ptr<const application>> told_;
    death_register deaths_;
    /// When it was seen that a job was acquired, and that a pod came that waits at its gate.
    std::map<model::object_key, steady_time> acquired_;
    std::map<std::string, steady_time, std::less<>> came_;
    /// This process decides: it alone tells how many jobs there are.
    bool leads_ = false;
    controller::controller loop_;
};

placement_options placement_of(const options& flags) {
    auto out = flags.pods;
    out.extender = flags.placement == "extender";
    return out;
}

batchjob_operator::batchjob_operator(controller::environment& env, const options& flags)
    : env_(env),
      sources_(make_sources(placement_of(flags), flags.flink, env.api, env.time, env.executor,
                            scope_of(env.options, {}))),
      jobs_(env.api, env.time, kube::types::batchjob, scope_of(env.options, {})),
      testbeds_(env.api, env.time, kube::types::testbed, scope_of(env.options, {})),
      pods_(env.api, env.time, kube::types::pod, scope_of(env.options, std::string(names::job))),
      loop_("batchjob", env.time, env.executor, env.numbers,
            [this](model::object_key key) { return reconcile(std::move(key)); }) {
    wire();
    // There from the start, so that a rate sees the first observation, too.
    wait_of_runs(env.numbers);
    for (const auto outcome :
         {run_outcome::succeeded, run_outcome::failed, run_outcome::released}) {
        time_of_runs(env.numbers, std::string(outcome));
    }
}

void batchjob_operator::wire() {
    jobs_.items().add_index("testbed", [](const model::batchjob& job) {
        if (!job.spec.creation_request) return std::vector<std::string>{};
        return std::vector{testbed_of(job).text()};
    });
    pods_.items().add_index("job",
                            [](const model::pod& pod) { return std::vector{job_of(pod).text()}; });
    pods_.items().add_index("node", [](const model::pod& pod) {
        return pod.bound() ? std::vector{pod.node_name} : std::vector<std::string>{};
    });
    gate_.watch_kind(std::string(job_kind),
                     [this](std::string_view ns) { return jobs_.items().version(ns); });
    jobs_.items().on_change(
        [this](const kube::change<model::batchjob>& what) { job_changed(what); });
    testbeds_.items().on_change(
        [this](const kube::change<model::testbed>& what) { testbed_changed(what); });
    pods_.items().on_change([this](const kube::change<model::pod>& what) { pod_changed(what); });
    for (auto& source : sources_) {
        const auto* from = source.get();
        gate_.watch_kind(std::string(from->kind().resource().kind),
                         [from](std::string_view ns) { return from->version(ns); });
        source->on_change(
            [this, from](const model::object_key& key) {
                const auto job = jobs_.items().find(key);
                auto made = from->find(key);
                if (job && made && made->owned_by(job->metadata)) {
                    if (made->final()) {
                        told_[key] = std::move(made);
                    } else {
                        told_.erase(key);
                    }
                }
                std::erase_if(asked_to_go_, [&](const auto& asked) {
                    const auto there = from->find(key);
                    return asked.second == key && (!there || there->metadata.uid != asked.first);
                });
                enqueue(key);
            },
            [this] { enqueue_all(); });
    }
}

void batchjob_operator::lead() {
    leads_ = true;
    for (const auto& [key, job] : jobs_.items().all()) count_state(*job, 1);
    loop_.start();
}

void batchjob_operator::count_state(const model::batchjob& job, double by) {
    if (!leads_) return;
    // Whatever somebody has written there by hand is none of the states that are counted.
    const auto state =
        job.status.state.empty() ? std::string(model::job_state::init) : job.status.state;
    if (!contains(counted_states, state)) return;
    env_.numbers
        .gauge("esi_batchjobs", "BatchJobs by state, as the leader sees them", {{"state", state}})
        .Increment(by);
}

void batchjob_operator::job_changed(const kube::change<model::batchjob>& what) {
    const auto key = (what.after ? what.after : what.before)->metadata.key();
    if (what.before) count_state(*what.before, -1);
    if (what.after) count_state(*what.after, 1);
    if (!what.after) {
        checks_.erase(key);
        told_.erase(key);
        gate_.forget(key);
        deaths_.forget(key);
    } else {
        deaths_.job_changed(*what.after);
    }
    const bool held = what.after && what.after->spec.active_scheduling;
    if (!held) {
        acquired_.erase(key);
    } else if (what.before && !what.before->spec.active_scheduling) {
        acquired_[key] = env_.time.now();
    }
    enqueue(key);
}

void batchjob_operator::note_death(const model::pod& pod) {
    if (pod.died_of.empty()) return;
    if (const auto job = jobs_.items().find(job_of(pod))) deaths_.note(*job, pod);
}

std::vector<controller::operator_part::cache> batchjob_operator::caches() {
    std::vector<cache> out{cache::of("batchjobs", jobs_), cache::of("testbeds", testbeds_),
                           cache::of("pods", pods_)};
    for (auto& source : sources_) {
        for (auto& one : source->caches()) out.push_back(std::move(one));
    }
    return out;
}

void batchjob_operator::enqueue(const model::object_key& key) { loop_.enqueue(key); }

void batchjob_operator::enqueue_all() {
    for (const auto& [key, unused] : jobs_.items().all()) enqueue(key);
}

void batchjob_operator::pod_changed(const kube::change<model::pod>& what) {
    const auto& pod = what.after ? *what.after : *what.before;
    const bool waits = what.after && pod.live() && !pod.bound() && pod.scheduling_gates.empty();
    if (waits) {
        ungated_since_.try_emplace(pod.metadata.uid, env_.time.wall());
    } else {
        ungated_since_.erase(pod.metadata.uid);
    }
    if (!what.after) asked_to_go_.erase(pod.metadata.uid);
    if (what.after) note_death(pod);
    if (!what.before) {
        came_.try_emplace(pod.metadata.uid, env_.time.now());
    } else if (!what.after || pod.bound()) {
        came_.erase(pod.metadata.uid);
    }
    enqueue(job_of(pod));
    const bool was_bound = what.before && what.before->bound();
    if (what.after && pod.bound() && !was_bound) {
        for (const auto& other : pods_.items().by_index("node", pod.node_name)) {
            enqueue(job_of(*other));
        }
    }
}

void batchjob_operator::testbed_changed(const kube::change<model::testbed>& what) {
    if (may_fit_others(what)) {
        for (const auto& [key, job] : jobs_.items().all()) {
            const bool before = what.before && what.before->is_offered_to(key.namespace_);
            const bool after = what.after && what.after->is_offered_to(key.namespace_);
            if (before || after) enqueue(key);
        }
    }
    if (what.before && what.after && what.before->status.layout == what.after->status.layout &&
        what.before->spec.node_label == what.after->spec.node_label &&
        what.before->hold() == what.after->hold()) {
        return;
    }
    const auto key = (what.after ? what.after : what.before)->metadata.key();
    for (const auto& job : jobs_.items().by_index("testbed", key.text())) {
        enqueue(job->metadata.key());
    }
}

application_source* batchjob_operator::source_of(const model::batchjob& job) const {
    const auto by = [this](auto matches) -> application_source* {
        const auto found = std::ranges::find_if(
            sources_, [&](const auto& source) { return matches(source->kind()); });
        return found == sources_.end() ? nullptr : found->get();
    };
    // A run goes on as what it began, also when the spec becomes one of another kind meanwhile.
    const auto& begun = job.status.application;
    const auto& order = job.spec.creation_request;
    if (begun && !begun->uid.empty() && (!order || order->run == begun->run)) {
        const auto named = [&](const backend& kind) { return kind.resource().kind == begun->kind; };
        if (auto* found = by(named)) return found;
    }
    // What was begun and not recorded yet.
    for (const auto& source : sources_) {
        const auto made = source->find(job.metadata.key());
        if (made && made->owned_by(job.metadata)) return source.get();
    }
    return by([&](const backend& kind) { return kind.type() == type_of(job.spec); });
}

bool batchjob_operator::pods_coming(const view& seen, const model::batchjob& job) const {
    const auto now = env_.time.now();
    std::optional<steady_time> oldest;
    std::optional<steady_time> newest;
    for (const auto& pod : seen.pods) {
        const auto& uid = pod->metadata.uid;
        const auto came = came_.find(uid);
        if (came == came_.end() || pod->bound() || !pod->live() ||
            std::ranges::find(job.status.placements, uid, &model::placement::pod_uid) !=
                job.status.placements.end()) {
            continue;
        }
        oldest = oldest ? std::min(*oldest, came->second) : came->second;
        newest = newest ? std::max(*newest, came->second) : came->second;
    }
    return newest && now - *newest < newest_pod_moment && now - *oldest < oldest_pod_moment;
}

/// The application and the pods of the view become those of this kind.
void batchjob_operator::observe_as(view& seen, const application_source& source) const {
    const auto key = seen.job->metadata.key();
    seen.kind = &source.kind();
    seen.served = source.served();
    seen.application = source.find(key);
    seen.pods.clear();
    seen.neighbours.clear();
    for (const auto& pod : pods_.items().by_index("job", key.text())) {
        if (seen.kind->role_of(*pod, key.name) == pod_role::none) continue;
        seen.pods.push_back(pod);
        if (const auto at = ungated_since_.find(pod->metadata.uid); at != ungated_since_.end()) {
            seen.ungated_since.insert(*at);
        }
    }
    std::set<std::string> nodes;
    for (const auto& pod : seen.pods) {
        if (pod->bound()) nodes.insert(pod->node_name);
    }
    for (const auto& node : nodes) {
        for (const auto& pod : pods_.items().by_index("node", node)) {
            // Drivers and JobManagers are in no slot.
            const bool in_slot = !pod->metadata.label(names::testbed).empty();
            if (in_slot && job_of(*pod) != key) seen.neighbours.push_back(pod);
        }
    }
}

view batchjob_operator::observe(std::shared_ptr<const model::batchjob> job) const {
    view seen;
    seen.job = job;
    const auto key = job->metadata.key();
    if (const auto* source = source_of(*job)) observe_as(seen, *source);
    if (job->spec.creation_request) seen.testbed = testbeds_.items().find(testbed_of(*job));
    for (const auto& [name, bed] : testbeds_.items().all()) {
        if (bed->is_offered_to(key.namespace_) && !bed->metadata.deleting()) {
            seen.usable.push_back(bed);
        }
    }
    seen.deaths = deaths_.of(key);
    for (const auto& entry : job->status.placements) {
        const auto pod = pods_.items().find({key.namespace_, entry.pod_name});
        if (pod && pod->metadata.uid == entry.pod_uid && pod->live()) {
            seen.standing.insert(entry.pod_uid);
        }
    }
    for (const auto& [uid, subject] : asked_to_go_) seen.asked_to_go.insert(uid);
    if (const auto at = checks_.find(key);
        at != checks_.end() && at->second.hash == hash_of(job->spec)) {
        seen.check = at->second.answer;
        seen.check_due = env_.time.now() >= at->second.due;
    }
    if (const auto at = told_.find(key); at != told_.end()) seen.told = at->second;
    const auto acquired = acquired_.find(key);
    seen.just_acquired =
        acquired != acquired_.end() && env_.time.now() - acquired->second < acquired_moment;
    seen.pods_coming = pods_coming(seen, *job);
    return seen;
}

asio::awaitable<result<controller::outcome>> batchjob_operator::reconcile(model::object_key key) {
    auto job = jobs_.items().find(key);
    if (!job) co_return co_await leave_nothing(std::move(key));
    if (!gate_.caught_up(key)) co_return controller::outcome::again_in(milliseconds(500));
    for (const auto& pod : pods_.items().by_index("job", key.text())) note_death(*pod);
    auto seen = observe(std::move(job));

    for (int step = 0; step < most_steps; ++step) {
        auto wanted = decide(seen, env_.time.wall());
        if (wanted.unknown_state) {
            count("esi_batchjob_unknown_application_states_total",
                  "Looks at applications in a state that this version does not know");
        }
        if (!wanted.act_first && !wanted.hold_back) {
            const auto written = co_await write_status(seen, wanted.status);
            if (!written) co_return std::unexpected(written.error());
        }
        if (std::holds_alternative<std::monostate>(wanted.next)) {
            if (wanted.retry) {
                co_return std::unexpected(
                    seen.live.create_error.value_or(error{errc::server, "create failed"}));
            }
            controller::outcome out;
            if (wanted.again_in) out.after = *wanted.again_in;
            const auto check = checks_.find(key);
            if (check != checks_.end() && check->second.answer.transient) {
                const auto left = std::max(check->second.due - env_.time.now(),
                                           steady_time::duration(milliseconds(10)));
                out.after = out.after ? std::min(*out.after, left) : left;
            }
            const auto* source = source_of(*seen.job);
            if (source && source->served() && !source->synced() && seen.job->status.application) {
                // Without its cache only live reads tell how the application goes on.
                out.after =
                    std::min(out.after.value_or(seconds(1)), steady_time::duration(seconds(1)));
            }
            co_return out;
        }
        const auto acted = co_await act(seen, std::move(wanted.next));
        if (!acted) co_return std::unexpected(acted.error());
    }
    co_return fail(errc::conflict, fmt::format("BatchJob {} does not come to rest", key.text()));
}

asio::awaitable<result<void>> batchjob_operator::write_status(
    view& seen, const model::batchjob_status& wanted) {
    const auto& job = *seen.job;
    auto patch = kube::merge_difference(model::encode(job.status), model::encode(wanted));
    if (patch.empty()) co_return result<void>();
    json body{{"status", std::move(patch)}};
    auto guarded = kube::guarded(std::move(body), job.metadata.uid, job.metadata.resource_version);
    auto answer =
        co_await env_.api.patch(kube::types::batchjob, job.metadata.namespace_, job.metadata.name,
                                kube::patch_kind::merge, std::move(guarded), "status");
    if (!answer) co_return std::unexpected(answer.error());
    auto now = model::decode<model::batchjob>(*answer, job_kind);
    if (!now) co_return std::unexpected(now.error());
    gate_.wrote(job.metadata.key(), job_kind, now->metadata);
    tell(job, wanted);
    seen.job = std::make_shared<const model::batchjob>(std::move(*now));
    co_return result<void>();
}

asio::awaitable<result<void>> batchjob_operator::act(view& seen, action what) {
    if (std::holds_alternative<read_application>(what)) return act_read_application(seen);
    if (std::holds_alternative<read_assignment>(what)) return act_read_assignment(seen);
    if (auto* pods = std::get_if<read_pods>(&what)) return act_read_pods(seen, std::move(*pods));
    if (auto* spec = std::get_if<check_spec>(&what)) return act_check(seen, std::move(*spec));
    if (auto* make = std::get_if<create_application>(&what)) {
        return act_create(seen, std::move(*make));
    }
    if (auto* gone = std::get_if<delete_application>(&what)) {
        return act_delete_application(seen, std::move(*gone));
    }
    return act_delete_pods(seen, std::move(std::get<delete_pods>(what)));
}

/// The application of that kind as the API server has it; null for none.
asio::awaitable<result<std::shared_ptr<const application>>> batchjob_operator::read_as(
    const backend& kind, model::object_key key) {
    auto answer = co_await env_.api.get(kind.resource(), key.namespace_, key.name);
    if (!answer && answer.error().code == errc::not_found) co_return nullptr;
    if (!answer) co_return std::unexpected(answer.error());
    auto found = kind.read(*answer);
    if (!found) co_return std::unexpected(found.error());
    co_return std::make_shared<const application>(std::move(*found));
}

asio::awaitable<result<void>> batchjob_operator::act_read_application(view& seen) {
    const auto& job = seen.job->metadata;
    auto found = co_await read_as(*seen.kind, job.key());
    if (!found) co_return std::unexpected(found.error());
    seen.live.application = std::move(*found);
    // The spec may have become one of another kind since ours was made.
    for (const auto& source : sources_) {
        if (seen.live.application && seen.live.application->owned_by(job)) break;
        if (&source->kind() == seen.kind || !source->served()) continue;
        auto other = co_await read_as(source->kind(), job.key());
        if (!other) co_return std::unexpected(other.error());
        if (!*other || !(*other)->owned_by(job)) continue;
        observe_as(seen, *source);
        seen.live.application = std::move(*other);
    }
    seen.live.application_read = true;
    co_return result<void>();
}

asio::awaitable<result<void>> batchjob_operator::act_read_assignment(view& seen) {
    const auto by =
        grid::in_namespace(seen.job->spec.active_scheduling->key(), seen.job->metadata.namespace_);
    seen.live.assignment_read = true;
    seen.live.assigned = false;
    if (!model::may_exist(by)) co_return result<void>();
    auto answer = co_await env_.api.get(kube::types::scheduling, by.namespace_, by.name);
    if (!answer && answer.error().code == errc::not_found) co_return result<void>();
    if (!answer) co_return std::unexpected(answer.error());
    auto found = model::decode<model::scheduling>(*answer, "Scheduling");
    if (!found) co_return std::unexpected(found.error());
    seen.live.assigned = grid::is_assigned(*seen.job, *found);
    co_return result<void>();
}

asio::awaitable<result<void>> batchjob_operator::act_read_pods(view& seen, read_pods what) {
    for (const auto& entry : what.pods) {
        auto answer =
            co_await env_.api.get(kube::types::pod, seen.job->metadata.namespace_, entry.pod_name);
        if (!answer && answer.error().code != errc::not_found) {
            co_return std::unexpected(answer.error());
        }
        bool gone = true;
        if (answer) {
            auto pod = model::decode<model::pod>(*answer, "Pod");
            if (!pod) co_return std::unexpected(pod.error());
            gone = pod->metadata.uid != entry.pod_uid || pod->terminal();
        }
        (gone ? seen.live.gone_pods : seen.live.living_pods).insert(entry.pod_uid);
    }
    co_return result<void>();
}

asio::awaitable<result<void>> batchjob_operator::act_check(view& seen, check_spec what) {
    const auto key = seen.job->metadata.key();
    kube::create_options how;
    how.dry_run = true;
    how.field_validation = "Strict";
    auto answer = co_await env_.api.create(seen.kind->resource(), key.namespace_,
                                           std::move(what.object), std::move(how));
    auto& memory = checks_[key];
    const auto hash = hash_of(seen.job->spec);
    if (memory.hash != hash) memory = check_memory{hash, {}, 0, {}};
    if (answer || answer.error().code == errc::already_exists) {
        memory.answer = {true, false, {}};
    } else {
        memory.answer = {false, answer.error().transient(), answer.error().text};
    }
    if (memory.answer.transient) {
        memory.due = env_.time.now() +
                     std::min(seconds(1) * (1 << std::min(memory.failures, 8)), seconds(300));
        ++memory.failures;
    }
    seen.check = memory.answer;
    seen.check_due = false;
    co_return result<void>();
}

asio::awaitable<result<void>> batchjob_operator::act_create(view& seen, create_application what) {
    const auto key = seen.job->metadata.key();
    kube::create_options how;
    how.field_validation = "Strict";
    auto answer = co_await env_.api.create(seen.kind->resource(), key.namespace_,
                                           std::move(what.object), std::move(how));
    if (!answer && answer.error().code == errc::already_exists) {
        const auto read = co_await act_read_application(seen);
        if (!read) co_return std::unexpected(read.error());
        if (!seen.live.application) {
            co_return fail(errc::conflict, fmt::format("{} {} was there and is gone again",
                                                       seen.kind->resource().kind, key.text()));
        }
        co_return result<void>();
    }
    if (!answer) {
        if (answer.error().code == errc::not_leader) co_return std::unexpected(answer.error());
        seen.live.create_error = answer.error();
        co_return result<void>();
    }
    auto made = seen.kind->read(*answer);
    if (!made) co_return std::unexpected(made.error());
    const auto* source = source_of(*seen.job);
    if (source && source->synced()) {
        gate_.wrote(key, seen.kind->resource().kind, made->metadata);
    }
    log::debug("application created", {{"job", key.text()}, {"run", made->run()}});
    count("esi_batchjob_applications_created_total", "Applications made",
          {{"type", std::string(seen.kind->type())}});
    seen.live.application = std::make_shared<const application>(std::move(*made));
    seen.live.application_read = true;
    co_return result<void>();
}

asio::awaitable<result<void>> batchjob_operator::remove_application(const backend& kind,
                                                                    model::object_key job,
                                                                    delete_application what) {
    const auto answer = co_await env_.api.remove(kind.resource(), job.namespace_, what.name,
                                                 kube::preconditions(what.uid));
    // A conflict is no proof that it is gone, and that another one has its name: asked again.
    if (!answer && answer.error().code != errc::not_found)
        co_return std::unexpected(answer.error());
    log::info("application deleted",
              {{"job", job.text()},
               {"run", what.run},
               {"note", fmt::format("{} {}: {}", kind.resource().kind, what.name, what.why)}});
    co_return result<void>();
}

asio::awaitable<result<void>> batchjob_operator::act_delete_application(view& seen,
                                                                        delete_application what) {
    const auto key = seen.job->metadata.key();
    auto done = co_await remove_application(*seen.kind, key, what);
    if (!done) co_return done;
    asked_to_go_[what.uid] = key;
    seen.asked_to_go.insert(what.uid);
    co_return result<void>();
}

/// The garbage collector takes applications and pods of a BatchJob that is gone. But where it was
/// deleted with propagationPolicy Orphan, its application has lost its owner, and would keep its
/// slots: it is deleted as well. Another BatchJob of that name, which the cache does not show yet,
/// could not take it over either: an application without owner is nobody's.
asio::awaitable<result<controller::outcome>> batchjob_operator::leave_nothing(
    model::object_key key) {
    for (const auto& source : sources_) {
        const auto left = source->find(key);
        if (!left || left->run().empty() || left->metadata.controller_owner() ||
            left->metadata.deleting()) {
            continue;
        }
        auto done =
            co_await remove_application(source->kind(), key,
                                        {key.name, left->metadata.uid, std::string(left->run()),
                                         "its BatchJob is gone and has left it behind"});
        if (!done) co_return std::unexpected(std::move(done).error());
    }
    co_return controller::outcome();
}

asio::awaitable<result<void>> batchjob_operator::act_delete_pods(view& seen, delete_pods what) {
    const auto key = seen.job->metadata.key();
    for (const auto& pod : what.pods) {
        kube::preconditions still(pod->metadata.uid);
        if (what.as_seen) still.resource_version = pod->metadata.resource_version;
        auto answer = co_await env_.api.remove(kube::types::pod, pod->metadata.namespace_,
                                               pod->metadata.name, std::move(still));
        if (!answer && answer.error().code != errc::not_found) {
            co_return std::unexpected(answer.error());
        }
        log::info("left-over pod deleted", {{"job", key.text()},
                                            {"run", pod->metadata.annotation(names::run)},
                                            {"pod", pod->metadata.key().text()},
                                            {"note", what.why}});
        count("esi_batchjob_leftover_pods_deleted_total", "Pods of ended or foreign runs deleted");
        if (pods_.items().find(pod->metadata.key())) asked_to_go_[pod->metadata.uid] = key;
        seen.asked_to_go.insert(pod->metadata.uid);
    }
    co_return result<void>();
}

void batchjob_operator::tell_one(const model::batchjob& job, happening what) {
    log_happening(job.metadata.key(), what);
    std::optional<controller::event_subject> related;
    if (const auto& by = what.scheduling; by && !by->name.empty()) {
        model::object_meta meta;
        meta.namespace_ = by->namespace_;
        meta.name = by->name;
        meta.uid = by->uid;
        related.emplace(kube::types::scheduling, meta);
    }
    const controller::event_subject about(kube::types::batchjob, job.metadata);
    if (what.warning) {
        env_.events.warning(about, what.reason, what.action, std::move(what.note), related);
    } else {
        env_.events.normal(about, what.reason, what.action, std::move(what.note), related);
    }
}

void batchjob_operator::count_ends(const model::batchjob_status& before,
                                   const model::batchjob_status& after) {
    const auto took = [](const model::timestamp& from, const model::timestamp& to) {
        // By clocks of several machines.
        return std::max(0.0, std::chrono::duration<double>(to.value - from.value).count());
    };
    for (const auto& line : after.runs) {
        const auto was = std::ranges::find_if(before.runs, [&](const model::run_record& known) {
            return known.run == line.run && known.submitted == line.submitted;
        });
        const bool known = was != before.runs.end();
        if (line.submitted && line.scheduled && !(known && was->scheduled)) {
            wait_of_runs(env_.numbers).Observe(took(*line.submitted, *line.scheduled));
        }
        const bool was_open = !known || was->outcome == run_outcome::running;
        if (!was_open || line.outcome == run_outcome::running) continue;
        count("esi_batchjob_runs_total", "Runs that ended", {{"outcome", line.outcome}});
        if (line.started && line.stopped) {
            time_of_runs(env_.numbers, line.outcome).Observe(took(*line.started, *line.stopped));
        }
    }
}

void batchjob_operator::tell(const model::batchjob& job, const model::batchjob_status& after) {
    for (auto& what : happenings(job.status, after)) tell_one(job, std::move(what));
    if (after.runs != job.status.runs) count_ends(job.status, after);
    const auto placed = std::ranges::count_if(after.placements, [&](const model::placement& entry) {
        return !contains(job.status.placements, entry);
    });
    if (placed > 0) {
        count("esi_batchjob_placements_total", "Placements recorded", {},
              static_cast<double>(placed));
    }
}

void batchjob_operator::count(const std::string& name, const std::string& help,
                              const controller::metrics::labels& with, double by) {
    env_.numbers.counter(name, help, with).Increment(by);
}

}  // namespace

std::unique_ptr<controller::operator_part> make_operator(controller::environment& env,
                                                         const options& flags) {
    return std::make_unique<batchjob_operator>(env, flags);
}

}  // namespace esi::batchjob

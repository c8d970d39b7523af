#include "scheduling/operator.h"

#include <CLI/CLI.hpp>
#include <set>

#include "base/log.h"
#include "model/application_specs.h"
#include "model/json.h"
#include "model/names.h"
#include "scheduling/claim.h"
#include "scheduling/interface/legacy/routes.h"
#include "scheduling/orphan.h"
#include "scheduling/plan.h"
#include "scheduling/words.h"

namespace esi::scheduling {

namespace {

using model::object_key;
namespace states = model::scheduling_state;
namespace types = kube::types;

/// Bounds one reconcile; more steps follow in the next.
constexpr int most_steps = 8192;
constexpr int most_conflicts = 5;

kube::watch_scope scope_of(const controller::process_options& options,
                           std::string label_selector = {}) {
    kube::watch_scope out;
    out.namespaces = options.namespaces;
    out.label_selector = std::move(label_selector);
    return out;
}

std::vector<std::string> jobs_named_by(const model::scheduling& of) {
    std::set<std::string> out;
    for (const auto& job : plan_of(of).jobs) out.insert(job.name.text());
    for (const auto& a : of.status.assignments) out.insert(a.job.key().text());
    return {out.begin(), out.end()};
}

/// Drops what the caches have passed.
template <class T>
void forget_older(objects<T>& fresh, const kube::store<T>& cache) {
    std::erase_if(fresh, [&](const auto& entry) {
        auto cached = cache.find(entry.first);
        if (!entry.second) return false;
        return cached && cached->metadata.uid == entry.second->metadata.uid &&
               cached->metadata.resource_version != entry.second->metadata.resource_version &&
               model::version_at_least(cached->metadata.resource_version,
                                       entry.second->metadata.resource_version);
    });
}

/// Asked again it would answer the same, for one object.
bool is_refusal(errc code) {
    return code == errc::bad_request || code == errc::forbidden || code == errc::invalid;
}

result<controller::outcome> tried_again(error why) {
    // A guard that failed, or the object went: the watch tells the rest.
    if (why.code == errc::not_found) why.code = errc::conflict;
    return std::unexpected(std::move(why));
}

}  // namespace

struct scheduling_operator::interfaces {
    legacy::routes legacy;
    legacy::stomp_topics stomp;

    interfaces(legacy::sources from, legacy::stomp_sources topics, const operator_options& options)
        : legacy(from, options.legacy_namespace, options.access),
          stomp(shown_by(std::move(topics)), options.legacy_namespace, options.access,
                options.stomp) {}

private:
    legacy::stomp_sources shown_by(legacy::stomp_sources topics) const {
        topics.shown = [this](const model::testbed& of) { return legacy.shown(of); };
        return topics;
    }
};

void operator_options::add_to(CLI::App& app) {
    controller::add_access_flags(app, access, "/external and /scheduler");
    app.add_flag("--cross-namespace-jobs", cross_namespace_jobs,
                 "let a Scheduling start BatchJobs of any namespace, not only of its own: for a "
                 "cluster whose namespaces all trust each other")
        ->envname("ESI_CROSS_NAMESPACE_JOBS");
    controller::add_legacy_namespace(app, legacy_namespace,
                                     "that /external and /scheduler speak of");
    app.add_option("--stomp-allowed-origins", access.origins,
                   "Web pages that may connect to /scheduler and change something by /external, "
                   "beside the server's own: http://host:port, comma-separated, or * for all")
        ->delimiter(',')
        ->check(CLI::Validator(http::origin_fault, "ORIGIN"))
        ->envname("ESI_STOMP_ALLOWED_ORIGINS");
    stomp.add_to(app);
}

scheduling_operator::scheduling_operator(controller::environment& in, operator_options options)
    : in_(in),
      options_(std::move(options)),
      schedulings_(in.api, in.time, types::scheduling, scope_of(in.options)),
      testbeds_(in.api, in.time, types::testbed, scope_of(in.options)),
      jobs_(in.api, in.time, types::batchjob, scope_of(in.options)),
      pods_(in.api, in.time, types::pod, scope_of(in.options, std::string(model::names::testbed))),
      act_(in, gate_),
      reconciler_("scheduling", in.time, in.executor, in.numbers,
                  [this](object_key key) { return reconcile(std::move(key)); }),
      testbed_orphans_(
          "orphan-testbed", in.time, in.executor, in.numbers,
          [this](object_key key) { return reconcile_testbed(std::move(key)); }, 1),
      job_orphans_(
          "orphan-job", in.time, in.executor, in.numbers,
          [this](object_key key) { return reconcile_job(std::move(key)); }, 2) {
    schedulings_.items().add_index("testbed", [](const model::scheduling& of) {
        return std::vector<std::string>{testbed_of(of).text()};
    });
    schedulings_.items().add_index("job", jobs_named_by);
    jobs_.set_transform(model::drop_application_specs);
    jobs_.items().add_index("scheduling", [](const model::batchjob& of) {
        const auto& active = of.spec.active_scheduling;
        return active ? std::vector<std::string>{active->key().text()} : std::vector<std::string>{};
    });
    pods_.items().add_index("testbed", [](const model::pod& of) {
        return std::vector<std::string>{of.testbed().text()};
    });
    gate_.watch_kind(std::string(types::scheduling.kind),
                     [this](std::string_view ns) { return schedulings_.items().version(ns); });
    gate_.watch_kind(std::string(types::testbed.kind),
                     [this](std::string_view ns) { return testbeds_.items().version(ns); });
    gate_.watch_kind(std::string(types::batchjob.kind),
                     [this](std::string_view ns) { return jobs_.items().version(ns); });
    wire_wake_ups();
    interfaces_ = std::make_unique<interfaces>(
        legacy::sources{in.open_api, in.time, testbeds_.items(), jobs_.items(),
                        schedulings_.items(), pods_.items()},
        legacy::stomp_sources{in.executor, in.time, in.numbers, testbeds_.items(), jobs_.items(),
                              schedulings_.items(), nullptr},
        options_);
    if (options_.access.open) controller::warn_of_open_access("/external and /scheduler");
    interfaces_->legacy.add_to(in.routes);
    interfaces_->stomp.add_to(in.routes);
}

scheduling_operator::~scheduling_operator() = default;

std::vector<controller::operator_part::cache> scheduling_operator::caches() {
    return {cache::of("schedulings", schedulings_), cache::of("testbeds", testbeds_),
            cache::of("batchjobs", jobs_), cache::of("pods", pods_)};
}

void scheduling_operator::lead() {
    leading_ = true;
    count_states();
    reconciler_.start();
    testbed_orphans_.start();
    job_orphans_.start();
}

asio::awaitable<void> scheduling_operator::stop(steady_time deadline) {
    co_await reconciler_.stop(deadline);
    co_await testbed_orphans_.stop(deadline);
    co_await job_orphans_.stop(deadline);
    co_await interfaces_->stomp.stop(deadline);
}

// --- wake-ups: what may matter to whom; each looks at everything anew ---

void scheduling_operator::wire_wake_ups() {
    schedulings_.items().on_change([this](const auto& what) { scheduling_changed(what); });
    testbeds_.items().on_change([this](const auto& what) { testbed_changed(what); });
    jobs_.items().on_change([this](const auto& what) { job_changed(what); });
    pods_.items().on_change([this](const auto& what) { pod_changed(what); });
}

void scheduling_operator::wake_by(std::string_view index, const object_key& key) {
    for (const auto& found : schedulings_.items().by_index(index, key.text())) {
        if (!is_over(found->status) || found->metadata.deleting() ||
            !found->status.releasing.empty()) {
            reconciler_.enqueue(found->metadata.key());
        }
    }
}

void scheduling_operator::wake_rivals(const model::scheduling& of) {
    wake_by("testbed", testbed_of(of));
    for (const auto& job : jobs_named_by(of)) wake_by("job", object_key::from_text(job));
}

void scheduling_operator::wake_younger(const object_key& than) {
    for (const auto& [key, each] : schedulings_.items().all()) {
        if (lets_go_first(*each, than)) reconciler_.enqueue(key);
    }
}

void scheduling_operator::scheduling_changed(const kube::change<model::scheduling>& what) {
    const auto& any = what.after ? what.after : what.before;
    const auto key = any->metadata.key();
    reconciler_.enqueue(key);
    const bool other =
        !what.before || !what.after || what.before->metadata.uid != what.after->metadata.uid;
    if (other || what.before->metadata.generation != what.after->metadata.generation ||
        what.before->metadata.deleting() != what.after->metadata.deleting() ||
        what.before->status.state != what.after->status.state ||
        what.before->status.releasing != what.after->status.releasing ||
        cycle_changed(what.before->status, what.after->status)) {
        if (what.before) wake_rivals(*what.before);
        if (what.after) wake_rivals(*what.after);
        count_states();
    }
    if (!other || !what.before) return;
    testbed_orphans_.enqueue(testbed_of(*what.before));
    for (const auto& job : jobs_.items().by_index("scheduling", key.text())) {
        job_orphans_.enqueue(job->metadata.key());
    }
}

void scheduling_operator::testbed_changed(const kube::change<model::testbed>& what) {
    const auto& any = what.after ? what.after : what.before;
    wake_by("testbed", any->metadata.key());
    if (!what.after) return;
    if (what.after->hold().empty() && what.after->holder().name.empty()) return;
    reconciler_.enqueue(what.after->holder());
    testbed_orphans_.enqueue(any->metadata.key());
}

void scheduling_operator::job_changed(const kube::change<model::batchjob>& what) {
    const auto& any = what.after ? what.after : what.before;
    wake_by("job", any->metadata.key());
    for (const auto& version : {what.before, what.after}) {
        if (!version) continue;
        if (const auto& active = version->spec.active_scheduling)
            reconciler_.enqueue(active->key());
    }
    if (what.after) job_orphans_.enqueue(any->metadata.key());
    for (const auto& [key, testbed] : testbeds_.items().all()) {
        if (!testbed->hold().empty()) testbed_orphans_.enqueue(key);
    }
}

void scheduling_operator::pod_changed(const kube::change<model::pod>& what) {
    const auto& any = what.after ? what.after : what.before;
    const auto key = any->testbed();
    for (const auto& found : schedulings_.items().by_index("testbed", key.text())) {
        if (is_running(found->status) || !found->status.releasing.empty()) {
            reconciler_.enqueue(found->metadata.key());
        }
    }
    if (!any->is_ghost() && !what.after) testbed_orphans_.enqueue(key);
}

/// By the leader alone: a sum over all replicas counts each once.
void scheduling_operator::count_states() {
    if (!leading_) return;
    std::map<std::string, int> counts;
    for (auto state :
         {states::acquire, states::confirmation, states::submission, states::awaiting_completion,
          states::completed, states::finished, states::error}) {
        counts[std::string(state)] = 0;
    }
    for (const auto& [key, each] : schedulings_.items().all()) {
        auto found = counts.find(each->status.state);
        if (found != counts.end()) ++found->second;
    }
    for (const auto& [state, count] : counts) {
        in_.numbers.gauge("esi_schedulings", "Schedulings by state.", {{"state", state}})
            .Set(count);
    }
}

// --- Schedulings ---

view scheduling_operator::observe(const object_key& key, newer& fresh) const {
    view out;
    out.self = schedulings_.items().find(key);
    if (fresh.self && out.self && fresh.self->metadata.uid == out.self->metadata.uid) {
        const auto& cached = out.self->metadata.resource_version;
        const auto& own = fresh.self->metadata.resource_version;
        if (cached == own || !model::version_at_least(cached, own)) out.self = fresh.self;
    }
    forget_older(fresh.testbeds, testbeds_.items());
    forget_older(fresh.jobs, jobs_.items());
    out.schedulings = &schedulings_.items().all();
    out.testbeds = &testbeds_.items().all();
    out.jobs = &jobs_.items().all();
    for (const auto& job : jobs_.items().by_index("scheduling", key.text())) {
        out.named.push_back(job->metadata.key());
    }
    if (out.self) out.pods = pods_.items().by_index("testbed", testbed_of(*out.self).text());
    out.fresh = &fresh;
    out.namespaces = in_.options.namespaces;
    out.cross_namespace_jobs = options_.cross_namespace_jobs;
    return out;
}

asio::awaitable<result<controller::outcome>> scheduling_operator::reconcile(object_key key) {
    if (!gate_.caught_up(key)) {
        // The watch's next event for it wakes us; the delay only guards against an event before it.
        co_return outcome::again_in(milliseconds(20));
    }
    newer fresh;
    int conflicts = 0;
    std::optional<error> refusal;
    for (int steps = 0; steps < most_steps; ++steps) {
        auto seen = observe(key, fresh);
        if (!seen.self) {
            gate_.forget(key);
            co_return outcome{};
        }
        auto decided = decide(seen, in_.time.wall());
        result<void> done;
        if (std::holds_alternative<step::wait>(decided.next)) {
            const bool hindered = cannot_go(decided.status);
            const auto again = decided.again_in;
            done = co_await act_.settle(seen.self, std::move(decided.status), fresh);
            // What is in its way may be nothing that those who let it go first are woken by.
            if (done && hindered) wake_younger(key);
            if (done && refusal) co_return std::unexpected(std::move(*refusal));
            if (done) co_return again ? outcome::again_in(*again) : outcome{};
        } else {
            log::debug("step", {{"scheduling", key.text()}, {"step", name_of(decided.next)}});
            const auto apart = job_apart(decided.next, *seen.self);
            const bool deletes = std::holds_alternative<step::delete_self>(decided.next);
            done = co_await act_.perform(seen.self, std::move(decided), fresh);
            if (!done && deletes && is_refusal(done.error().code)) {
                fresh.deletion_refused = true;
                refusal = std::move(done).error();
                continue;
            }
            if (!done && apart && is_refusal(done.error().code) &&
                fresh.refused.size() < most_refused) {
                fresh.refused[*apart] = to_string(done.error().code);
                refusal = std::move(done).error();
                continue;
            }
        }
        if (done) continue;
        if (done.error().code != errc::conflict || ++conflicts > most_conflicts) {
            co_return tried_again(std::move(done).error());
        }
    }
    co_return outcome::again_in(milliseconds(0));
}

// --- orphans ---

bool scheduling_operator::watches(const object_key& scheduling) const {
    return scheduling.namespace_.empty() ||
           schedulings_.items().version(scheduling.namespace_).has_value();
}

asio::awaitable<result<controller::outcome>> scheduling_operator::reconcile_job(object_key key) {
    auto job = jobs_.items().find(key);
    if (!job || !may_be_orphan(*job, schedulings_.items().all())) co_return outcome{};
    auto live = co_await act_.read_job(key);
    if (!live) co_return tried_again(std::move(live).error());
    job = *live;
    if (!job) co_return outcome{};
    if (const auto& active = job->spec.active_scheduling) {
        if (!watches(active->key())) co_return outcome{};
        auto holder = co_await act_.read_scheduling(active->key());
        if (!holder) co_return tried_again(std::move(holder).error());
        if (is_holder(holder->get(), active->uid)) co_return outcome{};
    } else if (!job->spec.creation_request ||
               job->status.observed_generation != job->metadata.generation) {
        // A request that stands alone tells the batchjob operator that a person took the job away:
        // it has to see that first. Its status then wakes us.
        co_return outcome{};
    }
    const auto& meta = job->metadata;
    auto now = co_await act_.clear_job(key, meta.uid, meta.resource_version);
    if (!now) co_return tried_again(std::move(now).error());
    in_.events.normal(
        controller::event_subject(types::batchjob, meta), "OrphanReleased", "Release",
        job->spec.active_scheduling
            ? "released: " + scheduling_text(job->spec.active_scheduling->key()) + " is gone"
            : "creationRequest removed: no Scheduling holds the job");
    log::info("orphan released", {{"job", key.text()}});
    co_return outcome{};
}

asio::awaitable<result<controller::outcome>> scheduling_operator::reconcile_testbed(
    object_key key) {
    const auto& known = schedulings_.items().all();
    auto testbed = testbeds_.items().find(key);
    if (!testbed || !may_be_orphan(*testbed, known)) co_return outcome{};
    if (!watches(testbed->holder())) co_return outcome{};
    auto pods = pods_.items().by_index("testbed", key.text());
    // What it waits for wakes it again.
    if (!orphan_waits(*testbed, jobs_.items().all(), pods).empty()) co_return outcome{};

    auto live = co_await act_.read_testbed(key);
    if (!live) co_return tried_again(std::move(live).error());
    testbed = *live;
    if (!testbed || !may_be_orphan(*testbed, known)) co_return outcome{};
    const auto holder = testbed->holder();
    if (!holder.name.empty()) {
        auto found = co_await act_.read_scheduling(holder);
        if (!found) co_return tried_again(std::move(found).error());
        if (*found && held_by(*testbed, (*found)->metadata.uid)) co_return outcome{};
    }
    auto live_pods = co_await act_.read_job_pods(key);
    if (!live_pods) co_return tried_again(std::move(live_pods).error());
    if (!orphan_waits(*testbed, jobs_.items().all(), *live_pods).empty()) {
        co_return outcome::again_in(seconds(1));
    }
    const auto& meta = testbed->metadata;
    auto now = co_await act_.clear_hold(key, meta.uid, meta.resource_version);
    if (!now) co_return tried_again(std::move(now).error());
    in_.events.normal(controller::event_subject(types::testbed, meta), "OrphanReleased", "Release",
                      "hold removed: " + holder_text(*testbed) + " is gone");
    log::info("orphan released", {{"testbed", key.text()}});
    co_return outcome{};
}

}  // namespace esi::scheduling

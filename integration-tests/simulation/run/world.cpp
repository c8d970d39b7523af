#include "run/world.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/hash.h"
#include "base/log.h"
#include "base/operators.h"
#include "base/source_folder.h"
#include "check/end_state.h"
#include "neighbours/applications.h"
#include "neighbours/facts.h"
#include "neighbours/kube/node_life.h"
#include "run/operators.h"

namespace esi::simulation {

namespace {

using namespace std::chrono_literals;

/// A container that ended is started again.
constexpr auto restart_time = 1s;
/// An operator that was killed at a write comes back.
constexpr milliseconds down_after_crash{1000};
/// Nothing changes any more: long enough for all time-outs where something is under way, else for
/// all back-offs of a rest.
constexpr auto still_when_under_way = 11min;
constexpr auto still_at_rest = 150s;
/// The rest of every tenth seed is watched for so long: longer than every back-off (5 min) and
/// every time-out (10 min), and than most periods after which an operator might reconcile again.
constexpr auto rest_watched = 35min;
constexpr std::uint64_t watched_every = 10;
/// kube-apiserver compacts every five minutes.
constexpr auto compaction_period = 5min;
/// Turns of the loops at one point in time, beyond which a loop spins.
constexpr int most_turns = 20000;
/// Points in time with something to do; a run of the largest plan has a tenth of it.
constexpr int most_steps = 2000000;

}  // namespace

world::world(const plan& what, const run_options& how, visitor* guest)
    : plan_(what),
      how_(how),
      guest_(guest),
      told_(time_),
      server_(server_settings{[this] { return time_.now(); }, [this] { return time_.wall(); },
                              source_folder() + "/crds", application_kinds(), what.streaming_lists,
                              what.gangs, what.page_size}),
      rules_(server_, time_),
      quiet_(server_.objects(), time_.now()),
      around_{time_, server_, rules_, told_, random_source(what.seed)},
      network_(around_, *this),
      extender_(around_,
                [this](const std::string& verb, json body, auto done) {
                    ask_extender(verb, std::move(body), std::move(done));
                }),
      start_(time_.now()),
      over_(start_),
      last_change_(start_) {
    told_.keep(how.story);
    log::configure(how.logs ? log::level::debug : log::level::error, log::format::text);
    log::send_to([this](log::level at, std::string_view line) { take_log(at, line); });
    server_.objects().on_change([this](const change& changed) { note(changed); });
    rules_.all_disturbances_are_told();
    if (how.crash) crashes_.push_back({*how.crash, down_after_crash, false});
    people_the_cluster();
    start_operators();
}

world::~world() {
    // The loops end before what their coroutines use.
    for (auto& one : replicas_) one->kill();
    log::send_to(nullptr);
}

void world::people_the_cluster() {
    auto kubelets = std::make_unique<kubelet>(around_);
    auto* nodes = kubelets.get();
    neighbours_.push_back(std::move(kubelets));
    neighbours_.push_back(std::make_unique<controller_manager>(around_, nodes));
    scheduler_settings own;
    own.lease = plan_.gangs;
    neighbours_.push_back(std::make_unique<kube_scheduler>(around_, std::move(own)));
    if (plan_.placement == "extender") {
        neighbours_.push_back(std::make_unique<kube_scheduler>(
            around_, scheduler_settings{
                         "external-scheduler", [this](std::string verb, json body, auto done) {
                             extender_.ask(std::move(verb), std::move(body), std::move(done));
                         }}));
    }
    std::vector<std::pair<const application_kind*, decltype(application_runner::cancel)>> ends;
    if (plan_.gangs) {
        auto members = std::make_unique<member_sets>(around_);
        members_ = members.get();
        neighbours_.push_back(std::move(members));
        programs_ = std::make_unique<programs>(around_, *nodes);
        rules_.judge_gangs();
    }
    for (const auto& kind : application_kinds()) {
        if (plan_.gangs) break;
        auto runner = run_applications(kind, around_, *nodes, plan_.scripts);
        for (auto& one : runner.neighbours) neighbours_.push_back(std::move(one));
        if (runner.cancel) ends.emplace_back(&kind, std::move(runner.cancel));
    }
    people_ = std::make_unique<people>(around_, *nodes);
    people_->cancel_by([ends](std::string_view ns, std::string_view name) {
        const auto found =
            std::ranges::find_if(ends, [&](const auto& end) { return end.second(ns, name); });
        return found == ends.end() ? nullptr : found->first;
    });
}

void world::start_operators() {
    // Where their leases are.
    desk installer(server_, "helm");
    (void)installer.create(kinds::name_space, "", {{"metadata", {{"name", "esi-system"}}}});
    flags_.leader_elect = true;
    // Less than an author's large object takes, and more than all others together.
    flags_.cache_share = std::size_t{256} << 10;
    for (const auto& name : operators_of(plan_)) {
        makers_.emplace(name, factory_of(name, plan_));
        for (int i = 0; i < plan_.replicas; ++i) {
            auto* one = &add_replica({name, i});
            time_.after(milliseconds(10 * i), [one] { one->start(); });
        }
    }
}

replica& world::add_replica(const replica_name& who) {
    replicas_.push_back(
        std::make_unique<replica>(who, network_, time_, flags_, makers_.at(who.operator_)));
    return *replicas_.back();
}

void world::ask_extender(const std::string& verb, json body,
                         std::function<void(int status, json answer)> done) {
    http::server_request what;
    what.method = "POST";
    what.raw_path = "/extender/" + verb;
    what.headers.emplace_back("content-type", "application/json");
    what.body = body.dump();
    what.peer_is_loopback = true;
    for (auto& one : replicas_) {
        if (one->name().operator_ != "testbed" || !one->alive() || one->paused()) continue;
        one->ask(std::move(what), [this, done](http::server_reply reply) {
            // Out of the replica's loop, as an answer over the wire is.
            time_.after(1ms, [done, reply = std::move(reply)] {
                done(reply.status, json::parse(reply.body, nullptr, false));
            });
        });
        return;
    }
    time_.after(1ms, [done] { done(0, json()); });
}

// What the network reports.

network::listener::fate world::sends(const replica_name& who, const kube::request& what) {
    for (auto& one : replicas_) {
        if (one->name() == who && (!one->alive() || one->ended())) return fate::dies_before;
    }
    const int number = sent_[who.operator_]++;
    if (how_.dies_at) {
        if (const auto after = how_.dies_at(who.operator_, number)) {
            crashes_.push_back({{who.operator_, number, *after}, down_after_crash, false});
        }
    }
    std::optional<steady_time> until;
    if (auto found = rights_.find(who); found != rights_.end()) until = found->second.until;
    for (auto at = crashes_.begin(); at != crashes_.end(); ++at) {
        if (at->at.operator_ != who.operator_ || at->at.write != number) continue;
        down_for_[who] = at->down;
        struck(who.operator_, at->down);
        const bool after = at->at.after;
        crashes_.erase(at);
        ++out_.faults[after ? "crash after a write" : "crash before a write"];
        told_.tell("fault", [&] {
            return fmt::format("{} dies {} its write {}: {} {} {}", who.text(),
                               after ? "after" : "before", number, what.method, what.target,
                               what.body.substr(0, 300));
        });
        if (after) {
            rules_.wrote(who.operator_, who.index, what, time_.now(), until);
            return fate::dies_after;
        }
        dies(who);
        return fate::dies_before;
    }
    rules_.wrote(who.operator_, who.index, what, time_.now(), until);
    return fate::goes;
}

void world::struck(std::string_view operator_, steady_time::duration takes) {
    for (const auto& one : operators_of(plan_)) {
        if (operator_.empty() || operator_ == one)
            rules_.disturbed(one, time_.now() + takes + aftermath);
    }
}

void world::arrived(const replica_name& who, const kube::request& what, int status) {
    auto target = target_of(what);
    write_record record{who.operator_,
                        what.method,
                        std::move(target.plural),
                        std::move(target.object),
                        std::move(target.subresource),
                        status};
    quiet_.wrote(record, time_.now());
    out_.writes.push_back(std::move(record));
}

void world::dies(const replica_name& who) {
    for (auto& one : replicas_) {
        if (one->name() == who && one->alive()) one->end();
    }
}

void world::lease_written(const replica_name& who, const std::string& holder, steady_time sent) {
    // One that arrives late is of an earlier life, or of the time before it was given back.
    const bool own = std::ranges::any_of(replicas_, [&](const auto& one) {
        return one->name() == who && one->alive() && one->identity() == holder;
    });
    if (!own) return;
    auto [right, first] = rights_.try_emplace(who);
    // The first of a life is that by which it begins to lead.
    if (first) rules_.leads(who.operator_);
    if (!right->second.given_back) right->second.until = sent + flags_.renew_deadline;
}

void world::lease_given_back(const replica_name& who) {
    if (auto found = rights_.find(who); found != rights_.end())
        found->second = {time_.now() - steady_time::duration(1), true};
}

void world::listed_node(const replica_name& who, const std::string& node) {
    rules_.listed_node(who.operator_, node);
}

void world::looked(const replica_name& who, std::string_view plural, const std::string& object) {
    rules_.looked(who.operator_, plural, object);
}

// How time passes.

void world::bury() {
    for (auto& one : replicas_) {
        if (!one->ended()) continue;
        told_.tell(one->name().text(), [] { return "ended"; });
        if (auto right = rights_.find(one->name());
            one->resigned() && (right == rights_.end() || !right->second.given_back))
            blame("lease-kept", one->name().text() + " stopped in order and kept its lease");
        one->kill();
        rights_.erase(one->name());
        auto down = down_for_.extract(one->name());
        start_later(*one, down ? down.mapped() : milliseconds(restart_time));
    }
}

void world::settle() {
    for (int turn = 0;; ++turn) {
        bool any = false;
        while (auto what = time_.take()) {
            any = true;
            what();
        }
        for (auto& one : replicas_) {
            if (how_.logs) speaking_ = one->name().text();
            any = one->poll() || any;
        }
        bury();
        if (!any) return;
        if (turn == most_turns) return blame("spins", "no end of work at one point in time");
    }
}

void world::take_log(log::level at, std::string_view line) {
    if (how_.logs) told_.tell(speaking_, [&] { return std::string(line); });
    if (at != log::level::error) return;
    if (line.starts_with("exception in a reconcile")) blame("exception", std::string(line));
    if (line.starts_with("ledger differs")) blame("ledger", std::string(line));
    // The process is about to abort: this is its last word.
    if (line.starts_with("task failed")) fmt::print(stderr, "{}\n", line);
}

void world::note(const change& what) {
    ++out_.changes;
    const auto& plural = what.type->plural;
    out_.digest = fnv1a(plural, out_.digest);
    out_.digest = (out_.digest ^ what.version) * fnv1a_prime;
    out_.digest = (out_.digest ^ static_cast<std::uint64_t>(what.at.time_since_epoch().count())) *
                  fnv1a_prime;
    if (plural == "leases" || plural == "events") return;
    out_.digest = fnv1a(what.after->text(), out_.digest);
    last_change_ = what.at;
}

bool world::under_way() const {
    if (rules_.gangs_under_way() || rules_.claims_under_way() || evictions_are_due()) return true;
    const auto& objects = server_.objects();
    for (const auto& job : objects.all(kinds::batchjob)) {
        const auto state = job->body().value(json::json_pointer("/status/state"), "");
        for (const char* busy : {"SubmittedState", "ScheduledState", "RunningState",
                                 "PendingDeletion", "InQueueState"}) {
            if (state == busy) return true;
        }
    }
    for (const auto& one : objects.all(kinds::scheduling)) {
        if (one->body().contains(json::json_pointer("/metadata/deletionTimestamp"))) return true;
        if (one->body().contains(json::json_pointer("/status/releasing"))) return true;
    }
    return false;
}

bool world::evictions_are_due() const {
    const auto& objects = server_.objects();
    std::map<std::string, node_pointer> tainted;
    for (const auto& node : objects.all(kinds::node)) {
        if (!taints_of(node->body()).empty()) tainted.emplace(node->name(), read_node(node));
    }
    if (tainted.empty()) return false;
    return std::ranges::any_of(objects.all(kinds::pod), [&](const object_pointer& each) {
        const auto pod = read_pod(each);
        const auto node = tainted.find(std::string(pod->node));
        return node != tainted.end() && !pod->deleting && bears(*pod, *node->second);
    });
}

bool world::finished() {
    const auto now = time_.now();
    const auto still = now - std::max({last_change_, quiet_.last_write(), over_});
    if (still >= still_when_under_way) return true;
    if (still >= still_at_rest && !under_way()) return true;
    if (now < over_ + plan_.patience) return false;
    std::string text = "still busy";
    for (const auto& line : quiet_.activity(now - std::chrono::minutes(5))) text += "; " + line;
    blame("not-converged", std::move(text));
    return true;
}

void world::watch_rest() {
    const auto began = time_.now();
    while (time_.now() < began + rest_watched && rules_.violations().empty() &&
           out_.violations.empty()) {
        const auto next = time_.next();
        if (!next) break;
        time_.advance_to(*next);
        settle();
    }
    out_.watched = true;
    const auto unrest = quiet_.unrest(began);
    if (unrest.empty()) return;
    std::string text = "written after the world had come to rest";
    for (const auto& line : unrest) text += "; " + line;
    blame("restless", std::move(text));
}

outcome world::play() {
    out_.digest = fnv1a_basis;
    schedule(plan_.workload, "people");
    schedule(plan_.faults, "fault");
    // Crashes that lie in wait end with the other faults; a crash point of the table does not.
    time_.at(over_, [this] {
        std::erase_if(crashes_, [](const pending_crash& one) { return one.of_plan; });
    });
    // A request that meets one may take its time to come; what it disturbs is excused that long.
    time_.at(over_ + aftermath / 2, [this] { end_faults_in_wait(); });
    if (guest_ != nullptr) await_guest();
    std::function<void()> compact_often = [&] {
        auto& objects = server_.objects();
        objects.compact(objects.version_at(time_.now() - compaction_period));
        time_.after(compaction_period, compact_often);
    };
    time_.after(compaction_period, compact_often);

    settle();
    int steps = 0;
    while (rules_.violations().empty() && out_.violations.empty()) {
        // Who waits for something may wait longer than the world is busy.
        if (guest_ != nullptr ? open_to_guest_ && guest_->leaves() : finished()) break;
        const auto next = time_.next();
        if (!next) break;
        time_.advance_to(*next);
        settle();
        if (++steps == most_steps) blame("no-end", "work without end");
    }
    if (rules_.violations().empty() && out_.violations.empty() && guest_ == nullptr) {
        rules_.at_end();
        const bool rests = !rules_.claims_under_way();
        if (how_.watch_rest && rests && plan_.seed % watched_every == 0) watch_rest();
    }

    for (const auto& one : rules_.violations()) out_.violations.push_back(one);
    for (const auto& one : quiet_.violations()) out_.violations.push_back(one);
    out_.end = end_state(server_.objects());
    for (const auto& [what, times] : network_.effects()) out_.faults[what] += times;
    for (const auto& [what, times] : extender_.effects()) out_.faults[what] += times;
    for (const auto& [what, times] : people_->effects()) out_.faults[what] += times;
    out_.works = people_->works();
    out_.sent = sent_;
    out_.checks = rules_.checks();
    out_.virtual_time = since_start();
    out_.story = told_.lines();
    return std::move(out_);
}

void world::end_faults_in_wait() {
    std::erase_if(crashes_, [](const pending_crash& one) { return one.of_plan; });
    network_.end_faults_in_wait();
    extender_.end_faults_in_wait();
}

void world::await_guest() {
    time_.at(start_ + guest_->arrival(), [this] {
        open_to_guest_ = std::make_unique<visitor::house>(
            around_, [this](const happening& what) { people_->act(what); },
            [this] {
                people_->drop_what_waits();
                end_faults_in_wait();
            });
        guest_->arrives(*open_to_guest_);
    });
}

milliseconds world::since_start() const {
    return std::chrono::duration_cast<milliseconds>(time_.now() - start_);
}

void world::blame(std::string rule, std::string text) {
    out_.violations.push_back({std::move(rule), std::move(text), since_start()});
}

outcome run(const plan& what, const run_options& how) {
    world whole(what, how);
    return whole.play();
}

outcome run(const plan& what, const run_options& how, visitor& guest) {
    world whole(what, how, &guest);
    return whole.play();
}

}  // namespace esi::simulation

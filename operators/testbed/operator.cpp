#include "testbed/operator.h"

#include <fmt/format.h>

#include <algorithm>

#include "kube/resource.h"
#include "model/conditions.h"
#include "model/names.h"
#include "testbed/caches/observe.h"
#include "testbed/caches/slot_promises.h"
#include "testbed/room/ghosts.h"
#include "testbed/view/words.h"

namespace esi::testbed {

namespace types = kube::types;

namespace {

/// How soon a reconcile checks again whether the API server serves TestbedSlotSlices.
constexpr seconds not_served_pause{30};

claims::standing claims_disabled() {
    return {std::string(model::condition_reason::claim_disabled),
            "esi-testbed runs without --claims: helm upgrade esi ... --set claims.enabled=true"};
}

}  // namespace

testbed_operator::testbed_operator(controller::environment& env, options chosen)
    : env_(env),
      options_(std::move(chosen)),
      caches_(env.api, env.time, env.options.namespaces, options_.needs_room()),
      gaps_(env.numbers, env.time),
      measures_(caches_, gaps_, env.time),
      slots_(env.numbers, options_.metrics_by_testbed),
      assessed_(env.numbers.counter("esi_testbed_slots_assessed_total",
                                    "Slots whose state was worked out; a change of one pod costs "
                                    "the slots of its node")),
      actor_(env.executor, env.time, env.api, caches_, gate_, gaps_, options_.ghosts),
      controller_("testbed", env.time, env.executor, env.numbers,
                  [this](model::object_key key) { return reconcile(std::move(key)); }),
      reports_("testbed-report", env.time, env.executor, env.numbers,
               [this](model::object_key key) { return write_report(std::move(key)); }),
      slices_writer_("testbed-slices", env.time, env.executor, env.numbers,
                     [this](model::object_key key) { return write_slices(std::move(key)); }) {
    caches_.feed(gate_);
    caches_.feed(report_gate_);
    caches_.feed(slice_gate_);
    caches_.on_change(*this);
    if (options_.needs_room()) {
        room_ = std::make_unique<placement::room_upkeep>(
            [this](const std::string& node) { return slots_on(caches_, node); });
    }
    if (options_.claims.enabled) {
        claims_ = std::make_unique<claims::claims_operator>(
            env, caches_, *room_,
            claims::claims_operator::forms{options_.compact_layouts, options_.tell_nodes},
            [this](const model::object_key& testbed) { report_changed(testbed); });
        planners_.push_back(claims_.get());
    }
    add_routes();
}

std::vector<controller::operator_part::cache> testbed_operator::caches() { return caches_.list(); }

void testbed_operator::lead() {
    controller_.start();
    reports_.start();
    slices_writer_.start();
    for (auto* each : planners_) each->lead();
}

asio::awaitable<void> testbed_operator::stop(steady_time deadline) {
    co_await controller_.stop(deadline);
    co_await reports_.stop(deadline);
    co_await slices_writer_.stop(deadline);
    co_await actor_.stop();
    for (auto* each : planners_) co_await each->stop(deadline);
}

testbed_operator::memory* testbed_operator::changed(const model::object_key& testbed) {
    controller_.enqueue(testbed);
    return find_memory(testbed);
}

testbed_operator::memory* testbed_operator::find_memory(const model::object_key& testbed) const {
    const auto found = hints_.find(testbed);
    return found == hints_.end() ? nullptr : found->second.get();
}

void testbed_operator::report_changed(const model::object_key& testbed) {
    if (auto* own = changed(testbed)) own->ledger.report_changed();
}

void testbed_operator::node_changed(const model::object_key& testbed, std::string_view node) {
    if (room_) room_->slots_changed(node);
    for (auto* each : planners_) each->slots_changed();
    if (auto* own = changed(testbed)) own->ledger.node_changed(node);
}

void testbed_operator::pod_changed(const model::object_key& testbed, const model::object_key& pod) {
    if (auto* own = changed(testbed)) own->ledger.pod_changed(pod);
}

void testbed_operator::job_changed(const model::object_key& testbed, const model::object_key& job) {
    auto* own = changed(testbed);
    if (!own) return;
    own->ledger.job_changed(job);
    own->urgent = true;
    if (const auto at = own->at_work.lock()) at->changed.notify();
}

void testbed_operator::hold_changed(const model::object_key& testbed) {
    if (claims_) claims_->testbed_changed(testbed);
    if (auto* own = changed(testbed)) own->ledger.hold_changed();
}

void testbed_operator::labels_changed(const model::object_key& testbed) {
    if (auto* own = changed(testbed)) own->ledger.labels_changed();
}

void testbed_operator::all_changed(const model::object_key& testbed) {
    if (room_) {
        const auto found = caches_.find_testbed(testbed);
        room_->all_slots_changed(testbed,
                                 found ? nodes_with_slots(*found) : std::set<std::string>());
    }
    for (auto* each : planners_) each->slots_changed();
    if (claims_) claims_->testbed_changed(testbed);
    if (auto* own = changed(testbed)) own->ledger.all_changed();
}

void testbed_operator::slice_changed(const model::object_key& testbed, int first) {
    auto* own = find_memory(testbed);
    if (!own) return;
    own->ledger.slice_changed(first);
    slices_writer_.enqueue(testbed);
}

void testbed_operator::node_seen(const kube::change<model::node>& what) {
    if (room_) room_->node_changed(what);
    for (auto* each : planners_) each->node_changed();
}

void testbed_operator::pod_seen(const kube::change<model::pod>& what) {
    const auto& some = what.after ? *what.after : *what.before;
    if (!testbed_key_of(some).empty()) {
        const auto* own = find_memory(some.testbed());
        measures_.pod_seen(what, own ? own->known.get() : nullptr);
    }
    actor_.pods_changed();
    if (room_) room_->pod_changed(what);
    for (auto* each : planners_) each->pod_changed(what);
}

void testbed_operator::tell(const testbed_pointer& testbed, const note& what) {
    using subject = controller::event_subject;
    const subject whole(types::testbed, testbed->metadata);
    const subject about = what.pod ? subject(types::pod, what.pod->metadata) : whole;
    std::optional<subject> related;
    if (what.pod) related = whole;
    if (what.holder) related = subject(types::scheduling, what.holder->metadata);
    trail of;
    of.testbed = testbed->metadata.key().text();
    if (what.pod) of = trail_of(*testbed, *what.pod);
    if (what.holder) of.scheduling = what.holder->metadata.key().text();
    if (what.warning) {
        env_.events.warning(about, what.reason, what.action, what.text, related);
        log_step(log::level::warn, what.reason, of, {}, what.text);
    } else {
        env_.events.normal(about, what.reason, what.action, what.text, related);
        log_step(log::level::info, what.reason, of, what.text);
    }
}

void testbed_operator::remember(const testbed_pointer& testbed, memory& own,
                                const decision& decided) {
    auto& known = *own.known;
    for (const auto& note : decided.notes) {
        tell(testbed, note);
        if (!note.subject.empty()) known.told[note.subject] = note.text;
    }
    std::erase_if(known.told,
                  [&](const auto& entry) { return !decided.subjects.contains(entry.first); });
    const auto now = env_.time.now();
    std::erase_if(known.unbound,
                  [&](const auto& entry) { return !decided.unbound.contains(entry.first); });
    for (const auto& uid : decided.unbound) {
        if (auto [entry, first] = known.unbound.try_emplace(uid); first) entry->second.begin(now);
    }
    std::erase_if(known.logged,
                  [&](const auto& entry) { return now - entry.second.at >= said::pause; });
    assessed_.Increment(static_cast<double>(own.ledger.slots_assessed() - own.assessed));
    own.assessed = own.ledger.slots_assessed();
}

void testbed_operator::remember_node(const model::object_key& testbed, memory& own,
                                     const std::string& name) {
    auto& known = *own.known;
    const auto& nodes = own.ledger.all().nodes();
    const auto state = nodes.find(name);
    const auto from = known.strangers.lower_bound(name + "/");
    const auto to = known.strangers.lower_bound(name + "0");
    std::set<std::string> before(from, to);
    known.strangers.erase(from, to);
    if (state == nodes.end()) {
        known.refusals.erase(name);
    } else {
        for (const auto& place : state->second.strangers) {
            // Counted only if a pod has left the slot before: otherwise there was no room to take.
            if (!before.contains(place) && known.vacated.contains(place)) gaps_.stranger();
            known.strangers.insert(place);
        }
    }
    const auto now = env_.time.now();
    for (const auto& pod : caches_.pods().by_index("home", in_testbed(testbed, "@", name))) {
        const auto& uid = pod->metadata.uid;
        if (!pod->is_ghost()) {
            if (!pod->bound() && grid::let_in(*pod) && grid::slot_of_pod(*pod)) {
                known.let_in_since.try_emplace(uid, now);
            } else {
                known.let_in_since.erase(uid);
            }
            continue;
        }
        if (!pod->bound() || !pod->live()) continue;
        if (ghost_failure(*pod) == keeps_ending) {
            known.crashed[uid] = now;
            known.ending.insert(uid);
        } else if (known.ending.erase(uid) > 0) {
            // The ghost kept ending until this change.
            known.crashed[uid] = now;
        }
        const auto failed = known.ghosts.find(pod->metadata.name);
        if (failed != known.ghosts.end() && now - failed->second.last > std::chrono::minutes(10)) {
            known.ghosts.erase(failed);
        }
    }
}

std::set<std::string> testbed_operator::bring_up(const testbed_pointer& testbed, memory& own) {
    auto looked = own.ledger.bring_up(caches_, testbed, *own.known, options_.ghosts.image,
                                      env_.time.now(), env_.time.wall());
    if (!own.ledger.unwritten().empty()) slices_writer_.enqueue(testbed->metadata.key());
    return looked;
}

void testbed_operator::see_nodes(memory& own, const std::vector<action>& actions, turn& at) const {
    const auto& seen = own.ledger.of().seen;
    const auto& places = *seen.index_of(*seen.testbed).places;
    std::set<std::string> names;
    for (const auto& what : actions) {
        if (const auto* slot = slot_to_open(what)) names.insert(slot->in.place.node);
    }
    for (const auto& name : names) {
        auto here = observe_node(caches_, seen, name, places);
        auto on_record = records_of(here, places.on(name));
        at.nodes.insert_or_assign(name, turn::place_seen{std::move(here), std::move(on_record)});
    }
}

std::shared_ptr<turn> testbed_operator::begin_turn(const std::shared_ptr<memory>& own,
                                                   std::vector<action> actions) {
    auto out = std::make_shared<turn>(env_.executor);
    out->seen = own->ledger.of().seen;
    out->known = own->known;
    out->gives_way = [own] { return own->urgent; };
    // Only the turn calls this, so `at` is valid then.
    out->newcomers = [this, own, at = out.get()] { return newcomers(*own, *at); };
    see_nodes(*own, actions, *out);
    for (const auto& what : actions) {
        if (const auto* slot = slot_to_open(what)) out->opened.insert(slot->placed->metadata.uid);
    }
    out->todo = std::move(actions);
    own->at_work = out;
    return out;
}

std::vector<action> testbed_operator::newcomers(memory& own, turn& at) {
    std::vector<action> out;
    const auto& before = *at.seen.testbed;
    const auto testbed = caches_.find_testbed(before.metadata.key());
    if (!testbed || testbed->metadata.uid != before.metadata.uid ||
        testbed->hold() != before.hold()) {
        return out;
    }
    const auto looked = bring_up(testbed, own);
    const auto& states = own.ledger;
    auto decided = decide(states.of(), states.all(), *own.known, env_.time.now());
    for (const auto& name : looked) remember_node(testbed->metadata.key(), own, name);
    for (auto& what : decided.actions) {
        const bool lets_in =
            std::holds_alternative<swap_in>(what) || std::holds_alternative<commit_placement>(what);
        const auto* slot = slot_to_open(what);
        if (!lets_in || !slot->in.ghost || at.opened.contains(slot->placed->metadata.uid)) continue;
        out.push_back(std::move(what));
    }
    see_nodes(own, out, at);
    return out;
}

std::optional<steady_time::duration> testbed_operator::wait_to_report(const memory& of) const {
    const auto& written = of.known->status_written;
    if (!written) return std::nullopt;
    const auto since = env_.time.now() - *written;
    const auto pause = report_pause(of.ledger.all().sums().counts, of.acts, options_.many_slots);
    if (since >= pause) return std::nullopt;
    return pause - since;
}

asio::awaitable<result<controller::outcome>> testbed_operator::write_next_layout(
    testbed_pointer testbed, std::shared_ptr<memory> own, model::testbed_layout next) {
    auto& states = own->ledger;
    const auto wall = env_.time.wall();
    const auto whole = states.of_layout(caches_, next, *own->known, env_.time.now(), wall);
    auto decided = decide_layout(overview_for(states.of(), next), whole, wall);
    auto done = co_await actor_.write_status(testbed, std::move(decided.status), gate_);
    if (!done) co_return std::unexpected(done.error());
    // The notes are about the layout alone: `told` keeps all that was reported before.
    for (const auto& note : decided.notes) tell(testbed, note);
    own->known->status_written = env_.time.now();
    co_return controller::outcome();
}

std::shared_ptr<testbed_operator::memory> testbed_operator::memory_of(
    const model::object_key& key) {
    auto& entry = hints_[key];
    if (!entry) {
        entry = std::make_shared<memory>();
        entry->ledger.divide_rows(options_.most_listed_slots, options_.rows_per_slice);
    }
    return entry;
}

void testbed_operator::forget(const model::object_key& key) {
    hints_.erase(key);
    gate_.forget(key);
    report_gate_.forget(key);
    slice_gate_.forget(key);
    slots_.forget(key);
}

std::set<std::string> testbed_operator::observe(const testbed_pointer& testbed, memory& own) {
    const auto key = testbed->metadata.key();
    const auto now = env_.time.now();
    const auto wall = env_.time.wall();
    if (testbed->spec.claim) {
        own.known->claim = claims_ ? claims_->standing_of(key) : claims_disabled();
    }
    auto looked = bring_up(testbed, own);
    if (options_.check_ledger) {
        const auto differs = own.ledger.differences(caches_, *own.known, now, wall);
        if (!differs.empty())
            log::error("ledger differs", {{"testbed", key.text()}, {"how", differs}});
    }
    return looked;
}

asio::awaitable<result<controller::outcome>> testbed_operator::write_layout_of_claim(
    testbed_pointer testbed, std::shared_ptr<memory> own, claims::next_layout next) {
    if (next.back) {
        // The write of the layout also reports why the places are given back.
        own->known->claim = next.back->at;
        own->ledger.see_claim(own->known->claim);
    } else {
        claims_->writes(*testbed);
    }
    auto done = co_await write_next_layout(testbed, own, std::move(next.layout));
    if (!next.back) {
        claims_->written(*testbed, done ? std::nullopt : std::optional(done.error().text));
    } else if (done) {
        own->known->incomplete.reset();
        claims_->gave_back(*testbed, *std::move(next.back));
    }
    co_return done;
}

asio::awaitable<result<controller::outcome>> testbed_operator::change_finalizer_of(
    testbed_pointer testbed, bool present) {
    if (!present) {
        auto left = co_await actor_.taint_is_left(testbed);
        if (!left) co_return std::unexpected(left.error());
        if (*left) co_return controller::outcome::again_in(own_writes_pause);
    }
    auto done = co_await actor_.set_finalizer(testbed, present);
    // Not found: another leader was first, or the cache is behind our own last write.
    if (!done && done.error().code != errc::not_found) co_return std::unexpected(done.error());
    co_return controller::outcome();
}

std::optional<model::testbed_status> testbed_operator::report_or_enqueue(
    const model::testbed& testbed, const memory& own) {
    const auto at = stage_of(testbed);
    if (at != stage::works && at != stage::unreadable) return std::nullopt;
    const auto& states = own.ledger;
    if (states.all().sums().counts.total <= options_.many_slots) {
        return report(states.of(), states.all(), env_.time.wall());
    }
    if (own.reported != states.version()) reports_.enqueue(testbed.metadata.key());
    return std::nullopt;
}

asio::awaitable<result<controller::outcome>> testbed_operator::reconcile(model::object_key key) {
    using controller::outcome;
    auto testbed = caches_.find_testbed(key);
    if (!testbed) {
        forget(key);
        co_return outcome();
    }
    if (!gate_.caught_up(key)) co_return outcome::again_in(own_writes_pause);
    auto own = memory_of(key);
    own->urgent = false;
    auto& states = own->ledger;
    const auto now = env_.time.now();

    const auto looked = observe(testbed, *own);
    // A new layout is written alone, before any action is decided: a hold may come at the same
    // time. Then the write fails.
    if (may_change_layout(states.of(), options_.compact_layouts)) {
        co_return co_await write_next_layout(testbed, own,
                                             next_layout(states.of(), options_.compact_layouts));
    }
    std::optional<steady_time::duration> claim_due;
    if (!claims_) {
        own->known->incomplete.reset();
    } else if (auto next = claims_->layout_for(*testbed, *own->known, states.all(),
                                               states.of().seen, claim_due)) {
        co_return co_await write_layout_of_claim(testbed, own, *std::move(next));
    }

    auto decided = decide(states.of(), states.all(), *own->known, now);
    // Before the actions, so that a pod that was let in is watched from the first reconcile that
    // sees it.
    remember(testbed, *own, decided);
    for (const auto& name : looked) remember_node(key, *own, name);
    show_slots(*testbed, *own, decided.pods_waiting);

    for (const auto& what : decided.actions) {
        if (const auto* finalizer = std::get_if<change_finalizer>(&what)) {
            co_return co_await change_finalizer_of(testbed, finalizer->present);
        }
    }
    own->acts = !decided.actions.empty();
    auto next_status = report_or_enqueue(*testbed, *own);
    const auto in_time = states.next_change(now, env_.time.wall());
    // No event shows when the API server begins to serve the kind.
    const bool without_rows =
        states.all().sums().counts.total > options_.most_listed_slots && !caches_.slices_served();
    auto turn = begin_turn(own, std::move(decided.actions));
    co_await actor_.take_all(turn);

    outcome out;
    std::optional<steady_time::duration> served;
    if (without_rows) served = not_served_pause;
    for (const auto& wait : {decided.again, in_time, turn->again, served, claim_due}) {
        if (wait && (!out.after || *wait < *out.after)) out.after = wait;
    }
    if (!next_status) co_return out;

    // The results of the actions come back as events, and the reconcile after the last action
    // writes the report. If the actions do not end, a report is written after each pause: one of a
    // Testbed with many slots is too long for every step.
    if (const auto rest = wait_to_report(*own)) {
        if (!out.after || *rest < *out.after) out.after = *rest;
        co_return out;
    }
    auto written = co_await actor_.write_status(testbed, *std::move(next_status), gate_);
    if (!written && written.error().code == errc::not_found) co_return out;
    if (!written) co_return std::unexpected(written.error());
    if (*written) own->known->status_written = env_.time.now();
    co_return out;
}

void testbed_operator::show_slots(const model::testbed& testbed, const memory& own,
                                  int pods_waiting) {
    const auto key = testbed.metadata.key();
    if (stage_of(testbed) == stage::works) {
        slots_.show(key, own.ledger.all().sums().counts, pods_waiting);
    } else if (testbed.status.counts) {
        slots_.show(key, *testbed.status.counts, 0);
    }
}

asio::awaitable<result<controller::outcome>> testbed_operator::write_report(model::object_key key) {
    using controller::outcome;
    const auto found = hints_.find(key);
    if (found == hints_.end()) co_return outcome();
    auto own = found->second;
    const auto& states = own->ledger;
    const auto& testbed = states.of().seen.testbed;
    if (!testbed || stage_of(*testbed) != stage::works) co_return outcome();
    if (own->reported == states.version()) co_return outcome();
    if (!report_gate_.caught_up(key)) co_return outcome::again_in(own_writes_pause);
    if (const auto rest = wait_to_report(*own)) co_return outcome::again_in(*rest);
    const auto version = states.version();
    auto status = report(states.of(), states.all(), env_.time.wall());
    auto written = co_await actor_.write_status(testbed, std::move(status), report_gate_);
    if (!written && written.error().code == errc::not_found) co_return outcome();
    if (!written) co_return std::unexpected(written.error());
    own->reported = version;
    if (*written) own->known->status_written = env_.time.now();
    // The ledger has changed during the write: the next report follows after a pause.
    if (own->reported != states.version()) co_return outcome::again_in(many_slots_pause);
    co_return outcome();
}

}  // namespace esi::testbed

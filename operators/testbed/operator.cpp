#include "testbed/operator.h"

#include <CLI/CLI.hpp>

#include "kube/resource.h"
#include "model/names.h"
#include "testbed/debug.h"
#include "testbed/extender.h"
#include "testbed/original_error.h"

namespace esi::testbed {

namespace types = kube::types;

namespace {

/// How soon a reconcile looks whether its own last writes have come back; events are faster.
constexpr milliseconds own_writes_pause{20};

using extender_verb = result<std::string> (*)(std::string_view, const extender_facts&);

asio::awaitable<http::server_reply> answer_extender(extender_verb verb,
                                                    const caches_of_testbeds& known, clock& time,
                                                    http::server_request request) {
    // A failed attempt of the scheduler's; it would take an answer of half-filled caches for true.
    if (!known.synced()) {
        co_return original_error(request, 503, time.wall(), {"the caches are not filled yet"});
    }
    auto answer = verb(request.body, known);
    if (!answer) co_return original_error(request, 400, time.wall(), {answer.error().text});
    co_return http::server_reply(200, "application/json", std::move(*answer));
}

/// What kube-scheduler sends: the names of all nodes, or with nodeCacheCapable: false the nodes as
/// a whole (10 to 40 KiB each), which only a scheduler with a certificate may.
http::route_rules extender_rules() {
    http::route_rules out;
    out.body_limit = 4u << 20;
    out.certified_body_limit = 64u << 20;
    return out;
}

/// Node and slot of a ghost, as place_key.
std::string place_in_testbed(const model::pod& ghost) {
    return place_key(std::string(ghost.metadata.annotation(model::names::node)),
                     grid::slot_index_of_ghost(ghost).value_or(-1));
}

/// Testbed and slot of a ghost, as the histograms' key.
std::string place_of_ghost(const model::pod& ghost) {
    return testbed_key_of(ghost) + "/" + place_in_testbed(ghost);
}

}  // namespace

void settings::add_to(CLI::App& app) {
    app.add_option("--ghost-image", ghosts.image, "Image of ghost pods: one that only waits")
        ->envname("ESI_GHOST_IMAGE")
        ->capture_default_str();
    app.add_option("--ghost-priority-class", ghosts.priority_class,
                   "PriorityClass of ghost pods; its preemptionPolicy must be Never")
        ->envname("ESI_GHOST_PRIORITY_CLASS")
        ->capture_default_str();
    app.add_flag("--metrics-by-testbed", metrics_by_testbed,
                 "Show slots in /metrics by the Testbeds' namespaces and names, which everybody "
                 "reads who reaches the port; else their sums")
        ->envname("ESI_METRICS_BY_TESTBED");
    controller::add_legacy_namespace(app, legacy_namespace,
                                     "in which the original's /debug endpoints look for names",
                                     "--enable-debug-endpoints");
    controller::add_access_flags(app, access, "/debug");
}

testbed_operator::testbed_operator(controller::environment& around, settings chosen)
    : around_(around),
      settings_(std::move(chosen)),
      caches_(around.api, around.time, around.options.namespaces),
      gaps_(around.numbers, around.time),
      slots_(around.numbers, settings_.metrics_by_testbed),
      actor_(around.executor, around.time, around.api, gate_, gaps_, settings_.ghosts),
      controller_("testbed", around.time, around.executor, around.numbers,
                  [this](model::object_key key) { return reconcile(std::move(key)); }) {
    caches_.feed(gate_);
    watch();
    add_routes();
}

std::vector<controller::operator_part::cache> testbed_operator::caches() { return caches_.list(); }

void testbed_operator::lead() { controller_.start(); }

asio::awaitable<void> testbed_operator::stop(steady_time deadline) {
    co_await controller_.stop(deadline);
    co_await actor_.stop();
}

void testbed_operator::watch() {
    caches_.on_change([this](const model::object_key& key) { controller_.enqueue(key); });
    caches_.on_pod_change([this](const kube::change<model::pod>& what) { measure(what); });
}

void testbed_operator::measure(const kube::change<model::pod>& what) {
    const auto& some = what.after ? *what.after : *what.before;
    const auto key = testbed_key_of(some);
    if (key.empty()) return;
    // There only while this process leads.
    const auto known = known_.find(some.testbed());
    if (some.is_ghost()) {
        if (!what.after || !what.after->bound() || (what.before && what.before->bound())) return;
        gaps_.ghost_bound(place_of_ghost(some));
        if (known == known_.end()) return;
        const auto left = known->second->left.extract(place_in_testbed(some));
        if (left) log_step(log::level::info, "slot free again", left.mapped());
        return;
    }
    const auto& uid = some.metadata.uid;
    if (!what.after) gaps_.pod_gone(uid);
    if (what.after && what.after->bound()) gaps_.pod_bound(uid);
    const bool was_in = what.before && what.before->bound() && what.before->live();
    const bool is_in = what.after && what.after->live();
    const auto position = grid::slot_of_pod(some);
    if (!was_in || is_in || !position) return;
    auto testbed = caches_.find_testbed(some.testbed());
    if (!testbed || !testbed->status.layout) return;
    const auto& layout = *testbed->status.layout;
    const auto nodes = static_cast<int>(layout.nodes.size());
    if (nodes == 0 || *position / nodes >= layout.slots_per_node) return;
    const grid::slot place{*position, some.node_name, 0, *position / nodes};
    const auto where = place_key(place.node, place.index);
    gaps_.pod_left(key + "/" + where);
    if (known == known_.end()) return;
    known->second->vacated[where] = around_.time.wall();
    if (!is_on_record(*testbed, some, *position)) return;
    const auto of = trail_of(*testbed, some, &place);
    known->second->left[where] = of;
    log_step(log::level::info, "pod has left its slot", of, what.after ? some.phase : "");
}

/// What a pod says of itself makes no line about a slot.
bool testbed_operator::is_on_record(const model::testbed& testbed, const model::pod& pod,
                                    int position) const {
    const auto& uid = pod.metadata.uid;
    grid::records rows(testbed.metadata.key());
    rows.add(testbed);
    return rows.has(pod, position) || caches_.seat_of(testbed.metadata.key(), pod.run(), uid);
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
        around_.events.warning(about, what.reason, what.action, what.text, related);
        log_step(log::level::warn, what.reason, of, {}, what.text);
    } else {
        around_.events.normal(about, what.reason, what.action, what.text, related);
        log_step(log::level::info, what.reason, of, what.text);
    }
}

void testbed_operator::remember(const testbed_pointer& testbed, hints& known, const plan& decided,
                                const view& seen) {
    for (const auto& note : decided.notes) {
        tell(testbed, note);
        if (!note.subject.empty()) known.told[note.subject] = note.text;
    }
    std::erase_if(known.told,
                  [&](const auto& entry) { return !decided.subjects.contains(entry.first); });
    for (const auto& place : decided.strangers) {
        // A room that was never there is no stranger's doing.
        if (!known.strangers.contains(place) && known.vacated.contains(place)) gaps_.stranger();
    }
    known.strangers = decided.strangers;

    std::set<std::string> alive;
    const auto now = around_.time.now();
    for (const auto& pod : seen.pods) {
        const auto& uid = pod->metadata.uid;
        alive.insert(uid);
        if (pod->is_ghost()) {
            if (!pod->bound() || !pod->live()) continue;
            if (ghost_failure(*pod) == keeps_ending) known.crashed[uid] = now;
            auto failed = known.ghosts.find(pod->metadata.name);
            if (failed != known.ghosts.end() &&
                now - failed->second.last > std::chrono::minutes(10)) {
                known.ghosts.erase(failed);
            }
        } else if (!pod->bound() && grid::let_in(*pod) && grid::slot_of_pod(*pod)) {
            known.let_in_since.try_emplace(uid, now);
        } else {
            known.let_in_since.erase(uid);
        }
    }
    std::erase_if(known.unbound,
                  [&](const auto& entry) { return !decided.unbound.contains(entry.first); });
    for (const auto& uid : decided.unbound) {
        if (auto [entry, first] = known.unbound.try_emplace(uid); first) entry->second.begin(now);
    }
    std::erase_if(known.let_in_since,
                  [&](const auto& entry) { return !alive.contains(entry.first); });
    std::erase_if(known.crashed, [&](const auto& entry) {
        return !alive.contains(entry.first) || now > entry.second + crash_memory;
    });
    std::erase_if(known.logged,
                  [&](const auto& entry) { return now - entry.second.at >= said::pause; });
    std::erase_if(known.swaps, [&](const auto& entry) { return !alive.contains(entry.first); });
    std::erase_if(known.obstacles, [&](const auto& entry) {
        return !alive.contains(entry.first) && !seen.nodes.contains(entry.first);
    });
}

asio::awaitable<result<controller::outcome>> testbed_operator::reconcile(model::object_key key) {
    auto testbed = caches_.find_testbed(key);
    if (!testbed) {
        known_.erase(key);
        gate_.forget(key);
        slots_.forget(key);
        co_return controller::outcome();
    }
    if (!gate_.caught_up(key)) co_return controller::outcome::again_in(own_writes_pause);
    auto& slot = known_[key];
    if (!slot) slot = std::make_shared<hints>();
    auto known = slot;

    auto at = std::make_shared<pass>(around_.executor);
    at->seen = caches_.observe(testbed);
    at->seen.ghost_image = settings_.ghosts.image;
    at->known = known;
    if (testbed->status.layout) at->layout = *testbed->status.layout;
    // Before decide: a pod that was let in is watched from the first look at it.
    auto decided = decide(at->seen, *known, around_.time.now(), around_.time.wall());
    remember(testbed, *known, decided, at->seen);
    if (const auto& counts = decided.status.counts) {
        slots_.show(key, *counts, decided.pods_waiting);
    }

    for (const auto& what : decided.actions) {
        if (auto* finalizer = std::get_if<change_finalizer>(&what)) {
            if (!finalizer->present) {
                auto left = co_await actor_.taint_is_left(testbed);
                if (!left) co_return std::unexpected(left.error());
                if (*left) co_return controller::outcome::again_in(own_writes_pause);
            }
            auto done = co_await actor_.set_finalizer(testbed, finalizer->present);
            // Gone: another leader, or the cache is behind our own last write.
            if (!done && done.error().code != errc::not_found) {
                co_return std::unexpected(done.error());
            }
            co_return controller::outcome();
        }
        if (std::get_if<write_layout>(&what)) {
            auto done = co_await actor_.write_status(testbed, std::move(decided.status));
            if (!done) co_return std::unexpected(done.error());
            known->status_written = around_.time.now();
            co_return controller::outcome();
        }
    }
    const bool acts = !decided.actions.empty();
    at->todo = std::move(decided.actions);
    co_await actor_.take_all(at);

    auto out =
        decided.again ? controller::outcome::again_in(*decided.again) : controller::outcome();
    if (at->again && (!out.after || *at->again < *out.after)) out.after = at->again;
    if (testbed->metadata.deleting() && !is_held(*testbed)) co_return out;

    // What was done comes back as events; the look after the last action writes the report, unless
    // there is no end of actions. A big Testbed's report is long: not at every step.
    const auto pause = report_pause(decided.status, acts);
    if (known->status_written) {
        const auto since = around_.time.now() - *known->status_written;
        if (since < pause) {
            const auto rest = pause - since;
            if (!out.after || rest < *out.after) out.after = rest;
            co_return out;
        }
    }
    auto written = co_await actor_.write_status(testbed, std::move(decided.status));
    if (!written && written.error().code == errc::not_found) co_return out;
    if (!written) co_return std::unexpected(written.error());
    if (*written) known->status_written = around_.time.now();
    co_return out;
}

void testbed_operator::add_routes() {
    auto& routes = around_.routes;
    auto& time = around_.time;
    using reply = http::server_reply;
    if (!around_.options.client_ca_file.empty()) {
        routes.guard(
            "/extender", [&time](const http::server_request& head) -> std::optional<reply> {
                if (head.peer_has_certificate) return std::nullopt;
                return original_error(head, 403, time.wall(),
                                      {"/extender answers clients with a certificate of "
                                       "--client-ca-file; give kube-scheduler's extender one "
                                       "(tlsConfig)"});
            });
    }
    const auto& known = caches_;
    routes.add(
        "POST", "/extender/filter",
        [&known, &time](http::server_request request) {
            return answer_extender(answer_filter, known, time, std::move(request));
        },
        extender_rules());
    routes.add(
        "POST", "/extender/preemption",
        [&known, &time](http::server_request request) {
            return answer_extender(answer_preemption, known, time, std::move(request));
        },
        extender_rules());
    for (const char* prefix : {"/extender", "/debug"}) {
        routes.on_miss(prefix, [&time](const http::server_request& request,
                                       const std::vector<std::string>& allowed) {
            return original_miss(request, allowed, time.wall());
        });
    }
    if (around_.options.enable_debug_endpoints) {
        if (settings_.access.open) controller::warn_of_open_access("/debug");
        add_debug_routes(routes, {time, around_.open_api, caches_, settings_.legacy_namespace,
                                  settings_.access});
    }
}

}  // namespace esi::testbed

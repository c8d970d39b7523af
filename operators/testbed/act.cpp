#include "testbed/act.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/overloaded.h"
#include "controller/finalizers.h"
#include "controller/patch_status.h"
#include "kube/patch.h"
#include "kube/resource.h"
#include "kube/watch/live_list.h"
#include "model/json.h"
#include "model/names.h"
#include "placement/door.h"
#include "testbed/fit_status.h"

namespace esi::testbed {

namespace names = model::names;
using kube::json;
namespace types = kube::types;

namespace {

/// At most this many requests run at once for one Testbed: enough to hide latency, few enough that
/// a big Testbed does not flood the API server.
constexpr std::size_t most_workers = 16;
/// One turn takes in newly arrived pods at most this often, so that an endless stream of pods does
/// not keep the rest of the Testbed from its turn.
constexpr int most_arrivals = 16;

asio::awaitable<void> nothing() { co_return; }

/// Decrements the number of workers however the worker ends.
struct worker_count {
    std::shared_ptr<turn> at;
    explicit worker_count(std::shared_ptr<turn> of) : at(std::move(of)) {}
    worker_count(const worker_count&) = delete;
    worker_count& operator=(const worker_count&) = delete;
    ~worker_count() {
        if (--at->workers == 0) at->changed.notify();
    }
};

}  // namespace

actor::actor(asio::any_io_executor executor, clock& time, kube::client& api, const caches& from,
             controller::write_gate& gate, gap_times& gaps, ghost_options ghosts)
    : time_(time),
      api_(api),
      caches_(from),
      gate_(gate),
      gaps_(gaps),
      ghosts_(std::move(ghosts)),
      pods_changed_(executor),
      group_(std::move(executor)) {}

asio::awaitable<void> actor::stop() { co_await group_.stop(); }

void actor::failed(const std::shared_ptr<turn>& at, std::string_view what, const error& why,
                   trail of, const std::string& subject) {
    of.testbed = at->seen.testbed->metadata.key().text();
    if (is_of_the_moment(why.code)) {
        log_step(log::level::debug, what, of, {}, why.text);
        at->again_in(milliseconds(200));
        return;
    }
    const auto about = fmt::format("{} {} {} {}", what, of.job, of.pod, of.node);
    const bool news = at->known->is_news(about, why.text, time_.now());
    log_step(news ? log::level::warn : log::level::debug, what, of, {}, why.text);
    if (!subject.empty() && !why.transient()) {
        at->known->meets(subject, std::string(what), why.code, why.text);
    }
    at->again_in(why.retry_after ? steady_time::duration(*why.retry_after)
                                 : steady_time::duration(seconds(1)));
}

void actor::waits(const std::shared_ptr<turn>& at, const trail& of, std::string_view why) {
    const bool news = at->known->is_news("wait " + of.pod, why, time_.now());
    log_step(news ? log::level::info : log::level::debug, "pod waits at its slot", of, why);
}

const slot_assessment* slot_to_open(const action& what) {
    if (auto* in = std::get_if<swap_in>(&what)) return &in->slot;
    if (auto* decided = std::get_if<commit_placement>(&what)) return &decided->slot;
    if (auto* late = std::get_if<wake_pod>(&what)) return &late->slot;
    return nullptr;
}

asio::awaitable<void> actor::take_all(std::shared_ptr<turn> at) {
    if (at->todo.empty()) co_return;
    std::vector<action> rest;
    for (auto& what : std::exchange(at->todo, {})) {
        (slot_to_open(what) ? at->todo : rest).push_back(std::move(what));
    }
    at->urgent = at->todo.size();
    std::ranges::move(rest, std::back_inserter(at->todo));
    co_await confirm(at, at->todo);
    at->workers = std::min(most_workers, at->todo.size());
    const auto count = at->workers;
    for (std::size_t i = 0; i < count; ++i) group_.spawn("testbed action", work(at));
    co_await see_through(at);
}

/// Returns when the last worker has ended. A pod that comes meanwhile does not wait for the others:
/// a swap is several requests, one after the other.
asio::awaitable<void> actor::see_through(std::shared_ptr<turn> at) {
    for (int arrivals = 0; at->workers > 0;) {
        co_await at->changed.wait();
        if (at->workers == 0 || !at->gives_way() || arrivals == most_arrivals) continue;
        auto more = at->newcomers();
        if (more.empty()) continue;
        if (more.size() > most_workers) more.resize(most_workers);
        ++arrivals;
        for (const auto& what : more) at->opened.insert(slot_to_open(what)->placed->metadata.uid);
        co_await confirm(at, more);
        at->workers += more.size();
        for (auto& what : more) {
            group_.spawn("testbed action", take_beside(at, std::move(what)));
        }
    }
}

asio::awaitable<void> actor::take_beside(std::shared_ptr<turn> at, action what) {
    worker_count count(at);
    co_await take(at, std::move(what));
}

asio::awaitable<void> actor::work(std::shared_ptr<turn> at) {
    worker_count count(at);
    bool took = false;
    while (at->next < at->todo.size()) {
        // One less urgent action is taken at least: endless orders must not block the others.
        if (at->next >= at->urgent && took && at->gives_way()) co_return;
        const auto index = at->next++;
        took = took || index >= at->urgent;
        co_await take(at, at->todo[index]);
    }
}

asio::awaitable<void> actor::take(std::shared_ptr<turn> at, action what) {
    // Each function takes what it needs by value before it returns: `what` is gone by then.
    co_await std::visit(
        overloaded{[&](taint_change& change) { return apply_taint(at, std::move(change)); },
                   [&](create_ghost& create) { return make_ghost(at, std::move(create.place)); },
                   [&](change_ghost_image& given) { return change_image(at, given.ghost); },
                   [&](nominate_ghost& wanted) { return nominate(at, std::move(wanted)); },
                   [&](remove_ghost& gone) { return clear(at, std::move(gone)); },
                   [&](swap_in& in) { return swap(at, std::move(in.slot)); },
                   [&](commit_placement& decided) { return commit(at, std::move(decided.slot)); },
                   [&](wake_pod& late) { return wake(at, std::move(late.slot)); },
                   [&](withdraw& back) { return take_back(at, back.pod); },
                   [&](drop_pod& given_up) { return drop(at, std::move(given_up)); },
                   // The reconcile takes these itself, one at a time.
                   [](change_finalizer&) { return nothing(); },
                   [](write_layout&) { return nothing(); }},
        what);
}

asio::awaitable<void> actor::change_image(std::shared_ptr<turn> at, pod_pointer ghost) {
    auto done = co_await patch_pod(at, *ghost, ghost_image_patch(*ghost, ghosts_.image), "",
                                   kube::patch_kind::strategic);
    if (done) {
        at->known->images = {};
        co_return;
    }
    const auto of = trail_of(*at->seen.testbed, *ghost);
    const auto& why = done.error();
    if (why.transient() || is_of_the_moment(why.code)) {
        failed(at, "image of a ghost not changed", why, of);
        co_return;
    }
    // One Event reports it for all ghosts.
    log_step(log::level::debug, "image of a ghost not changed", of, {}, why.text);
    at->known->images.failed(time_.now(), model::cut(why.text, 500));
}

asio::awaitable<void> actor::nominate(std::shared_ptr<turn> at, nominate_ghost wanted) {
    const auto& ghost = *wanted.ghost;
    auto done =
        co_await patch_pod(at, ghost, placement::nomination_patch(ghost, wanted.node), "status");
    if (!done) {
        failed(at, "ghost not nominated", done.error(), trail_of(*at->seen.testbed, ghost));
    }
}

asio::awaitable<void> actor::clear(std::shared_ptr<turn> at, remove_ghost gone) {
    const auto of = trail_of(*at->seen.testbed, *gone.ghost);
    const auto& name = gone.ghost->metadata.name;
    if (gone.failed) {
        at->known->ghost_failed(name, time_.now(), gone.why);
    } else {
        at->known->ghosts.try_emplace(name);
    }
    const kube::preconditions guard(gone.ghost->metadata.uid);
    if (!co_await remove_pod(at, gone.ghost, guard, 0)) co_return;
    if (gone.failed) {
        log_step(log::level::warn, "ghost removed", of, {}, gone.why);
    } else {
        log_step(log::level::info, "ghost removed", of, gone.why);
    }
}

asio::awaitable<void> actor::drop(std::shared_ptr<turn> at, drop_pod given_up) {
    const auto& meta = given_up.pod->metadata;
    const auto of = trail_of(*at->seen.testbed, *given_up.pod, &given_up.place);
    if (at->known->is_news("given up " + of.pod, given_up.why, time_.now())) {
        log_step(log::level::warn, "pod given up", of, {}, given_up.why);
    }
    // If the pod was bound meanwhile, its resourceVersion is another one and it stays.
    co_await remove_pod(at, given_up.pod, kube::preconditions(meta.uid, meta.resource_version),
                        std::nullopt);
}

asio::awaitable<void> actor::apply_taint(std::shared_ptr<turn> at, taint_change change) {
    const auto uid = at->seen.testbed->metadata.uid;
    trail of;
    of.testbed = at->seen.testbed->metadata.key().text();
    of.node = change.node;
    for (int attempt = 0; attempt < 3; ++attempt) {
        auto text = co_await api_.get(types::node, "", change.node);
        if (!text) {
            failed(at, "node not read", text.error(), of, change.node);
            co_return;
        }
        auto node = json::parse(*text, nullptr, false);
        if (!node.is_object() || !node.contains("metadata")) co_return;
        auto taints = changed_taints(node, change, uid);
        if (!taints) {
            at->again_in(milliseconds(50));
            co_return;
        }
        auto body =
            kube::guarded({{"spec", {{"taints", *taints}}}}, node["metadata"].value("uid", ""),
                          node["metadata"].value("resourceVersion", ""));
        auto done =
            co_await api_.patch(types::node, "", change.node, kube::patch_kind::merge, body);
        if (done) {
            at->known->refusals.erase(change.node);
            auto written = model::decode<model::node>(*done, "Node");
            if (written) {
                gate_.wrote(at->seen.testbed->metadata.key(), "Node", written->metadata);
            }
            log_step(log::level::info, change.value.empty() ? "taint removed" : "taint set", of);
            co_return;
        }
        // Nodes are written often (heartbeats): the change is computed from a fresh read.
        if (done.error().code == errc::conflict && attempt < 2) continue;
        failed(at, "taint not changed", done.error(), of, change.node);
        co_return;
    }
}

asio::awaitable<result<model::pod>> actor::patch_pod(std::shared_ptr<turn> at, model::pod pod,
                                                     json body, std::string subresource,
                                                     kube::patch_kind kind) {
    auto text = co_await api_.patch(types::pod, pod.metadata.namespace_, pod.metadata.name, kind,
                                    std::move(body), subresource);
    if (!text) co_return std::unexpected(text.error());
    auto written = model::decode<model::pod>(*text, "Pod");
    if (written) {
        gate_.wrote(at->seen.testbed->metadata.key(), "Pod", written->metadata);
    }
    co_return written;
}

asio::awaitable<bool> actor::remove_pod(std::shared_ptr<turn> at, pod_pointer pod,
                                        kube::preconditions guard, std::optional<int> grace,
                                        std::string subject) {
    const auto& meta = pod->metadata;
    auto text = co_await api_.remove(types::pod, meta.namespace_, meta.name, guard, grace);
    if (!text) {
        if (text.error().code == errc::not_found) {
            at->again_in(milliseconds(50));
            co_return true;
        }
        failed(at, pod->is_ghost() ? "ghost not removed" : "pod not removed", text.error(),
               trail_of(*at->seen.testbed, *pod), subject);
        co_return false;
    }
    auto last = model::decode<model::pod>(*text, "Pod");
    if (last && last->metadata.name == meta.name) {
        gate_.wrote(at->seen.testbed->metadata.key(), "Pod", last->metadata);
    }
    co_return true;
}

asio::awaitable<void> actor::make_ghost(std::shared_ptr<turn> at, grid::slot place) {
    const auto& testbed = *at->seen.testbed;
    const auto& layout = testbed.status.layout;
    if (!layout) co_return;
    const auto name =
        grid::ghost_name(testbed.metadata.name, testbed.metadata.uid, place.node, place.index);
    trail of;
    of.pod = testbed.metadata.namespace_ + "/" + name;
    of.slot = place.position;
    of.node = place.node;
    auto text = co_await api_.create(types::pod, testbed.metadata.namespace_,
                                     ghost_object(testbed, *layout, place, ghosts_));
    if (!text) {
        const auto why = text.error();
        if (why.code == errc::already_exists) {
            auto found = co_await api_.get(types::pod, testbed.metadata.namespace_, name);
            auto pod = found ? model::decode<model::pod>(*found, "Pod")
                             : result<model::pod>(std::unexpected(found.error()));
            if (pod && !is_own_ghost(*pod, testbed)) {
                at->known->ghost_failed(name, time_.now(), "a pod of others has this name");
                // A ghost without its labels is not seen before it is bound. It belongs to no
                // foreign controller: the name is a hash of our uid.
                const auto* owner = pod->metadata.controller_owner();
                if (!owner || owner->uid == testbed.metadata.uid) {
                    co_await remove_pod(at, std::make_shared<const model::pod>(*pod),
                                        kube::preconditions(pod->metadata.uid), 0);
                }
            } else if (pod) {
                // A leader before this one made it: no second try before the cache shows it.
                gate_.wrote(testbed.metadata.key(), "Pod", pod->metadata);
            }
            at->again_in(milliseconds(200));
            co_return;
        }
        if (!why.transient()) at->known->ghost_failed(name, time_.now(), why.text, true);
        failed(at, "ghost not made", why, of);
        co_return;
    }
    auto ghost = model::decode<model::pod>(*text, "Pod");
    if (!ghost) {
        failed(at, "ghost not understood", ghost.error(), of);
        co_return;
    }
    gate_.wrote(testbed.metadata.key(), "Pod", ghost->metadata);
    if (ghost->bound()) co_return;
    auto nominated =
        co_await patch_pod(at, *ghost, placement::nomination_patch(*ghost, place.node), "status");
    // If it was bound or judged meanwhile and still waits, the next look nominates it.
    if (!nominated && nominated.error().code != errc::conflict) {
        failed(at, "ghost not nominated", nominated.error());
    }
}

asio::awaitable<result<bool>> actor::write_status(testbed_pointer testbed,
                                                  model::testbed_status wanted,
                                                  controller::write_gate& gate) {
    const auto room = controller::room_for_status(*testbed);
    wanted = fit_status(std::move(wanted), room);
    // Layout and rows are long and mostly unchanged: what is unchanged need not be encoded.
    if (testbed->status.layout == wanted.layout) {
        auto lean = std::make_shared<model::testbed>(*testbed);
        lean->status.layout.reset();
        wanted.layout.reset();
        if (lean->status.slots == wanted.slots) {
            lean->status.slots.clear();
            wanted.slots.clear();
        }
        testbed = std::move(lean);
    }
    auto written = co_await controller::patch_status<model::testbed, model::metadata_only>(
        {api_, types::testbed, gate, fit_status}, std::move(testbed), std::move(wanted), room);
    if (!written) co_return std::unexpected(std::move(written).error());
    co_return written->has_value();
}

asio::awaitable<result<bool>> actor::taint_is_left(testbed_pointer testbed) {
    // This reads all nodes: a node may have lost its label or left the layout since.
    auto nodes = co_await kube::live_list<model::node>(api_, types::node, "");
    if (!nodes) co_return std::unexpected(nodes.error());
    const auto& meta = testbed->metadata;
    bool left = false;
    for (const auto& node : *nodes) {
        if (!has_taint_of(node, meta.uid)) continue;
        left = true;
        gate_.wrote(meta.key(), "Node", node.metadata);
    }
    co_return left;
}

asio::awaitable<result<void>> actor::set_finalizer(testbed_pointer testbed, bool present) {
    const auto& meta = testbed->metadata;
    auto all = co_await controller::all_finalizers(api_, types::testbed, meta);
    if (!all) co_return std::unexpected(std::move(all).error());
    std::erase(*all, std::string(names::testbed_finalizer));
    if (present) all->emplace_back(names::testbed_finalizer);
    auto text =
        co_await api_.patch(types::testbed, meta.namespace_, meta.name, kube::patch_kind::merge,
                            kube::guarded({{"metadata", {{"finalizers", std::move(*all)}}}},
                                          meta.uid, meta.resource_version));
    if (!text) co_return std::unexpected(text.error());
    auto written = model::decode<model::testbed>(*text, "Testbed");
    // Removing the last finalizer of a deleted object deletes it: there is nothing to wait for.
    if (written && present) gate_.wrote(meta.key(), "Testbed", written->metadata);
    co_return result<void>{};
}

}  // namespace esi::testbed

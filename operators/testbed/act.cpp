#include "testbed/act.h"

#include <fmt/format.h>

#include "base/log.h"
#include "kube/patch.h"
#include "kube/resource.h"
#include "model/json.h"
#include "model/names.h"

namespace esi::testbed {

namespace names = model::names;
using kube::json;
namespace types = kube::types;

namespace {

/// Requests under way at once for one Testbed: enough to hide latency, few enough that a big
/// Testbed does not flood the API server.
constexpr std::size_t most_workers = 16;
/// A removed ghost is looked for this many times, 5 ms apart at first.
constexpr int most_looks = 6;
constexpr int most_steps = 24;

/// Counts a worker out however it ends.
struct worker_count {
    std::shared_ptr<pass> at;
    explicit worker_count(std::shared_ptr<pass> of) : at(std::move(of)) {}
    worker_count(const worker_count&) = delete;
    worker_count& operator=(const worker_count&) = delete;
    ~worker_count() {
        if (--at->workers == 0) at->finished.notify();
    }
};

result<std::vector<model::pod>> decode_pods(std::string_view text) {
    simdjson::dom::parser parser;
    simdjson::dom::element root;
    simdjson::dom::array items;
    if (parser.parse(text.data(), text.size()).get(root) != simdjson::SUCCESS) {
        return fail(errc::decode, "PodList is not JSON");
    }
    std::vector<model::pod> out;
    simdjson::dom::element list;
    if (root["items"].get(list) != simdjson::SUCCESS || list.is_null()) return out;
    if (list.get(items) != simdjson::SUCCESS) return fail(errc::decode, "PodList without items");
    for (auto item : items) {
        auto pod = model::decode<model::pod>(item);
        // A pod that cannot be understood may hold any room: no judgement without it.
        if (!pod) return std::unexpected(pod.error());
        out.push_back(std::move(*pod));
    }
    return out;
}

}  // namespace

gap_times::gap_times(controller::metrics& numbers, const clock& time)
    : in_(numbers.histogram("esi_testbed_swap_in_seconds",
                            "From a ghost's deletion to its job pod being bound",
                            {.005, .01, .02, .04, .08, .16, .32, .64, 1.28, 2.56, 5.12, 10.24})),
      back_(numbers.histogram("esi_testbed_swap_back_seconds",
                              "From a job pod being gone to its slot's ghost being bound",
                              {.005, .01, .02, .04, .08, .16, .32, .64, 1.28, 2.56, 5.12, 10.24})),
      strangers_(numbers.counter("esi_testbed_strangers_total",
                                 "Slots whose room was taken by pods of others")),
      time_(time) {}

void gap_times::ghost_went(const std::string& pod_uid) { ghosts_out_[pod_uid] = time_.now(); }

void gap_times::pod_bound(const std::string& pod_uid) {
    auto at = ghosts_out_.find(pod_uid);
    if (at == ghosts_out_.end()) return;
    in_.Observe(std::chrono::duration<double>(time_.now() - at->second).count());
    ghosts_out_.erase(at);
}

void gap_times::pod_left(const std::string& place) { left_[place] = time_.now(); }

void gap_times::ghost_bound(const std::string& place) {
    auto at = left_.find(place);
    if (at == left_.end()) return;
    back_.Observe(std::chrono::duration<double>(time_.now() - at->second).count());
    left_.erase(at);
}

void gap_times::stranger() { strangers_.Increment(); }

actor::actor(asio::any_io_executor executor, clock& time, kube::client& api,
             controller::write_gate& gate, gap_times& gaps, ghost_options ghosts)
    : time_(time),
      api_(api),
      gate_(gate),
      gaps_(gaps),
      ghosts_(std::move(ghosts)),
      group_(std::move(executor)) {}

asio::awaitable<void> actor::stop() { co_await group_.stop(); }

void actor::failed(const std::shared_ptr<pass>& at, std::string_view what, const error& why) {
    const auto key = at->seen.testbed->metadata.key().text();
    switch (why.code) {
        case errc::conflict:
        case errc::not_found:
        case errc::not_leader:
            // Somebody was first: the next look shows it.
            log::debug(what, {{"testbed", key}, {"why", why.text}});
            at->again_in(milliseconds(200));
            return;
        default:
            log::warn(what, {{"testbed", key}, {"why", why.text}});
            at->again_in(why.retry_after ? steady_time::duration(*why.retry_after)
                                         : steady_time::duration(seconds(1)));
    }
}

asio::awaitable<void> actor::take_all(std::shared_ptr<pass> at) {
    if (at->todo.empty()) co_return;
    co_await confirm(at);
    at->workers = std::min(most_workers, at->todo.size());
    const auto count = at->workers;
    for (std::size_t i = 0; i < count; ++i) group_.spawn("testbed action", work(at));
    co_await at->finished.wait();
}

asio::awaitable<void> actor::work(std::shared_ptr<pass> at) {
    worker_count count(at);
    while (at->next < at->todo.size()) {
        const auto index = at->next++;
        co_await take(at, at->todo[index]);
    }
}

asio::awaitable<void> actor::take(std::shared_ptr<pass> at, action what) {
    if (auto* change = std::get_if<taint_change>(&what)) {
        co_await apply_taint(at, *change);
    } else if (auto* create = std::get_if<create_ghost>(&what)) {
        co_await make_ghost(at, create->place);
    } else if (auto* nominate = std::get_if<nominate_ghost>(&what)) {
        auto done = co_await patch_pod(
            at, *nominate->ghost, nomination_patch(*nominate->ghost, nominate->node), "status");
        if (!done) failed(at, "ghost not nominated", done.error());
    } else if (auto* gone = std::get_if<remove_ghost>(&what)) {
        log::info("ghost removed",
                  {{"pod", gone->ghost->metadata.key().text()}, {"why", gone->why}});
        const auto name = gone->ghost->metadata.name;
        if (gone->failed) {
            at->known->ghost_failed(name, time_.now(), gone->why);
        } else {
            at->known->ghosts.try_emplace(name);
        }
        co_await remove_pod(at, gone->ghost, kube::preconditions(gone->ghost->metadata.uid), 0);
    } else if (auto* in = std::get_if<swap_in>(&what)) {
        co_await swap(at, in->slot);
    } else if (auto* decided = std::get_if<commit_placement>(&what)) {
        co_await commit(at, decided->slot);
    } else if (auto* back = std::get_if<withdraw>(&what)) {
        co_await take_back(at, back->pod);
    } else if (auto* drop = std::get_if<drop_pod>(&what)) {
        log::warn("pod given up", {{"pod", drop->pod->metadata.key().text()}, {"why", drop->why}});
        // Bound meanwhile: another resourceVersion, and it stays.
        co_await remove_pod(
            at, drop->pod,
            kube::preconditions(drop->pod->metadata.uid, drop->pod->metadata.resource_version),
            std::nullopt);
    }
}

/// The token once more, live: before anything is opened, the Testbed must still show the hold and
/// the job must still have these orders and this placement.
asio::awaitable<void> actor::confirm(std::shared_ptr<pass> at) {
    std::map<model::object_key, std::vector<const slot_assessment*>> jobs;
    for (const auto& what : at->todo) {
        const slot_assessment* slot = nullptr;
        if (auto* in = std::get_if<swap_in>(&what)) slot = &in->slot;
        if (auto* decided = std::get_if<commit_placement>(&what)) slot = &decided->slot;
        if (slot) jobs[slot->assigned->metadata.key()].push_back(slot);
    }
    if (jobs.empty()) co_return;
    const auto& meta = at->seen.testbed->metadata;
    auto text = co_await api_.get(types::testbed, meta.namespace_, meta.name);
    if (!text) {
        failed(at, "testbed not read", text.error());
        co_return;
    }
    auto testbed = model::decode<model::testbed>(*text, "Testbed");
    if (!testbed || testbed->metadata.uid != meta.uid) co_return;
    for (const auto& [key, slots] : jobs) {
        auto answer = co_await api_.get(types::batchjob, key.namespace_, key.name);
        if (!answer) {
            failed(at, "job not read", answer.error());
            continue;
        }
        auto job = model::decode<model::batchjob>(*answer, "BatchJob");
        if (!job || !has_right(*job, *testbed)) continue;
        for (const auto* slot : slots) {
            const auto& pod = slot->placed->metadata;
            if (job->metadata.uid != slot->assigned->metadata.uid ||
                slot->placed->run() != job->spec.creation_request->run) {
                continue;
            }
            for (const auto& placement : job->status.placements) {
                if (placement.slot == slot->in.place.position && placement.pod_uid == pod.uid) {
                    at->confirmed.insert(pod.uid);
                }
            }
        }
    }
}

asio::awaitable<void> actor::apply_taint(std::shared_ptr<pass> at, taint_change change) {
    const auto uid = at->seen.testbed->metadata.uid;
    for (int attempt = 0; attempt < 3; ++attempt) {
        auto text = co_await api_.get(types::node, "", change.node);
        if (!text) {
            failed(at, "node not read", text.error());
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
            auto written = model::decode<model::node>(*done, "Node");
            if (written) {
                gate_.wrote(at->seen.testbed->metadata.key(), "Node",
                            written->metadata.resource_version);
            }
            log::info("taint changed",
                      {{"node", change.node}, {"set", change.value.empty() ? "no" : "yes"}});
            co_return;
        }
        // Nodes are written often (heartbeats): computed anew from a fresh read.
        if (done.error().code == errc::conflict && attempt < 2) continue;
        failed(at, "taint not changed", done.error());
        co_return;
    }
}

asio::awaitable<result<model::pod>> actor::patch_pod(std::shared_ptr<pass> at, model::pod pod,
                                                     json body, std::string subresource) {
    auto text = co_await api_.patch(types::pod, pod.metadata.namespace_, pod.metadata.name,
                                    kube::patch_kind::merge, std::move(body), subresource);
    if (!text) co_return std::unexpected(text.error());
    auto written = model::decode<model::pod>(*text, "Pod");
    if (written) {
        gate_.wrote(at->seen.testbed->metadata.key(), "Pod", written->metadata.resource_version);
    }
    co_return written;
}

asio::awaitable<bool> actor::remove_pod(std::shared_ptr<pass> at, pod_pointer pod,
                                        kube::preconditions guard, std::optional<int> grace) {
    const auto& meta = pod->metadata;
    auto text = co_await api_.remove(types::pod, meta.namespace_, meta.name, guard, grace);
    if (!text) {
        if (text.error().code == errc::not_found) {
            at->again_in(milliseconds(50));
            co_return true;
        }
        failed(at, "pod not removed", text.error());
        co_return false;
    }
    auto last = model::decode<model::pod>(*text, "Pod");
    if (last && last->metadata.name == meta.name) {
        gate_.wrote(at->seen.testbed->metadata.key(), "Pod", last->metadata.resource_version);
    }
    co_return true;
}

asio::awaitable<void> actor::make_ghost(std::shared_ptr<pass> at, grid::slot place) {
    const auto& testbed = *at->seen.testbed;
    const auto name =
        grid::ghost_name(testbed.metadata.name, testbed.metadata.uid, place.node, place.index);
    auto text = co_await api_.create(types::pod, testbed.metadata.namespace_,
                                     ghost_object(testbed, at->layout, place, ghosts_));
    if (!text) {
        const auto why = text.error();
        if (why.code == errc::already_exists) {
            auto found = co_await api_.get(types::pod, testbed.metadata.namespace_, name);
            auto pod = found ? model::decode<model::pod>(*found, "Pod")
                             : result<model::pod>(std::unexpected(found.error()));
            if (pod && !is_own_ghost(*pod, testbed)) {
                at->known->ghost_failed(name, time_.now(), "a pod of others has this name");
            }
            at->again_in(milliseconds(200));
            co_return;
        }
        if (!why.transient()) at->known->ghost_failed(name, time_.now(), why.text);
        failed(at, "ghost not made", why);
        co_return;
    }
    auto ghost = model::decode<model::pod>(*text, "Pod");
    if (!ghost) {
        failed(at, "ghost not understood", ghost.error());
        co_return;
    }
    gate_.wrote(testbed.metadata.key(), "Pod", ghost->metadata.resource_version);
    if (ghost->bound()) co_return;
    auto nominated = co_await patch_pod(at, *ghost, nomination_patch(*ghost, place.node), "status");
    // Bound or judged by the scheduler meanwhile: if it still waits, the next look nominates it.
    if (!nominated && nominated.error().code != errc::conflict) {
        failed(at, "ghost not nominated", nominated.error());
    }
}

asio::awaitable<result<node_look>> actor::look_at(std::shared_ptr<pass> at, slot_assessment slot,
                                                  model::pod pod) {
    const auto& place = slot.in.place;
    kube::list_options options;
    options.field_selector = "spec.nodeName=" + place.node;
    auto text = co_await api_.list(types::pod, "", options);
    if (!text) co_return std::unexpected(text.error());
    auto pods = decode_pods(*text);
    if (!pods) co_return std::unexpected(pods.error());
    auto seen = at->seen.nodes.find(place.node);
    if (seen == at->seen.nodes.end() || !seen->second.node) {
        co_return fail(errc::not_found, "node " + place.node + " is gone");
    }
    std::set<std::string> listed;
    for (const auto& other : *pods) listed.insert(other.metadata.uid);
    std::map<std::string, model::amounts> waiting;
    for (const auto& other : at->seen.pods) {
        if (other->is_ghost() || other->bound() || other->terminal() || !grid::let_in(*other))
            continue;
        if (other->metadata.annotation(names::slot_node) != place.node) continue;
        waiting[other->metadata.uid] = taken_by(*other);
    }
    for (const auto& [node, other] : at->let_in) {
        if (node == place.node) waiting[other.metadata.uid] = taken_by(other);
    }
    model::amounts on_the_way;
    for (const auto& [uid, amounts] : waiting) {
        if (!listed.contains(uid) && uid != pod.metadata.uid) model::add(on_the_way, amounts);
    }
    co_return judge_node(*pods, *seen->second.node, place, *at->seen.testbed, pod, on_the_way);
}

asio::awaitable<void> actor::swap(std::shared_ptr<pass> at, slot_assessment slot) {
    const auto uid = slot.placed->metadata.uid;
    if (!at->confirmed.contains(uid)) {
        at->again_in(milliseconds(100));
        co_return;
    }
    const auto& place = slot.in.place;
    model::pod pod = *slot.placed;
    auto& so_far = at->known->swaps[uid];
    // Each attempt begins with a nomination of its own; one that waits for room keeps what it set.
    const bool waited = so_far.blocked;
    const bool nominated = so_far.nominated;
    so_far = {};
    so_far.nominated = waited && nominated;
    bool ghost_stands = slot.in.ghost != nullptr;
    int looks = 0;
    if (waited && !ghost_stands && !pod.nominated_node_name.empty()) {
        auto seen = co_await look_at(at, slot, pod);
        if (!seen || seen->ghost_stands || !seen->obstacle.empty()) {
            so_far.blocked = true;
            at->again_in(seconds(1));
            co_return;
        }
        so_far.nominated = false;
    }
    for (int step = 0; step < most_steps; ++step) {
        const swap_view now{&pod, ghost_stands, !slot.in.job_pods.empty(), place.node,
                            slot.has_room};
        switch (next_step(now, so_far)) {
            case swap_step::wait:
                so_far.blocked = true;
                co_return;
            case swap_step::clear_nomination: {
                auto done = co_await patch_pod(at, pod, nomination_patch(pod, ""), "status");
                if (!done) {
                    failed(at, "nomination not cleared", done.error());
                    co_return;
                }
                pod = std::move(*done);
                break;
            }
            case swap_step::nominate: {
                auto done =
                    co_await patch_pod(at, pod, nomination_patch(pod, place.node), "status");
                if (!done) {
                    failed(at, "pod not nominated", done.error());
                    co_return;
                }
                pod = std::move(*done);
                so_far = {};
                so_far.nominated = true;
                break;
            }
            case swap_step::read_back: {
                auto text =
                    co_await api_.get(types::pod, pod.metadata.namespace_, pod.metadata.name);
                auto read = text ? model::decode<model::pod>(*text, "Pod")
                                 : result<model::pod>(std::unexpected(text.error()));
                if (!read || read->metadata.uid != uid) {
                    if (!read) failed(at, "pod not read", read.error());
                    co_return;
                }
                pod = std::move(*read);
                so_far.read_back = !pod.nominated_node_name.empty();
                break;
            }
            case swap_step::remove_ghost: {
                const bool gone = co_await remove_pod(
                    at, slot.in.ghost, kube::preconditions(slot.in.ghost->metadata.uid), 0);
                if (!gone) co_return;
                gaps_.ghost_went(uid);
                ghost_stands = false;
                break;
            }
            case swap_step::look: {
                auto seen = co_await look_at(at, slot, pod);
                if (!seen) {
                    failed(at, "node not looked at", seen.error());
                    co_return;
                }
                if (seen->ghost_stands && ++looks < most_looks) {
                    co_await time_.sleep_for(milliseconds(5) * (1 << looks));
                    break;
                }
                if (seen->ghost_stands || !seen->obstacle.empty()) {
                    log::info("pod waits at its slot",
                              {{"pod", pod.metadata.key().text()},
                               {"why",
                                seen->ghost_stands ? "its ghost is still there" : seen->obstacle}});
                    so_far.blocked = true;
                    so_far.obstacle = seen->obstacle;
                    at->again_in(seen->ghost_stands ? milliseconds(200) : milliseconds(1000));
                    co_return;
                }
                so_far.saw_room = true;
                break;
            }
            case swap_step::let_in: {
                auto done = co_await patch_pod(at, pod, let_in_patch(pod, place), "");
                if (!done) {
                    // Changed meanwhile, perhaps its nomination: from the beginning.
                    failed(at, "pod not let in", done.error());
                    co_return;
                }
                at->known->let_in_since[uid] = time_.now();
                log::info("pod let in", {{"pod", pod.metadata.key().text()},
                                         {"slot", place.position},
                                         {"node", place.node}});
                at->let_in.emplace_back(place.node, std::move(*done));
                at->known->swaps.erase(uid);
                co_return;
            }
        }
    }
    at->again_in(milliseconds(200));
}

asio::awaitable<void> actor::commit(std::shared_ptr<pass> at, slot_assessment slot) {
    const auto& pod = *slot.placed;
    if (!at->confirmed.contains(pod.metadata.uid)) {
        at->again_in(milliseconds(100));
        co_return;
    }
    const auto& ghost = slot.in.ghost;
    auto done = co_await patch_pod(
        at, pod, commit_patch(pod, slot.in.place, ghost ? ghost->metadata.uid : std::string{}), "");
    if (!done) {
        failed(at, "placement not committed", done.error());
        co_return;
    }
    at->known->let_in_since[pod.metadata.uid] = time_.now();
    if (!ghost) co_return;
    co_await remove_pod(at, ghost, kube::preconditions(ghost->metadata.uid), 0);
    gaps_.ghost_went(pod.metadata.uid);
}

asio::awaitable<void> actor::take_back(std::shared_ptr<pass> at, pod_pointer pod) {
    if (!pod->nominated_node_name.empty() && !grid::let_in(*pod)) {
        auto done = co_await patch_pod(at, *pod, nomination_patch(*pod, ""), "status");
        if (!done) failed(at, "nomination not withdrawn", done.error());
        co_return;
    }
    auto done = co_await patch_pod(at, *pod, uncommit_patch(*pod), "");
    if (!done) failed(at, "placement not withdrawn", done.error());
}

asio::awaitable<result<bool>> actor::write_status(testbed_pointer testbed,
                                                  model::testbed_status wanted) {
    auto change = kube::merge_difference(model::encode(testbed->status), model::encode(wanted));
    if (change.empty()) co_return false;
    const auto& meta = testbed->metadata;
    auto text = co_await api_.patch(
        types::testbed, meta.namespace_, meta.name, kube::patch_kind::merge,
        kube::guarded({{"status", std::move(change)}}, meta.uid, meta.resource_version), "status");
    if (!text) co_return std::unexpected(text.error());
    auto written = model::decode<model::testbed>(*text, "Testbed");
    if (!written) co_return std::unexpected(written.error());
    gate_.wrote(meta.key(), "Testbed", written->metadata.resource_version);
    co_return true;
}

asio::awaitable<result<void>> actor::set_finalizer(testbed_pointer testbed, bool present) {
    const auto& meta = testbed->metadata;
    json list = json::array();
    for (const auto& name : meta.finalizers) {
        if (name != names::testbed_finalizer) list.push_back(name);
    }
    if (present) list.push_back(names::testbed_finalizer);
    auto text =
        co_await api_.patch(types::testbed, meta.namespace_, meta.name, kube::patch_kind::merge,
                            kube::guarded({{"metadata", {{"finalizers", std::move(list)}}}},
                                          meta.uid, meta.resource_version));
    if (!text) co_return std::unexpected(text.error());
    auto written = model::decode<model::testbed>(*text, "Testbed");
    // The removal of the last finalizer of a deleted object deletes it: nothing to wait for.
    if (written && present) gate_.wrote(meta.key(), "Testbed", written->metadata.resource_version);
    co_return result<void>{};
}

}  // namespace esi::testbed

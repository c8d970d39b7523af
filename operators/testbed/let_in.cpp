// The part of the actor (act.h) that lets job pods in, on both paths: it checks the token live,
// removes the ghost, looks once at the node, and lets the pod in.
#include <fmt/format.h>

#include "base/wait.h"
#include "kube/resource.h"
#include "kube/watch/live_list.h"
#include "model/json.h"
#include "model/names.h"
#include "placement/door.h"
#include "testbed/act.h"
#include "testbed/caches/caches.h"

namespace esi::testbed {

namespace names = model::names;
namespace types = kube::types;

namespace {

/// Looks this many times for a removed ghost, 5 ms apart at first.
constexpr int most_looks = 6;
/// The watch has this long to show that a ghost is gone, before the node is listed live.
constexpr milliseconds watch_patience{50};
/// The cache proves nothing if the write that it is compared with is older than this.
constexpr seconds cache_counts_for{1};
constexpr int most_steps = 24;
/// At most this many reads run side by side.
constexpr std::size_t most_reads = 16;

/// Remembers what a look at the node found in the way.
void meets(const std::shared_ptr<turn>& at, const std::string& uid, const node_look& seen) {
    if (seen.problem.empty()) return;
    at->known->meets(uid, "pod waits at its slot", std::nullopt, seen.problem);
}

/// The live read does not give a pod its slot: the caches are behind. If the read failed, the API
/// server has said when to ask again.
void wait_for_the_right(const std::shared_ptr<turn>& at) {
    if (!at->again) at->again_in(milliseconds(100));
}

/// `on_node`: all pods that are bound to the slot's node.
result<node_look> judge_look(const turn& at, const grid::slot& place, const model::pod& pod,
                             const std::vector<pod_pointer>& on_node) {
    const auto& here = at.nodes.at(place.node);
    const auto seen = here.seen.nodes.find(place.node);
    if (seen == here.seen.nodes.end() || !seen->second.node) {
        return fail(errc::not_found, "node " + place.node + " is gone");
    }
    std::set<std::string_view> listed;
    for (const auto& other : on_node) listed.insert(other->metadata.uid);
    std::map<std::string, model::amounts> waiting;
    for (const auto& other : here.seen.pods) {
        if (other->is_ghost() || other->bound() || other->terminal() || !grid::let_in(*other))
            continue;
        if (other->metadata.annotation(names::slot_node) != place.node) continue;
        waiting[other->metadata.uid] = taken_by(*other);
    }
    for (const auto& [node, other] : at.let_in) {
        if (node == place.node) waiting[other.metadata.uid] = taken_by(other);
    }
    model::amounts on_the_way;
    for (const auto& [uid, amounts] : waiting) {
        if (!listed.contains(uid) && uid != pod.metadata.uid) model::add(on_the_way, amounts);
    }
    return judge_node(on_node, *seen->second.node, place, *at.seen.testbed, here.on_record, pod,
                      on_the_way);
}

}  // namespace

asio::awaitable<void> actor::read(const kube::resource_type& type, model::object_key key,
                                  result<std::string>* into, kube::shown_part part) {
    *into = co_await api_.get(type, key.namespace_, key.name, part);
}

/// Reads the token live once more: before a slot is opened, the Testbed must still show the hold,
/// its holder must have assigned the slots, and the job must still have these orders and this
/// placement. The reads do not depend on each other: they go side by side.
asio::awaitable<void> actor::confirm(std::shared_ptr<turn> at, std::vector<action> what) {
    std::map<model::object_key, std::vector<const slot_assessment*>> jobs;
    for (const auto& each : what) {
        if (const auto* slot = slot_to_open(each)) {
            jobs[slot->assigned->metadata.key()].push_back(slot);
        }
    }
    const auto by = at->seen.testbed->holder();
    if (jobs.empty() || by.name.empty()) co_return;
    const auto& meta = at->seen.testbed->metadata;
    const result<std::string> unread = std::unexpected(error{errc::not_found, "not read"});
    auto text = unread;
    auto found = unread;
    std::map<model::object_key, result<std::string>> answers;
    std::vector<asio::awaitable<void>> reads;
    // Only uid, holder and hold of the Testbed are compared; the object may be large.
    reads.push_back(read(types::testbed, meta.key(), &text, kube::shown_part::metadata));
    reads.push_back(read(types::scheduling, by, &found));
    for (const auto& [key, slots] : jobs) {
        auto& into = answers.emplace(key, unread).first->second;
        reads.push_back(read(types::batchjob, key, &into));
        if (reads.size() < most_reads) continue;
        co_await run_together(std::exchange(reads, {}));
    }
    if (!reads.empty()) co_await run_together(std::exchange(reads, {}));
    if (!text) {
        failed(at, "testbed not read", text.error());
        co_return;
    }
    auto testbed = model::decode<model::testbed>(*text, "Testbed");
    if (!testbed || testbed->metadata.uid != meta.uid || testbed->holder() != by) co_return;
    if (!found) {
        trail of;
        of.scheduling = by.text();
        failed(at, "scheduling not read", found.error(), of);
        co_return;
    }
    auto holder = model::decode<model::scheduling>(*found, "Scheduling");
    if (!holder) co_return;
    for (const auto& [key, slots] : jobs) {
        const auto& answer = answers.at(key);
        if (!answer) {
            trail of;
            of.scheduling = by.text();
            of.job = key.text();
            failed(at, "job not read", answer.error(), of);
            continue;
        }
        auto job = model::decode<model::batchjob>(*answer, "BatchJob");
        if (!job || !has_right(*job, *testbed, &*holder)) continue;
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

asio::awaitable<result<node_look>> actor::look_at(std::shared_ptr<turn> at, slot_assessment slot,
                                                  model::pod pod) {
    const auto& place = slot.in.place;
    kube::list_options options;
    options.field_selector = "spec.nodeName=" + place.node;
    auto pods = co_await kube::live_list<model::pod>(api_, types::pod, "", options);
    if (!pods) co_return std::unexpected(pods.error());
    std::vector<pod_pointer> on_node;
    for (auto& each : *pods) on_node.push_back(std::make_shared<const model::pod>(std::move(each)));
    co_return judge_look(*at, place, pod, on_node);
}

/// Looks without a request, as soon as the watch has shown that the ghost is gone. False: the watch
/// does not show this at once, or something is in the way, and the node is to be listed. `pod`: the
/// answer to the write that was sent at `written`.
asio::awaitable<bool> actor::sees_room_in_cache(std::shared_ptr<turn> at, slot_assessment slot,
                                                model::pod pod,
                                                std::optional<steady_time> written) {
    const auto& ghost = slot.in.ghost;
    if (!ghost || !written) co_return false;
    const auto until = std::min(time_.now() + watch_patience, *written + cache_counts_for);
    while (!shows_the_end(caches_.pods(), *ghost, pod)) {
        if (!co_await ends_by(time_, until, pods_changed_.wait())) co_return false;
    }
    if (time_.now() > until) co_return false;
    const auto& place = slot.in.place;
    const auto seen = judge_look(*at, place, pod, caches_.pods().by_index("node", place.node));
    co_return seen && !seen->ghost_stands && seen->problem.empty();
}

asio::awaitable<void> actor::swap(std::shared_ptr<turn> at, slot_assessment slot) {
    const auto uid = slot.placed->metadata.uid;
    if (!at->confirmed.contains(uid)) {
        wait_for_the_right(at);
        co_return;
    }
    const auto& place = slot.in.place;
    model::pod pod = *slot.placed;
    const auto of = trail_of(*at->seen.testbed, pod, &place);
    auto& kept = at->known->swaps[uid];
    if (!kept) kept = std::make_shared<swap_progress>();
    const auto progress = kept;
    auto& so_far = *progress;
    // Each attempt sets its own nomination first; one that waits for room keeps what it set.
    const bool waited = so_far.blocked;
    const bool nominated = so_far.nominated;
    so_far = {};
    so_far.nominated = waited && nominated;
    bool ghost_stands = slot.in.ghost != nullptr;
    // The time when this attempt sent its last write of the pod.
    std::optional<steady_time> written;
    const auto answered = [&](result<model::pod> answer) {
        pod = std::move(*answer);
        so_far = {};
        so_far.nominated = true;
        so_far.read_back = time_.now() - *written <= answer_counts_for;
    };
    int looks = 0;
    if (waited && !ghost_stands && !pod.nominated_node_name.empty()) {
        auto seen = co_await look_at(at, slot, pod);
        if (!seen || seen->ghost_stands || !seen->problem.empty()) {
            so_far.blocked = true;
            if (seen) {
                meets(at, uid, *seen);
                if (!seen->problem.empty()) waits(at, of, seen->problem);
            }
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
            case swap_step::nominate: {
                written = time_.now();
                auto done = co_await patch_pod(
                    at, pod, placement::nomination_patch(pod, place.node), "status");
                if (!done) {
                    failed(at, "pod not nominated", done.error(), of, uid);
                    co_return;
                }
                answered(std::move(done));
                if (at->known->is_news("nominated " + of.pod, place.node, time_.now())) {
                    log_step(log::level::info, "pod nominated for its slot", of);
                }
                break;
            }
            case swap_step::show_nomination: {
                written = time_.now();
                auto done = co_await patch_pod(at, pod, placement::shown_nomination_patch(pod), "");
                if (!done) {
                    failed(at, "nomination not shown", done.error(), of, uid);
                    co_return;
                }
                answered(std::move(done));
                break;
            }
            case swap_step::read_back: {
                auto text =
                    co_await api_.get(types::pod, pod.metadata.namespace_, pod.metadata.name);
                auto read = text ? model::decode<model::pod>(*text, "Pod")
                                 : result<model::pod>(std::unexpected(text.error()));
                if (!read || read->metadata.uid != uid) {
                    if (!read) failed(at, "pod not read", read.error(), of, uid);
                    co_return;
                }
                pod = std::move(*read);
                so_far.read_back = !pod.nominated_node_name.empty();
                break;
            }
            case swap_step::remove_ghost: {
                const bool gone = co_await remove_pod(
                    at, slot.in.ghost, kube::preconditions(slot.in.ghost->metadata.uid), 0, uid);
                if (!gone) co_return;
                gaps_.ghost_went(uid);
                log_step(log::level::info, "ghost deleted for the pod", of,
                         slot.in.ghost->metadata.name);
                ghost_stands = false;
                break;
            }
            case swap_step::look: {
                if (looks == 0 && co_await sees_room_in_cache(at, slot, pod, written)) {
                    so_far.saw_room = true;
                    break;
                }
                auto seen = co_await look_at(at, slot, pod);
                if (!seen) {
                    failed(at, "node not looked at", seen.error(), of, uid);
                    co_return;
                }
                if (seen->ghost_stands && ++looks < most_looks) {
                    co_await time_.sleep_for(milliseconds(5) * (1 << looks));
                    break;
                }
                if (seen->ghost_stands || !seen->problem.empty()) {
                    waits(at, of, seen->ghost_stands ? "its ghost is still there" : seen->problem);
                    so_far.blocked = true;
                    meets(at, uid, *seen);
                    at->again_in(seen->ghost_stands ? milliseconds(200) : milliseconds(1000));
                    co_return;
                }
                so_far.saw_room = true;
                break;
            }
            case swap_step::let_in: {
                auto done = co_await patch_pod(at, pod, let_in_patch(pod, place), "");
                if (!done) {
                    // The pod has changed meanwhile, perhaps its nomination: the next attempt
                    // starts over.
                    failed(at, "pod not let in", done.error(), of, uid);
                    co_return;
                }
                at->known->let_in_since[uid] = time_.now();
                log_step(log::level::info, "slot given to the pod", of);
                at->let_in.emplace_back(place.node, std::move(*done));
                at->known->swaps.erase(uid);
                at->known->refusals.erase(uid);
                co_return;
            }
        }
    }
    at->again_in(milliseconds(200));
}

asio::awaitable<void> actor::commit(std::shared_ptr<turn> at, slot_assessment slot) {
    const auto& pod = *slot.placed;
    const auto of = trail_of(*at->seen.testbed, pod, &slot.in.place);
    if (!at->confirmed.contains(pod.metadata.uid)) {
        wait_for_the_right(at);
        co_return;
    }
    const auto& ghost = slot.in.ghost;
    auto seen = co_await look_at(at, slot, pod);
    if (!seen) {
        failed(at, "node not looked at", seen.error(), of, pod.metadata.uid);
        co_return;
    }
    if (!seen->problem.empty()) {
        meets(at, pod.metadata.uid, *seen);
        waits(at, of, seen->problem);
        at->again_in(seconds(1));
        co_return;
    }
    auto done = co_await patch_pod(
        at, pod, commit_patch(pod, slot.in.place, ghost ? ghost->metadata.uid : std::string{}), "");
    if (!done) {
        failed(at, "placement not committed", done.error(), of, pod.metadata.uid);
        co_return;
    }
    at->known->refusals.erase(pod.metadata.uid);
    at->known->let_in_since[pod.metadata.uid] = time_.now();
    log_step(log::level::info, "slot given to the pod", of);
    if (!ghost) co_return;
    if (!co_await remove_pod(at, ghost, kube::preconditions(ghost->metadata.uid), 0)) co_return;
    gaps_.ghost_went(pod.metadata.uid);
    log_step(log::level::info, "ghost deleted for the pod", of, ghost->metadata.name);
}

/// An update of labels or annotations does not requeue a pod that was rejected for want of room.
/// The removal of a nomination does: kube-scheduler takes it for room that has become free, for all
/// pods of at most its priority, the pod itself among them (1.36.3, eventhandlers.go,
/// updatePodInSchedulingQueue). It is set again at once, so that the room is kept from others until
/// the pod has been tried.
asio::awaitable<void> actor::wake(std::shared_ptr<turn> at, slot_assessment slot) {
    model::pod pod = *slot.current;
    const auto uid = pod.metadata.uid;
    // This counts failed attempts too: never more often than the back-off says.
    at->known->unbound[uid].woke(time_.now());
    if (!at->confirmed.contains(uid)) co_return;
    const auto of = trail_of(*at->seen.testbed, pod, &slot.in.place);
    // The scheduler's text changes with every pod in the cluster: the pod's own status has all of
    // it.
    const bool news = at->known->is_news("woken " + of.pod, {}, time_.now());
    log_step(news ? log::level::info : log::level::debug, "pod woken", of, pod.scheduled_message);
    gaps_.woken();
    const auto& node = slot.in.place.node;
    std::vector<std::string> nominations{"", node};
    if (pod.nominated_node_name.empty()) nominations.insert(nominations.begin(), node);
    for (const auto& wanted : nominations) {
        auto done = co_await patch_pod(at, pod, placement::nomination_patch(pod, wanted), "status");
        if (!done) {
            failed(at, "pod not woken", done.error(), of);
            co_return;
        }
        pod = std::move(*done);
    }
}

asio::awaitable<void> actor::take_back(std::shared_ptr<turn> at, pod_pointer pod) {
    const auto of = trail_of(*at->seen.testbed, *pod);
    if (!pod->nominated_node_name.empty() && !grid::let_in(*pod)) {
        auto done = co_await patch_pod(at, *pod, placement::nomination_patch(*pod, ""), "status");
        if (!done) {
            failed(at, "nomination not withdrawn", done.error(), of);
        } else {
            log_step(log::level::info, "nomination withdrawn", of);
        }
        co_return;
    }
    auto done = co_await patch_pod(at, *pod, uncommit_patch(*pod), "");
    if (!done) {
        failed(at, "placement not withdrawn", done.error(), of);
    } else {
        log_step(log::level::info, "placement withdrawn", of);
    }
}

}  // namespace esi::testbed

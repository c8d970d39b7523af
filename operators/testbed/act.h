// Takes the actions of a decision: every write is guarded (uid, resourceVersion), and none is
// assumed to have worked. Independent actions go side by side; within one swap each step follows
// the answer of the one before it. The operator owns the actor and stops it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/task_group.h"
#include "controller/write_gate.h"
#include "grid/records.h"
#include "kube/client.h"
#include "testbed/decide.h"
#include "testbed/room/ghosts.h"
#include "testbed/swap/gap_times.h"
#include "testbed/swap/swap.h"

namespace esi::testbed {

/// One reconcile's bookkeeping while it acts.
struct turn {
    explicit turn(asio::any_io_executor executor) : changed(executor) {}

    /// The Testbed, without nodes, pods and jobs.
    view seen;
    std::shared_ptr<hints> known;
    std::vector<action> todo;
    /// The first so many actions of `todo` let pods in.
    std::size_t urgent = 0;
    std::size_t next = 0;
    std::size_t workers = 0;
    /// Notified when the last worker has ended or a pod may have come.
    notifier changed;
    /// True: a pod came for which a slot may be opened. Actions that are neither urgent nor begun
    /// are left to the next turn.
    std::function<bool()> gives_way = [] { return false; };
    /// Returns the actions that let in pods that came since the turn began. They may be taken side
    /// by side with all other actions of the turn; `nodes` has their nodes.
    std::function<std::vector<action>()> newcomers = [] { return std::vector<action>(); };
    /// A node to whose slots pods are let in, as it was when this was decided.
    struct place_seen {
        view seen;
        grid::records on_record;
    };
    std::map<std::string, place_seen> nodes;
    /// Pods for which this turn opens slots, by uid.
    std::set<std::string> opened;
    /// Pods whose right to their slot a live read has confirmed in this turn, by uid.
    std::set<std::string> confirmed;
    /// Pods let in by this turn, with their node and requests.
    std::vector<std::pair<std::string, model::pod>> let_in;
    /// An action could not be done; it is tried again after this time.
    std::optional<steady_time::duration> again;

    void again_in(steady_time::duration wait) {
        if (!again || wait < *again) again = wait;
    }
};

/// The slot to which the action lets a pod in; null for all other actions.
const slot_assessment* slot_to_open(const action& what);

class caches;

class actor {
public:
    /// `from` calls pods_changed() on each change of a pod.
    actor(asio::any_io_executor executor, clock& time, kube::client& api, const caches& from,
          controller::write_gate& gate, gap_times& gaps, ghost_options ghosts);

    /// Takes `at->todo`, as long as nothing more urgent comes.
    asio::awaitable<void> take_all(std::shared_ptr<turn> at);
    /// Writes the difference between the status that was seen and `wanted`; guarded. False: there
    /// was none. `gate` holds the Testbed back until the write is seen.
    asio::awaitable<result<bool>> write_status(testbed_pointer testbed,
                                               model::testbed_status wanted,
                                               controller::write_gate& gate);
    asio::awaitable<result<void>> set_finalizer(testbed_pointer testbed, bool present);
    /// True: a node, read live, carries the taint: the answer to the write that set it may have
    /// been lost, so nothing waited for it. The next look waits until the cache shows it.
    asio::awaitable<result<bool>> taint_is_left(testbed_pointer testbed);
    /// The cache shows a new, changed or deleted pod.
    void pods_changed() { pods_changed_.notify(); }
    asio::awaitable<void> stop();

private:
    asio::awaitable<void> work(std::shared_ptr<turn> at);
    asio::awaitable<void> see_through(std::shared_ptr<turn> at);
    asio::awaitable<void> take_beside(std::shared_ptr<turn> at, action what);
    asio::awaitable<void> take(std::shared_ptr<turn> at, action what);
    asio::awaitable<void> apply_taint(std::shared_ptr<turn> at, taint_change change);
    asio::awaitable<void> make_ghost(std::shared_ptr<turn> at, grid::slot place);
    asio::awaitable<void> change_image(std::shared_ptr<turn> at, pod_pointer ghost);
    asio::awaitable<void> nominate(std::shared_ptr<turn> at, nominate_ghost wanted);
    asio::awaitable<void> clear(std::shared_ptr<turn> at, remove_ghost gone);
    asio::awaitable<void> drop(std::shared_ptr<turn> at, drop_pod given_up);
    // In let_in.cpp.
    asio::awaitable<void> confirm(std::shared_ptr<turn> at, std::vector<action> what);
    asio::awaitable<void> read(const kube::resource_type& type, model::object_key key,
                               result<std::string>* into,
                               kube::shown_part part = kube::shown_part::whole);
    asio::awaitable<void> swap(std::shared_ptr<turn> at, slot_assessment slot);
    asio::awaitable<void> commit(std::shared_ptr<turn> at, slot_assessment slot);
    asio::awaitable<void> wake(std::shared_ptr<turn> at, slot_assessment slot);
    asio::awaitable<void> take_back(std::shared_ptr<turn> at, pod_pointer pod);
    asio::awaitable<result<node_look>> look_at(std::shared_ptr<turn> at, slot_assessment slot,
                                               model::pod pod);
    asio::awaitable<bool> sees_room_in_cache(std::shared_ptr<turn> at, slot_assessment slot,
                                             model::pod pod, std::optional<steady_time> written);

    asio::awaitable<bool> remove_pod(std::shared_ptr<turn> at, pod_pointer pod,
                                     kube::preconditions guard, std::optional<int> grace,
                                     std::string subject = std::string());
    asio::awaitable<result<model::pod>> patch_pod(std::shared_ptr<turn> at, model::pod pod,
                                                  kube::json body, std::string subresource,
                                                  kube::patch_kind kind = kube::patch_kind::merge);
    /// `subject`: key of hints::refusals; the status reports it when only a person can mend it.
    void failed(const std::shared_ptr<turn>& at, std::string_view what, const error& why,
                trail of = trail(), const std::string& subject = std::string());
    /// Logs a change once, not at every look.
    void waits(const std::shared_ptr<turn>& at, const trail& of, std::string_view why);

    clock& time_;
    kube::client& api_;
    const caches& caches_;
    controller::write_gate& gate_;
    gap_times& gaps_;
    ghost_options ghosts_;
    notifier pods_changed_;
    task_group group_;
};

}  // namespace esi::testbed

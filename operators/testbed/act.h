// Takes the actions of a plan: every write guarded (uid, resourceVersion), none assumed to have
// worked. Independent actions go side by side; within one swap each step follows the answer of the
// one before it. Owned by the operator, stopped with it.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

#include "base/task_group.h"
#include "controller/write_gate.h"
#include "kube/client.h"
#include "testbed/decide.h"
#include "testbed/gap_times.h"
#include "testbed/ghosts.h"
#include "testbed/swap.h"

namespace esi::testbed {

/// One reconcile: what it saw, and what came of its actions.
struct pass {
    explicit pass(asio::any_io_executor executor) : finished(executor) {}

    view seen;
    model::testbed_layout layout;
    std::shared_ptr<hints> known;
    std::vector<action> todo;
    std::size_t next = 0;
    std::size_t workers = 0;
    notifier finished;
    /// Of `seen`, made once.
    std::optional<grid::records> on_record;
    /// Pods whose right to their slot a live read has confirmed in this pass, by uid.
    std::set<std::string> confirmed;
    /// Pods let in by this pass, with their node and requests.
    std::vector<std::pair<std::string, model::pod>> let_in;
    /// Something could not be done and is worth another try then.
    std::optional<steady_time::duration> again;

    void again_in(steady_time::duration wait) {
        if (!again || wait < *again) again = wait;
    }
};

class actor {
public:
    actor(asio::any_io_executor executor, clock& time, kube::client& api,
          controller::write_gate& gate, gap_times& gaps, ghost_options ghosts);

    /// Takes all of `at->todo`.
    asio::awaitable<void> take_all(std::shared_ptr<pass> at);
    /// Writes the difference between the status that was seen and `wanted`; guarded. False: there
    /// was none.
    asio::awaitable<result<bool>> write_status(testbed_pointer testbed,
                                               model::testbed_status wanted);
    asio::awaitable<result<void>> set_finalizer(testbed_pointer testbed, bool present);
    /// A node carries the testbed's taint, read live: the answer to the write that set it may have
    /// been lost, so that nobody waited for it. The next look waits until the cache shows it.
    asio::awaitable<result<bool>> taint_is_left(testbed_pointer testbed);
    asio::awaitable<void> stop();

private:
    asio::awaitable<void> work(std::shared_ptr<pass> at);
    asio::awaitable<void> take(std::shared_ptr<pass> at, action what);
    asio::awaitable<void> confirm(std::shared_ptr<pass> at);
    asio::awaitable<void> apply_taint(std::shared_ptr<pass> at, taint_change change);
    asio::awaitable<void> make_ghost(std::shared_ptr<pass> at, grid::slot place);
    asio::awaitable<void> swap(std::shared_ptr<pass> at, slot_assessment slot);
    asio::awaitable<void> commit(std::shared_ptr<pass> at, slot_assessment slot);
    asio::awaitable<void> wake(std::shared_ptr<pass> at, slot_assessment slot);
    asio::awaitable<void> take_back(std::shared_ptr<pass> at, pod_pointer pod);
    asio::awaitable<bool> remove_pod(std::shared_ptr<pass> at, pod_pointer pod,
                                     kube::preconditions guard, std::optional<int> grace,
                                     std::string subject = std::string());
    asio::awaitable<result<model::pod>> patch_pod(std::shared_ptr<pass> at, model::pod pod,
                                                  kube::json body, std::string subresource,
                                                  kube::patch_kind kind = kube::patch_kind::merge);
    asio::awaitable<result<node_look>> look_at(std::shared_ptr<pass> at, slot_assessment slot,
                                               model::pod pod);
    /// `subject`: of hints::obstacles, told in the status when only people can mend it.
    void failed(const std::shared_ptr<pass>& at, std::string_view what, const error& why,
                trail of = trail(), const std::string& subject = std::string());
    /// Told once for each change, not at every look.
    void waits(const std::shared_ptr<pass>& at, const trail& of, std::string_view why);

    clock& time_;
    kube::client& api_;
    controller::write_gate& gate_;
    gap_times& gaps_;
    ghost_options ghosts_;
    task_group group_;
};

}  // namespace esi::testbed

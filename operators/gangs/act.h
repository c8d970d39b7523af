// Takes the actions of decide: every write guarded (uid, resourceVersion), none assumed to have
// worked. Actions run concurrently, with a bound on requests under way; each is answered with an
// outcome. Reads of facts have a queue and workers of their own, so that gangs that need many of
// them delay no write and no look. Owned by the operator of gangs, stopped with it.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/task_group.h"
#include "gangs/action.h"
#include "gangs/gang_numbers.h"
#include "gangs/live_facts.h"
#include "gangs/look.h"
#include "gangs/request_slots.h"
#include "kube/client.h"
#include "kube/watch/store.h"

namespace esi::gangs {

class actor {
public:
    /// Called with each action that was taken and how it went; not after stop() has begun.
    using answer = std::function<void(const action& what, outcome how)>;

    /// `nodes`, `room` and `shown`: as the caches show them, for the look.
    actor(asio::any_io_executor executor, clock& time, kube::client& api,
          const kube::store<model::node>& nodes, const cluster_room& room, const shown_plans& shown,
          gang_numbers& numbers, answer tell);

    void take(std::vector<action> actions);
    /// Actions that wait for their turn, or are under way.
    std::size_t under_way() const {
        return queue_.size() + workers_ + reads_waiting_ + read_workers_;
    }
    /// Lets actions under way end, until `deadline`, so that a gang with some members let in is let
    /// in whole. Actions that have not begun are dropped.
    asio::awaitable<void> stop(steady_time deadline);

private:
    /// The requests, in the order in which they were made.
    struct asked {
        read_facts what;
        std::uint64_t ticket;
    };
    asio::awaitable<void> work();
    asio::awaitable<void> work_on_reads();
    void queue_read(read_facts what);
    /// The next read, of the namespace whose turn it is.
    asked next_read();
    void answered(const action& what, outcome how);
    asio::awaitable<outcome> take_one(action what);
    asio::awaitable<outcome> set_nomination(nominate what);
    asio::awaitable<outcome> show(show_nomination what);
    asio::awaitable<outcome> clear_nomination(give_back what);
    asio::awaitable<outcome> look(look_and_let_in what);
    asio::awaitable<outcome> open(let_in what);
    asio::awaitable<outcome> remove(delete_pod what);
    asio::awaitable<outcome> report(write_status what);
    asio::awaitable<outcome> read(asked what);

    /// A merge patch of the pod. `what`: as the metric counts it.
    asio::awaitable<void> patch(pod_pointer pod, nlohmann::json body, std::string subresource,
                                std::string_view what, outcome* into);
    asio::awaitable<void> read_member(pod_pointer pod, live_view* into, outcome* how);
    asio::awaitable<void> read_node(std::string node, live_view* into, outcome* how);
    /// Whether objects of this type have a status sub-resource, as the API server says.
    asio::awaitable<result<bool>> has_status(const kube::resource_type& type);

    clock& time_;
    kube::client& api_;
    const kube::store<model::node>& nodes_;
    const cluster_room& room_;
    const shown_plans& shown_;
    gang_numbers& numbers_;
    answer tell_;
    request_slots slots_;
    std::deque<action> queue_;
    std::size_t workers_ = 0;
    fact_reader facts_;
    /// Reads that wait, by namespace of the group; namespaces take turns.
    std::map<std::string, std::deque<asked>> reads_;
    std::string last_read_;
    std::size_t reads_waiting_ = 0;
    std::size_t read_workers_ = 0;
    bool stopping_ = false;
    /// By apiVersion: the last answer of has_status, and when it came.
    struct heard {
        bool status = false;
        steady_time at{};
    };
    std::map<std::string, heard> served_;
    task_group group_;
};

}  // namespace esi::gangs

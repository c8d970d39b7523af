// The reconcile loop of one kind: takes keys from a work queue, calls the reconciler, requeues.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "base/task_group.h"
#include "controller/metrics.h"
#include "model/meta.h"

namespace esi::controller {

/// The next step that a reconcile asks for. Errors are retried with back-off and logged;
/// errc::conflict and errc::not_leader are ordinary: tried again quietly.
struct outcome {
    outcome() = default;
    static outcome again_in(steady_time::duration time) {
        outcome out;
        out.after = time;
        return out;
    }
    std::optional<steady_time::duration> after;
};

/// Reads everything that concerns `key` and does what is needed; never sees which event happened.
/// One call per key at a time.
using reconcile_function = std::function<asio::awaitable<result<outcome>>(model::object_key key)>;

class controller {
public:
    /// `workers`: keys worked on concurrently (on one thread; they interleave at waits).
    controller(std::string name, clock& time, asio::any_io_executor executor, metrics& numbers,
               reconcile_function reconcile, int workers = 8);
    ~controller();

    void enqueue(const model::object_key& key);
    void enqueue_after(const model::object_key& key, steady_time::duration time);

    /// Starts the workers; until then keys only gather.
    void start();
    /// Takes no new key, waits for those under way (at most until `deadline`, then cancels them).
    asio::awaitable<void> stop(steady_time deadline);
    /// True when nothing is queued, delayed work aside, and nothing is under way.
    bool idle() const;

private:
    struct state;
    std::shared_ptr<state> state_;
};

}  // namespace esi::controller

#include "controller/controller.h"

#include <boost/asio/this_coro.hpp>
#include <boost/system/system_error.hpp>
#include <utility>

#include "base/log.h"
#include "base/wait.h"
#include "controller/work_queue.h"

namespace esi::controller {

namespace {

using namespace std::chrono_literals;

const std::vector<double> reconcile_buckets{
    0.005, 0.01, 0.025, 0.05, 0.1,  0.15, 0.2,  0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6,
    0.7,   0.8,  0.9,   1.0,  1.25, 1.5,  1.75, 2.0,  2.5, 3.0,  3.5, 4.0,  4.5, 5,
    6,     7,    8,     9,    10,   15,   20,   25,   30,  40,   50,  60};
const std::vector<double> queue_buckets{1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3,
                                        1e-2, 1e-1, 1,    10,   100,  1000};

double in_seconds(steady_time::duration time) {
    return std::chrono::duration<double>(time).count();
}

/// The series of one controller, found once.
struct series {
    series(metrics& numbers, const std::string& name, int workers);

    prometheus::Counter& succeeded;
    prometheus::Counter& failed;
    prometheus::Counter& requeued_after;
    prometheus::Counter& errors;
    prometheus::Counter& panics;
    prometheus::Histogram& time;
    prometheus::Gauge& active;
    prometheus::Gauge& depth;
    prometheus::Counter& adds;
    prometheus::Counter& retries;
    prometheus::Histogram& queued;
    prometheus::Histogram& worked;
};

prometheus::Counter& result_counter(metrics& numbers, const std::string& name, const char* result) {
    return numbers.counter("controller_runtime_reconcile_total",
                           "Total number of reconciliations per controller",
                           {{"controller", name}, {"result", result}});
}

series::series(metrics& numbers, const std::string& name, int workers)
    : succeeded(result_counter(numbers, name, "success")),
      failed(result_counter(numbers, name, "error")),
      requeued_after(result_counter(numbers, name, "requeue_after")),
      errors(numbers.counter("controller_runtime_reconcile_errors_total",
                             "Total number of reconciliation errors per controller",
                             {{"controller", name}})),
      panics(numbers.counter("controller_runtime_reconcile_panics_total",
                             "Total number of exceptions in reconciliations per controller",
                             {{"controller", name}})),
      time(numbers.histogram("controller_runtime_reconcile_time_seconds",
                             "Length of time per reconciliation per controller", reconcile_buckets,
                             {{"controller", name}})),
      active(numbers.gauge("controller_runtime_active_workers",
                           "Number of currently used workers per controller",
                           {{"controller", name}})),
      depth(numbers.gauge("workqueue_depth", "Current depth of workqueue",
                          {{"name", name}, {"controller", name}})),
      adds(numbers.counter("workqueue_adds_total", "Total number of adds handled by workqueue",
                           {{"name", name}, {"controller", name}})),
      retries(numbers.counter("workqueue_retries_total",
                              "Total number of retries handled by workqueue",
                              {{"name", name}, {"controller", name}})),
      queued(numbers.histogram("workqueue_queue_duration_seconds",
                               "How long in seconds an item stays in workqueue before being "
                               "requested",
                               queue_buckets, {{"name", name}, {"controller", name}})),
      worked(numbers.histogram("workqueue_work_duration_seconds",
                               "How long in seconds processing an item from workqueue takes",
                               queue_buckets, {{"name", name}, {"controller", name}})) {
    // All results exist from the start, so that a rate over them is never absent.
    result_counter(numbers, name, "requeue");
    numbers
        .gauge("controller_runtime_max_concurrent_reconciles",
               "Maximum number of concurrent reconciles per controller", {{"controller", name}})
        .Set(workers);
}

}  // namespace

struct controller::state {
    state(std::string name_, clock& time_, asio::any_io_executor executor_, metrics& numbers,
          reconcile_function reconcile_, int workers_)
        : name(std::move(name_)),
          time(time_),
          executor(std::move(executor_)),
          reconcile(std::move(reconcile_)),
          workers(workers_),
          count(numbers, name, workers_),
          wake(executor),
          dispatcher(executor),
          running(executor) {}

    asio::awaitable<void> dispatch();
    asio::awaitable<void> work(std::string key);
    asio::awaitable<result<outcome>> guarded_reconcile(model::object_key key);
    void note_ready(const std::string& key);
    void count_queue();
    void finish(const std::string& key, const result<outcome>& ended);

    std::string name;
    clock& time;
    asio::any_io_executor executor;
    reconcile_function reconcile;
    std::size_t active = 0;
    int workers;
    series count;
    work_queue queue;
    std::uint64_t counted_adds = 0;
    std::uint64_t counted_retries = 0;
    /// Since when each ready key waits, for the metric.
    std::map<std::string, steady_time> ready_since;
    notifier wake;
    task_group dispatcher;
    task_group running;
    bool started = false;
    bool stopping = false;
};

controller::controller(std::string name, clock& time, asio::any_io_executor executor,
                       metrics& numbers, reconcile_function reconcile, int workers)
    : state_(std::make_shared<state>(std::move(name), time, std::move(executor), numbers,
                                     std::move(reconcile), workers)) {}
controller::~controller() = default;

void controller::enqueue(const model::object_key& key) {
    if (state_->stopping) return;
    const auto text = key.text();
    state_->queue.add(text, state_->time.now());
    state_->note_ready(text);
    state_->count_queue();
    state_->wake.notify();
}

void controller::enqueue_after(const model::object_key& key, steady_time::duration time) {
    if (time <= steady_time::duration::zero()) return enqueue(key);
    if (state_->stopping) return;
    state_->queue.add_at(key.text(), state_->time.now() + time);
    state_->wake.notify();
}

void controller::start() {
    if (state_->started) return;
    state_->started = true;
    state_->dispatcher.spawn(state_->name + " dispatch", state_->dispatch());
}

asio::awaitable<void> controller::stop(steady_time deadline) {
    auto own = state_;
    own->stopping = true;
    co_await own->dispatcher.stop();
    bool in_time = co_await ends_by(own->time, deadline, own->running.join());
    if (!in_time) {
        log::warn("reconciles cancelled at the stop deadline",
                  {{"controller", own->name}, {"count", own->running.size()}});
    }
    co_await own->running.stop();
}

bool controller::idle() const { return state_->queue.depth() == 0 && state_->active == 0; }

void controller::state::note_ready(const std::string& key) {
    ready_since.try_emplace(key, time.now());
}

void controller::state::count_queue() {
    count.depth.Set(static_cast<double>(queue.depth()));
    count.adds.Increment(
        static_cast<double>(queue.adds() - std::exchange(counted_adds, queue.adds())));
    count.retries.Increment(
        static_cast<double>(queue.retries() - std::exchange(counted_retries, queue.retries())));
}

asio::awaitable<void> controller::state::dispatch() {
    while (!stopping) {
        while (active < static_cast<std::size_t>(workers)) {
            auto key = queue.take(time.now());
            if (!key) break;
            ++active;
            running.spawn(name + " " + *key, work(*key));
        }
        count_queue();
        count.active.Set(static_cast<double>(active));
        // With all workers busy a due key cannot be taken: only the end of one of them matters.
        auto due = active < static_cast<std::size_t>(workers) ? queue.next_ready() : std::nullopt;
        if (due) {
            co_await ends_by(time, *due, wake.wait());
        } else {
            co_await wake.wait();
        }
    }
}

asio::awaitable<void> controller::state::work(std::string key) {
    // Whatever happens, also a cancellation, the key is given back.
    struct give_back {
        state& own;
        const std::string& key;
        ~give_back() {
            --own.active;
            own.queue.done(key, own.time.now());
            own.count_queue();
            own.wake.notify();
        }
    } at_end{*this, key};

    const auto begun = time.now();
    if (auto since = ready_since.extract(key))
        count.queued.Observe(in_seconds(begun - since.mapped()));
    auto ended = co_await guarded_reconcile(model::object_key::from_text(key));
    const auto taken = in_seconds(time.now() - begun);
    count.time.Observe(taken);
    count.worked.Observe(taken);
    finish(key, ended);
}

asio::awaitable<result<outcome>> controller::state::guarded_reconcile(model::object_key key) {
    std::string text;
    try {
        co_return co_await reconcile(key);
    } catch (const std::exception& e) {
        text = e.what();
    }
    // A cancelled reconcile unwinds by an exception too; that is no fault of its own.
    auto cancellation = co_await asio::this_coro::cancellation_state;
    if (cancellation.cancelled() != asio::cancellation_type::none) {
        throw boost::system::system_error(asio::error::operation_aborted);
    }
    count.panics.Increment();
    log::error("exception in a reconcile",
               {{"controller", name}, {"key", key.text()}, {"error", text}});
    co_return fail(errc::server, "exception: " + text);
}

void controller::state::finish(const std::string& key, const result<outcome>& ended) {
    const auto now = time.now();
    if (ended) {
        queue.forget(key);
        if (ended->after) {
            count.requeued_after.Increment();
            if (!stopping) queue.add_at(key, now + *ended->after);
        } else {
            count.succeeded.Increment();
        }
        return;
    }
    count.failed.Increment();
    count.errors.Increment();
    const auto& why = ended.error();
    const bool ordinary = why.code == errc::conflict || why.code == errc::not_leader;
    if (!stopping) queue.retry(key, now);
    log::write(ordinary ? log::level::debug : log::level::warn, "reconcile failed",
               {{"controller", name},
                {"key", key},
                {"error", why.text},
                {"class", to_string(why.code)},
                {"failures", queue.failures(key)}});
}

}  // namespace esi::controller

// GET /api/v1/events: all changes of Testbeds, BatchJobs and Schedulings, for any number of
// clients. Owned by the operator; every replica serves them out of its own caches. The caches'
// changes go into one log (event_log.h), from which each stream (conversation.h) reads at its own
// pace.
//
// Changes of one kind come in the order of its watch. Changes before the log began are read by a
// watch of the API server (replay.h), once for all clients that need them. After a new list of a
// cache the changes before it are unknown: all streams of the kind restart with a snapshot and an
// event that says so.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/task_group.h"
#include "controller/metrics.h"
#include "http/router.h"
#include "interface/v1/access/access.h"
#include "interface/v1/access/quota.h"
#include "interface/v1/events/event_log.h"
#include "interface/v1/events/options.h"
#include "interface/v1/events/replay.h"
#include "interface/v1/events/selection.h"
#include "kube/client.h"
#include "kube/watch/store.h"
#include "model/batchjob.h"
#include "model/scheduling.h"
#include "model/testbed.h"

namespace esi::interface::v1::events {

struct hub_sources {
    asio::any_io_executor executor;
    clock& time;
    controller::metrics& numbers;
    kube::client& api;
    kube::store<model::testbed>& testbeds;
    kube::store<model::batchjob>& jobs;
    kube::store<model::scheduling>& schedulings;
    /// The namespaces that the caches watch; none: all.
    std::vector<std::string> namespaces;
    /// Limits of streams by caller; null: none.
    quota* limits = nullptr;
};

/// One stream, as the hub sees it.
struct listener {
    explicit listener(const asio::any_io_executor& executor) : wake(executor) {}
    notifier wake;
    /// When it wants to be woken at the latest.
    steady_time due{};
};

/// The objects of one kind at a moment.
template <class T>
using present = std::shared_ptr<const std::vector<std::shared_ptr<const T>>>;

class hub {
public:
    hub(hub_sources from, access& rights, hub_options options = hub_options());
    ~hub();
    hub(const hub&) = delete;
    hub& operator=(const hub&) = delete;

    std::size_t streams() const { return listeners_.size(); }
    /// Sends `end` to all and waits until they are gone, at most until `deadline`.
    asio::awaitable<void> stop(steady_time deadline);

    // For its streams.
    const hub_options& options() const { return options_; }
    const feed_table& feeds() const { return feeds_; }
    const event_log& log() const { return log_; }
    access& rights() { return rights_; }
    clock& time() const { return from_.time; }
    bool stopping() const { return stopping_; }
    bool synced() const;
    /// Null: none.
    quota* limits() const { return from_.limits; }
    /// Counts the feed's full lists. Events sent before a new list are invalid.
    std::uint64_t epoch(std::size_t feed) const { return epochs_[feed]; }
    /// From then on all changes are in the log, until the listener is gone.
    std::shared_ptr<listener> enter();
    void leave(const std::shared_ptr<listener>& which);
    /// Makes the log begin at `at` or before; false: it cannot.
    asio::awaitable<bool> reach_back(std::size_t feed, version at);
    /// The API server knows this version of the feed, or could not be asked.
    asio::awaitable<bool> exists(std::size_t feed, version at);
    present<model::testbed> testbeds();
    present<model::batchjob> jobs();
    present<model::scheduling> schedulings();
    /// See frames.h, made once for each version of an object.
    template <class T>
    std::shared_ptr<const std::string> text(const std::shared_ptr<const T>& of);

    struct numbers {
        prometheus::Gauge& streams;
        prometheus::Counter& sent;
        prometheus::Counter& objects;
        prometheus::Counter& dropped_bytes;
        prometheus::Gauge& log_bytes;
    };
    numbers& counts() { return numbers_; }
    void count_reset(std::string_view reason);
    void count_end(std::string_view reason);

private:
    template <class T>
    void follow(kind of, kube::store<T>& in);
    template <class T>
    void tell_change(std::size_t feed, const kube::change<T>& what, version at);
    template <class T>
    void tell(std::size_t feed, action what, const T* before, const T& about, version at);
    void know(std::size_t feed, version at);
    void restart(std::size_t feed, version at);
    void wake_all();
    asio::awaitable<void> wake_in_turns();
    asio::awaitable<void> tick();
    asio::awaitable<bool> read_back(std::size_t feed, version at);

    hub_sources from_;
    access& rights_;
    hub_options options_;
    feed_table feeds_;
    event_log log_;
    std::vector<std::uint64_t> epochs_;
    /// Feeds that were listed and whose new version is not known yet.
    std::vector<bool> listed_;
    /// The last change of each feed, until its version is known.
    std::vector<std::function<void(version)>> noted_;
    std::vector<std::shared_ptr<listener>> listeners_;
    /// The log is kept.
    bool awake_ = false;
    steady_time last_left_{};
    bool waking_ = false;
    bool wake_again_ = false;
    bool stopping_ = false;
    notifier left_;

    struct reading {
        bool under_way = false;
        /// Versions up to this one are not available.
        version lost = 0;
        std::unique_ptr<notifier> ended;
    };
    std::vector<reading> readings_;
    struct newest_known {
        bool under_way = false;
        version at = 0;
        steady_time answered{};
        std::unique_ptr<notifier> ended;
    };
    std::vector<newest_known> newest_;

    present<model::testbed> testbeds_;
    present<model::batchjob> jobs_;
    present<model::scheduling> schedulings_;
    struct cached {
        std::shared_ptr<const void> object;
        std::shared_ptr<const std::string> text;
    };
    std::map<const void*, cached> texts_;
    std::size_t cached_bytes_ = 0;

    numbers numbers_;
    task_group tasks_;
};

}  // namespace esi::interface::v1::events

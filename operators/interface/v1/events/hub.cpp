#include "interface/v1/events/hub.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <type_traits>
#include <utility>

#include "base/log.h"
#include "base/wait.h"
#include "interface/v1/wire/problems.h"

namespace esi::interface::v1::events {

namespace {

/// Streams that are woken before the loop does something else.
constexpr std::size_t most_per_turn = 32;
constexpr auto tick_time = std::chrono::seconds(1);

hub::numbers numbers_in(controller::metrics& all) {
    return {
        all.gauge("esi_api_event_streams", "Streams of /api/v1/events that are open."),
        all.counter("esi_api_events_sent_total", "Changes that were sent to streams."),
        all.counter("esi_api_event_snapshot_objects_total",
                    "Objects that were sent to streams in snapshots."),
        all.counter("esi_api_event_dropped_bytes_total",
                    "Bytes of changes that streams were too slow to read."),
        all.gauge("esi_api_event_log_bytes", "Bytes of changes that are kept for all streams.")};
}

}  // namespace

hub::hub(hub_sources from, access& rights, hub_options options)
    : from_(std::move(from)),
      rights_(rights),
      options_(options),
      feeds_(from_.namespaces),
      log_(feeds_.size(), options_.log_bytes, options_.log_changes),
      epochs_(feeds_.size()),
      listed_(feeds_.size()),
      noted_(feeds_.size()),
      left_(from_.executor),
      readings_(feeds_.size()),
      newest_(feeds_.size()),
      numbers_(numbers_in(from_.numbers)),
      tasks_(from_.executor) {
    for (auto& each : readings_) each.ended = std::make_unique<notifier>(from_.executor);
    for (auto& each : newest_) each.ended = std::make_unique<notifier>(from_.executor);
    follow(kind::testbed, from_.testbeds);
    follow(kind::batchjob, from_.jobs);
    follow(kind::scheduling, from_.schedulings);
}

hub::~hub() = default;

// --- from the caches into the log ---

template <class T>
void hub::follow(kind of, kube::store<T>& in) {
    // A change is in the log before its watch goes on: at every moment the log and the cache have
    // the same version, so that a snapshot of the cache and the log after it fit together. Nothing
    // here touches the cache.
    in.on_change([this, of, &in](const kube::change<T>& what) {
        if constexpr (std::is_same_v<T, model::testbed>) testbeds_ = nullptr;
        if constexpr (std::is_same_v<T, model::batchjob>) jobs_ = nullptr;
        if constexpr (std::is_same_v<T, model::scheduling>) schedulings_ = nullptr;
        if (!awake_ || in.replacing()) return;
        const auto& any = what.after ? what.after : what.before;
        const auto feed = feeds_.find(of, any->metadata.namespace_);
        if (!feed) return;
        noted_[*feed] = [this, feed = *feed, what](version at) { tell_change(feed, what, at); };
    });
    in.on_list([this, of](std::string_view ns) {
        const auto feed = feeds_.find(of, ns);
        if (feed) listed_[*feed] = true;
    });
    in.on_version([this, of](std::string_view ns, std::string_view text) {
        const auto feed = feeds_.find(of, ns);
        const auto at = version_of(text);
        if (feed && at > 0) know(*feed, at);
    });
    for (const auto& ns : feeds_.namespaces()) {
        const auto known = version_of(in.version(ns).value_or(""));
        if (known > 0) log_.restart(*feeds_.find(of, ns), known);
    }
}

/// The watch has shown this version.
void hub::know(std::size_t feed, version at) {
    const auto noted = std::exchange(noted_[feed], nullptr);
    if (listed_[feed]) {
        listed_[feed] = false;
        restart(feed, at);
    } else if (!awake_) {
        log_.restart(feed, at);
    } else if (noted) {
        noted(at);
    } else {
        log_.advance(feed, at);
    }
}

void hub::restart(std::size_t feed, version at) {
    log_.restart(feed, at);
    ++epochs_[feed];
    // Versions may have started again.
    readings_[feed].lost = 0;
    newest_[feed].at = 0;
    wake_all();
}

template <class T>
void hub::tell_change(std::size_t feed, const kube::change<T>& what, version at) {
    if (!what.after) {
        // As in a watch of Kubernetes: the last known object, with the version of its deletion.
        auto last = *what.before;
        last.metadata.resource_version = std::to_string(at);
        return tell(feed, action::deleted, what.before.get(), last, at);
    }
    if (what.before && what.before->metadata.uid != what.after->metadata.uid) {
        // A deletion that was not seen lies between the two.
        return restart(feed, at);
    }
    tell(feed, what.before ? action::modified : action::added, what.before.get(), *what.after, at);
}

template <class T>
void hub::tell(std::size_t feed, action what, const T* before, const T& about, version at) {
    change one;
    one.feed = feed;
    one.at = at;
    one.what = what;
    one.ns = about.metadata.namespace_;
    one.labels = about.metadata.labels;
    if (before != nullptr) one.labels_before = before->metadata.labels;
    one.text = object_text(about);
    log_.append(std::move(one));
    numbers_.log_bytes.Set(static_cast<double>(log_.bytes()));
    wake_all();
}

// --- streams ---

std::shared_ptr<listener> hub::enter() {
    listeners_.push_back(std::make_shared<listener>(from_.executor));
    numbers_.streams.Set(static_cast<double>(listeners_.size()));
    if (!std::exchange(awake_, true)) tasks_.spawn("API events", tick());
    return listeners_.back();
}

void hub::leave(const std::shared_ptr<listener>& which) {
    std::erase(listeners_, which);
    numbers_.streams.Set(static_cast<double>(listeners_.size()));
    last_left_ = from_.time.now();
    left_.notify();
}

void hub::wake_all() {
    if (listeners_.empty()) return;
    wake_again_ = true;
    if (std::exchange(waking_, true)) return;
    tasks_.spawn("API events told", wake_in_turns());
}

/// A change that concerns a thousand streams must not block the rest of the process.
asio::awaitable<void> hub::wake_in_turns() {
    while (std::exchange(wake_again_, false)) {
        const auto all = listeners_;
        for (std::size_t i = 0; i < all.size(); ++i) {
            all[i]->wake.notify();
            if ((i + 1) % most_per_turn == 0) {
                co_await asio::post(from_.executor, asio::use_awaitable);
            }
        }
    }
    waking_ = false;
}

/// Wakes streams that are due, until the log is not needed any more.
asio::awaitable<void> hub::tick() {
    while (!listeners_.empty() || from_.time.now() < last_left_ + options_.linger) {
        co_await from_.time.sleep_for(tick_time);
        const auto now = from_.time.now();
        const auto all = listeners_;
        std::size_t woken = 0;
        for (const auto& each : all) {
            if (each->due > now) continue;
            each->wake.notify();
            if (++woken % most_per_turn == 0) {
                co_await asio::post(from_.executor, asio::use_awaitable);
            }
        }
    }
    awake_ = false;
    log_.clear();
    texts_.clear();
    cached_bytes_ = 0;
    numbers_.log_bytes.Set(0);
}

asio::awaitable<void> hub::stop(steady_time deadline) {
    stopping_ = true;
    wake_all();
    const auto gone = [](hub& own) -> asio::awaitable<void> {
        while (!own.listeners_.empty()) co_await own.left_.wait();
    };
    co_await ends_by(from_.time, deadline, gone(*this));
    co_await tasks_.stop();
}

void hub::count_reset(std::string_view reason) {
    from_.numbers
        .counter("esi_api_event_resets_total", "Streams that began anew with a snapshot.",
                 {{"reason", std::string(reason)}})
        .Increment();
}

void hub::count_end(std::string_view reason) {
    from_.numbers
        .counter("esi_api_event_streams_ended_total", "Streams that the server ended.",
                 {{"reason", std::string(reason)}})
        .Increment();
}

// --- what was before ---

asio::awaitable<bool> hub::reach_back(std::size_t feed, version at) {
    auto& reading = readings_[feed];
    while (reading.under_way) co_await reading.ended->wait();
    if (log_.floor(feed) <= at) co_return true;
    if (at <= reading.lost) co_return false;
    reading.under_way = true;
    const struct ending {
        struct reading& of;
        ~ending() {
            of.under_way = false;
            of.ended->notify();
        }
    } on_return{reading};
    co_return co_await read_back(feed, at);
}

asio::awaitable<bool> hub::read_back(std::size_t feed, version at) {
    const auto epoch = epochs_[feed];
    auto older = co_await replay(
        from_.api, from_.time, feeds_, feed, at, [this, feed] { return log_.floor(feed); },
        options_.replay);
    std::string outcome = "done";
    if (!older) {
        outcome = to_string(older.error().code);
    } else if (epochs_[feed] != epoch) {
        outcome = "relisted";
    } else if (!log_.prepend(feed, at, std::move(*older))) {
        outcome = "too_long";
    }
    from_.numbers
        .counter("esi_api_event_replays_total",
                 "Changes that were read from the API server for streams that were resumed.",
                 {{"outcome", outcome}})
        .Increment();
    numbers_.log_bytes.Set(static_cast<double>(log_.bytes()));
    if (outcome == "done") co_return true;
    log::debug("events cannot be resumed", {{"kind", type_of(feeds_.kind_of(feed)).kind},
                                            {"from", at},
                                            {"why", older ? outcome : older.error().text}});
    // The next client that needs it, or an older version, does not try again.
    const bool for_good = older ? outcome == "too_long" : older.error().code == errc::gone;
    if (for_good) readings_[feed].lost = std::max(readings_[feed].lost, at);
    co_return false;
}

asio::awaitable<bool> hub::exists(std::size_t feed, version at) {
    auto& known = newest_[feed];
    const auto asked = from_.time.now();
    // A thousand clients that come from another replica cause one request.
    while (known.under_way) co_await known.ended->wait();
    if (at <= known.at || known.answered >= asked) co_return at <= known.at;
    known.under_way = true;
    const struct ending {
        struct newest_known& of;
        ~ending() {
            of.under_way = false;
            of.ended->notify();
        }
    } on_return{known};
    const auto now = co_await newest(from_.api, feeds_, feed);
    if (!now) co_return true;
    known.at = *now;
    known.answered = from_.time.now();
    co_return at <= known.at;
}

namespace {

template <class T>
present<T> taken(present<T>& known, const kube::store<T>& from) {
    if (known) return known;
    auto made = std::make_shared<std::vector<std::shared_ptr<const T>>>();
    made->reserve(from.size());
    from.each([&](std::shared_ptr<const T> each) { made->push_back(std::move(each)); });
    known = made;
    return known;
}

}  // namespace

present<model::testbed> hub::testbeds() { return taken(testbeds_, from_.testbeds); }
present<model::batchjob> hub::jobs() { return taken(jobs_, from_.jobs); }
present<model::scheduling> hub::schedulings() { return taken(schedulings_, from_.schedulings); }

template <class T>
std::shared_ptr<const std::string> hub::text(const std::shared_ptr<const T>& of) {
    const auto found = texts_.find(of.get());
    if (found != texts_.end()) return found->second.text;
    auto made = std::make_shared<const std::string>(object_text(*of));
    if (cached_bytes_ + made->size() > options_.cached_bytes) {
        texts_.clear();
        cached_bytes_ = 0;
    }
    if (made->size() <= options_.cached_bytes) {
        cached_bytes_ += made->size();
        texts_.emplace(of.get(), cached{of, made});
    }
    return made;
}
template std::shared_ptr<const std::string> hub::text(const std::shared_ptr<const model::testbed>&);
template std::shared_ptr<const std::string> hub::text(
    const std::shared_ptr<const model::batchjob>&);
template std::shared_ptr<const std::string> hub::text(
    const std::shared_ptr<const model::scheduling>&);

bool hub::synced() const {
    return from_.testbeds.synced() && from_.jobs.synced() && from_.schedulings.synced();
}

}  // namespace esi::interface::v1::events

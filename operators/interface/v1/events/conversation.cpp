#include "interface/v1/events/conversation.h"

#include <algorithm>
#include <array>
#include <utility>

namespace esi::interface::v1::events {

namespace {

constexpr std::size_t batch_bytes = 64u << 10;
/// How soon rights are checked again after a check without an answer.
constexpr auto rights_again = std::chrono::seconds(10);

}  // namespace

conversation::conversation(hub& of, selection asked, http::server_request head,
                           std::optional<quota::lease> place)
    : hub_(of),
      asked_(std::move(asked)),
      head_(std::move(head)),
      quota_place_(std::move(place)),
      ids_(hub_.feeds(), asked_.kinds, asked_.ns, asked_.labels_text),
      heard_(hub_.feeds().size()),
      epochs_(hub_.feeds().size()) {}

conversation::~conversation() = default;

asio::awaitable<void> conversation::run(http::stream_writer& to) {
    self_ = hub_.enter();
    const struct leaving {
        conversation& own;
        ~leaving() { own.hub_.leave(own.self_); }
    } on_return{*this};
    if (quota_place_) quota_place_->when_lost([self = self_] { self->wake.notify(); });
    const auto begun = hub_.time().now();
    next_heartbeat_ = begun + hub_.options().heartbeat;
    next_rights_ = begun + hub_.options().rights;
    rights_until_ = begun + hub_.options().rights_patience;
    auto then = co_await begin(to);
    while (then == next::on) {
        const auto now = hub_.time().now();
        if (hub_.stopping()) {
            then = co_await finish(to, "Stopping", "the server is ending; come again");
        } else if (has_lost_its_place()) {
            then = co_await finish(to, "Displaced",
                                   "all streams are taken, and this one's place went to a caller "
                                   "of another tenant, which has fewer; come again");
        } else if (now >= next_rights_) {
            if (auto why = co_await right_gone()) {
                then = co_await finish(to, why->word, std::move(why->detail));
            }
        } else if (const auto why = void_by()) {
            then = co_await begin_anew(to, *why);
        } else if (place_ < hub_.log().end()) {
            then = co_await tell_changes(to);
        } else if (come_to_present()) {
            then = co_await say(to, sync(asked_.how, ids_.id(heard_)));
        } else if (const auto unknown = co_await ahead_of_all()) {
            then = co_await begin_anew(to, *unknown);
        } else if (now >= next_heartbeat_) {
            then = co_await say(to, heartbeat(asked_.how, ids_.id(heard_)));
        } else {
            set_due();
            co_await self_->wake.wait();
        }
    }
}

asio::awaitable<conversation::next> conversation::begin(http::stream_writer& to) {
    auto words = greeting(asked_.how);
    if (!words.empty() && co_await say(to, std::move(words)) == next::over) co_return next::over;
    if (asked_.last_id.empty()) co_return co_await tell_present(to);
    if (const auto why = co_await resume()) co_return co_await begin_anew(to, *why);
    co_return next::on;
}

void conversation::stand_at(std::int64_t place) {
    place_ = place;
    read_bytes_ = hub_.log().appended();
    for (std::size_t feed = 0; feed < epochs_.size(); ++feed) epochs_[feed] = hub_.epoch(feed);
}

asio::awaitable<std::optional<conversation::reason>> conversation::resume() {
    auto known = ids_.parse(asked_.last_id);
    if (!known) {
        co_return reason{"IdUnknown", "the id is not of a stream of these kinds and namespaces"};
    }
    heard_ = std::move(*known);
    stand_at(0);
    const auto& log = hub_.log();
    // While one feed is read, the log may drop changes of another.
    for (bool all = false; !all;) {
        all = true;
        for (const auto feed : ids_.feeds()) {
            if (log.floor(feed) <= heard_[feed]) continue;
            all = false;
            const bool reached = co_await hub_.reach_back(feed, heard_[feed]);
            if (hub_.epoch(feed) != epochs_[feed]) break;
            if (!reached) {
                co_return reason{"TooOld", "what has happened since is no longer known"};
            }
        }
        if (auto why = void_by(); why && why->word == "Relisted") co_return why;
    }
    stand_at(log.first());
    co_return std::nullopt;
}

asio::awaitable<conversation::next> conversation::begin_anew(http::stream_writer& to,
                                                             const reason& why) {
    hub_.count_reset(why.word);
    if (why.word == "TooSlow") {
        hub_.counts().dropped_bytes.Increment(
            static_cast<double>(hub_.log().appended() - read_bytes_));
    }
    if (++resets_ > hub_.options().most_resets) {
        co_return co_await finish(to, "TooSlow", "the client reads more slowly than changes come");
    }
    if (co_await say(to, reset(asked_.how, why.word, why.detail)) == next::over) {
        co_return next::over;
    }
    co_return co_await tell_present(to);
}

asio::awaitable<conversation::next> conversation::tell_present(http::stream_writer& to) {
    stand_at(hub_.log().end());
    heard_ = hub_.log().heard();
    ahead_since_.reset();
    synced_ = false;
    const auto begin = heard_;
    const auto deadline = hub_.time().now() + hub_.options().snapshot;
    // All at one moment, before anything is written. The objects are those of the caches.
    const auto testbeds = hub_.testbeds();
    const auto jobs = hub_.jobs();
    const auto schedulings = hub_.schedulings();
    auto then = next::on;
    for (const auto each : asked_.kinds) {
        if (then == next::over || has_lost_its_place() || void_by()) co_return then;
        if (each == kind::testbed) then = co_await tell_objects(to, testbeds, deadline);
        if (each == kind::batchjob) then = co_await tell_objects(to, jobs, deadline);
        if (each == kind::scheduling) then = co_await tell_objects(to, schedulings, deadline);
    }
    if (then == next::over || has_lost_its_place() || void_by()) co_return then;
    synced_ = true;
    co_return co_await say(to, sync(asked_.how, ids_.id(begin)));
}

template <class T>
asio::awaitable<conversation::next> conversation::tell_objects(http::stream_writer& to,
                                                               present<T> objects,
                                                               steady_time deadline) {
    std::string batch;
    std::size_t count = 0;
    const auto begin = object_begin(asked_.how, "", snapshot_word);
    for (const auto& each : *objects) {
        if (!asked_.ns.empty() && each->metadata.namespace_ != asked_.ns) continue;
        if (!asked_.labels.matches(each->metadata.labels)) continue;
        batch += begin;
        // A large one is sent from the copy that all streams share: two thousand copies would be
        // too many.
        const auto text = hub_.text(each);
        const bool apart = text->size() >= batch_bytes;
        if (!apart) batch += *text;
        if (!apart) batch += object_end(asked_.how);
        ++count;
        if (batch.size() < batch_bytes && !apart) continue;
        hub_.counts().objects.Increment(static_cast<double>(std::exchange(count, 0)));
        if (co_await say(to, std::exchange(batch, {}), apart ? text.get() : nullptr) ==
            next::over) {
            co_return next::over;
        }
        if (hub_.stopping() || has_lost_its_place() || void_by()) co_return next::on;
        if (hub_.time().now() >= deadline) {
            co_return co_await finish(to, "TooSlow", "the snapshot was not read in time");
        }
    }
    hub_.counts().objects.Increment(static_cast<double>(count));
    if (batch.empty()) co_return next::on;
    co_return co_await say(to, std::move(batch));
}

/// All that is in the log has been sent. True for the first time after a resumption.
bool conversation::come_to_present() {
    raise(heard_, hub_.log().heard());
    resets_ = 0;
    return !std::exchange(synced_, true);
}

std::optional<action> conversation::told_as(const change& what) const {
    if (!std::ranges::binary_search(ids_.feeds(), what.feed)) return std::nullopt;
    if (!asked_.ns.empty() && what.ns != asked_.ns) return std::nullopt;
    if (asked_.labels.empty()) return what.what;
    const bool is_known = what.what == action::added || what.labels_before;
    const bool was = what.labels_before && asked_.labels.matches(*what.labels_before);
    if (what.what == action::deleted || !asked_.labels.matches(what.labels)) {
        // If it is unknown what was before, an unneeded DELETED is better than a missing one.
        return was || !is_known ? std::optional(action::deleted) : std::nullopt;
    }
    return is_known && !was ? action::added : what.what;
}

asio::awaitable<conversation::next> conversation::tell_changes(http::stream_writer& to) {
    const auto& log = hub_.log();
    std::string batch;
    std::size_t count = 0;
    // The client knows what was dropped before its place: void_by() has checked.
    place_ = std::max(place_, log.first());
    shared_change apart;  ///< a large one, as in tell_objects()
    while (place_ < log.end() && batch.size() < batch_bytes) {
        const auto& what = log.at(place_++);
        if (!what) continue;
        read_bytes_ = std::max(read_bytes_, what->appended);
        const bool known = what->at <= heard_[what->feed];
        raise(heard_, what->heard);
        const auto as = told_as(*what);
        if (known || !as) continue;
        batch += object_begin(asked_.how, ids_.id(heard_), word_of(*as));
        ++count;
        if (what->text.size() >= batch_bytes) {
            apart = what;
            break;
        }
        batch += what->text;
        batch += object_end(asked_.how);
    }
    hub_.counts().sent.Increment(static_cast<double>(count));
    if (batch.empty()) co_return next::on;
    co_return co_await say(to, std::move(batch), apart ? &apart->text : nullptr);
}

asio::awaitable<conversation::next> conversation::say(http::stream_writer& to, std::string text,
                                                      const std::string* object) {
    const auto end = object_end(asked_.how);
    const std::array<std::string_view, 3> parts{text, object ? *object : std::string_view(),
                                                object ? end : std::string_view()};
    const bool said = co_await to.write(parts);
    next_heartbeat_ = hub_.time().now() + hub_.options().heartbeat;
    co_return said ? next::on : next::over;
}

asio::awaitable<conversation::next> conversation::finish(http::stream_writer& to,
                                                         std::string_view why, std::string detail) {
    hub_.count_end(why);
    co_await say(to, end(asked_.how, why, detail));
    co_return next::over;
}

std::optional<conversation::reason> conversation::void_by() const {
    const auto& log = hub_.log();
    for (const auto feed : ids_.feeds()) {
        if (hub_.epoch(feed) != epochs_[feed]) {
            return reason{"Relisted",
                          "the server has listed anew; what happened in between is not known"};
        }
    }
    for (const auto feed : ids_.feeds()) {
        if (log.floor(feed) > heard_[feed]) {
            return reason{"TooSlow", "the client was too slow to read all changes"};
        }
    }
    return std::nullopt;
}

/// Another replica has sent the client more than this one knows yet: changes up to there are
/// skipped. An id of an API server whose data were restored from a backup would wait for ever.
asio::awaitable<std::optional<conversation::reason>> conversation::ahead_of_all() {
    const auto& log = hub_.log();
    const auto is_ahead = [&](std::size_t feed) { return heard_[feed] > log.position(feed); };
    if (!std::ranges::any_of(ids_.feeds(), is_ahead)) {
        ahead_since_.reset();
        co_return std::nullopt;
    }
    const auto now = hub_.time().now();
    if (!ahead_since_) ahead_since_ = now;
    if (now - *ahead_since_ < hub_.options().ahead) co_return std::nullopt;
    for (const auto feed : ids_.feeds()) {
        if (!is_ahead(feed) || co_await hub_.exists(feed, heard_[feed])) continue;
        co_return reason{"IdUnknown", "the id is newer than anything that there is"};
    }
    // It will come with the next bookmark of the watch; check again a minute later.
    ahead_since_ = now + std::chrono::minutes(1);
    co_return std::nullopt;
}

asio::awaitable<std::optional<conversation::reason>> conversation::right_gone() {
    const auto now = hub_.time().now();
    next_rights_ = now + hub_.options().rights;
    auto who = co_await hub_.rights().authenticate(head_);
    std::optional<http::problem_details> why;
    if (!who) why = std::move(who).error();
    for (const auto each : asked_.kinds) {
        for (const auto* verb : {"list", "watch"}) {
            if (why) break;
            why = co_await hub_.rights().refusal(
                **who, permission{verb, std::string(type_of(each).plural)}, asked_.ns, "");
        }
    }
    if (!why) {
        rights_until_ = hub_.time().now() + hub_.options().rights_patience;
        co_return std::nullopt;
    }
    if (why->status == 401) co_return reason{"Unauthorized", why->detail};
    if (why->status == 403) co_return reason{"Forbidden", why->detail};
    // No check has refused.
    if (now >= rights_until_) {
        co_return reason{"RightsUnknown", "rights could not be asked for too long: " + why->detail};
    }
    next_rights_ = hub_.time().now() + rights_again;
    co_return std::nullopt;
}

void conversation::set_due() {
    self_->due = std::min(next_heartbeat_, next_rights_);
    if (ahead_since_) self_->due = std::min(self_->due, *ahead_since_ + hub_.options().ahead);
}

}  // namespace esi::interface::v1::events

// One stream of events: a snapshot or the changes that a client has missed, then all changes at the
// client's pace, until either side ends it or a right is lost.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/stream.h"
#include "interface/v1/events/hub.h"

namespace esi::interface::v1::events {

class conversation {
public:
    /// `head`: the request's head, to authenticate its sender again.
    conversation(hub& of, selection asked, http::server_request head,
                 std::optional<quota::lease> place);
    ~conversation();
    conversation(const conversation&) = delete;
    conversation& operator=(const conversation&) = delete;

    asio::awaitable<void> run(http::stream_writer& to);

private:
    /// Why it restarts or ends: one word for programs, a sentence for people.
    struct reason {
        std::string_view word;
        std::string detail;
    };
    enum class next { on, over };

    asio::awaitable<next> begin(http::stream_writer& to);
    /// Nothing: the log has all that the client has not received.
    asio::awaitable<std::optional<reason>> resume();
    asio::awaitable<next> begin_anew(http::stream_writer& to, const reason& why);
    asio::awaitable<next> tell_present(http::stream_writer& to);
    template <class T>
    asio::awaitable<next> tell_objects(http::stream_writer& to, present<T> objects,
                                       steady_time deadline);
    asio::awaitable<next> tell_changes(http::stream_writer& to);
    /// `object`: the text of an object that follows `text`; it stays until the end.
    asio::awaitable<next> say(http::stream_writer& to, std::string text,
                              const std::string* object = nullptr);
    asio::awaitable<next> finish(http::stream_writer& to, std::string_view why, std::string detail);
    bool has_lost_its_place() const { return quota_place_ && quota_place_->lost(); }
    /// The event that makes all that was sent invalid.
    std::optional<reason> void_by() const;
    asio::awaitable<std::optional<reason>> ahead_of_all();
    asio::awaitable<std::optional<reason>> right_gone();
    /// The action under which the client gets a change; nothing: it gets none.
    std::optional<action> told_as(const change& what) const;
    /// Sets the place from which the log is read, with nothing of it sent.
    void stand_at(std::int64_t place);
    bool come_to_present();
    void set_due();

    hub& hub_;
    selection asked_;
    http::server_request head_;
    std::optional<quota::lease> quota_place_;
    id_form ids_;
    std::shared_ptr<listener> self_;
    /// Up to where the client knows each feed.
    positions heard_;
    /// The next number in the log.
    std::int64_t place_ = 0;
    std::uint64_t read_bytes_ = 0;
    std::vector<std::uint64_t> epochs_;
    bool synced_ = false;
    int resets_ = 0;
    steady_time next_heartbeat_{};
    steady_time next_rights_{};
    steady_time rights_until_{};
    std::optional<steady_time> ahead_since_;
};

}  // namespace esi::interface::v1::events

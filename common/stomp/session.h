// One STOMP conversation without its I/O: bytes and times go in, actions come out, in order. Owned
// by its connection (stomp/endpoint.h). It never looks at a clock and never sends.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "stomp/frame.h"

namespace esi::stomp {

struct session_options {
    frame_limits frames;
    std::size_t most_subscriptions = 1024;
    /// Patterns among the subscriptions: every change tries each of them.
    std::size_t most_patterns = 16;
    /// Bytes of a destination or a subscription's id. A kind and a name fit with room to spare.
    std::size_t longest_header = 288;
    /// How often we send and expect to receive, if the client asks for heart-beats.
    milliseconds heart_beat{10'000};
    /// How long a client may take until its CONNECT.
    seconds connect_time{60};
    /// How long a client may leave the connection open after its DISCONNECT.
    seconds linger_time{5};
};

/// The actions of its owner.
namespace todo {
/// A frame or a heart-beat.
struct send {
    std::string text;
};
/// From now on changes of `destination` (or of all that match it) are delivered as `id`.
struct subscribe {
    std::string id;
    std::string destination;
};
struct unsubscribe {
    std::string id;
};
/// Close the WebSocket when everything before it was sent. `why`: a word for the metric.
struct close {
    int code = 1000;
    std::string_view why;
    std::string reason;
};
}  // namespace todo
using action = std::variant<todo::send, todo::subscribe, todo::unsubscribe, todo::close>;

class session {
public:
    /// `id`: begins the message ids of this connection; fit for a header.
    session(session_options options, std::string id, steady_time now);

    /// Bytes of one or several messages, cut anywhere.
    std::vector<action> receive(std::string_view bytes, steady_time now);
    /// Actions that are due by time: a heart-beat, or the end of a silent client.
    std::vector<action> tick(steady_time now);
    /// When to call tick() next at the latest.
    steady_time deadline() const;
    /// Something was written: the next heart-beat is due later.
    void sent(steady_time now) { last_sent_ = now; }

    /// The header lines of a MESSAGE that are this client's own: subscription and message-id.
    std::string message_headers(std::string_view subscription);

private:
    using actions = std::vector<action>;
    void handle(const frame& got, actions& out);
    void connect(const frame& got, actions& out);
    void subscribe(const frame& got, actions& out);
    void unsubscribe(const frame& got, actions& out);
    void receipt(const frame& got, actions& out);
    /// ERROR, then close 1002.
    void refuse(std::string why, const frame* about, actions& out);

    session_options options_;
    std::string id_;
    parser parser_;
    version version_ = version::v1_2;
    enum class phase { waiting, connected, left, over };
    phase phase_ = phase::waiting;
    steady_time since_;  ///< of the phase
    steady_time last_heard_;
    steady_time last_sent_;
    milliseconds send_every_{0};
    milliseconds hear_every_{0};
    std::map<std::string, std::string, std::less<>> subscriptions_;  ///< id -> destination
    std::size_t patterns_ = 0;                                       ///< of the subscriptions
    std::uint64_t messages_ = 0;
};

}  // namespace esi::stomp

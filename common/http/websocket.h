// The server's side of one WebSocket conversation (RFC 6455) on a connection that the HTTP server
// handed over. The only unit that knows Beast's WebSocket is websocket.cpp. Used by one reader and
// one writer, both on the process' loop; after either failed it is of no more use.
// permessage-deflate is never offered: a message is made once for many, and memory per client stays
// small.
#pragma once

#include <array>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "http/server.h"

namespace esi::http {

struct websocket_options {
    /// Longest message of the client; a longer one ends the conversation with 1009.
    std::size_t message_limit = 128u << 10;
    /// A client that is silent for half of it is pinged; after all of it, it is gone.
    seconds idle_time{60};
    /// How long the closing handshake may take.
    seconds close_time{2};
    /// The first of the client's offers that is listed here is chosen; none is no fault.
    std::vector<std::string> subprotocols;
    /// Added to the answer 101.
    std::vector<std::pair<std::string, std::string>> headers;
};

class websocket {
public:
    /// Answers the handshake. Null if it failed; a client with a wrong handshake got an answer.
    static asio::awaitable<std::shared_ptr<websocket>> accept(std::shared_ptr<upgrade> from,
                                                              websocket_options options);
    ~websocket();
    websocket(const websocket&) = delete;
    websocket& operator=(const websocket&) = delete;

    /// The next message, text or binary; nothing when the conversation has ended: see end().
    asio::awaitable<std::optional<std::string>> read();
    /// Text messages, each out of three parts, which must live until it returns. Short ones are
    /// sent together: much the cheapest way to send many. False when the conversation has ended.
    using parts = std::array<asio::const_buffer, 3>;
    asio::awaitable<bool> write(std::vector<parts> messages);
    /// Sends a close frame, the last thing that is sent; `reason` is cut to its limit. The reader
    /// goes on until the peer's close frame, at most for close_time, and then ends: a close that
    /// read for itself would wait for the reader, and the reader for it.
    asio::awaitable<void> close(int code, std::string reason);
    /// Cuts the connection at that time, whatever is under way.
    void cut_at(steady_time when);

    /// Why it ended, for a log line: "closed by the client with 1000", "the client is silent", ...
    const std::string& end() const;
    /// Address and port.
    const std::string& peer() const;

private:
    struct state;
    explicit websocket(std::unique_ptr<state> own);
    std::unique_ptr<state> state_;
};

}  // namespace esi::http

// An answer that is written in pieces for as long as both sides want: a route sets
// server_reply::stream instead of a body. HTTP/1.1 gets it in chunks, HTTP/1.0 until the connection
// closes, HEAD gets the head alone. Nothing follows it on the connection.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "base/clock.h"
#include "base/task_group.h"
#include "http/connection_table.h"
#include "http/message.h"

namespace esi {
class tcp_connection;
}

namespace esi::http {

/// The target of a stream. Only the coroutine that got it uses it, one write at a time.
class stream_writer {
public:
    virtual ~stream_writer() = default;
    /// Sends the parts, one after the other; they must not change until it returns. No more than
    /// the system's buffers is sent ahead of the client's reading. False: nothing can be sent any
    /// more, because the client has gone or does not read, or because the server stops; the
    /// coroutine should end then.
    virtual asio::awaitable<bool> write(std::span<const std::string_view> parts) = 0;
    asio::awaitable<bool> write(std::string_view text);
};

/// The server's control of a stream that is under way.
class stream_control {
public:
    explicit stream_control(const asio::any_io_executor& executor) : changed_(executor) {}
    /// Ends the stream as if its coroutine had ended by itself, as soon as it is in no write.
    void stop() {
        stopping_ = true;
        changed_.notify();
    }
    bool stopping() const { return stopping_; }

    // For the stream.
    void enter_write() { writing_ = true; }
    void leave_write() {
        writing_ = false;
        if (stopping_) changed_.notify();
    }
    /// Returns when the stream is to end.
    asio::awaitable<void> wait();

private:
    notifier changed_;
    bool stopping_ = false;
    bool writing_ = false;
};

enum class stream_form { chunked, until_close };

/// Runs `body` until it ends, the peer closes its side or sends much, a write takes longer than
/// `write_time`, or `control` stops it; in the last three cases it is cancelled where it waits.
/// True if the peer has received all of it, the last chunk included. An exception of `body` is
/// logged, and the peer sees that the end is missing.
asio::awaitable<bool> send_stream(std::shared_ptr<tcp_connection> connection,
                                  connection_table::place& place, stream_body body,
                                  stream_form form, seconds write_time, stream_control& control);

}  // namespace esi::http

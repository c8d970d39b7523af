#include "http/stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/tcp_connection.h"
#include "base/wait.h"

namespace esi::http {

using boost::system::error_code;

namespace {

/// Each piece has its own time: a client that reads at all is not cut within a long write.
constexpr std::size_t piece_bytes = 64u << 10;
/// Parts of one write to the system.
constexpr std::size_t most_parts = 48;
/// How much a client may send while it listens; it is read and dropped.
constexpr std::size_t most_heard = 64u << 10;
constexpr auto last_words_time = std::chrono::seconds(1);

/// Why the parts of a stream end together.
struct is_over {};
struct peer_has_gone {};

class socket_writer final : public stream_writer {
public:
    socket_writer(std::shared_ptr<tcp_connection> to, connection_table::place& place,
                  stream_form form, seconds write_time, stream_control& control)
        : to_(std::move(to)),
          place_(place),
          form_(form),
          write_time_(write_time),
          control_(control) {}

    asio::awaitable<bool> write(std::span<const std::string_view> parts) override {
        control_.enter_write();
        // Runs also when the coroutine is cancelled here.
        const struct leaving {
            stream_control& control;
            ~leaving() { control.leave_write(); }
        } on_return{control_};
        std::size_t part = 0;
        std::size_t in_part = 0;
        while (part < parts.size() && !failed_ && !control_.stopping()) {
            std::vector<asio::const_buffer> piece;
            std::size_t size = 0;
            while (part < parts.size() && size < piece_bytes && piece.size() < most_parts) {
                const auto take = parts[part].substr(in_part, piece_bytes - size);
                if (!take.empty()) piece.push_back(asio::buffer(take));
                size += take.size();
                in_part += take.size();
                if (in_part < parts[part].size()) continue;
                ++part;
                in_part = 0;
            }
            // An empty chunk would be the last one.
            if (size > 0) co_await send(std::move(piece), size);
        }
        // If the server stops within a write, the rest of it is not sent: the stream ends at the
        // end of a chunk all the same, and its reader sees a cut line.
        co_return !failed_ && !control_.stopping();
    }

    /// The last chunk.
    asio::awaitable<bool> finish() {
        if (failed_) co_return false;
        if (form_ == stream_form::until_close) co_return true;
        to_->close_at(std::chrono::steady_clock::now() + last_words_time);
        error_code failure;
        co_await asio::async_write(*to_, asio::buffer(std::string_view("0\r\n\r\n")),
                                   asio::redirect_error(asio::use_awaitable, failure));
        co_return !failure;
    }

private:
    asio::awaitable<void> send(std::vector<asio::const_buffer> piece, std::size_t size) {
        const auto begin = fmt::format("{:x}\r\n", size);
        if (form_ == stream_form::chunked) {
            piece.insert(piece.begin(), asio::buffer(begin));
            piece.push_back(asio::buffer(std::string_view("\r\n")));
        }
        to_->close_at(std::chrono::steady_clock::now() + write_time_);
        error_code failure;
        const auto count = co_await asio::async_write(
            *to_, piece, asio::redirect_error(asio::use_awaitable, failure));
        place_.moved(count);
        to_->no_deadline();
        failed_ = bool(failure);
    }

    std::shared_ptr<tcp_connection> to_;
    connection_table::place& place_;
    stream_form form_;
    seconds write_time_;
    stream_control& control_;
    bool failed_ = false;
};

asio::awaitable<void> produce(const stream_body& body, stream_writer& to) {
    co_await body(to);
    throw is_over();
}

asio::awaitable<void> until_stopped(stream_control& control) {
    co_await control.wait();
    throw is_over();
}

asio::awaitable<void> until_gone(tcp_connection& connection) {
    error_code failure;
    std::array<char, 256> away;
    for (std::size_t heard = 0; !failure && heard < most_heard;) {
        heard += co_await connection.async_read_some(
            asio::buffer(away), asio::redirect_error(asio::use_awaitable, failure));
    }
    throw peer_has_gone();
}

std::vector<asio::awaitable<void>> parts_of(const stream_body& body, stream_writer& to,
                                            stream_control& control, tcp_connection& connection) {
    std::vector<asio::awaitable<void>> out;
    out.push_back(produce(body, to));
    out.push_back(until_stopped(control));
    out.push_back(until_gone(connection));
    return out;
}

}  // namespace

asio::awaitable<bool> stream_writer::write(std::string_view text) {
    const std::array<std::string_view, 1> parts{text};
    co_return co_await write(std::span<const std::string_view>(parts));
}

asio::awaitable<void> stream_control::wait() {
    while (!stopping_ || writing_) co_await changed_.wait();
}

asio::awaitable<bool> send_stream(std::shared_ptr<tcp_connection> connection,
                                  connection_table::place& place, stream_body body,
                                  stream_form form, seconds write_time, stream_control& control) {
    socket_writer to(connection, place, form, write_time, control);
    connection->no_deadline();
    bool whole = false;
    try {
        co_await run_together(parts_of(body, to, control, *connection));
    } catch (const is_over&) {
        whole = true;
    } catch (const peer_has_gone&) {
    } catch (const boost::system::system_error& e) {
        if (e.code() == asio::error::operation_aborted) throw;
        log::error("a stream failed inside", {{"error", e.what()}});
    } catch (const std::exception& e) {
        log::error("a stream failed inside", {{"error", e.what()}});
    } catch (...) {
        log::error("a stream failed inside", {{"error", "unknown exception"}});
    }
    // Everything that the coroutine holds is freed now, not when the last bytes have gone.
    body = nullptr;
    if (!whole) co_return false;
    co_return co_await to.finish();
}

}  // namespace esi::http

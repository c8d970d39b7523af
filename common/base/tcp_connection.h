// One TCP connection, plain or with TLS, that closes itself when its deadline passes. An Asio
// AsyncStream, so Beast reads and writes through it. Owned by its reader and writer; never shared
// between two conversations; once an operation was cancelled or timed out it is of no more use.
// Heavy to include: only for the sources that do I/O.
#pragma once

#include <netinet/tcp.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <optional>
#include <utility>

#include "base/clock.h"

namespace esi {

class tcp_connection : public std::enable_shared_from_this<tcp_connection> {
public:
    using socket_type = asio::ip::tcp::socket;
    using tls_type = asio::ssl::stream<socket_type&>;
    using executor_type = socket_type::executor_type;

    explicit tcp_connection(socket_type socket)
        : socket_(std::move(socket)), timer_(socket_.get_executor()) {}
    explicit tcp_connection(const asio::any_io_executor& executor)
        : tcp_connection(socket_type(executor)) {}
    tcp_connection(const tcp_connection&) = delete;
    tcp_connection& operator=(const tcp_connection&) = delete;

    executor_type get_executor() { return socket_.get_executor(); }
    socket_type& socket() { return socket_; }
    /// All further bytes go through TLS; the caller does the handshake.
    tls_type& start_tls(std::shared_ptr<asio::ssl::context> context) {
        context_ = std::move(context);
        return tls_.emplace(socket_, *context_);
    }
    tls_type* tls() { return tls_ ? &*tls_ : nullptr; }

    /// Closes the socket at `when`: whatever is under way then fails, and timed_out() says why.
    /// Real time: the other side of a socket does not live in virtual time.
    void close_at(steady_time when) {
        timer_.expires_at(when);
        timer_.async_wait([self = weak_from_this()](const boost::system::error_code& failure) {
            auto alive = self.lock();
            if (failure || !alive || alive->timer_.expiry() > std::chrono::steady_clock::now())
                return;
            alive->timed_out_ = true;
            alive->close();
        });
    }
    void no_deadline() { timer_.expires_at(steady_time::max()); }
    bool timed_out() const { return timed_out_; }
    void close() {
        boost::system::error_code ignored;
        socket_.close(ignored);
    }

    /// The other side sends nothing more, or the connection is broken; earlier bytes may still be
    /// unread.
    bool peer_has_ended() {
        tcp_info info{};
        socklen_t size = sizeof info;
        if (getsockopt(socket_.native_handle(), IPPROTO_TCP, TCP_INFO, &info, &size) != 0) {
            return true;
        }
        return info.tcpi_state != TCP_ESTABLISHED;
    }

    template <class Buffers, class Token>
    auto async_read_some(const Buffers& buffers, Token&& token) {
        if (tls_) return tls_->async_read_some(buffers, std::forward<Token>(token));
        return socket_.async_read_some(buffers, std::forward<Token>(token));
    }
    template <class Buffers, class Token>
    auto async_write_some(const Buffers& buffers, Token&& token) {
        if (tls_) return tls_->async_write_some(buffers, std::forward<Token>(token));
        return socket_.async_write_some(buffers, std::forward<Token>(token));
    }

private:
    socket_type socket_;
    asio::steady_timer timer_;
    std::shared_ptr<asio::ssl::context> context_;
    std::optional<tls_type> tls_;
    bool timed_out_ = false;
};

}  // namespace esi

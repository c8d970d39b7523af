// Reads the requests of one connection: head, decision of the router, body. Holds no more of each
// than its bounds, whatever the peer sends and in which pieces.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/system/error_code.hpp>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/task_group.h"
#include "base/tcp_connection.h"
#include "http/connection_table.h"
#include "http/router.h"

namespace esi::http {

struct request_limits {
    /// Bytes of a head. The text between the pieces of a chunked body (sizes, extensions) and after
    /// them (trailers) may be as long, and as long as the body besides.
    std::size_t head = 16u << 10;
    std::size_t header_lines = 100;
    /// For a head and its body together.
    seconds time{30};
};

/// Bodies that are too large to hold several are read and answered one at a time.
class large_body_turn {
public:
    explicit large_body_turn(const asio::any_io_executor& executor) : free_(executor) {}
    /// Passes the turn on when it is destroyed.
    class holder {
    public:
        explicit holder(large_body_turn& of) : of_(of) {}
        ~holder() {
            of_.taken_ = false;
            of_.free_.notify();
        }
        holder(const holder&) = delete;
        holder& operator=(const holder&) = delete;

    private:
        large_body_turn& of_;
    };
    /// Null: others have the turn until `deadline`.
    asio::awaitable<std::unique_ptr<holder>> take(clock& time, steady_time deadline);

private:
    bool taken_ = false;
    notifier free_;
};

/// How the reading of one request ended.
struct reading {
    enum class end {
        request,  ///< complete; `decided` says what answers it
        refused,  ///< `reply` answers it
        closed,   ///< there is no client to answer
    };
    end how = end::closed;
    server_request request;
    router::decision decided;
    server_reply reply;
    bool keep_alive = false;
    /// HTTP/1.0: a connection that stays open must say so (RFC 9112 9.3).
    bool old_version = false;
    /// Held for a large body, until the answer is sent.
    std::unique_ptr<large_body_turn::holder> turn;
};

class request_reader {
public:
    request_reader(tcp_connection& connection, connection_table::place& place, const router& routes,
                   clock& time, request_limits limits, large_body_turn& turn);

    /// Waits for the first byte of a request; false when none comes.
    asio::awaitable<bool> first_byte();
    asio::awaitable<reading> read(std::shared_ptr<const peer_details> peer);

    /// Bytes after the last request; the next one starts with them.
    std::string take_rest();
    void put_back(const std::string& rest);

private:
    struct parts;
    asio::awaitable<boost::system::error_code> read_some();
    /// Status and words of a refusal; 0: the peer has gone; nothing: the head is complete.
    struct trouble {
        int status = 0;
        std::string why;
    };
    asio::awaitable<std::optional<trouble>> read_head();
    asio::awaitable<std::optional<trouble>> read_body(parts& of, reading& into);
    asio::awaitable<std::optional<server_reply>> ask_admission(reading& into);

    tcp_connection& connection_;
    connection_table::place& place_;
    const router& routes_;
    clock& time_;
    request_limits limits_;
    large_body_turn& turn_;
    /// Bytes after the previous request, and bytes of this one that are not parsed yet.
    boost::beast::flat_buffer buffer_;
};

}  // namespace esi::http

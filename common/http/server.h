// A small HTTP/1.1 server: one listener, routes, bounded everything. Handlers are coroutines on the
// process' loop. Nothing a client sends may stall or end the process.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "base/task_group.h"
#include "http/connection_table.h"
#include "http/router.h"

namespace esi::http {

/// A request that was answered, for metrics.
struct answered_request {
    /// The route's pattern; empty where none matches or a filter refused.
    std::string_view route;
    /// As sent: any text.
    std::string_view method;
    /// 101: another protocol took the connection over.
    int status = 0;
    /// From its first byte until the answer was handed to the system.
    steady_time::duration took{};
};

struct server_options {
    std::string bind_address = "0.0.0.0";
    int port = 0;  ///< 0: a free one, see server::port()
    std::string tls_cert_file;
    std::string tls_private_key_file;
    /// CAs (PEM) of the certificates that clients may show; none is asked for without. Who must
    /// have one, routes say.
    std::string client_ca_file;
    /// Of a head.
    std::size_t header_limit = 16u << 10;
    seconds idle_timeout{60};
    seconds request_timeout{30};
    /// For each 64 KiB of a stream, when the client does not read.
    seconds stream_write_time{30};
    /// So long a request for a large answer may wait until there is memory for it.
    seconds large_answer_patience{20};
    connection_limits limits;
    /// Called after each answer; may be empty.
    std::function<void(const answered_request&)> on_answer;
};

class server {
public:
    server(asio::any_io_executor executor, clock& time, server_options options,
           const router& routes);
    ~server();
    /// Binds and starts to accept; an address in use is an error with the address in its text.
    result<void> start();
    int port() const;
    /// Open now, those that another protocol took over included.
    std::size_t connections() const;
    /// Takes no new connection and frees the address; those that are open go on.
    void close_listener();
    /// Closes the listener, ends streams, lets answers under way finish until `deadline`.
    asio::awaitable<void> stop(steady_time deadline);

private:
    struct state;
    std::shared_ptr<state> state_;
};

}  // namespace esi::http

// A small HTTP/1.1 server: one listener, routes, everything bounded. Handlers are coroutines on the
// process' loop. No client can stall or end the process.
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
    /// The route's pattern; empty if none matches or a filter refused.
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
    /// CAs (PEM) of the certificates that clients may show; without it none is requested. Routes
    /// decide which callers must have one.
    std::string client_ca_file;
    /// Bytes of a head.
    std::size_t header_limit = 16u << 10;
    seconds idle_timeout{60};
    seconds request_timeout{30};
    /// Time for each 64 KiB of a stream, if the client does not read.
    seconds stream_write_time{30};
    /// How long a request for a large answer may wait until there is memory for it.
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
    /// The number of open connections, including those that another protocol took over.
    std::size_t connections() const;
    /// Takes no new connection and frees the address; open ones continue.
    void close_listener();
    /// Closes the listener, ends streams, lets answers under way finish until `deadline`.
    asio::awaitable<void> stop(steady_time deadline);

private:
    struct state;
    std::shared_ptr<state> state_;
};

}  // namespace esi::http

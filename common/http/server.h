// A small HTTP/1.1 server: one listener, routes, bounded everything. Handlers are coroutines on the
// process' loop. Nothing a client sends may stall or end the process.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/task_group.h"

namespace esi {
class tcp_connection;
}

namespace esi::http {

struct server_request {
    std::string method;
    /// As sent, percent-encoded, without the query.
    std::string raw_path;
    /// Decoded segments' variables of the route: {name}.
    std::map<std::string, std::string, std::less<>> variables;
    std::vector<std::pair<std::string, std::string>> query;
    /// Lower-case names.
    std::vector<std::pair<std::string, std::string>> headers;
    std::string body;
    bool peer_is_loopback = false;
    /// The path cannot be decoded (a bad escape, an encoded slash): no route matches, and a miss
    /// handler may answer 400 in its own form.
    bool undecodable_path = false;

    /// First value; empty when absent.
    std::string_view header(std::string_view lower_name) const;
    std::optional<std::string> parameter(std::string_view name) const;
};

struct server_reply {
    server_reply() = default;
    server_reply(int status_, std::string content_type_, std::string body_)
        : status(status_), content_type(std::move(content_type_)), body(std::move(body_)) {}
    int status = 200;
    std::string content_type;
    std::string body;
    std::vector<std::pair<std::string, std::string>> headers;
};

using route_handler = std::function<asio::awaitable<server_reply>(server_request)>;

/// A request that asks for another protocol on its connection (RFC 9110 7.8), and the connection.
struct upgrade {
    server_request request;
    std::shared_ptr<tcp_connection> connection;
    /// What came behind the request.
    std::string early;
};
/// Holds the whole conversation, from the answer 101 to its end; the server then closes the
/// connection. With a reply: nothing was sent, and the connection goes on with that answer.
using upgrade_handler =
    std::function<asio::awaitable<std::optional<server_reply>>(std::shared_ptr<upgrade>)>;

/// Routes by exact segments and {variables}. HEAD is answered by GET without the body.
class router {
public:
    /// `pattern`: "/external/testbeds/{name}". A trailing slash is another path.
    void add(std::string method, std::string pattern, route_handler handler);
    /// Makes the answer where no route matches: 404, or 405 with the methods that the path has (in
    /// the order of their registration). The part of the path below `prefix` only; the longest
    /// prefix wins. Default: problem+json.
    using miss_handler =
        std::function<server_reply(const server_request&, const std::vector<std::string>& allowed)>;
    void on_miss(std::string prefix, miss_handler handler);

    asio::awaitable<server_reply> answer(server_request request) const;

    /// GET of this path with "Upgrade: `protocol`" (lower case) goes to `handler`, without counting
    /// as a connection of the server's own. Everything else there goes to the routes.
    void on_upgrade(std::string protocol, std::string pattern, upgrade_handler handler);
    /// Null when the request asks for no upgrade, or for one that nobody offers here.
    const upgrade_handler* upgrade_of(const server_request& request) const;

private:
    struct entry;
    std::vector<std::shared_ptr<const entry>> entries_;
    std::vector<std::pair<std::shared_ptr<const entry>, upgrade_handler>> upgrades_;
    std::vector<std::pair<std::string, miss_handler>> misses_;
};

struct server_options {
    std::string bind_address = "0.0.0.0";
    int port = 0;  ///< 0: a free one, see server::port()
    std::string tls_cert_file;
    std::string tls_private_key_file;
    std::size_t body_limit = 4u << 20;
    std::size_t header_limit = 16u << 10;
    seconds idle_timeout{60};
    seconds request_timeout{30};
    int max_connections = 1024;
};

class server {
public:
    server(asio::any_io_executor executor, clock& time, server_options options,
           const router& routes);
    ~server();
    /// Binds and starts to accept; an address in use is an error with the address in its text.
    result<void> start();
    int port() const;
    /// Closes the listener, lets answers under way finish until `deadline`.
    asio::awaitable<void> stop(steady_time deadline);

private:
    struct state;
    std::shared_ptr<state> state_;
};

/// "Not Found" for 404.
std::string_view reason_phrase(int status);

/// RFC 9457 problem+json; `faults` lists every fault at once.
server_reply problem(int status, std::string_view title, std::string_view detail,
                     const std::vector<std::string>& faults = {});

}  // namespace esi::http

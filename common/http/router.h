// Which handler answers which request, and the decisions before its body is read: who is refused,
// and how long the body may be.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/message.h"

namespace esi {
class tcp_connection;
namespace asio = boost::asio;
}  // namespace esi

namespace esi::http {

using route_handler = std::function<asio::awaitable<server_reply>(server_request)>;

/// Called with the head of a request that matches a route and that all filters let pass, before any
/// byte of its body is read (and before 100 Continue is sent). It may ask other servers and wait
/// for them, within the time of the request, and sets `caller`. A reply refuses the request, as one
/// of a filter does.
using admission = std::function<asio::awaitable<std::optional<server_reply>>(server_request& head)>;

struct route_rules {
    /// Longest body in bytes; 0: the route takes none. A longer one is a 413 before it is read.
    std::size_t body_limit = 0;
    /// The same for peers with a certificate of the client CA. The server reads one such body above
    /// `body_limit` at a time.
    std::size_t certified_body_limit = 0;
    /// Served also if all places but the reserved ones are taken.
    bool probe = false;
    /// Its GET changes something: HEAD does not run it.
    bool writes = false;
};

/// A request that asks for another protocol on its connection (RFC 9110 7.8), and the connection.
struct upgrade {
    server_request request;
    std::shared_ptr<tcp_connection> connection;
    /// Bytes that came after the request.
    std::string early;
};
/// Holds the whole conversation, from the answer 101 to its end; the server then closes the
/// connection. With a reply: nothing was sent, and the connection goes on with that answer.
using upgrade_handler =
    std::function<asio::awaitable<std::optional<server_reply>>(std::shared_ptr<upgrade>)>;

/// Routes by exact segments and {variables}. HEAD is answered by GET without the body.
class router {
public:
    /// `pattern`: "/external/testbeds/{name}". A trailing slash is another path. A verb may follow
    /// a variable, "/jobs/{name}:reset", which takes "/jobs/a:reset" with "a" as the name. If a
    /// pattern has verbs, the same without one takes no path with a colon in that place.
    void add(std::string method, std::string pattern, route_handler handler, route_rules rules = {},
             admission admit = {});
    /// Called with the head of each request at or below the path `prefix`, whether a route matches
    /// or not and before any body is read. A reply refuses the request. All filters of a path are
    /// called, in the order of their registration.
    using filter = std::function<std::optional<server_reply>(const server_request& head)>;
    void guard(std::string prefix, filter may);
    /// Makes the answer if no route matches: 404, or 405 with the methods that the path has (in the
    /// order of their registration). Only for paths below `prefix`; the longest prefix wins.
    /// Default: problem+json.
    using miss_handler =
        std::function<server_reply(const server_request&, const std::vector<std::string>& allowed)>;
    void on_miss(std::string prefix, miss_handler handler);
    /// GET of this path with "Upgrade: `protocol`" (lower case) goes to `handler`, without counting
    /// as a connection of the server's own. Everything else there goes to the routes.
    void on_upgrade(std::string protocol, std::string pattern, upgrade_handler handler);

    /// The decision on a request, made from its head.
    struct decision {
        /// The answer is known already: a filter refused, or no route matches.
        std::optional<server_reply> reply;
        const upgrade_handler* upgrade = nullptr;
        const route_handler* handler = nullptr;
        /// Null if the route has none, or if the answer is known already. An upgrade has no
        /// admission.
        const admission* admit = nullptr;
        route_rules rules;
        /// The pattern of the route; empty if none matches or a filter refused.
        std::string_view route;
    };
    /// Fills in the variables of the route. Its pointers are valid as long as the router lives.
    decision decide(server_request& head) const;

    /// All steps at once.
    asio::awaitable<server_reply> answer(server_request request) const;

private:
    struct entry;
    struct guarded_path;
    std::vector<std::shared_ptr<const entry>> entries_;
    std::vector<std::pair<std::shared_ptr<const entry>, upgrade_handler>> upgrades_;
    std::vector<std::pair<std::string, miss_handler>> misses_;
    std::vector<std::shared_ptr<const guarded_path>> guards_;
    /// Patterns that exist with a verb, without it.
    std::set<std::string, std::less<>> with_verbs_;

    bool matches(const entry& route, const std::vector<std::string>& path) const;
    const miss_handler* miss_of(const server_request& request) const;
    void find_upgrade(const server_request& request, const std::vector<std::string>& path,
                      decision& into) const;
    server_reply miss(const server_request& request, const std::vector<std::string>& path) const;
};

}  // namespace esi::http

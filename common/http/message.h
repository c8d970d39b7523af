// Requests and replies as routes see them.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/text.h"

namespace esi {
namespace asio = boost::asio;
}  // namespace esi

namespace esi::http {

/// Names of headers and hosts, schemes and media types are compared in lower case.
using esi::lower;

/// The caller, as the cluster's API server knows it (TokenReview's user).
struct identity {
    std::string name;
    std::string uid;
    std::vector<std::string> groups;
    std::map<std::string, std::vector<std::string>, std::less<>> extra;
};

/// The subject of a client's certificate, and its end.
struct certificate_subject {
    /// Empty if the certificate has none or several.
    std::string common_name;
    std::vector<std::string> organizations;
    /// From this moment on the certificate is not accepted: a connection may outlive it.
    wall_time not_after = wall_time::max();

    bool has_ended(wall_time now) const { return now >= not_after; }
};

/// The other side of a connection, for all of its requests.
struct peer_details {
    /// "10.0.0.7"
    std::string address;
    bool loopback = false;
    /// The subject of a certificate of the client CA.
    std::optional<certificate_subject> certificate;
    /// True once the peer sends nothing more: a client that would wait has gone. May be empty.
    std::function<bool()> has_ended;
};

/// The share of one request in the memory for bodies and answers of all connections. A handler that
/// collects much before it answers takes the bytes here before it has them. Once it has returned,
/// the server holds as much as the answer has; for a stream, what the handler held, until the end
/// of the stream.
class answer_room {
public:
    virtual ~answer_room() = default;
    /// Holds this many bytes in total from now on. False: there is no room for more than before.
    virtual bool hold(std::size_t bytes) = 0;
    /// The same if the handler holds nothing yet: waits, behind the requests that wait already,
    /// until there is room. False: there was none in time.
    virtual asio::awaitable<bool> wait_to_hold(std::size_t bytes) = 0;
    /// For a handler that waits for something else, which may take minutes: other requests may make
    /// their large answers meanwhile.
    virtual void stand_aside() = 0;
};

struct server_request {
    std::string method;
    /// As sent, percent-encoded, without the query.
    std::string raw_path;
    /// Decoded segments' variables of the route: {name}.
    std::map<std::string, std::string, std::less<>> variables;
    std::vector<std::pair<std::string, std::string>> query;
    /// Lower-case names. For a target in absolute form, its authority is the Host (RFC 9112 3.2.2).
    std::vector<std::pair<std::string, std::string>> headers;
    std::string body;
    /// The peer's own address is 127.0.0.1 or ::1. Rules for it: access.h.
    bool peer_is_loopback = false;
    /// The peer has shown a certificate of the client CA that is still valid.
    bool peer_has_certificate = false;
    /// Null if the request came from no connection.
    std::shared_ptr<const peer_details> peer;
    /// The path cannot be decoded (a bad escape, an encoded slash): no route matches, and a miss
    /// handler may answer 400 in its own form.
    bool undecodable_path = false;
    /// Set by the route's admission; null if a route has none.
    std::shared_ptr<const identity> caller;
    /// Null if the request came from no connection, or has memory of its own (a large body with a
    /// certificate): nothing is counted.
    std::shared_ptr<answer_room> room;

    /// First value; empty when absent.
    std::string_view header(std::string_view lower_name) const;
    /// Also when its text is empty.
    bool has_header(std::string_view lower_name) const;
    std::optional<std::string> parameter(std::string_view name) const;
};

class stream_writer;
/// Writes an answer in pieces (stream.h), and ends when the answer has ended.
using stream_body = std::function<asio::awaitable<void>(stream_writer&)>;

struct server_reply {
    server_reply() = default;
    server_reply(int status_, std::string content_type_, std::string body_)
        : status(status_), content_type(std::move(content_type_)), body(std::move(body_)) {}
    int status = 200;
    std::string content_type;
    std::string body;
    std::vector<std::pair<std::string, std::string>> headers;
    /// Makes the body instead of `body`; for statuses that have one. Not run for HEAD.
    stream_body stream;
};

/// "Not Found" for 404.
std::string_view reason_phrase(int status);

}  // namespace esi::http

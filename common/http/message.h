// Requests and replies as routes see them.
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

#include "base/text.h"

namespace esi {
namespace asio = boost::asio;
}  // namespace esi

namespace esi::http {

/// Names of headers and hosts, schemes and media types are compared in lower case.
using esi::lower;

/// Who asks, as the cluster's API server knows them (TokenReview's user).
struct identity {
    std::string name;
    std::string uid;
    std::vector<std::string> groups;
    std::map<std::string, std::vector<std::string>, std::less<>> extra;
};

struct server_request {
    std::string method;
    /// As sent, percent-encoded, without the query.
    std::string raw_path;
    /// Decoded segments' variables of the route: {name}.
    std::map<std::string, std::string, std::less<>> variables;
    std::vector<std::pair<std::string, std::string>> query;
    /// Lower-case names. Of a target in absolute form, its authority is the Host (RFC 9112 3.2.2).
    std::vector<std::pair<std::string, std::string>> headers;
    std::string body;
    /// The peer's own address is 127.0.0.1 or ::1. Who may use that: access.h.
    bool peer_is_loopback = false;
    /// The peer has shown a certificate of the client CA.
    bool peer_has_certificate = false;
    /// The path cannot be decoded (a bad escape, an encoded slash): no route matches, and a miss
    /// handler may answer 400 in its own form.
    bool undecodable_path = false;
    /// Set by the route's admission; null where a route has none.
    std::shared_ptr<const identity> caller;

    /// First value; empty when absent.
    std::string_view header(std::string_view lower_name) const;
    /// Also when its text is empty.
    bool has_header(std::string_view lower_name) const;
    std::optional<std::string> parameter(std::string_view name) const;
};

class stream_writer;
/// Writes an answer bit by bit (stream.h), and ends when it has ended.
using stream_body = std::function<asio::awaitable<void>(stream_writer&)>;

struct server_reply {
    server_reply() = default;
    server_reply(int status_, std::string content_type_, std::string body_)
        : status(status_), content_type(std::move(content_type_)), body(std::move(body_)) {}
    int status = 200;
    std::string content_type;
    std::string body;
    std::vector<std::pair<std::string, std::string>> headers;
    /// Makes the body in place of `body`; for statuses that have one. Not run for HEAD.
    stream_body stream;
};

/// "Not Found" for 404.
std::string_view reason_phrase(int status);

/// RFC 9457 problem+json; `faults` lists every fault at once.
server_reply problem(int status, std::string_view title, std::string_view detail,
                     const std::vector<std::string>& faults = {});
/// The title is the status' own words.
server_reply problem(int status, std::string_view detail);

}  // namespace esi::http

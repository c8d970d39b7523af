// The transport half of the seam. Everything that leaves or enters a process over HTTP as a client
// goes through this interface; production uses sockets (kube/connection/http_transport.h), a
// simulation an in-memory API server.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace esi::kube {

struct request {
    request(std::string method_, std::string target_)
        : method(std::move(method_)), target(std::move(target_)) {}

    std::string method;
    /// Path and query, percent-encoded.
    std::string target;
    /// The Accept header; empty: application/json.
    std::string accept;
    /// Empty: no body.
    std::string content_type;
    std::string body;
    /// Repeating the request does no harm: a GET, or a write guarded by uid or resourceVersion.
    bool safe_to_repeat = false;
    /// An answer with a longer body is not read to its end (errc::answer_too_large). 0: as long as
    /// the transport takes.
    std::size_t answer_limit = 0;
};

struct response {
    int status = 0;
    std::string body;
    /// Retry-After in seconds, -1 without.
    int retry_after_seconds = -1;
    /// Warning headers.
    std::vector<std::string> warnings;
    /// The Date header.
    std::optional<wall_time> date;
};

/// The body of an answer that trickles in: a watch.
class stream {
public:
    virtual ~stream() = default;
    virtual int status() const = 0;
    virtual int retry_after_seconds() const = 0;
    /// The Date header of the answer's head.
    virtual std::optional<wall_time> date() const { return std::nullopt; }
    /// The next piece of the body; empty at the orderly end. `deadline` is the idle limit.
    virtual asio::awaitable<result<std::string>> read(steady_time deadline) = 0;
};

class transport {
public:
    virtual ~transport() = default;
    /// Sends and reads the whole answer. Fails with errc::transport, errc::timeout or
    /// errc::answer_too_large only; any HTTP status is an answer. A request on a pooled connection
    /// that the server had closed, before any byte of an answer came, is tried once more on a new
    /// one if it is safe_to_repeat.
    virtual asio::awaitable<result<response>> send(request what, steady_time deadline) = 0;
    /// Opens a stream; `deadline` covers the head of the answer.
    virtual asio::awaitable<result<std::unique_ptr<stream>>> open(request what,
                                                                  steady_time deadline) = 0;
};

}  // namespace esi::kube

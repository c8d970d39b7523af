// The real transport: HTTP/1.1 over TCP and TLS to one API server. A small pool of keep-alive
// connections serves requests; each stream (watch) has a connection of its own. Owned by the
// process; must outlive its requests and streams. A request that is cancelled closes its
// connection. Never blocks the loop: names are resolved, files read and plugins run elsewhere.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <memory>
#include <string>

#include "kube/auth/kubeconfig.h"
#include "kube/connection/connection_pool.h"
#include "kube/transport.h"

namespace esi::kube {

struct http_transport_options {
    http_transport_options() = default;
    std::string user_agent = "esi";
    pool_limits pool;
    /// An answer's body above this is an error; lists of a large cluster stay well below.
    std::size_t body_limit = std::size_t{512} << 20;
};

class http_transport final : public transport {
public:
    /// Checks what can be checked without the network: the server's address, and files, keys and
    /// certificates that are named (not what a plugin gives). Errors are errc::config.
    static result<std::unique_ptr<http_transport>> make(
        asio::any_io_executor executor, clock& time, cluster_access access,
        http_transport_options options = http_transport_options());
    ~http_transport() override;

    asio::awaitable<result<response>> send(request what, steady_time deadline) override;
    asio::awaitable<result<std::unique_ptr<stream>>> open(request what,
                                                          steady_time deadline) override;

    /// "127.0.0.1:6443", for logs and metrics.
    const std::string& host() const;

private:
    struct state;
    explicit http_transport(std::shared_ptr<state> made);
    std::shared_ptr<state> state_;
};

}  // namespace esi::kube

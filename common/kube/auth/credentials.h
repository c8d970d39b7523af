// The process' identity towards the API server, kept fresh: token, key and CA files are read again
// every minute, an exec plugin is asked again when its answer expires, and everything at once after
// a 401. Owned by the transport. Files and programs are read on a helper thread: the loop never
// blocks. Secrets are never logged.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "kube/auth/exec_plugin.h"
#include "kube/auth/kubeconfig.h"

namespace esi::kube {

/// The credentials at one moment; immutable, shared by the requests that use them.
struct credential_set {
    std::string token;
    std::string ca_pem;
    std::string certificate_pem;
    std::string key_pem;
    /// Counts up when CA, certificate or key change: earlier connections are outdated.
    std::uint64_t tls_revision = 1;
};

class credentials {
public:
    using pointer = std::shared_ptr<const credential_set>;

    /// `first`: what was read already, if anything was.
    credentials(asio::any_io_executor executor, clock& time, cluster_access access,
                std::optional<credential_set> first = std::nullopt);
    ~credentials();
    credentials(const credentials&) = delete;
    credentials& operator=(const credentials&) = delete;

    /// The present credentials; waits only if there are none yet, if they have expired, or if the
    /// server refused them. If they cannot be renewed, the old ones are returned for as long as
    /// they may be valid.
    asio::awaitable<result<pointer>> current(steady_time deadline);
    /// The server answered 401 to `used`: the next current() renews it first (at most every 5 s).
    void rejected(const pointer& used);

    const cluster_access& access() const;

private:
    struct state;
    std::shared_ptr<state> state_;
};

/// The present content of the files of `access`, with the exec plugin's answer if there is one.
/// Blocks on file reads. Errors name the file.
result<credential_set> read_credential_files(const cluster_access& access,
                                             const exec_credential* from_plugin);

}  // namespace esi::kube

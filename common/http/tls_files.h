// The server's certificate and key, and the CAs of its clients, from files; read again when they
// change on disk (cert-manager and kubelet replace them in place). Bad files are logged, and the
// earlier ones stay in use.
#pragma once

#include <boost/asio/ssl/context.hpp>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/result.h"

namespace esi::http {

struct tls_file_names {
    std::string cert;
    std::string key;
    /// CAs of the certificates that clients may show; empty: none is requested. A client may go
    /// without one; one that is not from a CA here ends the handshake.
    std::string client_ca;
};

class tls_files {
public:
    static result<tls_files> load(tls_file_names names, steady_time now);
    /// For the next connection; looks at the files at most every ten seconds.
    std::shared_ptr<asio::ssl::context> context(steady_time now);

private:
    tls_files() = default;
    tls_file_names names_;
    /// Modification times of the files, as one comparable text.
    std::string stamp_;
    steady_time looked_{};
    std::shared_ptr<asio::ssl::context> context_;
};

}  // namespace esi::http

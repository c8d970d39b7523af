// The server's certificate and key from files, read again when they change on disk (cert-manager
// and kubelet replace them in place). A bad new pair is logged and the old one stays in use.
#pragma once

#include <boost/asio/ssl/context.hpp>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/result.h"

namespace esi::http {

class tls_files {
public:
    static result<tls_files> load(std::string cert_file, std::string key_file, steady_time now);
    /// For the next connection; looks at the files at most every ten seconds.
    std::shared_ptr<asio::ssl::context> context(steady_time now);

private:
    tls_files() = default;
    std::string cert_file_;
    std::string key_file_;
    /// Modification times of both files, as one comparable text.
    std::string stamp_;
    steady_time looked_{};
    std::shared_ptr<asio::ssl::context> context_;
};

}  // namespace esi::http

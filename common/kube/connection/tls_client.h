// TLS towards the API server: a context from one credential set, and the checks of one connection.
#pragma once

#include <boost/asio/ssl/context.hpp>
#include <memory>
#include <string>

#include "base/result.h"
#include "kube/auth/credentials.h"

namespace esi::kube {

/// TLS 1.2 or newer, trusting the cluster's CA only (the system's store where none is named).
/// Errors (errc::config) say which of CA, certificate and key is wrong.
result<std::shared_ptr<asio::ssl::context>> make_client_context(const credential_set& from,
                                                                const cluster_entry& cluster);

/// Before the handshake: SNI, and the name or IP address that the certificate must carry as a
/// subject alternative name (the common name does not count). False when OpenSSL refuses it.
bool expect_peer(SSL* connection, const std::string& name);

/// Why a handshake failed, in words: the certificate's fault where there is one.
std::string handshake_fault(SSL* connection, const boost::system::error_code& failure);

}  // namespace esi::kube

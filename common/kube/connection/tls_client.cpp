#include "kube/connection/tls_client.h"

#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/address.hpp>

namespace esi::kube {

result<std::shared_ptr<asio::ssl::context>> make_client_context(const credential_set& from,
                                                                const cluster_entry& cluster) {
    auto context = std::make_shared<asio::ssl::context>(asio::ssl::context::tls_client);
    SSL_CTX_set_min_proto_version(context->native_handle(), TLS1_2_VERSION);
    // Most connections are watches that rest: their 17 KB record buffers need not.
    SSL_CTX_set_mode(context->native_handle(), SSL_MODE_RELEASE_BUFFERS);
    boost::system::error_code failure;
    if (cluster.insecure_skip_tls_verify) {
        context->set_verify_mode(asio::ssl::verify_none, failure);
    } else {
        context->set_verify_mode(asio::ssl::verify_peer, failure);
        if (from.ca_pem.empty()) {
            context->set_default_verify_paths(failure);
        } else {
            context->add_certificate_authority(asio::buffer(from.ca_pem), failure);
        }
        if (failure) return fail(errc::config, "the cluster's CA: " + failure.message());
    }
    if (from.certificate_pem.empty()) return context;
    context->use_certificate_chain(asio::buffer(from.certificate_pem), failure);
    if (failure) return fail(errc::config, "the client certificate: " + failure.message());
    context->use_private_key(asio::buffer(from.key_pem), asio::ssl::context::pem, failure);
    if (failure) return fail(errc::config, "the client key: " + failure.message());
    if (SSL_CTX_check_private_key(context->native_handle()) != 1) {
        return fail(errc::config, "the client key is not the key of the client certificate");
    }
    return context;
}

bool expect_peer(SSL* connection, const std::string& name) {
    boost::system::error_code not_an_address;
    asio::ip::make_address(name, not_an_address);
    SSL_set_hostflags(connection,
                      X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
    if (!not_an_address) {
        return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(connection), name.c_str()) == 1;
    }
    return SSL_set1_host(connection, name.c_str()) == 1 &&
           SSL_set_tlsext_host_name(connection, name.c_str()) == 1;
}

std::string handshake_fault(SSL* connection, const boost::system::error_code& failure) {
    const auto verdict = SSL_get_verify_result(connection);
    if (verdict == X509_V_OK) return failure.message();
    return std::string("the server's certificate is refused: ") +
           X509_verify_cert_error_string(verdict);
}

}  // namespace esi::kube

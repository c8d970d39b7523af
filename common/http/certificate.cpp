#include "http/certificate.h"

#include <openssl/objects.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <ctime>
#include <memory>

namespace esi::http {

namespace {

/// All values of one part of a name; those that are not UTF-8 are left out.
std::vector<std::string> values_of(const X509_NAME* name, int part) {
    std::vector<std::string> out;
    for (int at = -1; (at = X509_NAME_get_index_by_NID(name, part, at)) >= 0;) {
        unsigned char* bytes = nullptr;
        const int size =
            ASN1_STRING_to_UTF8(&bytes, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, at)));
        if (size < 0) continue;
        out.emplace_back(bytes, bytes + size);
        OPENSSL_free(bytes);
    }
    return out;
}

wall_time end_of(const X509* certificate) {
    std::tm utc{};
    if (ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &utc) != 1) return wall_time{};
    return wall_time(seconds(timegm(&utc)));
}

}  // namespace

certificate_subject subject_of(const X509* certificate) {
    const auto* name = X509_get_subject_name(certificate);
    certificate_subject out;
    auto names = values_of(name, NID_commonName);
    if (names.size() == 1) out.common_name = std::move(names.front());
    out.organizations = values_of(name, NID_organizationName);
    out.not_after = end_of(certificate);
    return out;
}

std::optional<certificate_subject> subject_of_client(SSL* of) {
    const std::unique_ptr<X509, decltype(&X509_free)> certificate(SSL_get1_peer_certificate(of),
                                                                  &X509_free);
    // The handshake fails with a certificate that is not from the client CA.
    if (!certificate || SSL_get_verify_result(of) != X509_V_OK) return std::nullopt;
    return subject_of(certificate.get());
}

}  // namespace esi::http

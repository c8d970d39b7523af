// The certificate that a client has shown in its TLS handshake.
#pragma once

#include <openssl/types.h>

#include <optional>

#include "http/message.h"

namespace esi::http {

/// Nothing if the client has shown no certificate of a client CA.
std::optional<certificate_subject> subject_of_client(SSL* of);
/// Common name and organizations, as UTF-8, and the end of the certificate; a certificate with an
/// unreadable end counts as expired.
certificate_subject subject_of(const X509* certificate);

}  // namespace esi::http

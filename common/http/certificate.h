// The certificate that a client has shown in its TLS handshake.
#pragma once

#include <openssl/types.h>

#include <optional>

#include "http/message.h"

namespace esi::http {

/// Nothing where the client has shown none that a client CA vouches for.
std::optional<certificate_subject> subject_of_client(SSL* of);
/// Common name and organizations, as UTF-8, and the end of the certificate; one whose end cannot be
/// read has ended.
certificate_subject subject_of(const X509* certificate);

}  // namespace esi::http

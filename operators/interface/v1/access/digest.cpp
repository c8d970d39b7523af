#include "interface/v1/access/digest.h"

#include <openssl/evp.h>

#include <stdexcept>

namespace esi::interface::v1 {

std::string sha256(std::string_view text) {
    std::string out(32, '\0');
    const int done = EVP_Q_digest(nullptr, "SHA256", nullptr, text.data(), text.size(),
                                  reinterpret_cast<unsigned char*>(out.data()), nullptr);
    if (done != 1) throw std::runtime_error("OpenSSL has no SHA-256");
    return out;
}

}  // namespace esi::interface::v1

#include "kube/percent.h"

#include <boost/url/encode.hpp>
#include <boost/url/rfc/unreserved_chars.hpp>

namespace esi::kube {

std::string percent_encode(std::string_view text) {
    if (text == "." || text == "..") return text == "." ? "%2E" : "%2E%2E";
    return boost::urls::encode(boost::urls::string_view(text.data(), text.size()),
                               boost::urls::unreserved_chars);
}

query_builder& query_builder::add(std::string_view key, std::string_view value) {
    text_ += first_ ? '?' : '&';
    first_ = false;
    text_ += key;
    text_ += '=';
    text_ += percent_encode(value);
    return *this;
}

}  // namespace esi::kube

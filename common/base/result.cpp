#include "base/result.h"

namespace esi {

std::string_view to_string(errc code) {
    switch (code) {
        case errc::transport:
            return "transport";
        case errc::timeout:
            return "timeout";
        case errc::not_leader:
            return "not leader";
        case errc::bad_request:
            return "bad request";
        case errc::unauthorized:
            return "unauthorized";
        case errc::forbidden:
            return "forbidden";
        case errc::not_found:
            return "not found";
        case errc::already_exists:
            return "already exists";
        case errc::conflict:
            return "conflict";
        case errc::gone:
            return "gone";
        case errc::invalid:
            return "invalid";
        case errc::too_many_requests:
            return "too many requests";
        case errc::server:
            return "server error";
        case errc::decode:
            return "not understood";
        case errc::answer_too_large:
            return "answer too large";
        case errc::config:
            return "configuration";
    }
    return "unknown";
}

bool error::transient() const {
    switch (code) {
        case errc::transport:
        case errc::timeout:
        case errc::not_leader:
        case errc::conflict:
        case errc::gone:
        case errc::too_many_requests:
        case errc::server:
            return true;
        default:
            return false;
    }
}

bool is_of_the_moment(errc code) {
    return code == errc::conflict || code == errc::not_found || code == errc::not_leader;
}

}  // namespace esi

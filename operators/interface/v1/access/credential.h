// The credential of a request: a bearer token, or the subject of a client certificate. No header
// but Authorization is read: any client that reaches the port can write the others. Pure.
#pragma once

#include <expected>
#include <memory>
#include <string>
#include <string_view>

#include "http/message.h"

namespace esi::interface::v1 {

/// The token of the one Authorization header; empty without such a header. The error quotes no part
/// of the header: it is sent and logged.
std::expected<std::string_view, std::string> bearer_token(const http::server_request& head);

/// The common name as the user, the organizations as groups, and system:authenticated. Names that
/// begin with "system:" are the cluster's own: a CA for this interface cannot give them. A
/// certificate is not accepted from its end on (`now` is not before it).
std::expected<std::shared_ptr<const http::identity>, std::string> identity_of(
    const http::certificate_subject& subject, wall_time now);

/// A name that can stand in a log and an annotation: UTF-8 without control characters, not empty,
/// at most 256 bytes.
bool is_plain_name(std::string_view name);

}  // namespace esi::interface::v1

// Errors in the shape of the Java original's server on this port: {timestamp (ISO 8601), status,
// error, path}, with `messages` where there is more to say. Pure. (Its scheduling operator wrote
// milliseconds; that one is in interface/legacy.)
#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "http/server.h"

namespace esi::testbed {

http::server_reply original_error(const http::server_request& to, int status, wall_time now,
                                  const std::vector<std::string>& messages = {});

/// The answer where no route matches: 404, or 405 with Allow.
http::server_reply original_miss(const http::server_request& to,
                                 const std::vector<std::string>& allowed, wall_time now);

}  // namespace esi::testbed

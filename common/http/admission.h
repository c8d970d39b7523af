// Runs the admission of a route under a bound of time, so that the connection always gets an
// answer.
#pragma once

#include <optional>

#include "base/clock.h"
#include "http/router.h"

namespace esi::http {

/// The verdict of `admit` on `head`. An exception of it becomes a 500; when `deadline` comes first,
/// it is cancelled and the answer is a 503 with Retry-After.
asio::awaitable<std::optional<server_reply>> refusal_by(const admission& admit,
                                                        server_request& head, clock& time,
                                                        steady_time deadline);

}  // namespace esi::http

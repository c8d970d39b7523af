// The route of the streams of events, with the checks of the caller.
#pragma once

#include "http/message.h"
#include "interface/v1/events/hub.h"

namespace esi::interface::v1::events {

/// GET of both paths. `caller` of the request may be null: then it is authenticated here. `of`
/// outlives the stream.
asio::awaitable<http::server_reply> open_stream(hub& of, http::server_request request);

}  // namespace esi::interface::v1::events

// The formats of the original's clients: Content-Type, Accept, and error bodies in the form that
// they ask for. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "http/message.h"

namespace esi::interface::legacy {

enum class wanted_form { json, html, none };

/// Whether an Accept header prefers JSON or HTML (by q, then by order); neither: none. An empty
/// header accepts everything.
wanted_form form_of(std::string_view accept);
/// Whether the header accepts JSON.
bool accepts_json(std::string_view accept);
/// application/json or application/*+json, with parameters or without.
bool is_json(std::string_view content_type);

/// {timestamp (ms), status, error, path}, and `messages` if there are any; an HTML page or an empty
/// body for clients that prefer it.
http::server_reply error_reply(const http::server_request& to, int status, wall_time now,
                               const std::vector<std::string>& messages = {});

}  // namespace esi::interface::legacy

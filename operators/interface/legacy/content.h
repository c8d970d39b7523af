// What the original's clients may send and want to get: Content-Type, Accept, and its error bodies
// in the shape that they ask for. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "http/message.h"

namespace esi::interface::legacy {

enum class wanted_form { json, html, none };

/// Which of JSON and HTML an Accept header prefers (q, then the order given); none: neither.
/// An empty header accepts everything.
wanted_form form_of(std::string_view accept);
/// Whether JSON is among what it accepts.
bool accepts_json(std::string_view accept);
/// application/json or application/*+json, with parameters or without.
bool is_json(std::string_view content_type);

/// {timestamp (ms), status, error, path}, and `messages` where there are any; an HTML page or an
/// empty body for those who want it so.
http::server_reply error_reply(const http::server_request& to, int status, wall_time now,
                               const std::vector<std::string>& messages = {});

}  // namespace esi::interface::legacy

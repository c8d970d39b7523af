// The page at /: slots, timeline, queue, matrix and the story of a job, for people. It is made of
// the files in this folder, which need no right; what it shows comes from /api/v1, with the rights
// of who looks.
#pragma once

#include <string_view>

#include "http/router.h"

namespace esi::interface::page {

/// GET / for those whose Accept names text/html, and GET /page/NAME for its modules and styles. Any
/// other request for / goes on as if there were no page: the Java original had none, and what it
/// answered there is recorded.
void add_to(http::router& router);

/// text/html is among the media ranges of an Accept header, with a quality above 0. A range with a
/// * does not name it.
bool names_html(std::string_view accept);

}  // namespace esi::interface::page

// The page at /: slots, timeline, queue, matrix and the story of a job, for people. It is made of
// the files in this folder, which need no right; its data come from /api/v1, with the viewer's
// rights.
#pragma once

#include <string_view>

#include "http/router.h"

namespace esi::interface::page {

/// GET / for clients whose Accept names text/html, and GET /page/NAME for its modules and styles.
/// Any other request for / is handled as if there were no page: the Java original had none, and its
/// answers there are recorded.
void add_to(http::router& router);

/// text/html is among the media ranges of an Accept header, with a quality above 0. A range with a
/// * does not name it.
bool names_html(std::string_view accept);

}  // namespace esi::interface::page

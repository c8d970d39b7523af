// The refusals of the interface: 401, 403 and 429 in its form. Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/clock.h"
#include "http/problem.h"
#include "interface/v1/access/reviews.h"

namespace esi::interface::v1 {

/// 401 with WWW-Authenticate; `bad_token`: one was sent.
http::problem_details unauthenticated(std::string detail, bool bad_token);
/// 403 for a token that others on the network could read, with what to do.
http::problem_details readable_token();
/// 403 that names user, verb, resource and namespace, and the command that shows the right.
http::problem_details forbidden(const http::identity& who, const access_question& of);
/// `kubectl auth can-i patch schedulings.esi.tu-berlin.de/a -n default --as=anna`
std::string can_i(const http::identity& who, const access_question& of);
/// 429 with Retry-After, in whole seconds.
http::problem_details throttled(std::string detail, steady_time::duration wait);

}  // namespace esi::interface::v1

// Every operator's own routes: /livez, /readyz, /metrics, /version, and the Java original's
// /actuator/health. Ready means that the caches are full, leading or not: a standby serves all that
// is read-only. Alive means that the loop runs; it never depends on the API server.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "controller/metrics.h"
#include "http/server.h"

namespace esi::controller {

struct readiness_check {
    std::string name;
    bool passed = false;
    /// The fault and its remedy; also for a check that passes. In ESI's own words: strangers read
    /// it, and must not see the API server's messages.
    std::string reason = {};
};

/// All checks of /readyz, at the time of the call.
using readiness = std::function<std::vector<readiness_check>()>;

/// Answers as kube-apiserver does: "ok", or one line per check if one fails or `verbose` is
/// requested. Checks named in `excluded` are skipped.
http::server_reply readiness_reply(const std::vector<readiness_check>& checks, bool verbose,
                                   const std::vector<std::string>& excluded = {});
/// {"status":"UP"}, or 503 {"status":"DOWN"}, in the content type of Spring Boot.
http::server_reply actuator_reply(bool up);

/// `numbers` and what `ready` refers to must outlive the router's server. `before_scrape` brings
/// gauges up to date.
void add_status_routes(http::router& routes, std::string component, readiness ready,
                       metrics& numbers, std::function<void()> before_scrape);

}  // namespace esi::controller

// The original's helpers for people who set up an evaluation: /debug/node-set-up and
// /debug/reset-all-jobs. Only registered with --enable-debug-endpoints; else the router's 404. They
// have no authentication: only loopback is answered, unless --legacy-open.
#pragma once

#include <string>

#include "base/clock.h"
#include "http/server.h"
#include "kube/client.h"
#include "testbed/caches.h"

namespace esi::testbed {

struct debug_endpoints {
    clock& time;
    /// Writes whether this process leads or not: what people ask for here, they could write
    /// themselves.
    kube::client& api;
    const caches_of_testbeds& seen;
    std::string legacy_namespace;
    /// Answer peers that are not loopback, too.
    bool open = false;
};

/// GET /debug/node-set-up?name=&count= labels the count least requested nodes with 0..count-1 and
/// answers their names; 404 without the Testbed, 400 for a wrong or too large count, 401 where the
/// API server refuses.
/// GET /debug/reset-all-jobs?allNamespaces=false writes the reset annotation on failed jobs and
/// answers their names; nothing is deleted. 401 where the API server refuses.
/// 503: it could not be asked; the same question again goes on where this one stopped.
/// Errors have the original's shape: {timestamp, status, error, path}, and `messages`.
/// What `with` refers to must outlive the routes' use.
void add_debug_routes(http::router& routes, debug_endpoints with);

}  // namespace esi::testbed

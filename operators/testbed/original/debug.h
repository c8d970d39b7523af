// The original's helpers for people who set up an evaluation: /debug/node-set-up and
// /debug/reset-all-jobs. Only registered with --enable-debug-endpoints; else the router's 404. They
// have no authentication: http::local_access decides which peers are answered. A GET that would
// change something needs the header X-ESI-Debug: 1, which no page can make a browser send.
#pragma once

#include <string>

#include "base/clock.h"
#include "http/access.h"
#include "http/router.h"
#include "kube/client.h"
#include "testbed/caches/caches.h"

namespace esi::testbed {

struct debug_endpoints {
    clock& time;
    /// Writes whether this process leads or not: its users could write the same themselves.
    kube::client& api;
    const caches& seen;
    std::string legacy_namespace;
    http::local_access access;
};

/// True: the request carries that header.
bool is_meant(const http::server_request& asked);

/// GET /debug/node-set-up?name=&count= labels the count least requested nodes with 0..count-1 and
/// answers their names; labels of Kubernetes' own (kubernetes.io, k8s.io) are refused; 404 without
/// the Testbed, 400 for a wrong or too large count, 401 where the API server refuses. GET
/// /debug/reset-all-jobs?allNamespaces=false writes the reset annotation on failed jobs and answers
/// their names; nothing is deleted. 401 where the API server refuses. 503: it could not be asked;
/// the same question again goes on where this one stopped. Errors have the original's shape:
/// {timestamp, status, error, path}, and `messages`. What `with` refers to must outlive the routes'
/// use.
void add_debug_routes(http::router& routes, debug_endpoints with);

}  // namespace esi::testbed

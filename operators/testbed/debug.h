// The original's helpers for people who set up an evaluation: /debug/node-set-up and
// /debug/reset-all-jobs. Only registered with --enable-debug-endpoints; else the router's 404.
#pragma once

#include <string>

#include "controller/process.h"
#include "testbed/caches.h"

namespace esi::testbed {

/// GET /debug/node-set-up?name=&count= labels the count least requested nodes with 0..count-1 and
/// answers their names; 404 without the Testbed, 400 for a wrong or too large count, 401 where the
/// API server refuses.
/// GET /debug/reset-all-jobs?allNamespaces=false writes the reset annotation on failed jobs and
/// answers their names; nothing is deleted.
/// Errors have the original's shape: {timestamp, status, error, path}.
/// `around` and `seen` must outlive the routes' use.
void add_debug_routes(http::router& routes, controller::environment& around,
                      const caches_of_testbeds& seen, std::string legacy_namespace);

}  // namespace esi::testbed

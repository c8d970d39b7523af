// What the interface v1 reads and writes; all of it outlives the interface.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <expected>
#include <string>
#include <vector>

#include "base/clock.h"
#include "http/message.h"
#include "http/problem.h"
#include "interface/v1/access/quota.h"
#include "interface/v1/limits.h"
#include "kube/client.h"
#include "scheduling/caches.h"

namespace esi::interface::v1 {

struct sources {
    asio::any_io_executor executor;
    clock& time;
    /// May write at any time, leading or not.
    kube::client& api;
    scheduling::caches& seen;
    /// How much each caller may have under way.
    quota& limits;
    /// The watched namespaces; none: all.
    std::vector<std::string> namespaces;
    /// --cross-namespace-jobs
    bool cross_namespace_jobs = false;
};

using answer = std::expected<http::server_reply, http::problem_details>;

}  // namespace esi::interface::v1

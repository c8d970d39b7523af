// All that esi-scheduling serves over HTTP: /api/v1 with its page, and the original's REST and
// STOMP. Every replica answers, from the caches of the scheduling operator. Owned by the program.
#pragma once

#include <memory>
#include <vector>

#include "controller/process.h"
#include "interface/options.h"
#include "scheduling/caches.h"

namespace esi::interface {

class interfaces {
public:
    /// Adds the routes. `seen` outlives this. `cross_namespace_jobs`: the operator's setting.
    interfaces(controller::environment& env, scheduling::caches& seen, options chosen,
               bool cross_namespace_jobs);
    ~interfaces();

    /// A replica that cannot check rights is ready all the same: it runs Schedulings, and no other
    /// replica could do better.
    std::vector<controller::readiness_check> checks() const;
    /// Ends the waits and streams of /api/v1. The first step of a stop, as their clients continue
    /// at another replica; clients that do not read take no time from the steps that follow.
    asio::awaitable<void> stop_api(steady_time deadline);
    /// Ends the STOMP sessions. The last step: their clients receive what the operator still does.
    asio::awaitable<void> stop_topics(steady_time deadline);

private:
    void tell_of_open_doors() const;

    controller::environment& env_;
    options options_;
    struct parts;
    std::unique_ptr<parts> parts_;
};

}  // namespace esi::interface

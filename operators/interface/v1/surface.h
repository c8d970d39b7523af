// The interface v1 as a whole: the operations with their parts, on the routes of the process. Owned
// by the operator. Every replica answers reads and writes.
#pragma once

#include <memory>
#include <vector>

#include "http/router.h"
#include "interface/v1/access/gate.h"
#include "interface/v1/nodes.h"
#include "interface/v1/operations.h"
#include "interface/v1/questions.h"
#include "interface/v1/reads.h"
#include "interface/v1/writes.h"

namespace esi::interface::v1 {

class surface {
public:
    /// `door` and `tells` outlive it.
    surface(sources from, limits bounds, const gate& door, events::hub& tells);
    surface(const surface&) = delete;
    surface& operator=(const surface&) = delete;

    /// Adds all operations, /openapi.json, and the answer for unknown routes below /api. `this`
    /// must stay where it is from then on.
    void add_to(http::router& routes);
    /// Answers the requests that wait.
    void stop();

private:
    asio::awaitable<http::server_reply> serve(const operation& which, http::server_request from);
    std::optional<http::problem_details> unserved(const operation& which,
                                                  const http::server_request& from) const;

    sources from_;
    const gate& door_;
    reads reads_;
    questions questions_;
    writes writes_;
    nodes nodes_;
    std::vector<operation> all_;
};

}  // namespace esi::interface::v1

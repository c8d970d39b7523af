// The request of a client of the events: kinds, a namespace, a form, and where to begin. Pure.
#pragma once

#include <expected>
#include <string>
#include <vector>

#include "http/problem.h"
#include "interface/v1/events/frames.h"
#include "interface/v1/events/ids.h"
#include "interface/v1/wire/label_selector.h"

namespace esi::interface::v1::events {

struct selection {
    std::vector<kind> kinds;
    /// The query named kinds; otherwise the client gets those that it may watch.
    bool kinds_asked = false;
    /// Empty: all.
    std::string ns;
    /// Selects by the objects' labels; `labels_text` is the query's text.
    label_selector labels;
    std::string labels_text;
    form how = form::sse;
    /// Id of the last event that it received; empty: it wants a snapshot.
    std::string last_id;
};

/// All faults of the query at once (400), or 406.
std::expected<selection, http::problem_details> select(const http::server_request& from);

}  // namespace esi::interface::v1::events

// What a client of the events asks for: kinds, a namespace, a form, and from where on. Pure.
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
    /// It named them; else it gets those that it may watch.
    bool kinds_asked = false;
    /// Empty: all.
    std::string ns;
    /// Of the objects' labels; `labels_text` as it was asked for.
    label_selector labels;
    std::string labels_text;
    form how = form::sse;
    /// Of the last event that it has had; empty: none, it wants a snapshot.
    std::string last_id;
};

/// All faults of the query at once (400), or 406.
std::expected<selection, http::problem_details> select(const http::server_request& from);

}  // namespace esi::interface::v1::events

#include "interface/v1/events/selection.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/text.h"
#include "http/accept.h"
#include "interface/v1/wire/parameters.h"
#include "interface/v1/wire/problems.h"

namespace esi::interface::v1::events {

namespace {

/// The first form that is requested; server-sent events if any form is accepted.
std::optional<form> form_of(std::string_view accept) {
    if (trimmed(accept).empty()) return form::sse;
    for (const auto& [type, refused] : http::media_ranges(accept)) {
        if (refused) continue;
        if (type == "application/x-ndjson") return form::ndjson;
        if (type == "text/event-stream" || type == "text/*" || type == "*/*") return form::sse;
    }
    return std::nullopt;
}

}  // namespace

std::expected<selection, http::problem_details> select(const http::server_request& from) {
    selection out;
    parameters query(from);
    for (const auto& word : query.words("kinds")) {
        out.kinds_asked = true;
        if (const auto found = kind_of_word(word)) {
            out.kinds.push_back(*found);
        } else {
            query.fault("kinds", std::string(problem_code::parameter_value),
                        "'" + word.substr(0, 100) + "' is none of testbeds, jobs, schedulings");
        }
    }
    std::ranges::sort(out.kinds);
    if (const auto in_path = from.variables.find("namespace"); in_path != from.variables.end()) {
        out.ns = in_path->second;
    } else {
        out.ns = query.text("namespace").value_or("");
    }
    out.labels_text = query.text("labelSelector").value_or("");
    if (auto read = label_selector::parse(out.labels_text)) {
        out.labels = std::move(*read);
    } else {
        query.fault("labelSelector", std::string(problem_code::parameter_value), read.error());
    }
    out.last_id = query.text("lastEventId").value_or("");
    if (auto faults = query.take_faults(); !faults.empty()) {
        return std::unexpected(bad_parameters(std::move(faults)));
    }
    const auto how = form_of(from.header("accept"));
    if (!how) {
        return std::unexpected(problem_of(
            406, "",
            "events are text/event-stream or application/x-ndjson; Accept admits neither"));
    }
    out.how = *how;
    if (!out.kinds_asked) out.kinds.assign(std::begin(all_kinds), std::end(all_kinds));
    // Sent by a client that reconnects by itself; the query is for the first time.
    if (const auto again = from.header("last-event-id"); !again.empty()) out.last_id = again;
    return out;
}

}  // namespace esi::interface::v1::events

#include "scheduling/interface/v1/events/selection.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "scheduling/interface/v1/parameters.h"
#include "scheduling/interface/v1/problems.h"

namespace esi::scheduling::v1::events {

namespace {

std::string_view trimmed(std::string_view text) {
    while (text.starts_with(' ') || text.starts_with('\t')) text.remove_prefix(1);
    while (text.ends_with(' ') || text.ends_with('\t')) text.remove_suffix(1);
    return text;
}

std::vector<std::string_view> split(std::string_view text, char at) {
    std::vector<std::string_view> out;
    for (;;) {
        const auto end = std::min(text.find(at), text.size());
        out.push_back(trimmed(text.substr(0, end)));
        if (end == text.size()) return out;
        text.remove_prefix(end + 1);
    }
}

/// A range with q=0 is none.
bool is_refused(const std::vector<std::string_view>& parameters) {
    for (const auto each : parameters) {
        if (!each.starts_with("q=") && !each.starts_with("Q=")) continue;
        const auto weight = each.substr(2);
        return !weight.empty() &&
               std::ranges::all_of(weight, [](char c) { return c == '0' || c == '.'; });
    }
    return false;
}

/// The first form that is asked for; server-sent events where anything will do.
std::optional<form> form_of(std::string_view accept) {
    if (trimmed(accept).empty()) return form::sse;
    for (const auto range : split(accept, ',')) {
        auto parts = split(range, ';');
        const auto type = lower(parts.front());
        parts.erase(parts.begin());
        if (is_refused(parts)) continue;
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
    // What a reader sends that comes again by itself; the query is for the first time.
    if (const auto again = from.header("last-event-id"); !again.empty()) out.last_id = again;
    return out;
}

}  // namespace esi::scheduling::v1::events

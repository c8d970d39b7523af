#include "scheduling/interface/v1/events/selection.h"

#include <algorithm>
#include <charconv>
#include <optional>

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

void read_kinds(std::string_view text, selection& into, std::vector<http::problem_fault>& faults) {
    into.kinds_asked = true;
    for (const auto word : split(text, ',')) {
        const auto found = kind_of_word(word);
        if (!found) {
            faults.push_back({"?kinds", "KindUnknown",
                              "'" + std::string(word.substr(0, 100)) +
                                  "' is none of testbeds, jobs, schedulings"});
        } else if (std::ranges::find(into.kinds, *found) == into.kinds.end()) {
            into.kinds.push_back(*found);
        }
    }
    std::ranges::sort(into.kinds);
}

}  // namespace

std::expected<selection, http::problem_details> select(const http::server_request& from) {
    selection out;
    std::vector<http::problem_fault> faults;
    for (const auto& [name, value] : from.query) {
        if (name == "kinds") {
            if (out.kinds_asked) {
                faults.push_back(
                    {"?kinds", "Repeated", "kinds is given twice; separate by commas"});
            } else {
                read_kinds(value, out, faults);
            }
        } else if (name == "namespace") {
            if (from.variables.contains("namespace")) {
                faults.push_back(
                    {"?namespace", "ParameterUnknown", "the path names the namespace already"});
            }
            out.ns = value;
        } else if (name == "lastEventId") {
            out.last_id = value;
        } else {
            faults.push_back({"?" + name.substr(0, 100), "ParameterUnknown",
                              "it is none of kinds, namespace, lastEventId"});
        }
    }
    if (!faults.empty()) {
        http::problem_details why;
        why.status = 400;
        why.code = "ParameterInvalid";
        why.detail = "the query cannot be understood: see errors";
        why.errors = std::move(faults);
        return std::unexpected(std::move(why));
    }
    const auto how = form_of(from.header("accept"));
    if (!how) {
        http::problem_details why;
        why.status = 406;
        why.detail = "events are text/event-stream or application/x-ndjson; Accept names neither";
        return std::unexpected(std::move(why));
    }
    out.how = *how;
    if (const auto in_path = from.variables.find("namespace"); in_path != from.variables.end()) {
        out.ns = in_path->second;
    }
    if (!out.kinds_asked) out.kinds.assign(std::begin(all_kinds), std::end(all_kinds));
    // What a reader sends that comes again by itself; the query is for the first time.
    if (const auto again = from.header("last-event-id"); !again.empty()) out.last_id = again;
    return out;
}

}  // namespace esi::scheduling::v1::events

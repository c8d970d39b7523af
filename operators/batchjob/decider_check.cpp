// The early answer to "is this spec accepted?": a dry-run create of the probe application.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "batchjob/decider.h"

namespace esi::batchjob {

namespace {

/// Reason and message of Accepted=True.
std::pair<std::string, std::string> describe_accepted(const built& made) {
    std::string text;
    if (!made.overridden.empty()) {
        text =
            fmt::format("set by ESI, not by the job's spec: {}", fmt::join(made.overridden, ", "));
    }
    if (!made.ignored.empty()) {
        text += fmt::format("{}without counterpart, ignored: {}", text.empty() ? "" : "; ",
                            fmt::join(made.ignored, ", "));
    }
    if (!made.overridden.empty()) return {"KeysOverridden", text};
    if (!made.ignored.empty()) return {"KeysIgnored", text};
    return {"Accepted", "the API server accepts the application"};
}

}  // namespace

void decider::check() {
    if (!job_.metadata.undecodable.empty()) {
        set_condition(condition_type::accepted, "False", reasons::undecodable,
                      job_.metadata.undecodable_text());
        return;
    }
    const auto hash = spec_hash_now();
    const auto* known = model::find_condition(status_.conditions, condition_type::accepted);
    const bool judged = known && known->status != "Unknown" &&
                        known->reason != reasons::undecodable && status_.spec_hash == hash;
    status_.spec_hash = hash;
    if (judged || job_.metadata.deleting()) return;

    if (!seen_.kind || !seen_.served) {
        set_condition(condition_type::accepted, "Unknown", reasons::backend_missing,
                      backend_missing());
        return;
    }
    const auto* text = spec();
    if (!text) return;
    auto made = seen_.kind->probe(job_.metadata, *text, is_sized_by_slot());
    if (!made) {
        set_condition(condition_type::accepted, "False", made.error().reason, made.error().text);
        return;
    }
    if (seen_.kind->adopts()) {
        set_condition(condition_type::accepted, "True", "Accepted",
                      fmt::format("the {} exists already", seen_.kind->coordinator()));
        return;
    }
    if (seen_.check && seen_.check->accepted) {
        const auto [reason, message] = describe_accepted(*made);
        set_condition(condition_type::accepted, "True", reason, message);
        return;
    }
    if (seen_.check && !seen_.check->transient) {
        set_condition(condition_type::accepted, "False", reasons::refused, seen_.check->text);
        return;
    }
    if (seen_.check) {
        set_condition(condition_type::accepted, "Unknown", "CheckFailed", seen_.check->text);
        if (!seen_.check_due) return;
    } else {
        set_condition(condition_type::accepted, "Unknown", "Checking", "the API server is asked");
    }
    if (!out_.next) out_.next = check_spec{std::move(made->object)};
}

}  // namespace esi::batchjob

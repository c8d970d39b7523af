// The JSON of the Java original's interface: field by field and in its order, because its readers
// refuse unknown fields. Pure. Contract: docs/compatibility.md.
#pragma once

#include <expected>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/batchjob.h"
#include "model/scheduling.h"
#include "model/testbed.h"

namespace esi::interface::legacy {

using ordered_json = nlohmann::ordered_json;

/// All faults of a request; sentences for people.
using faults = std::vector<std::string>;

/// The original had no claims: a Testbed of a claim is left out everywhere.
bool is_shown(const model::testbed& of);
bool is_shown(const model::batchjob& of);
bool is_shown(const model::scheduling& of);

ordered_json external(const model::testbed& of);
ordered_json external(const model::batchjob& of);
ordered_json external(const model::scheduling& of);
/// A Testbed too large for status.slots, with its slots (interface/slot_rows.h).
ordered_json external(const model::testbed& of, std::vector<model::slot_status> rows);

/// Text for a reply. Bytes that are not UTF-8 are replaced.
std::string text_of(const ordered_json& body);

struct scheduling_request {
    std::string name;
    std::string test_bed;
    std::optional<std::vector<std::string>> queue;
    std::optional<model::slot_based_spec> slots;  ///< job namespaces empty, mode in lower case

    /// The spec that it asks for, all namespaces set to `ns`; queueBased or slotBased is null.
    nlohmann::json spec(const std::string& ns) const;
};

struct job_request {
    std::string name;
    std::optional<nlohmann::json> external_scheduler;
};

/// Read the body of POST /external/schedulings and PUT /external/jobs/. Unknown and repeated
/// members, wrong types, nesting deeper than 16 and text that is not JSON in UTF-8 are faults.
std::expected<scheduling_request, faults> read_scheduling(std::string_view body);
std::expected<job_request, faults> read_job(std::string_view body);

}  // namespace esi::interface::legacy

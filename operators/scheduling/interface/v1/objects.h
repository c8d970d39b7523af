// Objects as the interface v1 shows them: {metadata, spec, status}, member names in camelCase,
// times in RFC 3339 with milliseconds. Empty texts, lists and maps are left out; numbers and
// booleans are written. Pure. What a cache has trimmed is not shown: of a BatchJob out of the
// cache, sparkSpec and flinkSpec (model/application_specs.h).
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "model/batchjob.h"
#include "model/scheduling.h"
#include "model/testbed.h"

namespace esi::scheduling::v1 {

using ordered_json = nlohmann::ordered_json;

ordered_json object_json(const model::testbed& of);
ordered_json object_json(const model::batchjob& of);
ordered_json object_json(const model::scheduling& of);

/// "2026-11-21T09:34:07.149Z"; what is below a millisecond is cut.
std::string time_text(const model::timestamp& when);

/// Text for an answer. Bytes that are not UTF-8 are replaced.
std::string text_of(const ordered_json& body);

}  // namespace esi::scheduling::v1

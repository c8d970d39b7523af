// A Scheduling as a client sends it, parsed strictly: all faults at once, each with its place in
// the body. Pure.
#pragma once

#include <expected>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "interface/v1/validation.h"
#include "model/scheduling.h"
#include "scheduling/view.h"

namespace esi::interface::v1 {

struct scheduling_body {
    model::object_key key;
    /// As sent; absent: not sent.
    std::optional<model::string_map> labels;
    /// As sent, without the annotations of ESI, which only its operators write.
    model::string_map annotations;
    /// uid and resourceVersion of the metadata as sent, or empty.
    std::string uid;
    std::string resource_version;
    nlohmann::json spec;
    model::scheduling_spec parsed;
};

/// The context in which a body is read.
struct body_place {
    /// The namespace of the path.
    std::string ns;
    /// The name of the path, or empty if the body names the object.
    std::string name;
    /// The body may do without a name (a preview of a plan that has none yet).
    bool may_be_nameless = false;
};

/// From a body that was parsed.
std::expected<scheduling_body, faults> read_scheduling(const nlohmann::json& body,
                                                       const body_place& at);

/// Why the plan can never come true with the present objects: for jobs that `existing` does not
/// have already. `v.self` is the Scheduling as it would be.
faults faults_of_plan(const scheduling::view& v, const model::scheduling* existing);

/// Warnings about an accepted plan, one sentence each, at most ten: jobs that do not exist (they
/// are awaited), changes without effect.
std::vector<std::string> warnings_of_plan(const scheduling::view& v);

}  // namespace esi::interface::v1

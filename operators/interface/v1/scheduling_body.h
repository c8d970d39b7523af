// A Scheduling as a client sends it, read strictly: every fault at once, with its place in the
// body. Pure.
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
    /// As sent, without those of ESI, which only its operators write.
    model::string_map annotations;
    /// uid and resourceVersion of the metadata as sent, or empty.
    std::string uid;
    std::string resource_version;
    nlohmann::json spec;
    model::scheduling_spec parsed;
};

/// What a body is read for.
struct body_place {
    /// Of the path.
    std::string ns;
    /// Of the path, or empty where the body names the object.
    std::string name;
    /// The body may do without a name (a preview of a plan that has none yet).
    bool may_be_nameless = false;
};

/// From a body that was parsed.
std::expected<scheduling_body, faults> read_scheduling(const nlohmann::json& body,
                                                       const body_place& at);

/// What the objects there are say against the plan, as far as it can never come true: of jobs that
/// `existing` does not have already. `v.self` is the Scheduling as it would be.
faults faults_of_plan(const scheduling::view& v, const model::scheduling* existing);

/// What is accepted and yet worth knowing, one sentence each, at most ten: jobs that do not exist
/// (they are waited for), changes that are not acted on.
std::vector<std::string> warnings_of_plan(const scheduling::view& v);

}  // namespace esi::interface::v1

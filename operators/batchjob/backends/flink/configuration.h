// Rules for a Flink job whichever operator runs it: which configuration ESI sets, and why a job can
// take no slots. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "batchjob/backends/flink/spec.h"

namespace esi::batchjob::flink {

using configuration = std::map<std::string, std::string>;

/// Flink's limit; ESI's own kind has the same one.
inline constexpr std::size_t longest_name = 45;

/// A probe has no slots: limits that depend on their number are not checked.
enum class size_from { slot, probe };

/// Whether an operator makes its pods from the templates of the spec.
enum class templates { used, ignored };

inline constexpr const char* main_container = "flink-main-container";

/// What a pod of this role asks for at the least: backend::least_size.
model::amounts least_size(const model::raw_json& text, pod_role of, bool by_slot, templates has);

/// The spec of the pods of a role's template; an empty object if it has none.
const json& pod_in_template(const json& role);

/// Removes keys that decide number, size or place of the TaskManagers, or make an operator restart
/// a run on its own, and names them.
/// `coordinator_in_slot`: does the same for the JobManager.
void take_own_configuration(configuration& conf, bool coordinator_in_slot,
                            std::vector<std::string>& overridden);
/// The key of this version: Flink 1.19 renamed it.
std::string_view restart_strategy_key(std::pair<int, int> version);
/// Checks name, parallelism and the memory of the slots.
std::optional<spec_problem> judge(const spec& from, const build_request& request, size_from size);
/// Why no TaskManager of this flinkSpec can run in a slot of that size; empty if one can.
std::optional<spec_problem> judge_slot(const model::raw_json& text,
                                       const model::resource_list& slot);
/// The same for its JobManager.
std::optional<spec_problem> judge_coordinator_slot(const model::raw_json& text,
                                                   const model::resource_list& slot);

}  // namespace esi::batchjob::flink

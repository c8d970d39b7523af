// What holds for a Flink job whichever operator runs it: which configuration is ESI's, and what no
// slots can be given to. Pure.
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

/// Flink's limit; ESI's own kind has the same.
inline constexpr std::size_t longest_name = 45;

/// A probe has no slots: what depends on their number is not judged.
enum class size_from { slot, probe };

/// Takes out what decides number, size or place of the TaskManagers, or makes an operator start a
/// run again on its own, and names it.
/// `coordinator_in_slot`: the same of the JobManager.
void take_own_configuration(configuration& conf, bool coordinator_in_slot,
                            std::vector<std::string>& overridden);
/// Flink 1.19 renamed it.
std::string_view restart_strategy_key(std::pair<int, int> version);
/// Name, parallelism, memory of the slots.
std::optional<spec_problem> judge(const spec& from, const build_request& request, size_from size);
/// Why no TaskManager of this flinkSpec can run in a slot of that size; empty where one can.
std::optional<spec_problem> judge_slot(const model::raw_json& text,
                                       const model::resource_list& slot);
/// The same of its JobManager.
std::optional<spec_problem> judge_coordinator_slot(const model::raw_json& text,
                                                   const model::resource_list& slot);

}  // namespace esi::batchjob::flink

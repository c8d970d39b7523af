// The operators of ESI, by name. What makes one of them: run/operators.h, as only a run knows their
// code. Plain data, constant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace esi::simulation {

struct operator_facts {
    std::string name;
    /// Plurals of the kinds that it watches.
    std::vector<std::string> watches;
};

const std::vector<operator_facts>& all_operators();
/// Null: there is no such operator.
const operator_facts* find_operator(std::string_view name);
/// In the order of the table.
const std::vector<std::string>& operator_names();

}  // namespace esi::simulation

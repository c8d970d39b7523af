// What one state came to, and the sum of many. Plain records.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/outcome.h"

namespace esi::simulation::foresee {

/// Of one seed.
struct report {
    std::vector<violation> violations;
    /// How often each outcome came, by its name.
    std::map<std::string, int> counts;
    std::vector<std::string> story;

    void count(const std::string& what) { ++counts[what]; }
    void add(const report& other);
};

json to_json(const report& what);
report report_from_json(const json& from);

/// Which exemptions there may be: of all that `whole` counts, those of `part` are at most
/// `permille` thousandths.
struct bound {
    std::string part;
    std::vector<std::string> whole;
    int permille;
};
const std::vector<bound>& bounds();
/// A sentence for each bound that does not hold.
std::vector<std::string> beyond_bounds(const std::map<std::string, int>& counts);

}  // namespace esi::simulation::foresee

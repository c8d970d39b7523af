// The tree of a CEL rule: what the parser makes and the machine runs. Included by these two only.
#pragma once

#include <optional>
#include <regex>
#include <string>
#include <vector>

#include "server/validation/cel.h"

namespace esi::simulation {

namespace cel {

enum class op {
    literal,
    self,
    old_self,
    type_name,
    member,
    has,
    negate,
    both,
    either,
    choose,
    equal,
    unequal,
    less,
    less_equal,
    greater,
    greater_equal,
    in,
    type_of,
    size,
    matches,
    index_of,
    is_quantity,
    quantity,
    greater_than,
    less_than,
    has_value,
    value,
    local,
    index,
    plus,
    all,
    map,
    sum,
};

}  // namespace cel

struct cel_rule::node {
    cel::op what;
    std::vector<node> children;
    std::string name;  // member, type or variable
    json literal;
    std::optional<std::regex> pattern;
};

}  // namespace esi::simulation

#include "base/operators.h"

#include <algorithm>

#include "base/application_kinds.h"

namespace esi::simulation {

namespace {

std::vector<std::string> watched_by_batchjob() {
    std::vector<std::string> out{"batchjobs", "testbeds"};
    for (const auto& kind : application_kinds()) out.emplace_back(kind.type->plural);
    out.insert(out.end(), {"pods", "customresourcedefinitions"});
    return out;
}

}  // namespace

const std::vector<operator_facts>& all_operators() {
    static const std::vector<operator_facts> all{
        {"testbed", {"testbeds", "nodes", "pods", "batchjobs", "schedulings", "testbedslotslices"}},
        {"batchjob", watched_by_batchjob()},
        {"scheduling", {"schedulings", "testbeds", "batchjobs", "pods", "testbedslotslices"}}};
    return all;
}

const operator_facts* find_operator(std::string_view name) {
    const auto found = std::ranges::find(all_operators(), name, &operator_facts::name);
    return found == all_operators().end() ? nullptr : &*found;
}

const std::vector<std::string>& operator_names() {
    static const std::vector<std::string> names = [] {
        std::vector<std::string> out;
        for (const auto& one : all_operators()) out.push_back(one.name);
        return out;
    }();
    return names;
}

}  // namespace esi::simulation

#include "kubectl-esi/doctor/checks.h"

#include <algorithm>
#include <iterator>

namespace esi::kubectl::doctor {

std::span<const check> checks() {
    static const auto all = [] {
        std::vector<check> out;
        std::ranges::copy(checks_of_installation(), std::back_inserter(out));
        std::ranges::copy(checks_of_objects(), std::back_inserter(out));
        return out;
    }();
    return all;
}

std::vector<finding> findings_of(const facts& at) {
    std::vector<finding> out;
    for (const auto& each : checks()) {
        const auto before = out.size();
        each.look(at, out);
        for (auto i = before; i < out.size(); ++i) out[i].check = each.name;
    }
    return out;
}

}  // namespace esi::kubectl::doctor

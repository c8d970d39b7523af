#include "program/plans.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <fstream>

#include "plan/generate.h"

namespace esi::simulation {

result<plan> find_plan(const std::string& name) {
    const bool number = !name.empty() && std::ranges::all_of(name, [](unsigned char c) {
        return std::isdigit(c) != 0;
    });
    if (number && name.size() < 20) return generate(std::stoull(name));
    for (auto& one : scenarios()) {
        if (one.scenario == name) return one;
    }
    std::ifstream file(name);
    if (!file) {
        std::string names;
        for (const auto& one : scenarios()) names += fmt::format(" '{}'", one.scenario);
        return fail(errc::config, fmt::format("{}: neither a seed, nor a file, nor one of the "
                                              "scenarios{}", name, names));
    }
    const auto text = json::parse(file, nullptr, false);
    if (text.is_discarded()) return fail(errc::config, name + ": is no JSON");
    auto out = plan_from_json(text);
    if (!out) out.error().text = name + ": " + out.error().text;
    return out;
}

}  // namespace esi::simulation

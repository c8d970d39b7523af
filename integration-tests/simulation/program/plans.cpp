#include "program/plans.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "plan/gangs.h"
#include "plan/generate.h"

namespace esi::simulation {

result<plan> find_plan(const std::string& name) {
    std::uint64_t seed = 0;
    const auto* end = name.data() + name.size();
    constexpr std::string_view of_gangs = "gangs:";
    if (name.starts_with(of_gangs)) {
        const auto [at, wrong] = std::from_chars(name.data() + of_gangs.size(), end, seed);
        if (wrong == std::errc() && at == end) return generate_gangs(seed);
    }
    if (auto [at, wrong] = std::from_chars(name.data(), end, seed);
        wrong == std::errc() && at == end) {
        return generate(seed);
    }
    for (auto& one : scenarios()) {
        if (one.scenario == name) return one;
    }
    std::ifstream file(name);
    if (!file || std::filesystem::is_directory(name)) {
        std::string names;
        for (const auto& one : scenarios()) names += fmt::format(" '{}'", one.scenario);
        return fail(errc::config,
                    fmt::format("{}: neither a seed, nor gangs:SEED, nor a file, nor one of the "
                                "scenarios{}",
                                name, names));
    }
    const auto text = json::parse(file, nullptr, false);
    if (text.is_discarded()) return fail(errc::config, name + ": is no JSON");
    auto out = plan_from_json(text);
    if (!out) out.error().text = name + ": " + out.error().text;
    return out;
}

}  // namespace esi::simulation

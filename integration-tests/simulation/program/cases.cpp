#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "program/commands.h"
#include "program/plans.h"
#include "run/judge.h"
#include "run/pool.h"

namespace esi::simulation {

int run_cases(const std::string& folder, int jobs) {
    std::vector<std::string> files;
    std::error_code wrong;
    for (const auto& one : std::filesystem::directory_iterator(folder, wrong)) {
        if (one.path().extension() == ".json") files.push_back(one.path().string());
    }
    if (wrong || files.empty()) {
        fmt::print(stderr, "{}: no kept plans there\n", folder);
        return 2;
    }
    std::sort(files.begin(), files.end());
    int failed = 0;
    run_all(
        files.size(), {jobs, std::chrono::seconds(120)},
        [&](std::size_t number) {
            auto found = find_plan(files[number]);
            if (!found) return json{{"rule", "unreadable"}, {"text", found.error().text}};
            const auto done = judge(*found);
            if (done.violations.empty()) return json::object();
            return json{{"rule", done.violations.front().rule},
                        {"text", done.violations.front().text}};
        },
        [&](const piece& one) {
            const auto name = std::filesystem::path(files[one.number]).stem().string();
            const auto rule = one.failure.empty() ? one.result.value("rule", "") : "died";
            if (rule.empty()) {
                fmt::print("case {}: well\n", name);
            } else {
                ++failed;
                fmt::print("case {}: {}: {}\n", name, rule,
                           one.failure.empty() ? one.result.value("text", "") : one.failure);
            }
            return true;
        });
    fmt::print("{} cases, {} failed\n", files.size(), failed);
    return failed > 0 ? 1 : 0;
}

}  // namespace esi::simulation

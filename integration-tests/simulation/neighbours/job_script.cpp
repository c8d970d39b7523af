#include "neighbours/job_script.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace esi::simulation {

job_script job_script::of(const json& scripts, std::string_view ns, std::string_view name) {
    job_script out;
    const auto* given = fields::find(scripts, {fmt::format("{}/{}", ns, name)});
    if (!given) given = fields::find(scripts, {name});
    if (!given) return out;
    out.work = seconds(fields::number(*given, {"seconds"}, 20));
    if (const auto end = fields::text(*given, {"end"}); !end.empty()) out.end = end;
    const auto* all = fields::find(*given, {"executorsVanish"});
    if (all && all->is_array()) {
        for (const auto& one : *all) {
            auto& added = out.vanishings.emplace_back();
            added.after = seconds(fields::number(one, {"after"}));
            added.nth = static_cast<int>(fields::number(one, {"nth"}));
            if (fields::find(one, {"code"})) {
                added.code = static_cast<int>(fields::number(one, {"code"}));
            }
        }
    }
    std::ranges::sort(out.vanishings, {},
                      [](const vanishing& one) { return std::pair(one.after, one.nth); });
    return out;
}

}  // namespace esi::simulation
